// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceAdjacentDifference: differences of neighbours to the left and to the right, copied and in place.
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/iterator/discard_output_iterator.cuh>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "device/device_call.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_adjacent_difference_test {

using namespace device_test;
using strata::DeviceAdjacentDifference;
using strata_test::struct12;
using strata_test::struct16;
using struct32 = strata_test::words<4, std::uint64_t>;

/// An operator that is not commutative and changes most bits, so that items in wrong places are noticed.
struct mix {
  template <std::size_t Count, class Word>
  STRATA_HD strata_test::words<Count, Word> operator()(strata_test::words<Count, Word>& a,
                                                       strata_test::words<Count, Word>& b) const {
    strata_test::words<Count, Word> result{};
    for (std::size_t i = 0; i < Count; ++i) result.word[i] = static_cast<Word>(3 * a.word[i] - b.word[i]);
    return result;
  }
  template <class T>
  STRATA_HD T operator()(T& a, T& b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(3 * static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
    } else {
      return 3 * a - b;
    }
  }
};

template <class Result, class T, class Op>
std::vector<Result> left_of(std::vector<T> items, Op op) {
  std::vector<Result> results;
  for (std::size_t i = 0; i < items.size(); ++i) {
    results.push_back(
        static_cast<Result>(i == 0 ? static_cast<Result>(items[0]) : static_cast<Result>(op(items[i], items[i - 1]))));
  }
  return results;
}
template <class Result, class T, class Op>
std::vector<Result> right_of(std::vector<T> items, Op op) {
  std::vector<Result> results;
  for (std::size_t i = 0; i < items.size(); ++i) {
    results.push_back(i + 1 == items.size() ? static_cast<Result>(items[i])
                                            : static_cast<Result>(op(items[i], items[i + 1])));
  }
  return results;
}

template <class T>
std::vector<T> items_of_any_bits(std::size_t count) {
  std::mt19937_64 bits = strata_test::random_bits(count);
  std::vector<std::uint64_t> words(count * sizeof(T) / 8 + 1);
  for (std::uint64_t& word : words) word = bits();
  std::vector<T> items(count);
  if (count > 0) std::memcpy(static_cast<void*>(items.data()), words.data(), count * sizeof(T));
  return items;
}

/// Number of items of a tile whose threads have `groups` groups of up to 16 bytes.
constexpr strata::tile_tuning tuning = strata::tile_policy_hub::Policy800::tuning;
template <class T>
constexpr std::size_t items_of(std::size_t groups) {
  const std::size_t width = sizeof(T) > 16 ? 1 : 16 / sizeof(T), most = tuning.bytes_in_flight / (width * sizeof(T));
  return tuning.block_threads * width * std::min(groups, most);
}
template <class T>
constexpr std::size_t tile = items_of<T>(tuning.groups);
template <class T>
constexpr std::size_t tile_in_place = items_of<T>(tuning.in_place_groups);

template <class T>
std::vector<std::size_t> lengths() {
  std::vector<std::size_t> all =
      strata_test::boundary_sizes({2, 16, 32, 33, 512, tile<T>, 2 * tile<T>, tile_in_place<T>, 2 * tile_in_place<T>});
  all.push_back(5 * tile<T> + 77);
  if (!is_small()) all.push_back(200 * tile_in_place<T> + 1);  // neighbours of more tiles than a block has threads
  return all;
}

/// Expects `expected` from item `shift` of `out` on, and all other items as before.
template <class T>
void expect_written(const std::vector<T>& expected, const device_vector<T>& out, std::size_t shift,
                    const std::vector<T>& before) {
  out.expect_guards_intact();
  const std::vector<T> all = out.to_host();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_result = i >= shift && i - shift < expected.size();
    ASSERT_EQ(is_result ? expected[i - shift] : before[i], all[i]) << "item " << i;
  }
}

