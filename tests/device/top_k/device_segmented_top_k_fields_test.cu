// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedTopK of structs, whose fields a decomposer returns, selects what a stable sort by these fields
// selects.
#include <strata/iterator/transform_input_iterator.cuh>

#include <numeric>
#include <tuple>

#include "device/top_k/segmented_top_k_cases.cuh"

namespace device_segmented_top_k_fields_test {

using namespace segmented_top_k_test;

/// The name is not compared: it shows which of several equal players was selected.
struct player {
  float score;
  std::uint32_t name;
  std::int16_t level;
};
STRATA_HD player player_of(std::uint64_t bits, std::uint32_t name) {
  const auto level = static_cast<std::int16_t>(bits % 5) - 2;
  const float score = bits % 7 == 0 ? -0.0f : bits % 7 == 1 ? 0.0f : static_cast<float>(bits / 7 % 9) - 4.0f;
  return {score, name, static_cast<std::int16_t>(level)};
}

/// 48 bits: by level, then by score.
struct by_level {
  STRATA_HD strata::RadixFields<std::int16_t&, float&> operator()(player& p) const { return {p.level, p.score}; }
  static auto fields(const player& p) { return std::make_tuple(p.level, p.score); }
};
/// 32 bits; all players of one score are equal.
struct by_score {
  STRATA_HD strata::RadixFields<float&> operator()(player& p) const { return {p.score}; }
  static auto fields(const player& p) { return std::make_tuple(p.score); }
};

/// 16 bytes, of which `by_both` compares 96 bits, and `by_all` 128.
struct place_of_two {
  std::uint64_t high;
  std::int32_t low;
  std::uint32_t name;
};
struct by_both {
  STRATA_HD strata::RadixFields<std::uint64_t&, std::int32_t&> operator()(place_of_two& p) const {
    return {p.high, p.low};
  }
  static auto fields(const place_of_two& p) { return std::make_tuple(p.high, p.low); }
};
/// All 128 bits.
struct by_all {
  STRATA_HD strata::RadixFields<std::uint64_t&, std::int32_t&, std::uint32_t&> operator()(place_of_two& p) const {
    return {p.high, p.low, p.name};
  }
  static auto fields(const place_of_two& p) { return std::make_tuple(p.high, p.low, p.name); }
};

/// Two fields of 8 bits. The decomposer's state says which of them is compared.
struct two_bytes {
  std::uint8_t bytes[2];
};
struct by_byte {
  int which;
  STRATA_HD strata::RadixFields<std::uint8_t&> operator()(two_bytes& b) const { return {b.bytes[which]}; }
  auto fields(const two_bytes& b) const { return std::make_tuple(b.bytes[which]); }
};

template <class Key>
std::vector<Key> make_structs(std::size_t count) {
  const auto bits = random_integers<std::uint64_t>(count, 0, ~std::uint64_t{0}, 7 + count);
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = static_cast<std::uint32_t>(i);
    if constexpr (std::is_same_v<Key, player>) {
      keys[i] = player_of(bits[i], name);
    } else if constexpr (std::is_same_v<Key, two_bytes>) {
      keys[i] = {{static_cast<std::uint8_t>(bits[i] % 19), static_cast<std::uint8_t>(bits[i] >> 8)}};
    } else {
      // Some keys are equal in the highest field, some only in its lowest bits, some in both fields.
      keys[i] = {bits[i] % 3 * 0x8000000000000001u, static_cast<std::int32_t>(bits[i] >> 40) % 40 - 20, name};
    }
  }
  return keys;
}

template <bool IsMax, class Key, class Decomposer>
std::vector<std::uint32_t> items_by_fields(const Key* keys, std::size_t size, std::size_t k, bool is_sorted,
                                           const Decomposer& decomposer) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto x = decomposer.fields(keys[a]), y = decomposer.fields(keys[b]);
    return IsMax ? y < x : x < y;
  });
  order.resize(std::min(k, size));
  if (!is_sorted) std::sort(order.begin(), order.end());
  return order;
}

template <class Key>
bool are_same(const Key& a, const Key& b) {
  if constexpr (std::is_same_v<Key, player>) {
    return a.name == b.name && a.level == b.level && std::memcmp(&a.score, &b.score, sizeof(float)) == 0;
  } else {
    return std::memcmp(&a, &b, sizeof(Key)) == 0;
  }
}

