// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Resident launches: blocks that wait for all others reach their end, directly and in a graph, on the whole device and
// on a part of it. Each property of a kernel is queried once.
#include <strata/device/engine/launch.cuh>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "device/engine/grid_support.cuh"

namespace {

using namespace device_test;
using strata::detail::device_properties;
using strata::detail::is_replayable;
using strata::detail::kernel_property_cache;
using strata::detail::launch_resident;

/// Each block waits for all blocks of the grid. `counts[0]`: blocks that have arrived. `counts[1]`: blocks that have
/// seen all others arrive. `counts[2]`: blocks of the grid.
template <int DynamicBytes>
STRATA_KERNEL void wait_for_all(unsigned* counts, std::uint64_t schedule) {
  STRATA_DYNAMIC_SHARED(bytes);
  if (DynamicBytes > 0) bytes[threadIdx.x * (DynamicBytes / grid_block_threads)] = 1;
  if (threadIdx.x != 0) return;
  delay(schedule, 0);
  atomicAdd(counts, 1u);
  while (strata::platform::load_acquire(counts) < gridDim.x) STRATA_SPIN();
  atomicAdd(counts + 1, 1u);
  if (blockIdx.x == 0) counts[2] = gridDim.x;
}

template <int DynamicBytes>
class waiting {
 public:
  cudaError_t launch(std::size_t tiles, std::size_t max_blocks, const device_properties& device,
                     std::uint64_t schedule = 0, cudaStream_t on = nullptr) {
    static kernel_property_cache cache;
    // `launch_resident` chooses the grid and ignores this one.
    const strata::launch_configuration configuration{"wait_for_all", dim3(12345), dim3(grid_block_threads),
                                                     std::size_t{DynamicBytes}, on};
    return launch_resident(configuration, cache, device, tiles, max_blocks, wait_for_all<DynamicBytes>, counts.data(),
                           schedule);
  }
  /// Returns the number of blocks of the last launch, and expects that all of them have reached their end.
  std::size_t blocks() const {
    const std::vector<unsigned> found = counts.to_host();
    EXPECT_EQ(found[2], found[0]);
    EXPECT_EQ(found[2], found[1]);
    return found[2];
  }
  void reset() { counts.assign({0, 0, 0}); }

