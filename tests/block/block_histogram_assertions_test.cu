// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define STRATA_DEBUG 1
#include <strata/block/block_histogram.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include "support/expect_assertion.cuh"
#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using strata_test::expect_assertion;

template <strata::BlockHistogramAlgorithm Algorithm, class T>
STRATA_KERNEL void count(long long last_sample) {
  using histogram = strata::BlockHistogram<T, 64, 2, 20, Algorithm>;
  STRATA_SHARED(counters, unsigned[20]);
  T items[2] = {T{0}, static_cast<T>(threadIdx.x == 63 ? last_sample : 19)};
  histogram().Histogram(items, counters);
}

template <strata::BlockHistogramAlgorithm Algorithm>
void test_samples() {
  const auto bytes = [](long long sample) {
    return strata::launch({"count", 1, 64}, count<Algorithm, signed char>, sample);
  };
  const auto words = [](long long sample) {
    return strata::launch({"count", 1, 64}, count<Algorithm, strata_test::int128>, sample);
  };
  EXPECT_CUDA_SUCCESS(bytes(0));
  EXPECT_CUDA_SUCCESS(bytes(19));
  EXPECT_CUDA_SUCCESS(words(19));
  expect_assertion([&] { return bytes(20); }, "BlockHistogram: sample 20 of item 1 is not in 0 .. 19");
  expect_assertion([&] { return bytes(-1); }, "BlockHistogram: sample -1 of item 1 is not in 0 .. 19");
  // Truncated to 8 or to 32 bits, these samples would be valid bins.
  expect_assertion([&] { return words(0x105); }, "BlockHistogram: sample 261 of item 1 is not in 0 .. 19");
  expect_assertion([&] { return words(0x100000003); }, "BlockHistogram: sample 4294967299 of item 1 is not in 0 .. 19");
  expect_assertion([&] { return words(-1); }, "BlockHistogram: sample -1 of item 1 is not in 0 .. 19");
}

TEST(block_histogram_sort, debug_builds_refuse_samples_that_are_not_bins) { test_samples<strata::BLOCK_HISTO_SORT>(); }
TEST(block_histogram_atomic, debug_builds_refuse_samples_that_are_not_bins) {
  test_samples<strata::BLOCK_HISTO_ATOMIC>();
}

TEST(block_histogram, debug_builds_refuse_blocks_of_another_shape) {
  expect_assertion(
      [] {
        return strata::launch({"count", 1, 32}, count<strata::BLOCK_HISTO_ATOMIC, int>, 0ll);
      },
      "BlockHistogram was instantiated for blocks of 64 x 1 x 1 threads");
}

}  // namespace
