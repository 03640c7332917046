// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockTranspose<T> moves items between threads as bits: T must be trivially relocatable
#include <strata/block/block_transpose.cuh>

struct owner {
  int value;
#ifdef STRATA_BAD
  ~owner() { value = 0; }
#endif
};

STRATA_KERNEL void transpose() {
  owner items[1] = {};
  strata::BlockTranspose<owner, 8, 8, 64>().Transpose(items, items);
}
