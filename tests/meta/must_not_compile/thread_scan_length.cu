// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: ThreadScan(In|Ex)clusive<Length>: there must be at least one item
#include <strata/core/operators.hpp>
#include <strata/thread/thread_scan.cuh>

STRATA_KERNEL void running_sums(const int* in, int* out) {
#if defined(STRATA_BAD)
  strata::ThreadScanInclusive<0>(in, out, strata::Sum{});
#else
  strata::ThreadScanInclusive<1>(in, out, strata::Sum{});
#endif
}
