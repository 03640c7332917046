// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: DeviceHistogram: the common type of samples and levels must have at most 64 bits: convert the levels
#include <strata/device/device_histogram.cuh>

#ifdef STRATA_BAD
using level = long double;
#else
using level = double;
#endif

cudaError_t count(const float* in, int* out) {
  return strata::DeviceHistogram::HistogramEven(in, out, 11, level{0}, level{1}, 1000);
}
