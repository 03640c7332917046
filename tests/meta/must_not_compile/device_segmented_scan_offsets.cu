// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Offset iterator type should be integral
#include <strata/device/device_segmented_scan.cuh>

#if defined(STRATA_BAD)
using offset = double;
#else
using offset = long long;
#endif

cudaError_t sums(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets,
                 const offset* out_offsets) {
  return strata::DeviceSegmentedScan::InclusiveSegmentedSum(storage, bytes, in, out, offsets, offsets + 1, out_offsets,
                                                            1000);
}