template <class T, class Op>
void expect_differences(std::size_t size, std::size_t in_shift, std::size_t out_shift, Op op) {
  SCOPED_TRACE(testing::Message() << size << " items of " << sizeof(T) << " bytes from " << in_shift << " on to "
                                  << out_shift << " on");
  const std::vector<T> all = items_of_any_bits<T>(size + in_shift + 1);
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(in_shift);
  const std::vector<T> items(begin, begin + static_cast<std::ptrdiff_t>(size));
  const device_vector<T> in(all);
  device_vector<T> out(size + out_shift + 1);
  const T* const from = in.data() + in_shift;
  const std::vector<T> poison = out.to_host();
  const auto n = static_cast<int>(size);

  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceAdjacentDifference::SubtractLeftCopy(storage..., from, out.data() + out_shift, n, op);
  }));
  ASSERT_NO_FATAL_FAILURE(expect_written(left_of<T>(items, op), out, out_shift, poison));
  out.assign(poison);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceAdjacentDifference::SubtractRightCopy(storage..., from, out.data() + out_shift, n, op);
  }));
  ASSERT_NO_FATAL_FAILURE(expect_written(right_of<T>(items, op), out, out_shift, poison));

  device_vector<T> data(all);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceAdjacentDifference::SubtractLeft(storage..., data.data() + in_shift, n, op);
  }));
  ASSERT_NO_FATAL_FAILURE(expect_written(left_of<T>(items, op), data, in_shift, all));
  data.assign(all);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceAdjacentDifference::SubtractRight(storage..., data.data() + in_shift, n, op);
  }));
  ASSERT_NO_FATAL_FAILURE(expect_written(right_of<T>(items, op), data, in_shift, all));
}

template <class T>
class DeviceAdjacentDifferenceOf : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using item_types = testing::Types<std::uint8_t, int, struct16, struct12>;
#else
using item_types =
    testing::Types<std::uint8_t, std::int16_t, int, std::uint64_t, struct16, strata_test::bytes3, struct12, struct32>;
#endif
TYPED_TEST_SUITE(DeviceAdjacentDifferenceOf, item_types);

TYPED_TEST(DeviceAdjacentDifferenceOf, lengths_around_tiles) {
  for (const std::size_t size : lengths<TypeParam>()) {
    ASSERT_NO_FATAL_FAILURE(expect_differences<TypeParam>(size, 0, 0, mix{}));
  }
}

TYPED_TEST(DeviceAdjacentDifferenceOf, arrays_that_begin_anywhere) {
  for (const std::size_t shift : sizes{1, 3, 15}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{14}, std::size_t{40},
                                   tile<TypeParam> - shift, 2 * tile<TypeParam> - 1, 2 * tile<TypeParam> + 17}) {
      ASSERT_NO_FATAL_FAILURE(expect_differences<TypeParam>(size, shift, 0, mix{}));
      if (is_small() && size > tile<TypeParam>) continue;
      ASSERT_NO_FATAL_FAILURE(expect_differences<TypeParam>(size, 0, shift, mix{}));
      ASSERT_NO_FATAL_FAILURE(expect_differences<TypeParam>(size, shift, shift, mix{}));
    }
  }
}

TEST(device_adjacent_difference, without_an_operator_it_subtracts) {
  const std::vector<int> items = random_integers<int>(5000, -1000, 1000);
  const auto minus = [](int a, int b) { return a - b; };
  const device_vector<int> in(items);
  device_vector<int> out(items.size());
  ASSERT_CUDA_SUCCESS(
      in_one_phase([&] { return DeviceAdjacentDifference::SubtractLeftCopy(in.data(), out.data(), items.size()); }));
  EXPECT_EQ(left_of<int>(items, minus), out.to_host());
  ASSERT_CUDA_SUCCESS(in_one_phase(
      [&] { return DeviceAdjacentDifference::SubtractRightCopy(in.data(), out.data(), std::uint16_t{5000}); }));
  EXPECT_EQ(right_of<int>(items, minus), out.to_host());
  out.assign(items);
  ASSERT_CUDA_SUCCESS(in_one_phase([&] { return DeviceAdjacentDifference::SubtractLeft(out.data(), 5000ll); }));
  EXPECT_EQ(left_of<int>(items, minus), out.to_host());
  out.assign(items);
  ASSERT_CUDA_SUCCESS(in_one_phase([&] { return DeviceAdjacentDifference::SubtractRight(out.data(), 5000u); }));
  EXPECT_EQ(right_of<int>(items, minus), out.to_host());
}

// ------------------------------------------------------------------ iterators and types

// The structs are aligned to less than their size, so no item begins where 16 bytes can be accessed at once.
TEST(device_adjacent_difference, structs_at_any_address_of_theirs) {
  const std::vector<std::uint32_t> words = random_integers<std::uint32_t>(4 * 1000 + 1, 0, 1000000);
  device_vector<std::uint32_t> memory(words), results(words.size());
  const auto* const in = reinterpret_cast<const struct16*>(memory.data());
  auto* const out = reinterpret_cast<struct16*>(results.data() + 1);
  using problem = strata::detail::difference_problem<true, false, const struct16*, struct16*, mix>;
  using tiles = strata::detail::tiles_of<problem, struct16*, const struct16*>;
  EXPECT_FALSE(tiles::cut<strata::tile_policy_hub::MaxPolicy>(1000, out, in).is_vectorized);
  std::vector<struct16> items(1000), written(1000);
  std::memcpy(items.data(), words.data(), 16000);
  ASSERT_CUDA_SUCCESS(in_two_phases(
      [&](auto&&... storage) { return DeviceAdjacentDifference::SubtractLeftCopy(storage..., in, out, 1000, mix{}); }));
  const std::vector<std::uint32_t> all = results.to_host();
  std::memcpy(written.data(), &all[1], 16000);
  EXPECT_EQ(left_of<struct16>(items, mix{}), written);
}

