// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check, shapes
#include <strata/core/operators.hpp>
#include <strata/device/device_find.cuh>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "device/device_call.cuh"
#include "device/schedules.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_find_test {

using namespace device_test;
using strata::DeviceFind;
using strata_test::struct12;

template <class T>
struct is_marked {
  T mark;
  STRATA_HD bool operator()(const T& item) const { return item == mark; }
};

template <class T>
T item_of(int number) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(number);
  } else {
    T item{};
    const std::uint32_t word = static_cast<std::uint32_t>(number);
    std::memcpy(static_cast<void*>(&item), &word, sizeof(T) < sizeof(word) ? sizeof(T) : sizeof(word));
    return item;
  }
}

template <class T>
class FindIfOf : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using find_types = testing::Types<std::uint8_t, int, struct12>;
#else
using find_types = testing::Types<std::uint8_t, std::int16_t, int, double, strata_test::struct16, strata_test::bytes3,
                                  struct12, strata_test::words<4, std::uint64_t>>;
#endif
TYPED_TEST_SUITE(FindIfOf, find_types);

TYPED_TEST(FindIfOf, the_first_match_is_found_wherever_it_lies) {
  using T = TypeParam;
  const is_marked<T> predicate{item_of<T>(1)};
  std::mt19937_64 bits = strata_test::random_bits();
  std::vector<std::size_t> all_sizes = boundary_sizes(if_small<std::size_t>(600, 1u << 14));
  all_sizes.push_back(if_small<std::size_t>(20011, (1u << 20) + 5));
  all_sizes.push_back(if_small<std::size_t>(70001, (1u << 22) + 77));
  for (const std::size_t size : all_sizes) {
    for (const std::size_t shift : sizes{0, 1, 3}) {
      SCOPED_TRACE(testing::Message() << size << " items, shift " << shift);
      std::vector<T> items(size + shift, item_of<T>(0));
      std::vector<std::size_t> places = {size};
      if (size > 0) places.insert(places.end(), {0, size - 1, size / 2, bits() % size, bits() % size});
      device_vector<T> in(items);
      for (const std::size_t place : places) {
        // From `place` on, all items match or only the first one. If `place` is `size`, no item matches.
        std::vector<T> marked = items;
        if (place < size) marked[shift + place] = item_of<T>(1);
        if (bits() % 2 == 0)
          std::fill(marked.begin() + static_cast<std::ptrdiff_t>(shift + place), marked.end(), item_of<T>(1));
        in.assign(marked);
        const auto found = result_of<std::uint64_t>([&](std::uint64_t* out, auto&&... storage) {
          return DeviceFind::FindIf(storage..., in.data() + shift, out, predicate, size);
        });
        ASSERT_EQ(place, found);
      }
    }
  }
}

struct is_large {
  STRATA_HD bool operator()(long long item) const { return item >= 30000; }
};

TEST(device_find, iterators_that_compute_and_outputs_of_other_types) {
  for (const int size : {0, 1, 29999, 30000, 30001, if_small(50000, 3000000)}) {
    const auto found = result_of<short>([&](short* out, auto&&... storage) {
      return DeviceFind::FindIf(storage..., counting<long long>(10), out, is_large{}, size > 32767 ? 32767 : size);
    });
    EXPECT_EQ(std::min({size, 29990, 32767}), found);
  }
  const std::size_t far = (std::size_t{1} << 33) + 5;
  const auto found = result_of<std::uint64_t>([&](std::uint64_t* out, auto&&... storage) {
    return DeviceFind::FindIf(storage..., counting<long long>(10), out, is_large{}, far);
  });
  EXPECT_EQ(29990u, found);
}

TEST(device_find, the_output_may_lie_in_the_input_and_calls_need_no_storage) {
  std::vector<int> items(9001, 7);
  items[4321] = 5;
  device_vector<int> in(items);
  ASSERT_CUDA_SUCCESS(
      in_one_phase([&] { return DeviceFind::FindIf(in.data(), in.data() + 9000, is_marked<int>{5}, in.size()); }));
  EXPECT_EQ(4321, in.to_host()[9000]);
}

