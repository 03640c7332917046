// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: DeviceHistogram: counters must be integers of 4 or 8 bytes, for atomic additions
#include <strata/device/device_histogram.cuh>

#ifdef STRATA_BAD
using counter = short;
#else
using counter = int;
#endif

cudaError_t count(const float* in, counter* out) {
  return strata::DeviceHistogram::HistogramEven(in, out, 11, 0.0f, 1.0f, 1000);
}