/// Calls one of the twelve functions with a decomposer, for `rows` rows of `size` keys.
template <bool IsMax, bool IsSorted, form Form, class Hub = strata::default_policy_hub, class Key, class Decomposer,
          class ByOffsets = std::false_type>
void expect_rows_by_fields(const std::vector<Key>& keys, std::size_t rows, std::size_t size, std::size_t k,
                           const Decomposer& decomposer, ByOffsets by_offsets = {}) {
  SCOPED_TRACE(testing::Message() << k << " of " << rows << " rows of " << size << (by_offsets ? ", by offsets" : ""));
  using all = strata::TunedDeviceSegmentedTopK<Hub>;
  const device_vector<Key> in(keys);
  std::vector<std::uint16_t> values(keys.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i * 3);
  const device_vector<std::uint16_t> d_values(values);
  device_vector<Key> out(rows * k);
  device_vector<std::uint16_t> values_out(rows * k);
  device_vector<std::int64_t> indices(rows * k);
  std::vector<std::int64_t> offsets(rows + 1);
  for (std::size_t i = 0; i <= rows; ++i) offsets[i] = static_cast<std::int64_t>(i * size);
  const device_vector<std::int64_t> d_offsets(offsets);
  const Key* const first = in.data();
  const std::uint16_t* const v = d_values.data();
  const auto call_with = [&](const auto& segments, auto&&... s) {
    if constexpr (Form == form::keys) {
      if constexpr (IsMax && IsSorted) return all::MaxKeysSorted(s..., first, out.data(), segments, k, decomposer);
      if constexpr (IsMax && !IsSorted) return all::MaxKeys(s..., first, out.data(), segments, k, decomposer);
      if constexpr (!IsMax && IsSorted) return all::MinKeysSorted(s..., first, out.data(), segments, k, decomposer);
      if constexpr (!IsMax && !IsSorted) return all::MinKeys(s..., first, out.data(), segments, k, decomposer);
    } else if constexpr (Form == form::pairs) {
      const auto pairs = [&](auto function) {
        return function(s..., first, out.data(), v, values_out.data(), segments, k, decomposer);
      };
      if constexpr (IsMax && IsSorted) return pairs([](auto&&... a) { return all::MaxPairsSorted(a...); });
      if constexpr (IsMax && !IsSorted) return pairs([](auto&&... a) { return all::MaxPairs(a...); });
      if constexpr (!IsMax && IsSorted) return pairs([](auto&&... a) { return all::MinPairsSorted(a...); });
      if constexpr (!IsMax && !IsSorted) return pairs([](auto&&... a) { return all::MinPairs(a...); });
    } else {
      const auto arg = [&](auto function) {
        return function(s..., first, out.data(), indices.data(), segments, k, decomposer);
      };
      if constexpr (IsMax && IsSorted) return arg([](auto&&... a) { return all::ArgMaxSorted(a...); });
      if constexpr (IsMax && !IsSorted) return arg([](auto&&... a) { return all::ArgMax(a...); });
      if constexpr (!IsMax && IsSorted) return arg([](auto&&... a) { return all::ArgMinSorted(a...); });
      if constexpr (!IsMax && !IsSorted) return arg([](auto&&... a) { return all::ArgMin(a...); });
    }
  };
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    if constexpr (ByOffsets::value) {
      return call_with(strata::SegmentsByOffsets(rows, d_offsets.data(), d_offsets.data() + 1), storage...);
    } else {
      return call_with(strata::SegmentsOfSize(rows, size), storage...);
    }
  }));
  const auto found = out.to_host();
  const auto found_values = values_out.to_host();
  const auto found_indices = indices.to_host();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto expected = items_by_fields<IsMax>(keys.data() + row * size, size, k, IsSorted, decomposer);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::size_t from = row * size + expected[i], at = row * k + i;
      ASSERT_TRUE(are_same(keys[from], found[at])) << "row " << row << ", place " << i;
      if (Form == form::pairs) {
        ASSERT_EQ(values[from], found_values[at]) << "row " << row << ", place " << i;
      }
      if (Form == form::arg) {
        ASSERT_EQ(expected[i], found_indices[at]) << "row " << row << ", place " << i;
      }
    }
    for (std::size_t i = expected.size(); i < k; ++i) {
      ASSERT_TRUE(strata_test::is_poison(found[row * k + i])) << "row " << row << ", place " << i;
    }
  }
}