TEST(device_find, a_graph_can_be_replayed_with_other_items) {
  constexpr std::size_t size = 300007;
  device_vector<int> in(std::vector<int>(size, 0));
  device_vector<int> out(1);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(DeviceFind::FindIf(nullptr, bytes, in.data(), out.data(), is_marked<int>{1}, size));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t where) {
    return DeviceFind::FindIf(storage.data(), bytes, in.data(), out.data(), is_marked<int>{1}, size, where);
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(1u, recorded.nodes());
  const stream where;
  for (const std::size_t place : sizes{299999, 5, size, 150000, size, 300006}) {
    std::vector<int> items(size, 0);
    if (place < size) items[place] = 1;
    in.assign(items);
    recorded.replay(where);
    where.synchronize();
    ASSERT_EQ(static_cast<int>(place), out.to_host()[0]);
  }
}

/// A policy with many tiles for each block.
struct small_tiles {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::find_tuning find{
        /*block_threads=*/64,       /*bytes_in_flight=*/32,
        /*most_items=*/16,          /*blocks_per_multiprocessor=*/4,
        /*min_bytes_per_block=*/64, /*single_block_bytes=*/64};
  };
  using MaxPolicy = Policy;
};

// A block that finds a match early may stop only the search of tiles behind it. Other blocks must still search earlier
// tiles.
TEST(device_find, later_matches_leave_out_no_earlier_ones) {
  const std::size_t size = if_small<std::size_t>(40001, 1000003);
  std::mt19937_64 bits = strata_test::random_bits(7);
  under_all_schedules([&](std::size_t i) {
    const std::size_t place = bits() % size;
    SCOPED_TRACE(testing::Message() << "schedule " << i << ", from " << place << " on");
    std::vector<int> items(size, 0);
    for (std::size_t k = place; k < size; k += 1 + bits() % 3000) items[k] = 1;
    const device_vector<int> in(items);
    ASSERT_EQ(place, result_of<std::uint64_t>([&](std::uint64_t* out, auto&&... storage) {
                return strata::TunedDeviceFind<small_tiles>::FindIf(storage..., in.data(), out, is_marked<int>{1},
                                                                    size);
              }));
  });
}

#if STRATA_HOST_SIMT
struct counting_predicate {
  unsigned long long* calls;
  int mark;
  STRATA_D bool operator()(int item) const {
    atomicAdd(calls, 1ull);
    return item == mark;
  }
};

TEST(device_find, a_match_in_any_part_of_many_rounds) {
  const strata_test::device_of_multiprocessors device(2);
  constexpr std::size_t size = 20011;
  const std::vector<int> items(size, 0);
  device_vector<int> in(size);
  std::mt19937_64 bits = strata_test::random_bits(9);
  for (std::size_t place = 0; place <= size; place += 1 + bits() % 300) {
    for (const std::size_t shift : sizes{0, 1}) {
      std::vector<int> marked = items;
      if (place + shift < size) marked[place + shift] = 1;
      in.assign(marked);
      ASSERT_EQ(std::min(place, size - shift), result_of<std::uint64_t>([&](std::uint64_t* out, auto&&... storage) {
                  return strata::TunedDeviceFind<small_tiles>::FindIf(storage..., in.data() + shift, out,
                                                                      is_marked<int>{1}, size - shift);
                }));
    }
  }
}

TEST(device_find, an_early_match_ends_the_search) {
  const strata_test::device_of_multiprocessors device(4);
  constexpr std::size_t size = 1u << 20;
  std::vector<int> items(size, 0);
  items[3] = 1;
  const device_vector<int> in(items);
  device_vector<unsigned long long> calls(std::vector<unsigned long long>(1, 0));
  device_vector<int> out(1);
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceFind::FindIf(in.data(), out.data(), counting_predicate{calls.data(), 1}, size);
  }));
  EXPECT_EQ(3, out.to_host()[0]);
  // Each of 8 blocks tests one tile, and perhaps a second one before it sees the match.
  constexpr strata::find_tuning tuning = strata::find_policy_hub::Policy900::find;
  constexpr unsigned long long tile = tuning.block_threads * tuning.bytes_in_flight / sizeof(int);
  EXPECT_LE(calls.to_host()[0], 2 * 8 * tile);

  // Without a match, each item is tested once, except for items in the last packs of incomplete tiles.
  calls.assign({0});
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceFind::FindIf(in.data(), out.data(), counting_predicate{calls.data(), 2}, size);
  }));
  EXPECT_EQ(static_cast<int>(size), out.to_host()[0]);
  EXPECT_LE(size, calls.to_host()[0]);
  EXPECT_GE(size + 8 * tile, calls.to_host()[0]);
}
#endif

// ------------------------------------------------------------------ bounds

struct by_number {
  template <class A, class B>
  STRATA_HD bool operator()(const A& a, const B& b) const {
    return a < b;
  }
};
struct descending {
  STRATA_HD bool operator()(int a, int b) const { return b < a; }
};