  device_vector<unsigned> counts{std::vector<unsigned>(3)};
};

/// The current device, limited to `multiprocessors` multiprocessors.
device_properties part_of_device(int multiprocessors) {
  device_properties device;
  EXPECT_CUDA_SUCCESS(strata::detail::current_device_properties(device));
  device.multiprocessors = std::min(device.multiprocessors, multiprocessors);
  return device;
}

template <int DynamicBytes>
void test_resident() {
  const device_properties device = part_of_device(4);
  waiting<DynamicBytes> call;
  ASSERT_CUDA_SUCCESS(call.launch(1u << 20, 1u << 20, device));
  const std::size_t resident = call.blocks();
  ASSERT_GT(resident, 0u);
  ASSERT_EQ(0u, resident % static_cast<std::size_t>(device.multiprocessors)) << "multiprocessors hold unequal numbers";
  under_grid_schedules([&](std::size_t i) {
    const std::size_t tiles = i % 4 == 0 ? resident + i % 3 - 1 : 1 + i % 11;
    const std::size_t max_blocks = i % 5 == 0 ? 1 + i % 7 : 1u << 20;
    call.reset();
    start_load(i);
    ASSERT_CUDA_SUCCESS(call.launch(tiles, max_blocks, device, mix(i)));
    ASSERT_EQ(std::min({tiles, max_blocks, resident}), call.blocks()) << tiles << " tiles";
  });
}

TEST(grid_launch, blocks_that_wait_for_all_others_end) { test_resident<0>(); }
TEST(grid_launch, with_more_shared_memory_than_a_kernel_has_without_asking) { test_resident<100 << 10>(); }

TEST(grid_launch, a_part_of_the_device_gets_a_part_of_the_blocks) {
  waiting<0> call;
  std::size_t of_one = 0;
  for (const int multiprocessors : {1, 2, 3}) {
    const device_properties part = part_of_device(multiprocessors);
    if (part.multiprocessors < multiprocessors) continue;
#if STRATA_HOST_SIMT
    const strata::simt::configuration before = strata::simt::config();
    // The occupancy functions do not know this limit.
    strata::simt::config().usable_multiprocessors = static_cast<unsigned>(multiprocessors);
#endif
    call.reset();
    ASSERT_CUDA_SUCCESS(call.launch(1u << 20, 1u << 20, part));
    if (multiprocessors == 1) of_one = call.blocks();
    EXPECT_EQ(of_one * static_cast<std::size_t>(multiprocessors), call.blocks());
#if STRATA_HOST_SIMT
    strata::simt::config() = before;
#endif
  }
}

TEST(grid_launch, a_graph_holds_as_many_blocks_as_are_resident) {
  waiting<0> call;
  graph recorded([&](cudaStream_t on) { return call.launch(1u << 20, 1u << 20, part_of_device(2), 1, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  ASSERT_EQ(1u, recorded.nodes());
  const stream on;
  std::size_t blocks = 0;
  for (int replay = 0; replay < 20; ++replay) {
    call.reset();
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    ASSERT_GT(call.blocks(), 1u);
    if (replay == 0) blocks = call.blocks();
    ASSERT_EQ(blocks, call.blocks());
  }
}

TEST(grid_launch, only_a_stream_that_captures_is_replayable) {
  const stream on;
  EXPECT_FALSE(is_replayable(on));
  EXPECT_FALSE(is_replayable(nullptr));
  bool in_capture = false;
  const graph recorded([&](cudaStream_t recorder) {
    in_capture = is_replayable(recorder);
    return cudaSuccess;
  });
  EXPECT_TRUE(in_capture);
  EXPECT_FALSE(is_replayable(on));
}

TEST(grid_launch, resident_blocks_are_those_of_the_multiprocessors_up_to_a_bound_on_each) {
  const device_properties device = part_of_device(3);
  int of_one = 0;
  ASSERT_CUDA_SUCCESS(strata::detail::query_resident_blocks(wait_for_all<0>, grid_block_threads, 0, of_one));
  static kernel_property_cache cache;
  const auto blocks_up_to = [&](int bound) {
    std::size_t blocks = 0;
    EXPECT_CUDA_SUCCESS(
        strata::detail::resident_blocks(cache, device, wait_for_all<0>, grid_block_threads, 0, blocks, bound));
    return blocks;
  };
  const auto multiprocessors = static_cast<std::size_t>(device.multiprocessors);
  EXPECT_EQ(static_cast<std::size_t>(of_one) * multiprocessors, blocks_up_to(of_one));
  EXPECT_EQ(static_cast<std::size_t>(of_one) * multiprocessors, blocks_up_to(of_one + 1));
  EXPECT_EQ(multiprocessors, blocks_up_to(1));
}

TEST(grid_launch, a_property_is_queried_once_and_errors_are_not_kept) {
  static kernel_property_cache cache;
  int value = 0, queries = 0;
  const auto fails = [&](int& result) {
    ++queries;
    result = 13;
    return cudaErrorInvalidValue;
  };
  const auto succeeds = [&](int& result) {
    ++queries;
    result = 42;
    return cudaSuccess;
  };
  EXPECT_EQ(cudaErrorInvalidValue, cache.get(value, fails));
  EXPECT_EQ(cudaErrorInvalidValue, cache.get(value, fails));
  EXPECT_EQ(2, queries);
  for (int i = 0; i < 3; ++i) {
    value = 0;
    EXPECT_EQ(cudaSuccess, cache.get(value, succeeds));
    EXPECT_EQ(42, value);
  }
  EXPECT_EQ(3, queries);
}

TEST(grid_launch, a_property_may_be_queried_by_several_threads) {
  static kernel_property_cache cache;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < host_threads(); ++t) {
    threads.emplace_back([&wrong] {
      for (int i = 0; i < 1000; ++i) {
        int value = 0;
        const cudaError_t status = cache.get(value, [](int& result) {
          result = 7;
          return cudaSuccess;
        });
        if (status != cudaSuccess || value != 7) ++wrong;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(0, wrong.load());
}

}  // namespace