// Lengths for warps, for groups and for blocks.
TEST(device_segmented_top_k_fields, of_all_functions) {
  struct sizes {
    std::size_t rows, size, k;
  };
  std::vector<sizes> all = {{9, 40, 6}, {3, 200, 30}, {2, 700, 5}, {2, 900, 901}, {2, 1500, 50}};
  if (!is_small()) all.insert(all.end(), {{2, 5000, 300}, {2, 20000, 1000}});
  for (const sizes& each : all) {
    const auto [rows, size, k] = each;
    const auto keys = make_structs<player>(rows * size);
    ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<true, false, form::keys>(keys, rows, size, k, by_level{})));
    ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<false, true, form::keys>(keys, rows, size, k, by_level{})));
    ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<false, false, form::pairs>(keys, rows, size, k, by_score{})));
    ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<true, true, form::pairs>(keys, rows, size, k, by_score{})));
    ASSERT_NO_FATAL_FAILURE(
        (expect_rows_by_fields<true, true, form::arg>(keys, rows, size, k, by_level{}, std::true_type{})));
  }
  const auto keys = make_structs<player>(300);
  ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<true, true, form::keys>(keys, 3, 100, 11, by_score{})));
  ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<false, false, form::keys>(keys, 3, 100, 11, by_score{})));
  ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<true, false, form::pairs>(keys, 3, 100, 11, by_level{})));
  ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<false, true, form::pairs>(keys, 3, 100, 11, by_level{})));
  ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<true, false, form::arg>(keys, 3, 100, 11, by_score{})));
  ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<false, false, form::arg>(keys, 3, 100, 11, by_score{})));
  ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<false, true, form::arg>(keys, 3, 100, 11, by_score{})));
}

// Codes have 96 and 128 bits, more than any field.
TEST(device_segmented_top_k_fields, of_many_bits) {
  for (const std::size_t size : {std::size_t{60}, std::size_t{500}, if_small<std::size_t>(1300, 9000)}) {
    const auto keys = make_structs<place_of_two>(2 * size);
    ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<true, false, form::keys>(keys, 2, size, size / 3, by_both{})));
    ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<false, true, form::arg>(keys, 2, size, size / 3, by_all{})));
  }
}

TEST(device_segmented_top_k_fields, a_decomposer_may_have_a_state) {
  const auto keys = make_structs<two_bytes>(900);
  for (const int which : {0, 1}) {
    ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<true, true, form::keys>(keys, 3, 300, 40, by_byte{which})));
    ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<false, false, form::arg>(keys, 3, 300, 40, by_byte{which})));
  }
}

// For long segments, a sample bounds the candidates, which are collected in parts. If the sample does not bound them,
// the segment is read several times.
TEST(device_segmented_top_k_fields, of_long_segments) {
  for (const std::size_t size : {600, 3000}) {
    const auto keys = make_structs<player>(2 * size);
    for (const std::size_t k : {3, 40, 550}) {
      ASSERT_NO_FATAL_FAILURE(
          (expect_rows_by_fields<true, false, form::keys, short_tiles>(keys, 2, size, k, by_level{})));
      ASSERT_NO_FATAL_FAILURE(
          (expect_rows_by_fields<false, true, form::pairs, short_tiles>(keys, 2, size, k, by_score{})));
      ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<false, false, form::keys, short_tiles>(
          keys, 2, size, k, by_score{}, std::true_type{})));
    }
  }
}

// A block cannot sort so many results. They are sorted in temporary storage.
TEST(device_segmented_top_k_fields, of_more_results_than_a_block_sorts) {
  const auto keys = make_structs<player>(2 * 2300);
  ASSERT_NO_FATAL_FAILURE((expect_rows_by_fields<true, true, form::pairs>(keys, 2, 2300, 2100, by_level{})));
  ASSERT_NO_FATAL_FAILURE(
      (expect_rows_by_fields<false, true, form::keys>(keys, 2, 2300, 2300, by_score{}, std::true_type{})));
}

struct player_of_number {
  STRATA_HD player operator()(std::uint32_t number) const { return player_of(number * 2654435761u, number); }
};

