// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cache modifiers are for stores of words: specialise strata::is_trivially_relocatable if T may be copied as bits, or take the modifier STORE_DEFAULT
#include <strata/iterator/cache_modified_output_iterator.cuh>

struct item {
  int value;
#if defined(STRATA_BAD)
  STRATA_HD item(const item& other) : value(other.value) {}
#endif
};

STRATA_KERNEL void copy(const item* in, item* out) {
  strata::CacheModifiedOutputIterator<strata::STORE_CG, item> written(out);
  *written = *in;
}
