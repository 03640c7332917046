// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares stable merges of two sorted ranges by DeviceMerge with std::merge.
#include <strata/device/device_merge.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "block/merge_sort_cases.cuh"
#include "device/device_call.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_merge_test {

using namespace device_test;
using merge_sort_cases::ascending;
using merge_sort_cases::descending;
using merge_sort_cases::nonsense;
using merge_sort_cases::ranked;
using strata::DeviceMerge;
using strata_test::same_bits;
using strata_test::words;

/// Few threads and items, so that few items make many tiles. With more than `MaxTilesWithoutSplits` tiles, another
/// kernel searches for the splits.
template <int Threads, int Items, unsigned long long MaxTilesWithoutSplits, bool StagesValues = false>
struct small_tiles {
  struct Policy750 : strata::ChainedPolicy<750, Policy750, Policy750> {
    static constexpr strata::merge_tuning tuning{Threads, Items, /*blocks_per_multiprocessor=*/1, MaxTilesWithoutSplits,
                                                 StagesValues};
  };
  using MaxPolicy = Policy750;
};

template <class Key, int ValueBytes = 0>
constexpr std::size_t tile_of() {
  constexpr strata::merge_tuning tuning =
      strata::merge_policy_hub<static_cast<int>(sizeof(Key)), ValueBytes>::Policy750::tuning;
  return static_cast<std::size_t>(tuning.block_threads) * static_cast<std::size_t>(tuning.items_per_thread);
}

/// How the ranges interleave.
enum class pattern { random, few, equal, first_before_second, second_before_first, alternating, blocks };
constexpr pattern all_patterns[] = {
    pattern::random,      pattern::few,   pattern::equal, pattern::first_before_second, pattern::second_before_first,
    pattern::alternating, pattern::blocks};

/// Two ranges sorted by the ranks of their keys, which are below 64. Keys of equal rank differ, so that they show their
/// order.
template <class Key>
struct ranges {
  std::vector<Key> first, second;

  ranges(std::size_t count1, std::size_t count2, pattern how)
      : first(make(count1, how, 0)), second(make(count2, how, 1)) {}

  std::size_t size() const { return first.size() + second.size(); }

 private:
  static int rank(pattern how, std::size_t i, std::size_t count, int which, int random) {
    const int place = static_cast<int>(i * 31 / count);
    switch (how) {
      case pattern::few:
        return random % 3;
      case pattern::equal:
        return 7;
      case pattern::first_before_second:
        return place + (which == 0 ? 0 : 31);
      case pattern::second_before_first:
        return place + (which == 0 ? 31 : 0);
      case pattern::alternating:
        return 2 * place + which;
      case pattern::blocks:
        return place / 8 * 8;
      default:
        return random;
    }
  }
  static std::vector<Key> make(std::size_t count, pattern how, int which) {
    const std::vector<int> random =
        strata_test::random_integers(count, 0, 31, 100 * count + static_cast<std::uint64_t>(which));
    std::vector<Key> keys(count);
    for (std::size_t i = 0; i < count; ++i) {
      keys[i] = ranked<Key>::make(rank(how, i, count, which, random[i]), static_cast<int>(i) + which);
    }
    std::stable_sort(keys.begin(), keys.end(), ascending{});
    return keys;
  }
};

/// For each item of the merge, the index of its source. Indices of the second range follow those of the first.
template <class Key, class Compare>
std::vector<std::size_t> expected_sources(const std::vector<Key>& first, const std::vector<Key>& second,
                                          Compare compare) {
  std::vector<std::size_t> numbers(first.size() + second.size()), merged(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(first.size());
  const auto key = [&](std::size_t i) { return i < first.size() ? first[i] : second[i - first.size()]; };
  std::merge(numbers.begin(), middle, middle, numbers.end(), merged.begin(),
             [&](std::size_t a, std::size_t b) { return compare(key(a), key(b)); });
  return merged;
}

template <class T>
void expect_gathered(const std::vector<T>& first, const std::vector<T>& second, const std::vector<std::size_t>& sources,
                     const std::vector<T>& results, const char* what) {
  ASSERT_EQ(sources.size(), results.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const T& expected = sources[i] < first.size() ? first[sources[i]] : second[sources[i] - first.size()];
    ASSERT_TRUE(same_bits(expected, results[i])) << what << " " << i << " of " << sources.size();
  }
}

template <class Value>
std::vector<Value> values_of(std::size_t count, int first) {
  std::vector<Value> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const int number = first + static_cast<int>(i);
    values[i] = ranked<Value>::make(number % 64, number);
  }
  return values;
}

