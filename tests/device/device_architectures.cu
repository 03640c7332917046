// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs device calls on the host back end with the policies and the shared memory of an architecture that the other
// tests do not use. CMake builds one program for each value of STRATA_SIMT_PTX_VERSION.
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/core/detail/architecture_limits.hpp>
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_memcpy.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/device_transform.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "device/transform/device_batched_copy_support.cuh"

namespace {

using namespace device_test;

constexpr strata::detail::architecture_limits limits = strata::detail::limits_of(STRATA_SIMT_PTX_VERSION);

class device_architectures : public ::testing::Test {
 protected:
  device_architectures() {
    strata::simt::config().shared_limit = static_cast<std::size_t>(limits.shared_bytes_of_block);
  }
};

std::vector<std::size_t> around(std::size_t tile) { return {tile - 1, tile + 1, 5 * tile / 2}; }

template <class Hub>
using policy = typename Hub::MaxPolicy::ActivePolicy;

struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

struct is_odd {
  STRATA_HD bool operator()(int number) const { return number % 2 != 0; }
};
struct add_three_times {
  STRATA_HD int operator()(int a, int b) const { return a + 3 * b; }
};
struct add_index {
  int* numbers;
  STRATA_D void operator()(int i) const { numbers[i] += i; }
};

/// An accumulator of more than 16 bytes.
struct sums {
  long long sum, count, most;
};
struct add_sums {
  STRATA_HD sums operator()(const sums& a, const sums& b) const {
    return {a.sum + b.sum, a.count + b.count, a.most < b.most ? b.most : a.most};
  }
};

TEST_F(device_architectures, policy_is_the_nearest_below) {
  using hub = strata::radix_sort_policy_hub<std::uint32_t, strata::NullType>;
  strata::detail::device_properties properties;
  ASSERT_CUDA_SUCCESS(strata::detail::current_device_properties(properties));
  EXPECT_EQ(STRATA_SIMT_PTX_VERSION, properties.ptx_version);
  EXPECT_EQ(limits.shared_bytes_of_block, properties.shared_bytes_of_block);
  EXPECT_EQ(STRATA_SIMT_PTX_VERSION == 1000 ? 900 : STRATA_SIMT_PTX_VERSION, policy<hub>::ptx_version);
}

TEST_F(device_architectures, reduce) {
  for (const std::size_t n : around(1u << 15)) {
    const auto items = random_integers<int>(n, -1000, 1000);
    const device_vector<int> in(items);
    EXPECT_EQ(std::accumulate(items.begin(), items.end(), 0), result_of<int>([&](int* out, void* s, std::size_t& b) {
                return strata::DeviceReduce::Sum(s, b, in.data(), out, n);
              }));
    std::vector<sums> wide(n / 8);
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = {items[i], 1, items[i]};
    const device_vector<sums> wide_in(wide);
    const sums expected = std::accumulate(wide.begin(), wide.end(), sums{0, 0, -2000}, add_sums{});
    const auto found = result_of<sums>([&](sums* out, void* s, std::size_t& b) {
      return strata::DeviceReduce::Reduce(s, b, wide_in.data(), out, wide.size(), add_sums{}, sums{0, 0, -2000});
    });
    EXPECT_EQ(expected.sum, found.sum);
    EXPECT_EQ(expected.count, found.count);
    EXPECT_EQ(expected.most, found.most);
  }
}

TEST_F(device_architectures, scan) {
  constexpr auto tuning = policy<strata::scan_policy_hub<int, int>>::large_tile;
  for (const std::size_t n : around(static_cast<std::size_t>(tuning.block_threads * tuning.items_per_thread))) {
    const auto items = random_integers<int>(n, -1000, 1000);
    const device_vector<int> in(items);
    std::vector<int> expected(n);
    std::partial_sum(items.begin(), items.end(), expected.begin());
    EXPECT_EQ(expected, results_of<int>(static_cast<std::int64_t>(n), [&](int* out, void* s, std::size_t& b) {
                return strata::DeviceScan::InclusiveSum(s, b, in.data(), out, n);
              }));
  }
}

TEST_F(device_architectures, scan_by_key) {
  using sum = strata::detail::sum_of_run<int>;
  constexpr auto tuning = policy<strata::columns_policy_hub<sum, sum>>::large_tile;
  for (const std::size_t n : around(static_cast<std::size_t>(tuning.block_threads * tuning.items_per_thread))) {
    const auto items = random_integers<int>(n, -1000, 1000);
    std::vector<int> run_of(n), expected(n);
    for (std::size_t i = 1; i < n; ++i) {
      run_of[i] = run_of[i - 1] + (items[i] % 5 == 0 ? 1 : 0);
      expected[i] = run_of[i] == run_of[i - 1] ? expected[i - 1] + items[i - 1] : 0;
    }
    const device_vector<int> in(items), keys(run_of);
    EXPECT_EQ(expected, results_of<int>(static_cast<std::int64_t>(n), [&](int* out, void* s, std::size_t& b) {
                return strata::DeviceScan::ExclusiveSumByKey(s, b, keys.data(), in.data(), out, n);
              }));
  }
}

TEST_F(device_architectures, select) {
  constexpr auto tuning = policy<strata::columns_policy_hub<unsigned, unsigned>>::large_tile;
  for (const std::size_t n : around(static_cast<std::size_t>(tuning.block_threads * tuning.items_per_thread))) {
    const auto items = random_integers<int>(n, -1000, 1000);
    std::vector<int> expected;
    std::copy_if(items.begin(), items.end(), std::back_inserter(expected), is_odd{});
    const device_vector<int> in(items);
    device_vector<int> number(1);
    EXPECT_EQ(expected,
              results_of<int>(static_cast<std::int64_t>(expected.size()), [&](int* out, void* s, std::size_t& b) {
                return strata::DeviceSelect::If(s, b, in.data(), out, number.data(), static_cast<int>(n), is_odd{});
              }));
    EXPECT_EQ(static_cast<int>(expected.size()), number.to_host()[0]);
  }
}

TEST_F(device_architectures, batched_copy) {
  constexpr auto tuning = policy<strata::batched_copy_policy_hub>::batched_copy;
  // Sizes for all three ways to copy a buffer: by a thread, by a warp, and by several warps that take parts from a
  // queue.
  const std::size_t longest = 4u * static_cast<unsigned>(tuning.warp_bytes);
  const buffer_pools<unsigned char> pools(scattered_buffers("all", sizes_of_all_scales(500, longest, 1), 20));
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* s, std::size_t& b) {
    return strata::DeviceMemcpy::Batched(s, b, pools.inputs.data(), pools.outputs.data(), pools.sizes.data(),
                                         pools.count());
  }));
  pools.expect_copied();
}

