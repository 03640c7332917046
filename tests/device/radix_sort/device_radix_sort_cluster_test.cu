// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceRadixSort in one cluster of blocks.
#include <strata/core/radix_key.hpp>
#include <strata/device/device_radix_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/radix_sort/device_radix_sort_support.cuh"
#include "device/radix_sort/device_radix_sort_tuned.cuh"

namespace device_radix_sort_cluster_test {

using namespace device_test;
using strata::DeviceRadixSort;

// At these sizes, the tile of a block is full, has one item, or is empty.
TEST(device_radix_sort_cluster, keys_of_any_pattern_in_tiles_of_any_size) {
  using hub = radix_cluster_hub<4>;
  for (const std::size_t size : {257u, 511u, 512u, 513u, 2047u, 2048u, 2049u, 4096u, 4097u, 8191u, 8192u}) {
    for (const pattern how : all_patterns) {
      const bool is_one_of_all = size == 257 || (!is_small() && (size == 2049 || size == 8191));
      if (!is_one_of_all && how != pattern::random && how != pattern::equal) continue;
      if (is_small() && size != 257 && size != 513 && size != 4097) continue;
      SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
      const auto keys = make_keys<std::uint32_t>(size, how);
      expect_sorted<hub, false>(keys, 0, 32);
      expect_sorted<hub, true>(keys, 0, 32);
    }
  }
}

// Sizes at the capacity of a cluster, and one item above it, where another algorithm takes over. The two policies
// differ in their numbers of blocks and threads.
TEST(device_radix_sort_cluster, up_to_as_many_as_the_policy_has_room_for) {
  for (const std::size_t size : {std::size_t{1024}, std::size_t{1025}, std::size_t{2049}}) {
    const auto keys = make_keys<double>(size, pattern::random);
    expect_sorted<radix_cluster_hub<2, 2>, false>(keys, 0, 64);
    expect_sorted<radix_cluster_hub<1, 4, 512>, true>(keys, 0, 64);
  }
}

TEST(device_radix_sort_cluster, any_bits) {
  using hub = radix_cluster_hub<2, 4>;
  const auto keys = make_keys<std::int32_t>(1500, pattern::random);
  for (int begin = 0; begin <= 32; begin += is_small() ? 6 : 1) {
    for (int end = begin; end <= 32; end += is_small() ? 9 : 3) {
      expect_sorted<hub, false>(keys, begin, end);
    }
  }
}

struct words_24 {
  std::uint64_t word[3];
};

TEST(device_radix_sort_cluster, pairs_are_stable) {
  for (const pattern how : {pattern::random, pattern::few, pattern::low_byte, pattern::equal}) {
    expect_stable_pairs<radix_cluster_hub<2>, false, std::uint16_t, std::uint32_t>(513, how);
    expect_stable_pairs<radix_cluster_hub<2>, true, std::uint16_t, std::uint32_t>(4095, how);
    expect_stable_pairs<radix_cluster_hub<2>, false, std::uint32_t, words_24>(1800, how);
  }
}

// The library's policy chooses the cluster: the smallest size is just above the capacity of the small block.
TEST(device_radix_sort_cluster, calls_of_the_library) {
  for (const std::size_t size : {1025u, 2048u, 5000u, 16384u, 16385u}) {
    SCOPED_TRACE(testing::Message() << size << " keys");
    const auto keys = make_keys<float>(size, pattern::random);
    device_vector<float> current(keys);
    device_vector<float> alternate(size);
    strata::DoubleBuffer<float> buffers(current.data(), alternate.data());
    ASSERT_CUDA_SUCCESS(in_two_phases(
        [&](void* storage, std::size_t& bytes) { return DeviceRadixSort::SortKeys(storage, bytes, buffers, size); }));
    const bool is_current = buffers.Current() == current.data();
    expect_gathered(keys, expected_order<false>(keys, 0, 32), (is_current ? current : alternate).to_host());
  }
}

// Each replay sorts other keys.
TEST(device_radix_sort_cluster, a_graph_may_be_replayed) {
  using Key = std::uint32_t;
  const std::size_t size = 3000;
  device_vector<Key> in(size), out(size);
  std::size_t bytes = 0;
  const auto call = [&](void* storage, cudaStream_t on) {
    return DeviceRadixSort::SortKeys(storage, bytes, in.data(), out.data(), size, 0, 32, on);
  };
  ASSERT_CUDA_SUCCESS(call(nullptr, nullptr));
  const scratch storage(bytes);
  const stream on;
  graph recorded([&](cudaStream_t recorder) { return call(storage.data(), recorder); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(1u, recorded.nodes());
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto keys = make_keys<Key>(size, all_patterns[i], i);
    in.assign(keys);
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    expect_gathered(keys, expected_order<false>(keys, 0, 32), out.to_host());
  }
  storage.expect_guards_intact();
}

}  // namespace device_radix_sort_cluster_test