/// Compares `call(storage, bytes, arrays of a merge of pairs ...)` with the expected merge. The inputs must not change.
template <class Key, class Value, class Compare, class Call>
void expect_merges(const ranges<Key>& in, Compare compare, const Call& call) {
  SCOPED_TRACE(testing::Message() << in.first.size() << " and " << in.second.size() << " keys of " << sizeof(Key)
                                  << " bytes, values of " << sizeof(Value));
  const auto sources = expected_sources(in.first, in.second, compare);
  const auto values1 = values_of<Value>(in.first.size(), 0), values2 = values_of<Value>(in.second.size(), 10000);
  const device_vector<Key> keys_in1(in.first), keys_in2(in.second);
  const device_vector<Value> values_in1(values1), values_in2(values2);
  device_vector<Key> keys_out(in.size());
  device_vector<Value> values_out(in.size());
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return call(storage, bytes, keys_in1.data(), values_in1.data(), in.first.size(), keys_in2.data(), values_in2.data(),
                in.second.size(), keys_out.data(), values_out.data(), compare);
  }));
  expect_gathered(in.first, in.second, sources, keys_out.to_host(), "key");
  expect_gathered(values1, values2, sources, values_out.to_host(), "value");
}

const auto merge_pairs = [](auto&&... arguments) { return DeviceMerge::MergePairs(arguments...); };

template <class Key>
void expect_merges_keys(const ranges<Key>& in) {
  SCOPED_TRACE(testing::Message() << in.first.size() << " and " << in.second.size() << " keys of " << sizeof(Key));
  const auto sources = expected_sources(in.first, in.second, ascending{});
  const device_vector<Key> keys_in1(in.first), keys_in2(in.second);
  const auto results = results_of<Key>(static_cast<std::int64_t>(in.size()), [&](Key* out, auto&&... storage) {
    return DeviceMerge::MergeKeys(storage..., keys_in1.data(), in.first.size(), keys_in2.data(), in.second.size(), out,
                                  ascending{});
  });
  expect_gathered(in.first, in.second, sources, results, "key");
}

// ------------------------------------------------------------------ types and sizes
template <class Key>
class device_merge : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using types = testing::Types<std::int32_t, std::uint8_t, double, words<3>>;
#else
using types = testing::Types<std::int32_t, std::uint8_t, std::int16_t, float, double, std::int64_t, words<3>, words<4>,
                             words<8>, words<3, std::uint8_t>, words<25>, words<256>>;
#endif
TYPED_TEST_SUITE(device_merge, types);

TYPED_TEST(device_merge, keys_of_any_count) {
  const std::size_t tile = tile_of<TypeParam>();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, tile - 1, tile, tile + 1, 2 * tile, 3 * tile + 100}) {
    for (const std::size_t count1 : {std::size_t{0}, size / 100, size / 2, size}) {
      ASSERT_NO_FATAL_FAILURE(expect_merges_keys(ranges<TypeParam>(count1, size - count1, pattern::random)));
    }
  }
}

TYPED_TEST(device_merge, keys_of_any_pattern) {
  const std::size_t tile = tile_of<TypeParam>();
  for (const pattern how : all_patterns) {
    ASSERT_NO_FATAL_FAILURE(expect_merges_keys(ranges<TypeParam>(tile + 77, tile - 10, how)));
  }
}

TYPED_TEST(device_merge, pairs_are_stable) {
  const std::size_t tile = tile_of<TypeParam, 4>();
  for (const pattern how : {pattern::few, pattern::equal}) {
    const ranges<TypeParam> in(tile + 3, tile / 2, how);
    ASSERT_NO_FATAL_FAILURE((expect_merges<TypeParam, std::uint32_t>(in, ascending{}, merge_pairs)));
  }
}

template <class Value>
class device_merge_values : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using value_types = testing::Types<std::int8_t, words<10>>;
#else
using value_types =
    testing::Types<std::int8_t, std::int16_t, float, std::int64_t, words<3>, words<4>, words<10>, words<300>>;
#endif
TYPED_TEST_SUITE(device_merge_values, value_types);

TYPED_TEST(device_merge_values, move_with_their_keys) {
  constexpr std::size_t tile = tile_of<int, static_cast<int>(sizeof(TypeParam))>();
  for (const std::size_t size : {std::size_t{1}, std::size_t{100}, tile - 1, tile, tile + 1}) {
    ASSERT_NO_FATAL_FAILURE((expect_merges<int, TypeParam>(ranges<int>(size / 3, size - size / 3, pattern::random),
                                                           ascending{}, merge_pairs)));
  }
}

