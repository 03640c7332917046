// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cache modifiers are for loads of words: specialise strata::is_trivially_relocatable if T may be copied as bits, or take the modifier LOAD_DEFAULT
#include <strata/iterator/cache_modified_input_iterator.cuh>

struct item {
  int value;
#if defined(STRATA_BAD)
  STRATA_HD item(const item& other) : value(other.value) {}
#endif
};

STRATA_KERNEL void first(const item* in, int* out) {
  *out = strata::CacheModifiedInputIterator<strata::LOAD_CG, item>(in)[0].value;
}
