// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_reduce.cuh>

struct plain {
  int value;
};

struct counted {
  int value;
  STRATA_HD counted(const counted& other) : value(other.value) {}
};

STRATA_KERNEL void storages() {
  STRATA_SHARED(good, strata::BlockReduce<plain, 64>::TempStorage);
  static_cast<void>(good);
#ifdef STRATA_BAD
  STRATA_SHARED(bad, strata::BlockReduce<counted, 64>::TempStorage);
  static_cast<void>(bad);
#endif
}
