// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockTreeReduce<T> keeps items in shared memory without constructing them: T must be trivially relocatable
#include <strata/block/block_tree_reduce.cuh>

struct counted {
  int value;
#ifdef STRATA_BAD
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
#endif
};

using instantiated = strata::BlockTreeReduce<counted, 128>::TempStorage;
