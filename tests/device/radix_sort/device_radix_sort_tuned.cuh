// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Radix sorts with policies for tests, whose tiles are small, so that few items make many tiles.
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/device/device_radix_sort.cuh>

#include <cstddef>
#include <vector>

#include "device/device_call.cuh"
#include "device/radix_sort/device_radix_sort_support.cuh"

namespace device_test {

/// Passes take PassItems items a thread. One block sorts up to 256 items.
template <int PassItems, int HistogramBytes = 48 << 10>
struct radix_hub {
  struct Policy750 : strata::ChainedPolicy<750, Policy750, Policy750> {
    static constexpr strata::radix_histogram_tuning histogram{256, HistogramBytes};
    static constexpr strata::radix_pass_tuning pass{256, PassItems, 1};
    static constexpr strata::radix_block_tuning small_block{256, 1};
    static constexpr strata::radix_cluster_tuning cluster{256, 1, 0};
    static constexpr strata::radix_block_tuning large_block{256, 1};
    static constexpr strata::radix_grid_tuning grid{256, 1, 1, 1, 0};
    static constexpr strata::radix_words_tuning words{256, 0};
  };
  using MaxPolicy = Policy750;
};

/// One launch sorts up to MostItems items, in tiles of up to GridItems items a thread, if the resident blocks hold
/// them.
template <int GridItems, int GridThreads = 256, int MostItems = 1 << 20>
struct radix_grid_hub {
  struct Policy750 : strata::ChainedPolicy<750, Policy750, Policy750> {
    static constexpr strata::radix_histogram_tuning histogram{256, 48 << 10};
    static constexpr strata::radix_pass_tuning pass{256, 4, 1};
    static constexpr strata::radix_block_tuning small_block{256, 1};
    static constexpr strata::radix_cluster_tuning cluster{256, 1, 0};
    static constexpr strata::radix_block_tuning large_block{256, 1};
    static constexpr strata::radix_grid_tuning grid{GridThreads, GridItems, 1, 1, MostItems};
    static constexpr strata::radix_words_tuning words{256, 0};
  };
  using MaxPolicy = Policy750;
};

/// A cluster sorts what one block, with 256 items, cannot hold.
template <int ItemsPerThread, int Blocks = 8, int Threads = 256>
struct radix_cluster_hub {
  struct Policy750 : strata::ChainedPolicy<750, Policy750, Policy750> {
    static constexpr strata::radix_histogram_tuning histogram{256, 48 << 10};
    static constexpr strata::radix_pass_tuning pass{256, 4, 1};
    static constexpr strata::radix_block_tuning small_block{256, 1};
    static constexpr strata::radix_cluster_tuning cluster{256, 1, 0};
    static constexpr strata::radix_block_tuning large_block{256, 1};
    static constexpr strata::radix_grid_tuning grid{256, 1, 1, 1, 0};
    static constexpr strata::radix_words_tuning words{256, 0};
  };
  struct Policy900 : strata::ChainedPolicy<900, Policy900, Policy750> {
    static constexpr strata::radix_histogram_tuning histogram = Policy750::histogram;
    static constexpr strata::radix_pass_tuning pass = Policy750::pass;
    static constexpr strata::radix_block_tuning small_block = Policy750::small_block;
    static constexpr strata::radix_cluster_tuning cluster{Threads, ItemsPerThread, Blocks};
    static constexpr strata::radix_block_tuning large_block = Policy750::large_block;
    static constexpr strata::radix_grid_tuning grid = Policy750::grid;
    static constexpr strata::radix_words_tuning words = Policy750::words;
  };
  using MaxPolicy = Policy900;
};

/// Keys of two bytes are counted, from the smallest number of items on that the algorithm allows.
struct radix_words_hub {
  struct Policy750 : strata::ChainedPolicy<750, Policy750, Policy750> {
    static constexpr strata::radix_histogram_tuning histogram{256, 48 << 10};
    static constexpr strata::radix_pass_tuning pass{256, 4, 1};
    static constexpr strata::radix_block_tuning small_block{256, 1};
    static constexpr strata::radix_cluster_tuning cluster{256, 1, 0};
    static constexpr strata::radix_block_tuning large_block{256, 1};
    static constexpr strata::radix_grid_tuning grid{256, 1, 1, 1, 0};
    static constexpr strata::radix_words_tuning words{256, strata::detail::counting_sort_bins + 8};
  };
  using MaxPolicy = Policy750;
};

/// A two-phase call with the tuning of `Hub`.
template <class Hub, bool IsDescending = false, class Key>
cudaError_t tuned_sort(void* storage, std::size_t& bytes, const Key* in, Key* out, std::size_t n, int begin_bit,
                       int end_bit, cudaStream_t stream = nullptr) {
  using Sort = strata::TunedDeviceRadixSort<Hub>;
  if constexpr (IsDescending) {
    return Sort::SortKeysDescending(storage, bytes, in, out, n, begin_bit, end_bit, stream);
  } else {
    return Sort::SortKeys(storage, bytes, in, out, n, begin_bit, end_bit, stream);
  }
}
template <class Hub, bool IsDescending = false, class Key, class Value>
cudaError_t tuned_sort_pairs(void* storage, std::size_t& bytes, const Key* in, Key* out, const Value* values,
                             Value* values_out, std::size_t n, int begin_bit, int end_bit,
                             cudaStream_t stream = nullptr) {
  using Sort = strata::TunedDeviceRadixSort<Hub>;
  if constexpr (IsDescending) {
    return Sort::SortPairsDescending(storage, bytes, in, out, values, values_out, n, begin_bit, end_bit, stream);
  } else {
    return Sort::SortPairs(storage, bytes, in, out, values, values_out, n, begin_bit, end_bit, stream);
  }
}

/// Sorts with the tuning of `Hub`, and compares with std::stable_sort. The input must stay untouched.
template <class Hub, bool IsDescending, class Key>
void expect_sorted(const std::vector<Key>& keys, int begin_bit, int end_bit) {
  SCOPED_TRACE(testing::Message() << keys.size() << " keys, bits " << begin_bit << " to " << end_bit);
  const device_vector<Key> in(keys);
  device_vector<Key> out(std::vector<Key>(keys.size(), key_of_bits<Key>(0x77)));
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return tuned_sort<Hub, IsDescending>(storage, bytes, in.data(), out.data(), keys.size(), begin_bit, end_bit);
  }));
  expect_gathered(keys, expected_order<IsDescending>(keys, begin_bit, end_bit), out.to_host());
  expect_gathered(keys, expected_order<false>(keys, 0, 0), in.to_host());  // untouched
}

/// Expects a stable sort of pairs.
template <class Hub, bool IsDescending, class Key, class Value>
void expect_stable_pairs(std::size_t size, pattern how) {
  SCOPED_TRACE(testing::Message() << size << " pairs, pattern " << static_cast<int>(how));
  constexpr int bits = strata::RadixTraits<Key>::bits;
  const std::vector<Key> keys = make_keys<Key>(size, how);
  const std::vector<Value> values = make_values<Value>(size);
  const device_vector<Key> in(keys);
  const device_vector<Value> values_in(values);
  device_vector<Key> out(keys);
  device_vector<Value> values_out(values);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return tuned_sort_pairs<Hub, IsDescending>(storage, bytes, in.data(), out.data(), values_in.data(),
                                               values_out.data(), size, 0, bits);
  }));
  const auto order = expected_order<IsDescending>(keys, 0, bits);
  expect_gathered(keys, order, out.to_host());
  expect_gathered(values, order, values_out.to_host());
}

}  // namespace device_test
