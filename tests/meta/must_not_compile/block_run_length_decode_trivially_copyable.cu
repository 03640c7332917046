// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_run_length_decode.cuh>

struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_BAD)
  STRATA_HD item(const item& other) : value(other.value) {}
#else
  item(const item&) = default;
#endif
  item& operator=(const item&) = default;
};

STRATA_KERNEL void decode(const int* in, int* out) {
  const item values[1] = {item(in[threadIdx.x])};
  const int lengths[1] = {1};
  int total;
  item items[1] = {item(0)};
  strata::BlockRunLengthDecode<item, 64, 1, 1>(values, lengths, total).RunLengthDecode(items);
  out[threadIdx.x] = items[0].value;
}
