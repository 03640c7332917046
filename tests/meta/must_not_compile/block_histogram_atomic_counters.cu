// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: BLOCK_HISTO_ATOMIC counts by atomicAdd: counters must be integers of 4 or 8 bytes, float, double
#include <strata/block/block_histogram.cuh>

#if defined(STRATA_BAD)
constexpr strata::BlockHistogramAlgorithm algorithm = strata::BLOCK_HISTO_ATOMIC;
#else
constexpr strata::BlockHistogramAlgorithm algorithm = strata::BLOCK_HISTO_SORT;
#endif

STRATA_KERNEL void count(short* out) {
  const int items[1] = {0};
  strata::BlockHistogram<int, 64, 1, 8, algorithm>().Histogram(items, out);
}