// ------------------------------------------------------------------ tiles
/// MergePairs with the tiles of a policy hub.
template <class PolicyHub>
struct tuned {
  template <class Key, class Value, class Compare>
  cudaError_t operator()(void* storage, std::size_t& bytes, const Key* keys1, const Value* values1, std::size_t count1,
                         const Key* keys2, const Value* values2, std::size_t count2, Key* keys_out, Value* values_out,
                         Compare compare) const {
    return strata::TunedDeviceMerge<PolicyHub>::MergePairs(storage, bytes, keys1, values1, count1, keys2, values2,
                                                           count2, keys_out, values_out, compare);
  }
};

template <class Key, class PolicyHub>
void expect_merges_tiles(std::initializer_list<std::size_t> sizes) {
  for (const std::size_t size : sizes) {
    for (const pattern how : all_patterns) {
      const std::size_t count1 = how == pattern::few ? size / 50 : size / 2 + size / 7;
      ASSERT_NO_FATAL_FAILURE(
          (expect_merges<Key, std::uint16_t>(ranges<Key>(count1, size - count1, how), ascending{}, tuned<PolicyHub>{})))
          << "pattern " << static_cast<int>(how);
    }
  }
}

TEST(device_merge_tiles, of_one_warp) {
  expect_merges_tiles<int, small_tiles<32, 3, 100>>({95, 96, 97, 500});
  expect_merges_tiles<std::int64_t, small_tiles<32, 1, 100>>({31, 32, 33, 200});
}

TEST(device_merge_tiles, with_staged_values) {
  expect_merges_tiles<int, small_tiles<32, 3, 100, true>>({1, 95, 96, 97, 500});
  expect_merges_tiles<std::int64_t, small_tiles<32, 1, 0, true>>({31, 32, 33, 32 * 33});
  expect_merges_tiles<words<3>, small_tiles<64, 3, 0, true>>({64 * 150 * 3 - 1});
}

TEST(device_merge_tiles, with_splits) {
  expect_merges_tiles<int, small_tiles<32, 1, 0>>({1, 31, 32, 33, 32 * 31, 32 * 32, 32 * 150 * 2 + 7});
  expect_merges_tiles<int, small_tiles<64, 3, 2>>({2 * 192, 2 * 192 + 1});
  expect_merges_tiles<words<3>, small_tiles<64, 1, 0>>({64 * 150 * 3 - 1});
}

// Temporary storage holds the splits. Its size must suffice for every policy, so it follows from the smallest tiles of
// all policies.
TEST(device_merge_tiles, sizes_of_storage) {
  const auto bytes_of = [](std::int64_t count) {
    const int* const keys = nullptr;
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(strata::TunedDeviceMerge<small_tiles<32, 3, 10>>::MergeKeys(nullptr, bytes, keys, count, keys,
                                                                                    0, static_cast<int*>(nullptr)));
    return bytes;
  };
  EXPECT_EQ(bytes_of(1), bytes_of(96 * 10));
  EXPECT_EQ(bytes_of(1) + 256, bytes_of(96 * 10 + 1));
  EXPECT_EQ(bytes_of(1) + 8 * 1024, bytes_of(96 * 1023));
}

// Tiles must not read behind the two ranges. There the iterators go on, without guard bands. A tile that takes items
// from there would write behind the output, and guard bands show this.
TEST(device_merge_tiles, end_with_the_ranges) {
  constexpr int count1 = 32 * 150, count2 = 32 * 151 + 7;
  const counting<int> numbers(0);
  const auto results = results_of<int>(count1 + count2, [&](int* out, void* storage, std::size_t& bytes) {
    return strata::TunedDeviceMerge<small_tiles<32, 1, 5>>::MergeKeys(storage, bytes, numbers, count1, numbers, count2,
                                                                      out);
  });
  for (int i = 0; i < count1 + count2; ++i) {
    ASSERT_EQ(i < 2 * count1 ? i / 2 : i - count1, results[static_cast<std::size_t>(i)]);
  }
}

TEST(device_merge_tiles, of_every_count) {
  const std::size_t step = if_small<std::size_t>(7, 1);
  for (std::size_t size = 1; size <= 200; size += step) {
    ASSERT_NO_FATAL_FAILURE((expect_merges<std::int16_t, std::uint32_t>(
        ranges<std::int16_t>(size * 2 / 3, size - size * 2 / 3, pattern::random), ascending{},
        tuned<small_tiles<32, 3, 1>>{})));
  }
}

