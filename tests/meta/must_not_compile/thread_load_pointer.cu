// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: ThreadLoad: cache modifiers are for addresses: pass a pointer, or the modifier LOAD_DEFAULT
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/thread/thread_load.cuh>

#if defined(STRATA_BAD)
constexpr strata::CacheLoadModifier modifier = strata::LOAD_CG;
#else
constexpr strata::CacheLoadModifier modifier = strata::LOAD_DEFAULT;
#endif

STRATA_KERNEL void load(int* out) { *out = strata::ThreadLoad<modifier>(strata::CountingInputIterator<int>(1)); }
