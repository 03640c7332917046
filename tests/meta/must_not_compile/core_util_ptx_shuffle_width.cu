// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: ShuffleUp, ShuffleDown, ShuffleIndex: LogicalWarpThreads must be 1, 2, 4, 8, 16 or 32
#include <strata/core/util_ptx.cuh>

#if defined(STRATA_BAD)
constexpr int lanes = 12;
#else
constexpr int lanes = 16;
#endif

STRATA_KERNEL void first(int* data) {
  data[threadIdx.x] = strata::ShuffleIndex<lanes>(data[threadIdx.x], 0, 0xffffffff);
}