// ------------------------------------------------------------------ alignment
TEST(device_merge_arrays, may_begin_anywhere) {
  const std::size_t size = 3000, count1 = 1234;
  const ranges<std::uint16_t> in(count1, size - count1, pattern::random);
  const auto sources = expected_sources(in.first, in.second, ascending{});
  for (std::size_t lead = 0; lead < 27; ++lead) {
    const std::size_t leads[] = {lead % 3, lead / 3 % 3 * 3, lead / 9 * 5};
    const auto behind = [](std::vector<std::uint16_t> keys, std::size_t front) {
      keys.insert(keys.begin(), front, std::uint16_t{0});
      return keys;
    };
    const device_vector<std::uint16_t> first(behind(in.first, leads[0])), second(behind(in.second, leads[1]));
    device_vector<std::uint16_t> out(leads[2] + size);
    const std::vector<std::uint16_t> before = out.to_host();
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceMerge::MergeKeys(storage..., first.data() + leads[0], count1, second.data() + leads[1],
                                    size - count1, out.data() + leads[2], ascending{});
    }));
    const std::vector<std::uint16_t> all = out.to_host();
    const auto front = static_cast<std::ptrdiff_t>(leads[2]);
    ASSERT_TRUE(std::equal(all.begin(), all.begin() + front, before.begin()));
    expect_gathered(in.first, in.second, sources, {all.begin() + front, all.end()}, "key");
  }
}

TEST(device_merge_arrays, of_values_may_begin_anywhere) {
  const std::size_t size = 3000, count1 = 1234;
  const ranges<int> in(count1, size - count1, pattern::random);
  const auto sources = expected_sources(in.first, in.second, ascending{});
  const auto values1 = values_of<std::uint16_t>(count1, 0), values2 = values_of<std::uint16_t>(size - count1, 10000);
  const device_vector<int> keys1(in.first), keys2(in.second);
  device_vector<int> keys_out(size);
  for (std::size_t lead = 0; lead < 27; ++lead) {
    const std::size_t leads[] = {lead % 3, lead / 3 % 3 * 3, lead / 9 * 5};
    const auto behind = [](std::vector<std::uint16_t> values, std::size_t front) {
      values.insert(values.begin(), front, std::uint16_t{0});
      return values;
    };
    const device_vector<std::uint16_t> first(behind(values1, leads[0])), second(behind(values2, leads[1]));
    device_vector<std::uint16_t> out(leads[2] + size);
    const std::vector<std::uint16_t> before = out.to_host();
    keys_out.poison();
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceMerge::MergePairs(storage..., keys1.data(), first.data() + leads[0], count1, keys2.data(),
                                     second.data() + leads[1], size - count1, keys_out.data(), out.data() + leads[2],
                                     ascending{});
    }));
    const std::vector<std::uint16_t> all = out.to_host();
    const auto front = static_cast<std::ptrdiff_t>(leads[2]);
    ASSERT_TRUE(std::equal(all.begin(), all.begin() + front, before.begin()));
    expect_gathered(in.first, in.second, sources, keys_out.to_host(), "key");
    expect_gathered(values1, values2, sources, {all.begin() + front, all.end()}, "value");
  }
}

// ------------------------------------------------------------------ comparators
TEST(device_merge_comparators, may_be_descending) {
  ranges<int> in(5000, 3000, pattern::random);
  std::reverse(in.first.begin(), in.first.end());
  std::reverse(in.second.begin(), in.second.end());
  ASSERT_NO_FATAL_FAILURE((expect_merges<int, std::uint32_t>(in, descending{}, merge_pairs)));
}

TEST(device_merge_comparators, default_is_less) {
  const device_vector<float> first(std::vector<float>{-1, 2, 2, 7}), second(std::vector<float>{-3, 2, 8});
  const device_vector<int> values1(std::vector<int>{0, 1, 2, 3}), values2(std::vector<int>{4, 5, 6});
  device_vector<float> out(7);
  device_vector<int> values(7);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceMerge::MergeKeys(storage..., first.data(), 4, second.data(), 3, out.data());
  }));
  EXPECT_EQ((std::vector<float>{-3, -1, 2, 2, 2, 7, 8}), out.to_host());
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceMerge::MergePairs(first.data(), values1.data(), 4, second.data(), values2.data(), 3, out.data(),
                                   values.data());
  }));
  EXPECT_EQ((std::vector<int>{4, 0, 1, 2, 5, 3, 6}), values.to_host());
}