template <class Item, class Value, class Compare>
void expect_bounds(const std::vector<Item>& range, const std::vector<Value>& values, bool are_sorted, Compare compare) {
  std::vector<std::int64_t> lower, upper;
  for (const Value& value : values) {
    lower.push_back(std::lower_bound(range.begin(), range.end(), value, compare) - range.begin());
    upper.push_back(std::upper_bound(range.begin(), range.end(), value, compare) - range.begin());
  }
  const device_vector<Item> d_range(range);
  const device_vector<Value> d_values(values);
  const auto count = static_cast<std::int64_t>(values.size());
  const auto items = static_cast<int>(range.size());
  ASSERT_EQ(lower, results_of<std::int64_t>(count, [&](std::int64_t* out, auto&&... storage) {
              return DeviceFind::LowerBound(storage..., d_range.data(), range.size(), d_values.data(), count, out,
                                            compare);
            }));
  const std::vector<int> found = results_of<int>(count, [&](int* out, auto&&... storage) {
    return DeviceFind::UpperBound(storage..., d_range.data(), items, d_values.data(), static_cast<int>(count), out,
                                  compare);
  });
  ASSERT_EQ(upper, std::vector<std::int64_t>(found.begin(), found.end()));
  if (!are_sorted) return;
  ASSERT_EQ(lower, results_of<std::int64_t>(count, [&](std::int64_t* out, auto&&... storage) {
              return DeviceFind::LowerBoundSortedValues(storage..., d_range.data(), items, d_values.data(), count, out,
                                                        compare);
            }));
  ASSERT_EQ(upper, results_of<std::int64_t>(count, [&](std::int64_t* out, auto&&... storage) {
              return DeviceFind::UpperBoundSortedValues(storage..., d_range.data(), range.size(), d_values.data(),
                                                        values.size(), out, compare);
            }));
}

std::vector<int> some_numbers(std::size_t count, std::size_t kinds, std::uint64_t stream) {
  return random_integers<int>(count, 0, static_cast<long long>(kinds), stream);
}

TEST(device_bounds, all_sizes_of_ranges_and_numbers_of_values) {
  const std::vector<std::size_t> ranges = {0, 1, 2, 3, 31, 33, 255, 1024, 4097, if_small<std::size_t>(9001, 1000003)};
  const std::vector<std::size_t> counts = {
      0, 1, 2, 33, 511, 1025, if_small<std::size_t>(5000, 40000), if_small<std::size_t>(21001, 1500007)};
  std::uint64_t seed = 0;
  for (const std::size_t items : ranges) {
    for (const std::size_t count : counts) {
      for (const std::size_t kinds : {std::size_t{5}, items + 1, 4 * items + 10}) {
        SCOPED_TRACE(testing::Message() << items << " items, " << count << " values, " << kinds << " kinds");
        std::vector<int> range = some_numbers(items, kinds, ++seed);
        std::vector<int> values = some_numbers(count, kinds + 2, ++seed);
        for (int& value : values) --value;
        std::sort(range.begin(), range.end());
        ASSERT_NO_FATAL_FAILURE(expect_bounds(range, values, false, by_number{}));
        std::sort(values.begin(), values.end());
        ASSERT_NO_FATAL_FAILURE(expect_bounds(range, values, true, by_number{}));
      }
    }
  }
}

template <class T>
class BoundsOf : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using bound_types = testing::Types<std::uint8_t, float>;
#else
using bound_types = testing::Types<std::uint8_t, std::int16_t, float, double, std::int64_t>;
#endif
TYPED_TEST_SUITE(BoundsOf, bound_types);

TYPED_TEST(BoundsOf, keys_of_all_sizes_also_misaligned_ones) {
  using T = TypeParam;
  for (const std::size_t shift : sizes{0, 1, 3}) {
    std::vector<T> range = random_integers<T>(3001, 0, 100, 1), values = random_integers<T>(2001 + shift, 0, 110, 2);
    std::sort(range.begin(), range.end());
    std::sort(values.begin(), values.end());
    const device_vector<T> d_range(range), d_values(values);
    const T* const first = d_range.data() + shift;
    const int items = static_cast<int>(range.size() - shift), count = static_cast<int>(values.size() - shift);
    std::vector<int> expected;
    for (std::size_t i = shift; i < values.size(); ++i) {
      const auto begin = range.begin() + static_cast<std::ptrdiff_t>(shift);
      expected.push_back(static_cast<int>(std::upper_bound(begin, range.end(), values[i]) - begin));
    }
    const auto call = [&](auto function) {
      EXPECT_EQ(expected, results_of<int>(count, [&](int* out, auto&&... storage) {
                  return function(storage..., first, items, d_values.data() + shift, count, out);
                }));
    };
    call([](auto&&... a) { return DeviceFind::UpperBound(a..., strata::Less{}); });
    call([](auto&&... a) { return DeviceFind::UpperBoundSortedValues(a..., strata::Less{}); });
  }
}

