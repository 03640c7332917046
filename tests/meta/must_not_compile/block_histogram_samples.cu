// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: a sample of BlockHistogram is the number of its bin: T must convert to integers implicitly
#include <strata/block/block_histogram.cuh>

#if defined(STRATA_BAD)
using sample = float;
#else
using sample = int;
#endif

STRATA_KERNEL void count(unsigned* out) {
  const sample items[1] = {0};
  strata::BlockHistogram<sample, 64, 1, 8>().Histogram(items, out);
}
