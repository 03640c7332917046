// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: BlockHistogram needs at least one item per thread and one bin
#include <strata/block/block_histogram.cuh>

#if defined(STRATA_BAD)
constexpr int bins = 0;
#else
constexpr int bins = 1;
#endif

STRATA_KERNEL void count(unsigned* out) {
  const int items[1] = {0};
  strata::BlockHistogram<int, 64, 1, bins>().Histogram(items, out);
}
