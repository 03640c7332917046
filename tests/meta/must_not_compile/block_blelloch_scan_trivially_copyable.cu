// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockBlellochScan<T> keeps items in shared memory without constructing them: T must be trivially relocatable
#include <strata/block/block_blelloch_scan.cuh>

struct counted {
  int value;
#ifdef STRATA_BAD
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
#endif
};

using instantiated = strata::BlockBlellochScan<counted, 128>::TempStorage;
