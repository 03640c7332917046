// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Barriers of some warps of a block, and accesses that caches are told to forget.
#include <strata/core/launcher.cuh>
#include <strata/core/platform_streaming.cuh>
#include <strata/core/platform_thread_groups.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "support/test_support.cuh"

namespace {

using namespace strata_test;
namespace platform = strata::platform;

constexpr unsigned group_threads = 64;
constexpr unsigned groups = 3;

/// Each group goes round as often as its number says, and sums what all its threads have written.
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
  ASSERT_CUDA_SUCCESS(strata::launch({"sum_in_groups", 1, groups * group_threads}, sum_in_groups,
                                     sums.data()));
  const std::vector<unsigned> out = sums.to_host();
  for (unsigned thread = 0; thread < groups * group_threads; ++thread) {
    const unsigned group = thread / group_threads;
    unsigned expected = 0;
    for (unsigned i = 0; i < group_threads; ++i) expected += group * group_threads + i;
    expected *= (group + 1) * (group + 2) / 2;
    EXPECT_EQ(expected, out[thread]) << thread;
  }
}

struct alignas(8) pair_of_words {
  unsigned first, second;
};
struct three_bytes {
  unsigned char bytes[3];
};

template <class T>
STRATA_KERNEL void copy_once(const T* in, T* out) {
  platform::store_once(out + threadIdx.x, platform::load_once(in + threadIdx.x));
}

template <class T>
void check_copy() {
  std::vector<T> values(64);
  auto* const bytes = reinterpret_cast<unsigned char*>(values.data());
  for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) {
    bytes[i] = static_cast<unsigned char>(i * 37 + 11);
  }
  const device_vector<T> in(values);
  device_vector<T> out(values.size());
  ASSERT_CUDA_SUCCESS(
      strata::launch({"copy_once", 1, 64}, copy_once<T>, in.data(), out.data()));
  const std::vector<T> found = out.to_host();
  EXPECT_EQ(0, std::memcmp(values.data(), found.data(), values.size() * sizeof(T)));
}

TEST(platform_streaming, copies_words_and_what_is_none) {
  check_copy<unsigned char>();
  check_copy<three_bytes>();
  check_copy<unsigned>();
  check_copy<float>();
  check_copy<unsigned long long>();
  check_copy<pair_of_words>();
}

}  // namespace
