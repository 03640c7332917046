// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Radix sorts by so few bits that passes rank by votes, as exchanges between ranks do.
#include <strata/core/radix_key.hpp>
#include <strata/device/device_radix_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "device/device_radix_sort_support.cuh"
#include "device/device_radix_sort_tuned.cuh"

namespace device_radix_sort_few_digits_test {

using namespace device_test;
using strata::detail::few_radix_bits;
using strata::detail::identity_decomposer;
using strata::detail::radix_scratch;

/// Tiles of 1,280 items.
using hub = radix_hub<5>;
constexpr std::size_t tile = 1280;

template <class Key, bool IsDescending, class Value = strata::NullType>
using sort = strata::detail::DispatchRadixSort<
    const Key*, std::conditional_t<std::is_same_v<Value, strata::NullType>, strata::NullType, const Value*>,
    std::conditional_t<std::is_same_v<Value, strata::NullType>, Key, Value>, std::size_t, IsDescending,
    identity_decomposer, hub, true>;

template <bool IsDescending, class Key>
void expect_keys(const std::vector<Key>& keys, int begin_bit, int end_bit) {
  SCOPED_TRACE(testing::Message() << keys.size() << " keys, bits " << begin_bit << " to " << end_bit);
  const device_vector<Key> in(keys);
  device_vector<Key> out(keys.size());
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return sort<Key, IsDescending>::Dispatch(storage, bytes, {in.data(), out.data(), nullptr}, {}, keys.size(),
                                             begin_bit, end_bit, {}, radix_scratch::in_storage, nullptr);
  }));
  expect_gathered(keys, expected_order<IsDescending>(keys, begin_bit, end_bit), out.to_host());
}

template <bool IsDescending, class Value, class Key>
void expect_pairs(const std::vector<Key>& keys, int begin_bit, int end_bit) {
  SCOPED_TRACE(testing::Message() << keys.size() << " pairs, bits " << begin_bit << " to " << end_bit);
  const std::vector<Value> values = make_values<Value>(keys.size());
  const device_vector<Key> in(keys);
  const device_vector<Value> values_in(values);
  device_vector<Key> out(keys.size());
  device_vector<Value> values_out(keys.size());
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return sort<Key, IsDescending, Value>::Dispatch(storage, bytes, {in.data(), out.data(), nullptr},
                                                    {values_in.data(), values_out.data(), nullptr}, keys.size(),
                                                    begin_bit, end_bit, {}, radix_scratch::in_storage, nullptr);
  }));
  const std::vector<std::uint32_t> order = expected_order<IsDescending>(keys, begin_bit, end_bit);
  expect_gathered(keys, order, out.to_host());
  expect_gathered(values, order, values_out.to_host());
}

// One digit more than there are classes of items is that of what lies behind the last tile.
TEST(device_radix_sort_few_digits, every_number_of_bits) {
  for (const std::size_t size : {tile - 1, tile, tile + 1, 5 * tile + 77}) {
    const auto keys = make_keys<std::uint32_t>(size, pattern::random, size);
    for (int bits = 1; bits <= few_radix_bits; ++bits) {
      expect_keys<false>(keys, 0, bits);
      expect_pairs<true, std::uint32_t>(keys, 32 - bits, 32);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// One bit more, and passes rank by counters.
TEST(device_radix_sort_few_digits, more_bits_are_sorted_too) {
  const auto keys = make_keys<std::uint16_t>(4 * tile + 9, pattern::random);
  for (const int bits : {few_radix_bits + 1, 8, 13}) {
    expect_keys<true>(keys, 3, 3 + bits);
    expect_pairs<false, std::uint64_t>(keys, 0, bits);
  }
}

TEST(device_radix_sort_few_digits, every_distribution) {
  for (const pattern how : all_patterns) {
    SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
    expect_keys<true>(make_keys<std::uint64_t>(3 * tile + 1, how), 2, 5);
    expect_pairs<false, std::uint16_t>(make_keys<std::uint8_t>(3 * tile + 1, how), 0, 3);
    expect_pairs<false, std::uint64_t>(make_keys<float>(3 * tile + 1, how), 30, 32);
  }
}

// Where most digits are in no tile, and where all tiles but one have only one digit.
TEST(device_radix_sort_few_digits, digits_that_are_missing) {
  for (const unsigned digit : {0u, 9u, 15u}) {
    std::vector<std::uint16_t> keys(if_small<std::size_t>(20, 200) * tile, static_cast<std::uint16_t>(digit));
    expect_pairs<false, std::uint32_t>(keys, 0, few_radix_bits);
    for (std::size_t i = 0; i < tile; ++i) keys[7 * tile + i] = static_cast<std::uint16_t>(i);
    expect_pairs<false, std::uint32_t>(keys, 0, few_radix_bits);
  }
}

// Other keys for each replay, over what the one before left.
TEST(device_radix_sort_few_digits, a_graph_may_be_replayed) {
  using Key = std::uint16_t;
  const std::size_t size = 6 * tile + 5;
  device_vector<Key> in(size), out(size);
  std::size_t bytes = 0;
  const auto call = [&](void* storage, cudaStream_t on) {
    return sort<Key, false>::Dispatch(storage, bytes, {in.data(), out.data(), nullptr}, {}, size, 0, 3, {},
                                      radix_scratch::in_storage, on);
  };
  ASSERT_CUDA_SUCCESS(call(nullptr, nullptr));
  const scratch storage(bytes);
  const stream on;
  graph recorded([&](cudaStream_t recorder) { return call(storage.data(), recorder); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto keys = make_keys<Key>(size, all_patterns[i], i);
    in.assign(keys);
    if (i == 2) storage.fill(contents::random);
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    expect_gathered(keys, expected_order<false>(keys, 0, 3), out.to_host());
  }
  storage.expect_guards_intact();
}

}  // namespace device_radix_sort_few_digits_test
