// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: BlockRunLengthDecode needs at least one run and one decoded item per thread
#include <strata/block/block_run_length_decode.cuh>

#if defined(STRATA_BAD)
constexpr int items = 0;
#else
constexpr int items = 1;
#endif

STRATA_KERNEL void decode(const int* in, int* out) {
  const int values[1] = {in[threadIdx.x]};
  strata::BlockRunLengthDecode<int, 64, 1, items>(values, values, *out);
}