TEST_F(device_architectures, transform_and_for) {
  constexpr auto tuning = policy<strata::tile_policy_hub>::tuning;
  for (const std::size_t n : around(static_cast<std::size_t>(tuning.block_threads * tuning.bytes_in_flight / 4))) {
    const auto first = random_integers<int>(n, -1000, 1000, 1), second = random_integers<int>(n, -1000, 1000, 2);
    std::vector<int> expected(n);
    for (std::size_t i = 0; i < n; ++i) expected[i] = first[i] + 3 * second[i];
    const device_vector<int> first_in(first), second_in(second);
    device_vector<int> out(n);
    ASSERT_CUDA_SUCCESS(in_one_phase([&] {
      return strata::DeviceTransform::Transform(std::make_tuple(first_in.data(), second_in.data()), out.data(), n,
                                                add_three_times{});
    }));
    EXPECT_EQ(expected, out.to_host());

    for (std::size_t i = 0; i < n; ++i) expected[i] += static_cast<int>(i);
    ASSERT_CUDA_SUCCESS(
        in_one_phase([&] { return strata::DeviceFor::Bulk(static_cast<int>(n), add_index{out.data()}); }));
    EXPECT_EQ(expected, out.to_host());
  }
}

TEST_F(device_architectures, differences_in_place) {
  constexpr auto tuning = policy<strata::tile_policy_hub>::tuning;
  for (const std::size_t n : around(static_cast<std::size_t>(tuning.block_threads * tuning.bytes_in_flight / 4))) {
    const auto items = random_integers<int>(n, -1000, 1000);
    std::vector<int> expected(n);
    std::adjacent_difference(items.begin(), items.end(), expected.begin());
    device_vector<int> array(items);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* s, std::size_t& b) {
      return strata::DeviceAdjacentDifference::SubtractLeft(s, b, array.data(), n, strata::Difference{});
    }));
    EXPECT_EQ(expected, array.to_host());
  }
}