// A comparator that changes when it is called.
struct counting_less {
  unsigned calls = 0;
  STRATA_HD bool operator()(int a, int b) { return ++calls != 0 && a < b; }
};
TEST(device_merge_comparators, need_not_be_const) {
  const ranges<int> in(tile_of<int>(), 1000, pattern::few);
  std::vector<int> first = in.first, second = in.second, expected(in.size());
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  std::merge(first.begin(), first.end(), second.begin(), second.end(), expected.begin());
  const device_vector<int> in1(first), in2(second);
  EXPECT_EQ(expected, results_of<int>(static_cast<std::int64_t>(in.size()), [&](int* out, auto&&... storage) {
              return DeviceMerge::MergeKeys(storage..., in1.data(), first.size(), in2.data(), second.size(), out,
                                            counting_less{});
            }));
}

// A comparator that is not a strict weak ordering must not make a call hang or access memory elsewhere. Guard bands
// show wrong writes, and the host back end also shows wrong reads.
TEST(device_merge_comparators, calls_end_whatever_they_answer) {
  const ranges<int> in(3000, 4000, pattern::random);
  const device_vector<int> first(in.first), second(in.second);
  device_vector<int> out(in.size());
  device_vector<unsigned> state(std::vector<unsigned>{12345});
  for (unsigned* const calls : {state.data(), static_cast<unsigned*>(nullptr)}) {
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceMerge::MergeKeys(storage..., first.data(), in.first.size(), second.data(), in.second.size(),
                                    out.data(), nonsense{calls});
    }));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return strata::TunedDeviceMerge<small_tiles<32, 1, 0>>::MergeKeys(storage..., first.data(), 3000, second.data(),
                                                                        4000, out.data(), nonsense{calls});
    }));
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const device_vector<double> nans(std::vector<double>(5000, nan)), numbers(std::vector<double>(5000, 1.0));
  device_vector<double> doubles(10000);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceMerge::MergeKeys(storage..., nans.data(), 5000, numbers.data(), 5000, doubles.data());
  }));
}

// ------------------------------------------------------------------ iterators
struct tripled {
  STRATA_HD int operator()(int x) const { return 3 * x; }
};

TEST(device_merge_iterators, may_be_no_pointers) {
  constexpr int count1 = 5000, count2 = 2000;
  std::vector<int> first(count1), second(count2);
  for (int i = 0; i < count1; ++i) first[static_cast<std::size_t>(i)] = i - 100;
  for (int i = 0; i < count2; ++i) second[static_cast<std::size_t>(i)] = 3 * i;
  const auto sources = expected_sources(first, second, strata::Less{});
  device_vector<int> out(first.size() + second.size()), values(out.size());
  device_vector<unsigned> writes(std::vector<unsigned>(out.size()));
  const counting<int> all(-100), numbers(0);
  const transforming<counting<int>, tripled> triples(numbers, tripled{});
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceMerge::MergePairs(storage..., all, numbers, count1, triples, counting<int>(count1), count2,
                                   counted_output<int>(out.data(), writes.data()), doubling_output<int>(values.data()),
                                   strata::Less{});
  }));
  expect_gathered(first, second, sources, out.to_host(), "key");
  EXPECT_EQ(std::vector<unsigned>(out.size(), 1u), writes.to_host());
  const std::vector<int> doubled = values.to_host();
  for (std::size_t i = 0; i < sources.size(); ++i) ASSERT_EQ(static_cast<int>(2 * sources[i]), doubled[i]) << i;
}

TEST(device_merge_iterators, of_the_second_range_may_have_another_type) {
  const ranges<int> in(4000, 4000, pattern::random);
  const std::vector<std::int16_t> narrow(in.second.begin(), in.second.end());
  std::vector<int> expected(in.size());
  const device_vector<int> first(in.first);
  const device_vector<std::int16_t> second(narrow);
  const by_proxies<int> proxies(first.data());
  std::vector<int> sorted = in.first, others = in.second;
  const auto results = results_of<long long>(8000, [&](long long* out, auto&&... storage) {
    return DeviceMerge::MergeKeys(storage..., proxies, 4000, second.data(), 4000, out, ascending{});
  });
  std::merge(sorted.begin(), sorted.end(), others.begin(), others.end(), expected.begin(), ascending{});
  EXPECT_EQ(std::vector<long long>(expected.begin(), expected.end()), results);
}