struct distance {
  STRATA_HD double operator()(std::uint8_t a, std::uint8_t b) const { return a < b ? b - a + 0.5 : a - b + 0.25; }
};

TEST(device_adjacent_difference, results_of_another_type) {
  const std::vector<std::uint8_t> items = random_integers<std::uint8_t>(3 * tile<double> + 5, 0, 255);
  const device_vector<std::uint8_t> in(items);
  EXPECT_EQ(left_of<double>(items, distance{}), results_of<double>(3 * tile<double> + 5, [&](double* out, auto&&... s) {
              return DeviceAdjacentDifference::SubtractLeftCopy(s..., in.data(), out, items.size(), distance{});
            }));
  EXPECT_EQ(right_of<std::int16_t>(items, distance{}),
            results_of<std::int16_t>(3 * tile<double> + 5, [&](std::int16_t* out, auto&&... s) {
              return DeviceAdjacentDifference::SubtractRightCopy(s..., in.data(), out, items.size(), distance{});
            }));
}

struct labelled {
  std::uint32_t label, rest[3];
  STRATA_HD operator std::uint32_t() const { return label; }
};
struct label_distance {
  STRATA_HD std::uint32_t operator()(const labelled& a, const labelled& b) const { return a.label - 2 * b.label; }
};

// An item of 16 bytes is a group of its own.
TEST(device_adjacent_difference, small_results_of_large_items_begin_anywhere) {
  const std::vector<labelled> items = items_of_any_bits<labelled>(1003);
  const device_vector<labelled> in(items);
  for (std::size_t shift = 0; shift <= 4; ++shift) {
    SCOPED_TRACE(testing::Message() << "results begin at " << shift);
    device_vector<std::uint32_t> out(items.size() + 5);
    const std::vector<std::uint32_t> poison = out.to_host();
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceAdjacentDifference::SubtractLeftCopy(storage..., in.data(), out.data() + shift, items.size(),
                                                        label_distance{});
    }));
    expect_written(left_of<std::uint32_t>(items, label_distance{}), out, shift, poison);
  }
}

struct square {
  STRATA_HD std::int64_t operator()(std::int64_t x) const { return x * x; }
};

TEST(device_adjacent_difference, iterators_that_are_not_pointers) {
  constexpr std::int64_t n = 10007;
  std::vector<std::int64_t> squares;
  for (std::int64_t i = 0; i < n; ++i) squares.push_back(i * i);
  const auto in = transforming<counting<std::int64_t>, square>(counting<std::int64_t>(0), square{});
  const auto minus = [](std::int64_t a, std::int64_t b) { return a - b; };
  EXPECT_EQ(left_of<std::int64_t>(squares, minus), results_of<std::int64_t>(n, [&](std::int64_t* out, auto&&... s) {
              return DeviceAdjacentDifference::SubtractLeftCopy(s..., in, out, n);
            }));

  // In place, with every other item of an array.
  std::vector<std::int64_t> sparse(2 * n, 7);
  for (std::size_t i = 0; i < squares.size(); ++i) sparse[2 * i] = squares[i];
  device_vector<std::int64_t> data(sparse);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceAdjacentDifference::SubtractRight(storage..., strided<std::int64_t>(data.data(), 2), n);
  }));
  const std::vector<std::int64_t> expected = right_of<std::int64_t>(squares, minus);
  for (std::size_t i = 0; i < squares.size(); ++i) sparse[2 * i] = expected[i];
  EXPECT_EQ(sparse, data.to_host());

  const device_vector<std::int64_t> items(squares);
  device_vector<std::int64_t> twice(n);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceAdjacentDifference::SubtractLeftCopy(storage..., by_proxies<std::int64_t>(items.data()),
                                                      doubling_output<std::int64_t>(twice.data()), n);
  }));
  std::vector<std::int64_t> doubled = left_of<std::int64_t>(squares, minus);
  for (std::int64_t& x : doubled) x *= 2;
  EXPECT_EQ(doubled, twice.to_host());
}