template <class Key, class Value>
void expect_radix_sorted(std::size_t n) {
  const auto keys = random_integers<Key>(n, 0, 1ll << 31);
  std::vector<Value> values(n);
  std::iota(values.begin(), values.end(), Value{0});
  std::vector<std::pair<Key, Value>> expected(n);
  for (std::size_t i = 0; i < n; ++i) expected[i] = {keys[i], values[i]};
  std::stable_sort(expected.begin(), expected.end(), [](auto& a, auto& b) { return a.first < b.first; });
  const device_vector<Key> in(keys);
  const device_vector<Value> values_in(values);
  device_vector<Key> out(n), keys_alone(n);
  device_vector<Value> values_out(n);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* s, std::size_t& b) {
    return strata::DeviceRadixSort::SortPairs(s, b, in.data(), out.data(), values_in.data(), values_out.data(), n);
  }));
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* s, std::size_t& b) {
    return strata::DeviceRadixSort::SortKeys(s, b, in.data(), keys_alone.data(), n);
  }));
  const auto sorted = out.to_host(), alone = keys_alone.to_host();
  const auto sorted_values = values_out.to_host();
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(expected[i].first, sorted[i]) << n << ", item " << i;
    ASSERT_EQ(expected[i].second, sorted_values[i]) << n << ", item " << i;
    ASSERT_EQ(expected[i].first, alone[i]) << n << ", item " << i;
  }
}

TEST_F(device_architectures, radix_sort) {
  using hub = strata::radix_sort_policy_hub<std::uint32_t, std::uint32_t>;
  constexpr auto block = policy<hub>::large_block;
  constexpr auto grid = policy<hub>::grid;
  // One item more than a block sorts; three tiles of a grid in one launch; twice the items that four multiprocessors
  // hold, which takes passes.
  for (const int n : {block.block_threads * block.items_per_thread + 1, 3 * grid.block_threads * grid.items_per_thread,
                      4 * grid.block_threads * grid.items_per_thread * grid.blocks_per_multiprocessor * 2 + 1}) {
    expect_radix_sorted<std::uint32_t, std::uint32_t>(static_cast<std::size_t>(n));
  }
  expect_radix_sorted<std::uint64_t, std::uint32_t>(40000);
}

/// A value so large that shared memory has no room for 512 threads with an item each. The policies must choose fewer
/// threads.
struct wide_value {
  std::uint32_t number;
  unsigned char rest[388];
};

TEST_F(device_architectures, radix_sort_of_wide_values) {
  if constexpr (limits.shared_bytes_of_block > 128 << 10) {
    constexpr std::size_t n = 700;  // more than a block sorts
    const auto keys = random_integers<std::uint32_t>(n, 0, 100);
    std::vector<wide_value> values(n);
    std::vector<std::uint32_t> expected(n);
    std::iota(expected.begin(), expected.end(), 0u);
    for (const std::uint32_t i : expected) values[i].number = i;
    std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
    const device_vector<std::uint32_t> in(keys);
    const device_vector<wide_value> values_in(values);
    device_vector<std::uint32_t> out(n);
    const auto sorted = results_of<wide_value>(n, [&](wide_value* values_out, void* s, std::size_t& b) {
      return strata::DeviceRadixSort::SortPairs(s, b, in.data(), out.data(), values_in.data(), values_out, n);
    });
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(expected[i], sorted[i].number) << i;
  }
}

