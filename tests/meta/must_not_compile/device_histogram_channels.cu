// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: DeviceHistogram: pixels have 1 to 4 channels, of which 1 or more are active
#include <strata/device/device_histogram.cuh>

#ifdef STRATA_BAD
constexpr int channels = 5;
#else
constexpr int channels = 4;
#endif

cudaError_t count(const float* in, int* (&out)[1], const int (&levels)[1], const float (&bounds)[1]) {
  return strata::DeviceHistogram::MultiHistogramEven<channels, 1>(in, out, levels, bounds, bounds, 1000);
}