// ------------------------------------------------------------------ execution

TEST(device_adjacent_difference, graphs_are_replayed_with_other_items) {
  const std::size_t size = 3 * tile<int> + 11;
  device_vector<int> in(size), out(size), data(size);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(DeviceAdjacentDifference::SubtractLeft(nullptr, bytes, data.data(), size));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) {
    const cudaError_t status = DeviceAdjacentDifference::SubtractRightCopy(storage.data(), bytes, in.data(), out.data(),
                                                                           size, strata::Difference{}, on);
    if (status != cudaSuccess) return status;
    return DeviceAdjacentDifference::SubtractLeft(storage.data(), bytes, data.data(), size, mix{}, on);
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(3u, recorded.nodes());
  const stream on;
  for (unsigned run = 0; run < 2; ++run) {
    const std::vector<int> items = random_integers<int>(size, -1000, 1000, run);
    in.assign(items);
    data.assign(items);
    storage.fill(contents::random);
    recorded.replay(on);
    on.synchronize();
    EXPECT_EQ(right_of<int>(items, strata::Difference{}), out.to_host());
    EXPECT_EQ(left_of<int>(items, mix{}), data.to_host());
  }
}

TEST(device_adjacent_difference, calls_follow_each_other_without_a_wait) {
  const std::size_t size = 20 * tile<std::uint64_t> + 1;
  std::vector<std::uint64_t> items = items_of_any_bits<std::uint64_t>(size);
  device_vector<std::uint64_t> data(items);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(DeviceAdjacentDifference::SubtractLeft(nullptr, bytes, data.data(), size));
  const scratch storage(bytes, 1);
  for (int run = 0; run < 3; ++run) {
    ASSERT_CUDA_SUCCESS(DeviceAdjacentDifference::SubtractLeft(storage.data(), bytes, data.data(), size, mix{}));
    ASSERT_CUDA_SUCCESS(DeviceAdjacentDifference::SubtractRight(storage.data(), bytes, data.data(), size, mix{}));
    items = right_of<std::uint64_t>(left_of<std::uint64_t>(items, mix{}), mix{});
  }
  EXPECT_EQ(items, data.to_host());
}

TEST(device_adjacent_difference, copies_need_no_storage_and_one_launch) {
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(DeviceAdjacentDifference::SubtractLeftCopy(nullptr, bytes, static_cast<int*>(nullptr),
                                                                 static_cast<int*>(nullptr), std::int64_t{1} << 40));
  EXPECT_LE(bytes, 256u);
  device_vector<int> data(std::vector<int>(tile<int>, 1));
  const device_vector<int> in(std::vector<int>(4 * tile<int>, 1));
  device_vector<int> out(4 * tile<int>);
  ASSERT_CUDA_SUCCESS(DeviceAdjacentDifference::SubtractLeft(nullptr, bytes, data.data(), tile<int>));
  const scratch storage(bytes);
  const graph copy([&](cudaStream_t on) {
    return DeviceAdjacentDifference::SubtractLeftCopy(storage.data(), bytes, in.data(), out.data(), 4 * tile<int>,
                                                      strata::Difference{}, on);
  });
  EXPECT_EQ(1u, copy.nodes());
  const graph one_tile([&](cudaStream_t on) {
    return DeviceAdjacentDifference::SubtractLeft(storage.data(), bytes, data.data(), tile<int>, strata::Difference{},
                                                  on);
  });
  EXPECT_EQ(1u, one_tile.nodes());
}

TEST(device_adjacent_difference, an_output_that_overlaps_the_input_is_refused) {
  device_vector<int> data(std::vector<int>(100, 1));
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(DeviceAdjacentDifference::SubtractLeftCopy(nullptr, bytes, data.data(), data.data(), 50));
  const scratch storage(bytes);
  for (const int offset : {0, 1, 49}) {
    EXPECT_EQ(cudaErrorInvalidValue,
              DeviceAdjacentDifference::SubtractLeftCopy(storage.data(), bytes, data.data(), data.data() + offset, 50));
    EXPECT_EQ(cudaErrorInvalidValue, DeviceAdjacentDifference::SubtractRightCopy(
                                         storage.data(), bytes, data.data() + offset, data.data(), 50));
  }
  EXPECT_CUDA_SUCCESS(
      DeviceAdjacentDifference::SubtractRightCopy(storage.data(), bytes, data.data() + 50, data.data(), 50));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
}

}  // namespace device_adjacent_difference_test