TEST_F(device_architectures, merge_sort_and_merge) {
  constexpr auto tuning = policy<strata::segmented_merge_sort_policy_hub<4>>::many_tiles;
  for (const std::size_t n : around(static_cast<std::size_t>(tuning.tile_items()))) {
    const auto items = random_integers<int>(n, -1000000, 1000000);
    std::vector<int> expected = items;
    std::sort(expected.begin(), expected.end());
    device_vector<int> array(items);
    ASSERT_CUDA_SUCCESS(in_two_phases(
        [&](void* s, std::size_t& b) { return strata::DeviceMergeSort::SortKeys(s, b, array.data(), n, is_less{}); }));
    EXPECT_EQ(expected, array.to_host());

    std::vector<int> halves = items;
    const auto middle = halves.begin() + static_cast<std::ptrdiff_t>(n / 3);
    std::sort(halves.begin(), middle);
    std::sort(middle, halves.end());
    const device_vector<int> in(halves);
    EXPECT_EQ(expected, results_of<int>(static_cast<std::int64_t>(n), [&](int* out, void* s, std::size_t& b) {
                return strata::DeviceMerge::MergeKeys(s, b, in.data(), n / 3, in.data() + n / 3, n - n / 3, out,
                                                      is_less{});
              }));
  }
}

TEST_F(device_architectures, merge_pairs) {
  using pair = std::pair<std::uint64_t, std::uint32_t>;
  constexpr auto tuning = policy<strata::merge_policy_hub<8, 4>>::tuning;
  for (const std::size_t n : around(static_cast<std::size_t>(tuning.block_threads * tuning.items_per_thread))) {
    auto keys = random_integers<std::uint64_t>(n, 0, 100);
    std::sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n / 3));
    std::sort(keys.begin() + static_cast<std::ptrdiff_t>(n / 3), keys.end());
    std::vector<std::uint32_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0u);
    // Values number the items, so pairs in order of key and value are the result of a stable merge.
    std::vector<pair> expected(n);
    for (std::size_t i = 0; i < n; ++i) expected[i] = {keys[i], numbers[i]};
    std::sort(expected.begin(), expected.end());
    const device_vector<std::uint64_t> in(keys);
    const device_vector<std::uint32_t> values(numbers);
    device_vector<std::uint64_t> out(n);
    device_vector<std::uint32_t> values_out(n);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* s, std::size_t& b) {
      return strata::DeviceMerge::MergePairs(s, b, in.data(), values.data(), n / 3, in.data() + n / 3,
                                             values.data() + n / 3, n - n / 3, out.data(), values_out.data(),
                                             is_less{});
    }));
    const auto merged = out.to_host();
    const auto merged_values = values_out.to_host();
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_EQ(expected[i], pair(merged[i], merged_values[i])) << n << ", item " << i;
  }
}

TEST_F(device_architectures, segmented_sorts) {
  // Segments of each class: sorted by a thread, a warp, a part of a tile, a tile, several tiles.
  std::vector<int> offsets = {0};
  for (const int length : {3, 0, 8, 31, 33, 70, 500, 0, 4000, 6500, 9, 20000, 1}) {
    offsets.push_back(offsets.back() + length);
  }
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto n = static_cast<std::size_t>(offsets.back());
  const auto items = random_integers<std::uint32_t>(n, 0, 1 << 30);
  std::vector<std::uint32_t> expected = items;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    std::sort(expected.begin() + offsets[i], expected.begin() + offsets[i + 1]);
  }
  const device_vector<std::uint32_t> in(items);
  const device_vector<int> bounds(offsets);
  EXPECT_EQ(expected, results_of<std::uint32_t>(offsets.back(), [&](std::uint32_t* out, void* s, std::size_t& b) {
              return strata::DeviceSegmentedRadixSort::SortKeys(s, b, in.data(), out, offsets.back(), segments,
                                                                bounds.data(), bounds.data() + 1);
            }));
  EXPECT_EQ(expected, results_of<std::uint32_t>(offsets.back(), [&](std::uint32_t* out, void* s, std::size_t& b) {
              return strata::DeviceSegmentedSort::SortKeys(s, b, in.data(), out, offsets.back(), segments,
                                                           bounds.data(), bounds.data() + 1);
            }));
}

