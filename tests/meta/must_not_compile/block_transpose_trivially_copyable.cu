// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
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