TEST(device_bounds, other_orders_other_types_and_iterators) {
  std::vector<int> falling = some_numbers(5000, 700, 3), values = some_numbers(3000, 700, 4);
  std::sort(falling.begin(), falling.end(), descending{});
  std::sort(values.begin(), values.end(), descending{});
  ASSERT_NO_FATAL_FAILURE(expect_bounds(falling, values, true, descending{}));

  // Items are double and values are int, for searches of sorted values, too.
  std::vector<double> numbers = random_integers<double>(5000, 0, 3000, 5);
  std::sort(numbers.begin(), numbers.end());
  std::sort(values.begin(), values.end());
  ASSERT_NO_FATAL_FAILURE(expect_bounds(numbers, values, true, by_number{}));

  // A range of more than 2^32 items, which an iterator computes.
  const std::int64_t items = (std::int64_t{1} << 33) + 7;
  const device_vector<std::int64_t> far(std::vector<std::int64_t>{-1, 0, 1, items / 2, items - 1, items, items + 9});
  for (const bool are_many : {false, true}) {
    const std::int64_t count = are_many ? if_small(9000, 300000) : 7;
    std::vector<std::int64_t> wanted, expected;
    const std::vector<std::int64_t> seven = far.to_host();
    for (std::int64_t k = 0; k < count; ++k) wanted.push_back(seven[static_cast<std::size_t>(k % 7)]);
    for (const std::int64_t value : wanted) expected.push_back(std::clamp<std::int64_t>(value, 0, items));
    const device_vector<std::int64_t> d_wanted(wanted);
    EXPECT_EQ(expected, results_of<std::int64_t>(count, [&](std::int64_t* out, auto&&... storage) {
                return DeviceFind::LowerBound(storage..., counting<std::int64_t>(0), items, d_wanted.data(), count, out,
                                              by_number{});
              }));
  }
}

TEST(device_bounds, values_that_are_not_sorted_write_nothing_else) {
  std::vector<int> range = some_numbers(20000, 1000, 6), values = some_numbers(20000, 1000, 7);
  const device_vector<int> d_range(range), d_values(values);
  device_vector<int> out(values.size());
  ASSERT_CUDA_SUCCESS(in_one_phase(
      [&] { return DeviceFind::LowerBound(d_range.data(), 20000, d_values.data(), 20000, out.data(), by_number{}); }));
  for (const int bound : out.to_host()) ASSERT_TRUE(bound >= 0 && bound <= 20000);
  out.expect_guards_intact();
}

/// With this policy, another kernel cuts the tiles of a search of sorted values if there are more than two.
struct few_without_splits {
  using library = strata::merge_policy_hub<4>::Policy900;
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, library> {
    static constexpr strata::merge_tuning tuning{/*block_threads=*/32, /*items_per_thread=*/3,
                                                 /*blocks_per_multiprocessor=*/1, /*max_tiles_without_splits=*/2};
    static constexpr strata::search_tuning search = strata::find_policy_hub::Policy750::search;
  };
  using MaxPolicy = Policy;
};

TEST(device_bounds, tiles_that_another_kernel_has_cut) {
  for (const std::size_t items : sizes{1, 500, 3001}) {
    for (const std::size_t count : sizes{1, 90, 3001}) {
      std::vector<int> range = some_numbers(items, 300, 8), values = some_numbers(count, 300, 9);
      std::sort(range.begin(), range.end());
      std::sort(values.begin(), values.end());
      std::vector<int> expected;
      for (const int value : values) {
        expected.push_back(static_cast<int>(std::lower_bound(range.begin(), range.end(), value) - range.begin()));
      }
      const device_vector<int> d_range(range), d_values(values);
      EXPECT_EQ(expected, results_of<int>(static_cast<int>(count), [&](int* out, auto&&... storage) {
                  return strata::TunedDeviceFind<few_without_splits>::LowerBoundSortedValues(
                      storage..., d_range.data(), items, d_values.data(), count, out, by_number{});
                }));
    }
  }
}

}  // namespace device_find_test
