// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Barriers for some of the warps of a block.
#include <strata/core/launcher.cuh>
#include <strata/core/platform.cuh>

#include <gtest/gtest.h>

#include <vector>

#include "support/test_support.cuh"

namespace {

using namespace strata_test;
namespace platform = strata::platform;

constexpr unsigned group_threads = 64;
constexpr unsigned groups = 3;

/// Group g sums what all its threads have written, in g + 1 rounds, so groups pass different numbers of barriers.
STRATA_KERNEL void sum_in_groups(unsigned* sums) {
  STRATA_SHARED(values, unsigned[groups * group_threads]);
  const unsigned group = threadIdx.x / group_threads;
  unsigned sum = 0;
  for (unsigned round = 0; round <= group; ++round) {
    values[threadIdx.x] = threadIdx.x * (round + 1);
    platform::group_barrier(group + 1, group_threads);
    for (unsigned i = 0; i < group_threads; ++i) sum += values[group * group_threads + i];
    platform::group_barrier(group + 1, group_threads);
  }
  sums[threadIdx.x] = sum;
}

TEST(platform_thread_groups, wait_for_their_own_threads_only) {
  device_vector<unsigned> sums(groups * group_threads);
  ASSERT_CUDA_SUCCESS(strata::launch({"sum_in_groups", 1, groups * group_threads}, sum_in_groups, sums.data()));
  const std::vector<unsigned> out = sums.to_host();
  for (unsigned thread = 0; thread < groups * group_threads; ++thread) {
    const unsigned group = thread / group_threads;
    unsigned expected = 0;
    for (unsigned i = 0; i < group_threads; ++i) expected += group * group_threads + i;
    expected *= (group + 1) * (group + 2) / 2;
    EXPECT_EQ(expected, out[thread]) << thread;
  }
}

}  // namespace