TEST_F(device_architectures, histogram) {
  const auto samples = random_integers<int>(20000, 0, 255);
  std::vector<unsigned> expected(256);
  for (const int sample : samples) ++expected[static_cast<std::size_t>(sample)];
  const device_vector<int> in(samples);
  EXPECT_EQ(expected, results_of<unsigned>(256, [&](unsigned* out, void* s, std::size_t& b) {
              return strata::DeviceHistogram::HistogramEven(s, b, in.data(), out, 257, 0, 256, 20000);
            }));
}

/// Compares an inner join of 4-byte keys with a reference. `call(build side, probe side, output, number of results,
/// storage...)` makes the join.
template <class Call>
void expect_joined(const std::vector<std::uint32_t>& build, const std::vector<std::uint32_t>& probe, const Call& call) {
  std::map<std::uint32_t, std::int64_t> counts;
  for (const std::uint32_t key : build) ++counts[key];
  std::int64_t expected = 0;
  for (const std::uint32_t key : probe) expected += counts.count(key) != 0 ? counts[key] : 0;
  const device_vector<std::uint32_t> build_in(build), probe_in(probe);
  device_vector<int> build_rows(static_cast<std::size_t>(expected)), probe_rows(static_cast<std::size_t>(expected));
  device_vector<std::int64_t> found(1);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* s, std::size_t& b) {
    return call(strata::join_side(build_in.data(), static_cast<std::int64_t>(build.size())),
                strata::join_side(probe_in.data(), static_cast<std::int64_t>(probe.size())),
                strata::join_pairs(build_rows.data(), probe_rows.data(), expected), found.data(), s, b);
  }));
  ASSERT_EQ(expected, found.to_host()[0]);
  const auto first = build_rows.to_host(), second = probe_rows.to_host();
  std::vector<std::pair<int, int>> rows;
  for (std::size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(build[static_cast<std::size_t>(first[i])], probe[static_cast<std::size_t>(second[i])]) << i;
    rows.emplace_back(first[i], second[i]);
  }
  std::sort(rows.begin(), rows.end());
  EXPECT_TRUE(std::unique(rows.begin(), rows.end()) == rows.end()) << "a pair of rows is there twice";
}

TEST_F(device_architectures, join) {
  const auto in_any_order = [](auto build, auto probe, auto output, auto* found, void* s, std::size_t& b) {
    return strata::DeviceHashJoin::Inner(s, b, build, probe, output, found);
  };
  const auto in_probe_order = [](auto build, auto probe, auto output, auto* found, void* s, std::size_t& b) {
    return strata::DeviceHashJoin::Inner(s, b, build, probe, output, found, strata::OrderedJoinOptions<>{});
  };
  // A table in shared memory holds 100 build rows; 20,000 rows must be partitioned.
  for (const std::size_t rows : {std::size_t{100}, std::size_t{20000}}) {
    SCOPED_TRACE(rows);
    const auto keys = static_cast<long long>(rows) * 2;
    auto build = random_integers<std::uint32_t>(rows, 0, keys, 1);
    auto probe = random_integers<std::uint32_t>(rows + 777, 0, keys, 2);
    expect_joined(build, probe, in_any_order);
    // Joins in probe order make a list of the rows of each key.
    expect_joined(build, probe, in_probe_order);
    // Sides that are sorted are joined by a merge.
    std::sort(build.begin(), build.end());
    std::sort(probe.begin(), probe.end());
    expect_joined(build, probe, [&](auto build_side, auto probe_side, auto&&... rest) {
      return in_any_order(build_side.sorted(), probe_side.sorted(), rest...);
    });
    // Unique build keys: the first join is a selection. With a key range as well, the table of the second one is an
    // array that keys index.
    std::iota(build.begin(), build.end(), 0u);
    expect_joined(build, probe,
                  [&](auto build_side, auto&&... rest) { return in_probe_order(build_side.unique(), rest...); });
    expect_joined(build, probe, [&](auto build_side, auto&&... rest) {
      return in_any_order(build_side.unique().key_range(0, static_cast<std::uint32_t>(rows) - 1), rest...);
    });
  }
}

}  // namespace
