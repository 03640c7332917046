// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: ThreadStore: cache modifiers are for addresses: pass a pointer, or the modifier STORE_DEFAULT
#include <strata/iterator/discard_output_iterator.cuh>
#include <strata/thread/thread_store.cuh>

#if defined(STRATA_BAD)
constexpr strata::CacheStoreModifier modifier = strata::STORE_CG;
#else
constexpr strata::CacheStoreModifier modifier = strata::STORE_DEFAULT;
#endif

STRATA_KERNEL void store(int item) { strata::ThreadStore<modifier>(strata::DiscardOutputIterator<>(), item); }