TEST(device_segmented_top_k_fields, of_computed_keys_with_padding) {
  using numbers = counting<std::uint32_t>;
  constexpr std::size_t rows = 3, size = 20, k = 24;
  std::vector<player> keys(rows * size);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = player_of_number{}(static_cast<std::uint32_t>(i));
  device_vector<player> out(rows * k);
  device_vector<int> indices(rows * k);
  const strata::TransformInputIterator<player, player_of_number, numbers> in(numbers(0), {});
  const strata::PaddedResultRows results(size, k, player{77, 5, 3}, -1);
  ASSERT_CUDA_SUCCESS(DeviceSegmentedTopK::ArgMaxSorted(in, out.data(), indices.data(),
                                                        strata::SegmentsOfSize(rows, size), results, by_level{}));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  const auto found = out.to_host();
  const auto found_indices = indices.to_host();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto expected = items_by_fields<true>(keys.data() + row * size, size, size, true, by_level{});
    for (std::size_t i = 0; i < k; ++i) {
      ASSERT_TRUE(are_same(i < size ? keys[row * size + expected[i]] : player{77, 5, 3}, found[row * k + i])) << i;
      ASSERT_EQ(i < size ? static_cast<int>(expected[i]) : -1, found_indices[row * k + i]) << i;
    }
  }
}

/// A class that stands for a stream: get() returns it.
struct own_stream {
  cudaStream_t handle;
  cudaStream_t get() const { return handle; }
};

// The last argument may be a stream, a class that stands for one, or a decomposer. None is taken for another one.
TEST(device_segmented_top_k_fields, with_a_stream_a_class_that_is_one_and_neither) {
  constexpr std::size_t size = 60, k = 7;
  const auto keys = make_structs<player>(size);
  const auto expected = items_by_fields<false>(keys.data(), size, k, true, by_level{});
  const device_vector<player> keys_in(keys);
  device_vector<player> out(k);
  const player* const in = keys_in.data();
  const strata::SegmentsOfSize segments(1, size);
  const stream on;
  const own_stream own{on};
  const auto expect_results_of = [&](cudaError_t status) {
    ASSERT_CUDA_SUCCESS(status);
    on.synchronize();
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    const auto found = out.to_host();
    for (std::size_t i = 0; i < k; ++i) ASSERT_TRUE(are_same(keys[expected[i]], found[i])) << i;
    out.poison();
  };
  using TopK = DeviceSegmentedTopK;
  cudaStream_t const handle = on;
  expect_results_of(TopK::MinKeysSorted(in, out.data(), segments, k, by_level{}));
  expect_results_of(TopK::MinKeysSorted(in, out.data(), segments, k, by_level{}, handle));
  expect_results_of(TopK::MinKeysSorted(in, out.data(), segments, k, by_level{}, own));
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(TopK::MinKeysSorted(nullptr, bytes, in, out.data(), segments, k, by_level{}, own));
  const scratch storage(bytes, 8);
  expect_results_of(TopK::MinKeysSorted(storage.data(), bytes, in, out.data(), segments, k, by_level{}, handle));
  expect_results_of(TopK::MinKeysSorted(storage.data(), bytes, in, out.data(), segments, k, by_level{}, own));
}

TEST(device_segmented_top_k_fields, a_graph_may_be_replayed_with_other_keys) {
  constexpr std::size_t size = 60, k = 7;
  device_vector<player> in(size), out(k);
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return DeviceSegmentedTopK::MinKeysSorted(storage, bytes, static_cast<const player*>(in.data()), out.data(),
                                              strata::SegmentsOfSize(1, size), k, by_level{}, on);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes, 8);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream where;
  for (const std::size_t first : {0, 1, 100}) {
    std::vector<player> keys = make_structs<player>(first + size);
    keys.erase(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(first));
    in.assign(keys);
    out.poison();
    recorded.replay(where);
    where.synchronize();
    const auto expected = items_by_fields<false>(keys.data(), size, k, true, by_level{});
    const auto found = out.to_host();
    for (std::size_t i = 0; i < k; ++i) ASSERT_TRUE(are_same(keys[expected[i]], found[i])) << first << ", " << i;
  }
}

TEST(device_segmented_top_k_fields, refuses_what_calls_without_a_decomposer_refuse) {
  device_vector<player> out(4);
  const player* const none = nullptr;
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceSegmentedTopK::MaxKeys(none, out.data(), strata::SegmentsOfSize(2, 5), 2, by_level{}));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceSegmentedTopK::MaxKeys(static_cast<const player*>(out.data()), out.data(),
                                                                strata::SegmentsOfSize(2, 2), 2, by_level{}));
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceSegmentedTopK::MinKeysSorted(none, out.data(), strata::SegmentsOfSize(2, 5), -1, by_level{}));
}

}  // namespace device_segmented_top_k_fields_test