// ------------------------------------------------------------------ counts and arguments
TEST(device_merge_arguments, counts_have_any_integer_type) {
  const ranges<int> in(100, 27, pattern::random);
  const auto sources = expected_sources(in.first, in.second, ascending{});
  const device_vector<int> first(in.first), second(in.second);
  const auto merges = [&](auto count1, auto count2) {
    const auto results = results_of<int>(127, [&](int* out, auto&&... storage) {
      return DeviceMerge::MergeKeys(storage..., first.data(), count1, second.data(), count2, out, ascending{});
    });
    expect_gathered(in.first, in.second, sources, results, "key");
  };
  merges(std::int8_t{100}, 27ull);
  merges(100u, std::uint16_t{27});
  merges(100l, char{27});
}

TEST(device_merge_arguments, template_arguments_may_be_given) {
  const device_vector<int> first(std::vector<int>{1, 3}), second(std::vector<int>{2});
  const std::vector<int> results = results_of<int>(3, [&](int* out, auto&&... storage) {
    return DeviceMerge::MergeKeys<const int*, const int*, int*, strata::Less>(storage..., first.data(), 2,
                                                                              second.data(), 1, out, strata::Less{});
  });
  EXPECT_EQ((std::vector<int>{1, 2, 3}), results);
}

TEST(device_merge_arguments, sums_of_counts_are_checked) {
  constexpr auto most = std::int64_t{0x7fffffff} * static_cast<std::int64_t>(tile_of<int>());
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const counting<int> keys(0);
  const counting<short> shorts(0);
  device_vector<int> out(1);
  std::size_t bytes = 0;
  EXPECT_EQ(cudaSuccess, DeviceMerge::MergeKeys(nullptr, bytes, keys, most - 1, keys, 1, out.data()));
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(cudaErrorInvalidValue, DeviceMerge::MergeKeys(nullptr, bytes, keys, most, keys, 1, out.data()));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceMerge::MergeKeys(nullptr, bytes, keys, 1, keys, most, out.data()));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceMerge::MergeKeys(nullptr, bytes, keys, largest, keys, 1, out.data()));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceMerge::MergeKeys(nullptr, bytes, keys, -1, keys, 2, out.data()));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceMerge::MergeKeys(nullptr, bytes, keys, 2, keys, -1, out.data()));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceMerge::MergeKeys(out.data(), bytes = 0, keys, 1, shorts, 0, out.data()));
}

// The pointer of an empty range may be null. Without items, outputs may be null, too.
TEST(device_merge_arguments, null_pointers_of_empty_ranges) {
  const device_vector<int> keys(std::vector<int>{1, 5, 9});
  int* const none = nullptr;
  device_vector<int> out(3);
  for (const bool is_first : {false, true}) {
    out.poison();
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceMerge::MergePairs(storage..., is_first ? keys.data() : none, is_first ? keys.data() : none,
                                     is_first ? 3 : 0, is_first ? none : keys.data(), is_first ? none : keys.data(),
                                     is_first ? 0 : 3, out.data(), strata_test::device_vector<int>(3).data());
    }));
    EXPECT_EQ(keys.to_host(), out.to_host());
  }
  ASSERT_CUDA_SUCCESS(
      in_two_phases([&](auto&&... storage) { return DeviceMerge::MergeKeys(storage..., none, 0, none, 0, none); }));
  std::size_t bytes = 1;
  EXPECT_EQ(cudaErrorInvalidValue, DeviceMerge::MergeKeys(out.data(), bytes, none, 1, keys.data(), 1, out.data()));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceMerge::MergeKeys(out.data(), bytes, keys.data(), 1, none, 1, out.data()));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceMerge::MergeKeys(out.data(), bytes, keys.data(), 1, keys.data(), 1, none));
}

// ------------------------------------------------------------------ graphs and streams
TEST(device_merge_graph, may_be_replayed_with_other_items) {
  const std::size_t count1 = 6000, count2 = 3001;
  device_vector<int> first(count1), second(count2), out(count1 + count2);
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return DeviceMerge::MergeKeys(storage, bytes, first.data(), count1, second.data(), count2, out.data(), ascending{},
                                  on);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(recorded.nodes(), 1u);
  const stream on;
  for (const pattern how : all_patterns) {
    const ranges<int> in(count1, count2, how);
    first.assign(in.first);
    second.assign(in.second);
    out.poison();
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    expect_gathered(in.first, in.second, expected_sources(in.first, in.second, ascending{}), out.to_host(), "key");
  }
}

}  // namespace device_merge_test
