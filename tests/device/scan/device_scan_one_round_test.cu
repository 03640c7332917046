// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scans with one tile for each block. Blocks may start in any order, even one after the other, because a block that has
// waited long for the aggregate of a tile reduces that tile itself. Results are also right in place, and have the same
// bits under every schedule.
#include <strata/core/chained_policy.hpp>
#include <strata/device/device_scan.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "device/schedules.cuh"
#include "support/test_support.cuh"

// This namespace has a name, because nvcc warns of unused members in an unnamed one.
namespace device_test {

/// Tiles of one shape, one for each block, at any number of items.
template <int Threads, int Items, strata::BlockLoadAlgorithm Load, strata::BlockStoreAlgorithm Store>
struct one_round_hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::scan_tile_tuning small_tile{Threads, Items, Load, Store, 1};
    static constexpr strata::scan_tile_tuning large_tile = small_tile;
    static constexpr strata::scan_pipeline_tuning pipeline{32, 1, 3, 1, 1, 2};
    static constexpr int pipeline_above = strata::no_pipeline;
  };
  using MaxPolicy = Policy;
};

}  // namespace device_test

namespace {

using namespace device_test;

template <int Threads, int Items>
using vectorized = one_round_hub<Threads, Items, strata::BLOCK_LOAD_VECTORIZE, strata::BLOCK_STORE_VECTORIZE>;
template <int Threads, int Items>
using transposed = one_round_hub<Threads, Items, strata::BLOCK_LOAD_WARP_TRANSPOSE, strata::BLOCK_STORE_WARP_TRANSPOSE>;

/// Number of schedules in each test.
std::size_t schedules_of_shape() { return if_small<std::size_t>(60, 1000); }

/// Calls `issue(i)` for each i below `schedules_of_shape()`. On the host back end, each call has another schedule. On a
/// GPU, schedules vary only by chance.
template <class Issue>
void under_many_schedules(const Issue& issue) {
#if STRATA_HOST_SIMT
  const configuration_guard guard;
#endif
  for (std::size_t i = 0; i < schedules_of_shape(); ++i) {
#if STRATA_HOST_SIMT
    strata::simt::configuration& config = strata::simt::config();
    config.seed = i;
    config.order = orders[i % 3];
    config.resident_blocks = static_cast<unsigned>(1 + i / 3 % 6);
    config.preemption = i % 4 == 3 ? 100 : 0;
#endif
    issue(i);
    if (testing::Test::HasFatalFailure()) return;
  }
}

template <class T, bool IsInclusive, class Hub>
cudaError_t scan(void* storage, std::size_t& bytes, const T* in, T* out, std::size_t n, cudaStream_t on = nullptr) {
  if constexpr (IsInclusive) {
    return strata::TunedDeviceScan<Hub>::InclusiveSum(storage, bytes, in, out, n, on);
  } else {
    return strata::TunedDeviceScan<Hub>::ExclusiveSum(storage, bytes, in, out, n, on);
  }
}

/// A value that travels between blocks in two tagged words.
struct two_sums {
  double sum, sum_of_halves;
  STRATA_HD friend two_sums operator+(const two_sums& a, const two_sums& b) {
    return {a.sum + b.sum, a.sum_of_halves + b.sum_of_halves};
  }
};

template <class T>
T item_of(double x) {
  return static_cast<T>(x);
}
template <>
two_sums item_of<two_sums>(double x) {
  return {x, x / 2};
}
template <class T>
double number_of(const T& item) {
  return static_cast<double>(item);
}
double number_of(const two_sums& item) { return item.sum_of_halves * 2; }

/// Numbers whose sums differ in their last bits when they are added in another order.
template <class T>
std::vector<T> items_of(std::size_t n) {
  std::vector<T> items(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = static_cast<std::uint32_t>(i * 2654435761u);
    items[i] = item_of<T>(static_cast<std::int32_t>((bits ^ (bits >> 15)) * 0x846ca68bu) / 1000.0);
  }
  return items;
}

/// Expects the same bits under every schedule, in place or not. They must be those of a sequential scan, apart from
/// rounding.
template <class T, bool IsInclusive, class Hub>
void expect_the_same_bits() {
  constexpr strata::scan_tile_tuning tile = Hub::MaxPolicy::small_tile;
  // Five tiles, and a part of one.
  const std::size_t n = static_cast<std::size_t>(tile.block_threads * tile.items_per_thread) * 5 + 77;
  const std::vector<T> items = items_of<T>(n);
  const device_vector<T> in(items);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS((scan<T, IsInclusive, Hub>(nullptr, bytes, nullptr, nullptr, n)));
  const scratch storage(bytes);
  std::vector<T> first;
  under_many_schedules([&](std::size_t i) {
    const bool in_place = i % 2 == 1;
    device_vector<T> out(items);
    ASSERT_CUDA_SUCCESS(
        (scan<T, IsInclusive, Hub>(storage.data(), bytes, in_place ? out.data() : in.data(), out.data(), n)));
    const std::vector<T> sums = out.to_host();
    if (i == 0) first = sums;
    ASSERT_EQ(0, std::memcmp(first.data(), sums.data(), n * sizeof(T)))
        << (in_place ? "in place, " : "") << "schedule " << i;
  });
  if (testing::Test::HasFatalFailure()) return;
  double sum = 0, magnitude = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double before = sum;
    sum += number_of(items[i]);
    magnitude = std::max(magnitude, std::abs(sum));
    ASSERT_NEAR(IsInclusive ? sum : before, number_of(first[i]), 1e-5 * magnitude) << i;
  }
}

