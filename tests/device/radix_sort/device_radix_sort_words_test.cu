// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceRadixSort of keys of two bytes by counting: it counts each key value, and writes it that many times.
#include <strata/core/radix_key.hpp>
#include <strata/device/device_radix_sort.cuh>

#if STRATA_HOST_SIMT
#include <strata/simt/half.hpp>
#else
#include <cuda_fp16.h>
#endif

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/radix_sort/device_radix_sort_support.cuh"
#include "device/radix_sort/device_radix_sort_tuned.cuh"

namespace device_radix_sort_words_test {

using namespace device_test;
using hub = radix_words_hub;
constexpr std::size_t least = hub::MaxPolicy::words.least_items;

template <bool IsDescending, class Key>
void expect_sorted(std::vector<Key> keys, std::size_t shift, int end_bit = 16) {
  SCOPED_TRACE(testing::Message() << keys.size() << " keys from item " << shift << " on");
  const device_vector<Key> in(keys);
  device_vector<Key> out(std::vector<Key>(keys.size(), key_of_bits<Key>(1)));
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return tuned_sort<hub, IsDescending>(storage, bytes, in.data() + shift, out.data() + shift, keys.size() - shift, 0,
                                         end_bit);
  }));
  const auto first = static_cast<std::ptrdiff_t>(shift);
  keys.erase(keys.begin(), keys.begin() + first);
  std::vector<Key> sorted = out.to_host();
  sorted.erase(sorted.begin(), sorted.begin() + first);
  expect_gathered(keys, expected_order<IsDescending>(keys, 0, end_bit), sorted);
}

TEST(device_radix_sort_words, keys_are_counted) {
  for (const pattern how : all_patterns) {
    SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
    const std::size_t size = how == pattern::random ? 140000 : 70001;
    expect_sorted<false>(make_keys<std::uint16_t>(size, how), 0);
    expect_sorted<true>(make_keys<std::int16_t>(size, how), 1);
  }
  expect_sorted<false>(make_keys<std::uint16_t>(least - 1, pattern::random), 0);
  expect_sorted<false>(make_keys<std::uint16_t>(least, pattern::random), 0);
  expect_sorted<false>(make_keys<std::uint16_t>(least + 1, pattern::random), 0, 11);
}

// Counters of 16 bits overflow many times. Keys k and 0x8000 + k share a 32-bit word of counters. In the first call
// they alternate, so that no warp sees one of them often enough to count it in registers. In the second call there is
// only one key.
TEST(device_radix_sort_words, counters_run_over) {
  const std::size_t size = if_small<std::size_t>(200000, 3000000);
  std::vector<std::uint16_t> keys(size);
  constexpr std::size_t words = 40;
  for (std::size_t i = 0; i < size; ++i) {
    const auto word = static_cast<std::uint16_t>(i / 3 % words);
    keys[i] = static_cast<std::uint16_t>(i % 2 == 0 ? word % 2 : 0x8000 + word % 3);
  }
  expect_sorted<false>(keys, 0);
  expect_sorted<false>(std::vector<std::uint16_t>(size, 0x8001), 0);
}

// The counters lie in the buffer that is not the input, whichever buffer that is and wherever it begins.
TEST(device_radix_sort_words, counters_lie_in_a_buffer_of_the_caller) {
  using Key = std::uint16_t;
  const auto keys = make_keys<Key>(2 * least + 1, pattern::random);
  for (const bool moves : {false, true}) {
    device_vector<Key> current(keys);
    device_vector<Key> alternate(keys.size());
    Key* const from = current.data() + 1;
    Key* const other = alternate.data() + 1;
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      using Sort = strata::detail::DispatchRadixSort<const Key*, strata::NullType, Key, std::size_t, false,
                                                     strata::detail::identity_decomposer, hub>;
      return Sort::Dispatch(storage, bytes, {from, moves ? other : from, moves ? from : other}, {}, keys.size() - 1, 0,
                            16, {}, strata::detail::radix_scratch::double_buffer, nullptr);
    }));
    std::vector<Key> sorted = (moves ? alternate : current).to_host();
    sorted.erase(sorted.begin());
    const std::vector<Key> unsorted(keys.begin() + 1, keys.end());
    expect_gathered(unsorted, expected_order<false>(unsorted, 0, 16), sorted);
  }
}

// Floats are moved, not counted: zeros of either sign are equal, and must keep their order.
TEST(device_radix_sort_words, floats_are_moved) {
  std::vector<__half> keys(least);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = key_of_bits<__half>(i % 3 == 0 ? 0x8000u : i % 3 == 1 ? 0u : i);
  }
  expect_sorted<false>(keys, 0);
}

// Each replay sorts other keys, in storage that holds what the previous replay left.
TEST(device_radix_sort_words, a_graph_may_be_replayed) {
  using Key = std::uint16_t;
  const std::size_t size = 3 * least;
  device_vector<Key> in(size), out(size);
  std::size_t bytes = 0;
  const auto call = [&](void* storage, cudaStream_t on) {
    return tuned_sort<hub>(storage, bytes, in.data(), out.data(), size, 0, 16, on);
  };
  ASSERT_CUDA_SUCCESS(call(nullptr, nullptr));
  const scratch storage(bytes);
  const stream on;
  graph recorded([&](cudaStream_t recorder) { return call(storage.data(), recorder); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(2u, recorded.nodes());
  for (std::uint64_t i = 0; i < 6; ++i) {
    const auto keys = make_keys<Key>(size, all_patterns[i], i);
    in.assign(keys);
    if (i == 3) storage.fill(contents::random);
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    expect_gathered(keys, expected_order<false>(keys, 0, 16), out.to_host());
  }
  storage.expect_guards_intact();
}

}  // namespace device_radix_sort_words_test
