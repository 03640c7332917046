// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: BlockRunLengthDecode numbers decoded items by DecodedOffsetT: take an integer type
#include <strata/block/block_run_length_decode.cuh>

#if defined(STRATA_BAD)
using offset = double;
#else
using offset = long long;
#endif

STRATA_KERNEL void decode(const int* in, int* out) {
  const int values[1] = {in[threadIdx.x]};
  int items[1];
  strata::BlockRunLengthDecode<int, 64, 1, 1, offset>(values, values, *out).RunLengthDecode(items);
  *out = items[0];
}