// All replays of a graph have the same epoch. Sums and claims of one replay must not be taken for those of the next.
TEST(device_scan_one_round, graphs_in_place_may_be_replayed_under_any_schedule) {
  using hub = vectorized<128, 4>;
  constexpr std::size_t n = 5 * 512 + 77;
  device_vector<std::int32_t> data(n);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS((scan<std::int32_t, true, hub>(nullptr, bytes, nullptr, nullptr, n)));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) {
    return scan<std::int32_t, true, hub>(storage.data(), bytes, data.data(), data.data(), n, on);
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream on;
  under_many_schedules([&](std::size_t i) {
    std::vector<std::int32_t> items = random_integers<std::int32_t>(n, -1000, 1000, i);
    data.assign(items);
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    std::partial_sum(items.begin(), items.end(), items.begin());
    ASSERT_TRUE(items == data.to_host()) << "schedule " << i;
  });
}

// Blocks of one warp, of a few warps, whose sums are added one by one, and of many warps, whose sums are scanned.
TEST(device_scan_one_round, blocks_of_one_warp_inclusive) { expect_the_same_bits<float, true, vectorized<32, 4>>(); }
TEST(device_scan_one_round, blocks_of_one_warp_exclusive) { expect_the_same_bits<float, false, vectorized<32, 4>>(); }
TEST(device_scan_one_round, vectorized_inclusive) { expect_the_same_bits<float, true, vectorized<128, 4>>(); }
TEST(device_scan_one_round, vectorized_exclusive) { expect_the_same_bits<float, false, vectorized<128, 4>>(); }
TEST(device_scan_one_round, vectorized_words) { expect_the_same_bits<std::int32_t, true, vectorized<128, 4>>(); }
TEST(device_scan_one_round, many_warps_inclusive) { expect_the_same_bits<float, true, vectorized<384, 2>>(); }
TEST(device_scan_one_round, many_warps_exclusive) { expect_the_same_bits<float, false, vectorized<512, 1>>(); }
TEST(device_scan_one_round, transposed_inclusive) { expect_the_same_bits<float, true, transposed<64, 7>>(); }
TEST(device_scan_one_round, transposed_exclusive) { expect_the_same_bits<float, false, transposed<64, 7>>(); }
TEST(device_scan_one_round, aggregates_of_two_words) { expect_the_same_bits<two_sums, true, transposed<64, 3>>(); }

}  // namespace
