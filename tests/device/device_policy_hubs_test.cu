// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each device class with a policy hub of the caller: results are right, and each kernel that has a row in the hub runs
// in blocks of the size that the row says.
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_copy.cuh>
#include <strata/device/device_find.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_group_by.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_memcpy.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_partition.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/device_segmented_top_k.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/device_top_k.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/device/device_transpose.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;
using strata::ChainedPolicy;

// ------------------------------------------------------------------ hubs

/// A policy hub of one policy, which has the tuning rows of `Rows` and counts the calls that ask it.
template <class Rows>
struct hub {
  struct Policy : ChainedPolicy<750, Policy, Policy, Rows> {
    template <class Functor>
    static auto Invoke(int device_ptx_version, Functor& functor) {
      ++calls;
      return ChainedPolicy<750, Policy, Policy, Rows>::Invoke(device_ptx_version, functor);
    }
  };
  using MaxPolicy = Policy;
  static inline int calls = 0;
};

constexpr int threads = 64;
constexpr int n = 1000;

struct reduce_row : strata::reduce_policy_hub<int>::Policy750 {
  static constexpr strata::reduce_tuning tuning{threads, /*bytes_in_flight=*/32, /*ordered_bytes=*/32,
                                                /*blocks_per_multiprocessor=*/1};
};
struct tiles : strata::scan_policy_hub<int, int>::Policy750 {
  static constexpr strata::scan_tile_tuning small_tile{threads, 4, strata::BLOCK_LOAD_VECTORIZE,
                                                       strata::BLOCK_STORE_VECTORIZE, 1};
  static constexpr strata::scan_tile_tuning large_tile = small_tile;
};
struct columns_of_tiles : strata::columns_policy_hub<int, int>::Policy750 {
  static constexpr strata::scan_tile_tuning small_tile = tiles::small_tile;
  static constexpr strata::scan_tile_tuning large_tile = tiles::small_tile;
};
struct radix_rows {
  static constexpr strata::radix_histogram_tuning histogram{512, 16 << 10};
  static constexpr strata::radix_pass_tuning pass{512, 1, 1};
  static constexpr strata::radix_block_tuning small_block{512, 2};
  static constexpr strata::radix_cluster_tuning cluster{512, 1, 0};
  static constexpr strata::radix_block_tuning large_block = small_block;
  static constexpr strata::radix_grid_tuning grid{512, 1, 1, 1, 0};
  static constexpr strata::radix_words_tuning words{512, 0};
};
struct segmented_radix_rows : radix_rows {
  static constexpr strata::segmented_radix_sort_tuning segmented{512, 1, 2, 1, 227 << 10};
};
struct merge_sort_rows {
  static constexpr strata::segment_tile_tuning one_thread{threads, 16, 1, threads};
  static constexpr strata::segment_tile_tuning few_threads = one_thread, part_of_tile = one_thread,
                                               one_tile = one_thread, many_tiles = one_thread,
                                               tile_per_multiprocessor = one_thread, whole_array = one_thread;
  static constexpr strata::segment_merge_tuning merge{threads, 17, 1, threads * 16}, merge_per_multiprocessor = merge,
                                                                                     merge_whole_array = merge;
  static constexpr strata::merge_sort_grid_tuning one_cluster{threads, 17, 1, 4}, resident_grid{threads, 17, 1};
};
struct segmented_sort_rows : merge_sort_rows {
  static constexpr strata::radix_histogram_tuning histogram{512, 16 << 10};
  static constexpr strata::radix_pass_tuning pass{512, 1, 1};
  static constexpr strata::long_segment_tuning long_segments{std::size_t{threads} * 16, n, n, n};
  static constexpr strata::number_tile_tuning number_tile{0, 0, 0, 0};
};
struct segmented_reduce_rows : strata::segmented_reduce_policy_hub<int>::Policy750 {
  static constexpr strata::reduce_tuning one_launch_tuning = reduce_row::tuning;
};
struct segmented_scan_row {
  static constexpr strata::segmented_scan_tuning tuning{threads, 3, 1};
  static constexpr strata::segmented_scan_tuning contiguous{threads, 3, 1};
};
struct merge_row {
  static constexpr strata::merge_tuning tuning{threads, 3, 1, 4096};
};
struct find_rows : merge_row {
  static constexpr strata::find_tuning find{threads, 32, 16, 2, 512, 1024};
  static constexpr strata::search_tuning search{threads, 2, 2, 256, 1, 2};
};
struct histogram_row {
  static constexpr strata::histogram_tuning tuning{256, 1, 32, 16 << 10, 1024};
};
/// Up to `MostTableRows` rows are combined by one kernel, if groups may come in any order.
template <int BlockThreads, std::size_t MostTableRows = n>
struct group_by_row {
  static constexpr int blocks_per_multiprocessor = 2;
  static constexpr strata::group_by_tuning tuning{BlockThreads,
                                                  /*items_per_thread=*/4,
                                                  blocks_per_multiprocessor,
                                                  /*table_bytes=*/4096,
                                                  /*most_slots=*/128,
                                                  /*least_rows=*/1,
                                                  /*hash_threads=*/threads,
                                                  /*hash_items_per_thread=*/4,
                                                  /*hash_blocks_per_multiprocessor=*/1,
                                                  /*hash_table_bytes=*/4096,
                                                  /*hash_slots=*/256,
                                                  /*part_threads=*/threads,
                                                  /*part_blocks_per_multiprocessor=*/1,
                                                  /*part_table_bytes=*/4096,
                                                  /*partition_bits=*/4,
                                                  /*partition_items_per_thread=*/4,
                                                  MostTableRows,
                                                  /*most_slots_in_memory=*/256,
                                                  /*partition_threads=*/threads};
};
struct top_k_row {
  static constexpr strata::top_k_tuning select{128, 1};
};
struct top_k_hub : strata::top_k_policy_hub, hub<top_k_row> {
  using MaxPolicy = hub<top_k_row>::MaxPolicy;
};
struct segmented_top_k_rows : strata::segmented_top_k_policy_hub<int>::Policy750 {
  static constexpr strata::top_k_warp_tuning narrow{threads, 4, 4, 1};
};
struct tile_row {
  static constexpr strata::tile_tuning tuning{threads, 16, 2, 1, 2, 1, 3, 2, 1};
};
struct copy_row : strata::batched_copy_policy_hub::Policy750 {
  static constexpr strata::batched_copy_tuning batched_copy{threads, 1, 512, 512, 4, 1, 2, 2};
};
struct transpose_rows {
  static constexpr strata::transpose_tuning items{threads, 32, 32, 4},
      vectors = items, wide{threads, 8, 64, 4}, tall{threads, 64, 8, 4}, direct{threads, 8, 8, 4}, direct_wide = wide,
      direct_tall = tall;
};
constexpr strata::join_partition_tuning smaller_partition_row() {
  strata::join_partition_tuning tuning = strata::join_policy_hub::Policy750::partition;
  tuning.join_threads = 512;
  return tuning;
}
struct join_rows : strata::join_policy_hub::Policy750 {
  static constexpr strata::join_table_tuning table{threads, threads, 4, 1, threads, 1};
  static constexpr strata::join_clear_tuning clear{threads, 1, 1};
  static constexpr strata::join_partition_tuning partition = smaller_partition_row();
};

// ------------------------------------------------------------------ calls

struct device_policy_hubs : ::testing::Test {
  const std::vector<int> items = random_integers<int>(n, 0, 9);
  const device_vector<int> in{items};
  device_vector<int> out{static_cast<std::size_t>(n)};
  device_vector<int> second_out{static_cast<std::size_t>(n)};
  device_vector<int> number{2};
  // Segments of 100 items.
  const device_vector<int> offsets{[] {
    std::vector<int> all;
    for (int i = 0; i <= n; i += 100) all.push_back(i);
    return all;
  }()};

  std::vector<int> sorted(bool is_descending = false) const {
    std::vector<int> all = items;
    std::sort(all.begin(), all.end());
    if (is_descending) std::reverse(all.begin(), all.end());
    return all;
  }
  std::vector<int> sorted_segments() const {
    std::vector<int> all = items;
    for (int i = 0; i < n; i += 100) std::sort(all.begin() + i, all.begin() + i + 100);
    return all;
  }
  static std::vector<int> first_of(const device_vector<int>& array, int count) {
    std::vector<int> all = array.to_host();
    all.resize(static_cast<std::size_t>(count));
    return all;
  }
  std::vector<int> first_of_out(int count) { return first_of(out, count); }

  /// Poisons the outputs, and sets to zero what is counted of calls and launches.
  template <class Hub>
  void forget_calls() {
    out.poison();
    second_out.poison();
    number.poison();
    Hub::calls = 0;
#if STRATA_HOST_SIMT
    strata::simt::reset_statistics();
#endif
  }

  /// Poisons the outputs and makes a call with `Hub`. On the host back end, checks the number of threads of all
  /// launched blocks: `others` blocks belong to kernels without a row in the hub and have `other_threads` threads in
  /// all. Each other block must have `block_threads` threads.
  template <class Hub, class Call>
  void expect_used(int block_threads, const Call& call, [[maybe_unused]] int others = 0,
                   [[maybe_unused]] int other_threads = 0) {
    forget_calls<Hub>();
    ASSERT_CUDA_SUCCESS(in_one_phase(call));
    EXPECT_GE(Hub::calls, 1) << "the hub was not asked";
#if STRATA_HOST_SIMT
    const auto blocks = static_cast<int>(strata::simt::stats().blocks);
    EXPECT_GT(blocks, others);
    EXPECT_EQ(static_cast<int>(strata::simt::stats().threads), (blocks - others) * block_threads + other_threads)
        << blocks << " blocks";
#else
    static_cast<void>(block_threads);
#endif
  }
};

struct equals {
  int number;
  STRATA_HD bool operator()(int x) const { return x == number; }
};
struct is_small_number {
  STRATA_HD bool operator()(int item) const { return item < 5; }
};
struct doubled {
  STRATA_HD int operator()(int item) const { return 2 * item; }
};
struct write_doubled {
  const int* in;
  int* out;
  STRATA_HD void operator()(int i) const { out[i] = 2 * in[i]; }
};

TEST_F(device_policy_hubs, reduce) {
  using Hub = hub<reduce_row>;
  expect_used<Hub>(threads, [&] { return strata::TunedDeviceReduce<Hub>::Sum(in.data(), number.data(), n); });
  EXPECT_EQ(number.to_host()[0], std::accumulate(items.begin(), items.end(), 0));
}

TEST_F(device_policy_hubs, reduce_in_two_phases) {
  using Hub = hub<reduce_row>;
  Hub::calls = 0;
  const int most = result_of<int>([&](int* result, void* storage, std::size_t& bytes) {
    return strata::TunedDeviceReduce<Hub>::Max(storage, bytes, in.data(), result, n);
  });
  EXPECT_EQ(most, *std::max_element(items.begin(), items.end()));
  EXPECT_EQ(Hub::calls, 1);
}

TEST_F(device_policy_hubs, scan) {
  using Hub = hub<tiles>;
  expect_used<Hub>(threads, [&] { return strata::TunedDeviceScan<Hub>::InclusiveSum(in.data(), out.data(), n); });
  std::vector<int> expected(items.size());
  std::partial_sum(items.begin(), items.end(), expected.begin());
  EXPECT_EQ(out.to_host(), expected);
}

TEST_F(device_policy_hubs, scan_by_key) {
  using Hub = hub<columns_of_tiles>;
  expect_used<Hub>(
      threads, [&] { return strata::TunedDeviceScan<Hub>::InclusiveSumByKey(in.data(), in.data(), out.data(), n); });
  std::vector<int> expected = items;
  for (std::size_t i = 1; i < expected.size(); ++i) expected[i] += items[i] == items[i - 1] ? expected[i - 1] : 0;
  EXPECT_EQ(out.to_host(), expected);
}

TEST_F(device_policy_hubs, reduce_by_key_and_runs) {
  using Hub = hub<columns_of_tiles>;
  std::vector<int> runs, lengths, sums, long_begins, long_lengths;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i == 0 || items[i] != items[i - 1]) runs.push_back(items[i]), lengths.push_back(0), sums.push_back(0);
    ++lengths.back();
    sums.back() += items[i];
  }
  for (std::size_t run = 0, begin = 0; run < runs.size(); begin += static_cast<std::size_t>(lengths[run++])) {
    if (lengths[run] > 1) long_begins.push_back(static_cast<int>(begin)), long_lengths.push_back(lengths[run]);
  }
  const auto count = static_cast<int>(runs.size()), long_count = static_cast<int>(long_begins.size());
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceReduce<Hub>::ReduceByKey(in.data(), out.data(), in.data(), second_out.data(),
                                                       number.data(), strata::Sum{}, n);
  });
  EXPECT_EQ(number.to_host()[0], count);
  EXPECT_EQ(first_of_out(count), runs);
  EXPECT_EQ(first_of(second_out, count), sums);
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceRunLengthEncode<Hub>::Encode(in.data(), out.data(), second_out.data(), number.data(), n);
  });
  EXPECT_EQ(number.to_host()[0], count);
  EXPECT_EQ(first_of_out(count), runs);
  EXPECT_EQ(first_of(second_out, count), lengths);
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceRunLengthEncode<Hub>::NonTrivialRuns(in.data(), out.data(), second_out.data(),
                                                                   number.data(), n);
  });
  EXPECT_EQ(number.to_host()[0], long_count);
  EXPECT_EQ(first_of_out(long_count), long_begins);
  EXPECT_EQ(first_of(second_out, long_count), long_lengths);
}

TEST_F(device_policy_hubs, select_and_partition) {
  using Hub = hub<columns_of_tiles>;
  std::vector<int> small;
  std::copy_if(items.begin(), items.end(), std::back_inserter(small), is_small_number{});
  const auto count = static_cast<int>(small.size());
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceSelect<Hub>::If(in.data(), out.data(), number.data(), n, is_small_number{});
  });
  EXPECT_EQ(number.to_host()[0], count);
  EXPECT_EQ(first_of_out(count), small);
  expect_used<Hub>(threads, [&] {
    return strata::TunedDevicePartition<Hub>::If(in.data(), out.data(), number.data(), n, is_small_number{});
  });
  EXPECT_EQ(number.to_host()[0], count);
  // The rest follows, in reverse order.
  std::copy_if(items.rbegin(), items.rend(), std::back_inserter(small), std::not_fn(is_small_number{}));
  EXPECT_EQ(out.to_host(), small);
}

TEST_F(device_policy_hubs, radix_sort) {
  using Hub = hub<radix_rows>;
  expect_used<Hub>(512, [&] { return strata::TunedDeviceRadixSort<Hub>::SortKeys(in.data(), out.data(), n); });
  EXPECT_EQ(out.to_host(), sorted());
  // Passes use the hub, too: the size of their storage follows from its tiles.
  Hub::calls = 0;
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::TunedDeviceRadixSort<Hub>::ArgSort(storage, bytes, in.data(), out.data(), n);
  }));
  EXPECT_EQ(Hub::calls, 1);
  const std::vector<int> order = out.to_host(), expected = sorted();
  for (std::size_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(items[static_cast<std::size_t>(order[i])], expected[i]) << i;
  }
}

TEST_F(device_policy_hubs, segmented_radix_sort) {
  using Hub = hub<segmented_radix_rows>;
  expect_used<Hub>(512, [&] {
    return strata::TunedDeviceSegmentedRadixSort<Hub>::SortKeys(in.data(), out.data(), n, 10, offsets.data(),
                                                                offsets.data() + 1);
  });
  EXPECT_EQ(out.to_host(), sorted_segments());
}

TEST_F(device_policy_hubs, merge_sorts) {
  using Hub = hub<merge_sort_rows>;
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceMergeSort<Hub>::SortKeysCopy(in.data(), out.data(), n, strata::Less{});
  });
  EXPECT_EQ(out.to_host(), sorted());
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceSegmentedMergeSort<Hub>::SortKeysCopy(in.data(), out.data(), n, 10, offsets.data(),
                                                                    offsets.data() + 1, strata::Less{});
  });
  EXPECT_EQ(out.to_host(), sorted_segments());
}

TEST_F(device_policy_hubs, segmented_sort) {
  using Hub = hub<segmented_sort_rows>;
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceSegmentedSort<Hub>::SortKeys(in.data(), out.data(), n, 10, offsets.data(),
                                                           offsets.data() + 1);
  });
  EXPECT_EQ(out.to_host(), sorted_segments());
}

TEST_F(device_policy_hubs, segmented_reduce) {
  using Hub = hub<segmented_reduce_rows>;
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceSegmentedReduce<Hub>::Sum(in.data(), out.data(), 10, offsets.data(), offsets.data() + 1);
  });
  const std::vector<int> sums = first_of_out(10);
  for (int s = 0; s < 10; ++s) {
    EXPECT_EQ(sums[static_cast<std::size_t>(s)],
              std::accumulate(items.begin() + 100 * s, items.begin() + 100 * s + 100, 0));
  }
}

TEST_F(device_policy_hubs, segmented_scan) {
  using Hub = hub<segmented_scan_row>;
  std::vector<int> expected = items;
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += i % 100 != 0 ? expected[i - 1] : 0;
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceSegmentedScan<Hub>::InclusiveSegmentedSum(in.data(), out.data(), offsets.data(),
                                                                        offsets.data() + 1, 10);
  });
  EXPECT_EQ(out.to_host(), expected);
  // A scan of the segments' lengths runs before, with the rows of DeviceScan.
  using lengths = strata::scan_policy_hub<unsigned long long, unsigned long long>::MaxPolicy;
  const device_vector<int> begins(offsets.to_host()), ends(offsets.to_host());
  expect_used<Hub>(
      threads,
      [&] {
        return strata::TunedDeviceSegmentedScan<Hub>::InclusiveSegmentedSum(in.data(), out.data(), begins.data(),
                                                                            ends.data() + 1, 10);
      },
      1, lengths::small_tile.block_threads);
  EXPECT_EQ(out.to_host(), expected);
}

TEST_F(device_policy_hubs, merge) {
  using Hub = hub<merge_row>;
  const device_vector<int> halves(sorted());
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceMerge<Hub>::MergeKeys(halves.data(), 400, halves.data() + 400, 600, out.data());
  });
  EXPECT_EQ(out.to_host(), sorted());
}

TEST_F(device_policy_hubs, find) {
  using Hub = hub<find_rows>;
  using Find = strata::TunedDeviceFind<Hub>;
  expect_used<Hub>(threads, [&] { return Find::FindIf(in.data(), number.data(), equals{items[700]}, n); });
  EXPECT_EQ(number.to_host()[0], std::find(items.begin(), items.end(), items[700]) - items.begin());
  const std::vector<int> range = sorted();
  std::vector<int> expected;
  for (const int item : items) {
    expected.push_back(static_cast<int>(std::lower_bound(range.begin(), range.end(), item) - range.begin()));
  }
  const device_vector<int> d_range(range);
  const strata::Less less;
  expect_used<Hub>(threads, [&] { return Find::LowerBound(d_range.data(), n, in.data(), n, out.data(), less); });
  EXPECT_EQ(out.to_host(), expected);
  std::sort(expected.begin(), expected.end());
  expect_used<Hub>(
      threads, [&] { return Find::LowerBoundSortedValues(d_range.data(), n, d_range.data(), n, out.data(), less); });
  EXPECT_EQ(out.to_host(), expected);
}

TEST_F(device_policy_hubs, group_by) {
  // The keys and counts of all groups, in ascending order of keys.
  const auto groups = [&] {
    EXPECT_EQ(number.to_host()[0], 10);
    const std::vector<int> keys = first_of_out(10), counts = second_out.to_host();
    std::vector<std::pair<int, int>> found;
    for (std::size_t i = 0; i < keys.size(); ++i) found.emplace_back(keys[i], counts[i]);
    std::sort(found.begin(), found.end());
    return found;
  };
  std::vector<std::pair<int, int>> expected;
  for (int key = 0; key < 10; ++key) {
    expected.emplace_back(key, static_cast<int>(std::count(items.begin(), items.end(), key)));
  }
  const auto keys = strata::group_keys(in.data(), n);
  const auto counts = strata::group_aggregates(strata::group_count(second_out.data()));
  const auto output = strata::group_output(out.data(), n);
  // One kernel for few rows, then those that move rows to parts, too.
  using Few = hub<group_by_row<128>>;
  expect_used<Few>(threads,
                   [&] { return strata::TunedDeviceGroupBy<Few>::Aggregate(keys, counts, output, number.data()); });
  EXPECT_EQ(groups(), expected);
  using Many = hub<group_by_row<128, 100>>;
  expect_used<Many>(threads,
                    [&] { return strata::TunedDeviceGroupBy<Many>::Aggregate(keys, counts, output, number.data()); });
  EXPECT_EQ(groups(), expected);
}

// Most kernels belong to sorts and reductions by key, whose rows are not in the hub. So the blocks of two hubs are
// compared.
TEST_F(device_policy_hubs, group_by_in_order) {
  [[maybe_unused]] std::vector<int> block_counts, thread_counts;
  const auto expect_groups = [&](auto this_hub) {
    using Hub = decltype(this_hub);
    forget_calls<Hub>();
    ASSERT_CUDA_SUCCESS(in_one_phase([&] {
      return strata::TunedDeviceGroupBy<Hub>::Aggregate(
          strata::group_keys(in.data(), n), strata::group_aggregates(strata::group_count(second_out.data())),
          strata::group_output(out.data(), n).sorted(), number.data());
    }));
    EXPECT_EQ(Hub::calls, 1);
#if STRATA_HOST_SIMT
    block_counts.push_back(static_cast<int>(strata::simt::stats().blocks));
    thread_counts.push_back(static_cast<int>(strata::simt::stats().threads));
#endif
    ASSERT_EQ(number.to_host()[0], 10);
    const std::vector<int> keys = first_of_out(10), counts = second_out.to_host();
    for (int key = 0; key < 10; ++key) {
      EXPECT_EQ(keys[static_cast<std::size_t>(key)], key);
      EXPECT_EQ(counts[static_cast<std::size_t>(key)], std::count(items.begin(), items.end(), key));
    }
  };
  using narrow = group_by_row<64>;
  using wide = group_by_row<128>;
  expect_groups(hub<narrow>{});
  expect_groups(hub<wide>{});
#if STRATA_HOST_SIMT
  const int blocks = narrow::blocks_per_multiprocessor * static_cast<int>(strata::simt::config().multiprocessors);
  ASSERT_EQ(block_counts.size(), 2u);
  EXPECT_EQ(block_counts[0], block_counts[1]);
  EXPECT_EQ(thread_counts[1] - thread_counts[0], blocks * (wide::tuning.block_threads - narrow::tuning.block_threads));
#endif
}

TEST_F(device_policy_hubs, histogram) {
  using Hub = hub<histogram_row>;
  expect_used<Hub>(
      256, [&] { return strata::TunedDeviceHistogram<Hub>::HistogramEven(in.data(), out.data(), 11, 0, 10, n); });
  const std::vector<int> bins = first_of_out(10);
  for (int bin = 0; bin < 10; ++bin) {
    EXPECT_EQ(bins[static_cast<std::size_t>(bin)], std::count(items.begin(), items.end(), bin)) << bin;
  }
}

TEST_F(device_policy_hubs, top_k) {
  expect_used<top_k_hub>(128,
                         [&] { return strata::TunedDeviceTopK<top_k_hub>::MaxKeys(in.data(), out.data(), n, 10); });
  std::vector<int> greatest = first_of_out(10), expected = sorted(true);
  std::sort(greatest.rbegin(), greatest.rend());
  expected.resize(10);
  EXPECT_EQ(greatest, expected);
}

TEST_F(device_policy_hubs, segmented_top_k) {
  using Hub = hub<segmented_top_k_rows>;
  const strata::SegmentsOfSize segments(n / 10, 10);
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceSegmentedTopK<Hub>::MaxKeysSorted(in.data(), out.data(), segments, 1);
  });
  const std::vector<int> greatest = first_of_out(n / 10);
  for (std::size_t s = 0; s < greatest.size(); ++s) {
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(10 * s);
    EXPECT_EQ(greatest[s], *std::max_element(first, first + 10)) << s;
  }
}

TEST_F(device_policy_hubs, transform_for_and_difference) {
  using Hub = hub<tile_row>;
  std::vector<int> expected = items;
  for (int& item : expected) item *= 2;
  expect_used<Hub>(threads,
                   [&] { return strata::TunedDeviceTransform<Hub>::Transform(in.data(), out.data(), n, doubled{}); });
  EXPECT_EQ(out.to_host(), expected);
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceFor<Hub>::Bulk(n, write_doubled{in.data(), second_out.data()});
  });
  EXPECT_EQ(second_out.to_host(), expected);
  std::adjacent_difference(items.begin(), items.end(), expected.begin());
  expect_used<Hub>(
      threads, [&] { return strata::TunedDeviceAdjacentDifference<Hub>::SubtractLeftCopy(in.data(), out.data(), n); });
  EXPECT_EQ(out.to_host(), expected);
}

TEST_F(device_policy_hubs, copies) {
  using Hub = hub<copy_row>;
  const device_vector<const int*> sources(std::vector<const int*>{in.data() + 600, in.data()});
  const device_vector<int*> destinations(std::vector<int*>{out.data(), out.data() + 400});
  std::vector<int> expected = items;
  std::rotate(expected.begin(), expected.begin() + 600, expected.end());
  const device_vector<int> counts(std::vector<int>{400, 600});
  expect_used<Hub>(threads, [&] {
    return strata::TunedDeviceCopy<Hub>::Batched(sources.data(), destinations.data(), counts.data(), 2);
  });
  EXPECT_EQ(out.to_host(), expected);
  const device_vector<int> bytes(std::vector<int>{1600, 2400});
  const device_vector<int*> again(std::vector<int*>{second_out.data(), second_out.data() + 400});
  expect_used<Hub>(
      threads, [&] { return strata::TunedDeviceMemcpy<Hub>::Batched(sources.data(), again.data(), bytes.data(), 2); });
  EXPECT_EQ(second_out.to_host(), expected);
}

TEST_F(device_policy_hubs, transpose) {
  using Hub = hub<transpose_rows>;
  expect_used<Hub>(threads,
                   [&] { return strata::TunedDeviceTranspose<Hub>::Transpose(in.data(), out.data(), 40, 25); });
  const std::vector<int> transposed = out.to_host();
  for (std::size_t i = 0; i < items.size(); ++i) ASSERT_EQ(transposed[i % 25 * 40 + i / 25], items[i]) << i;
}

TEST_F(device_policy_hubs, joins) {
  using Hub = hub<join_rows>;
  const std::vector<int> keys = {7, 3, 11};
  const device_vector<int> build_keys(keys);
  const auto build = strata::join_side(build_keys.data(), 3), probe = strata::join_side(in.data(), n);
  std::vector<std::pair<int, int>> expected;  // build row and probe row
  for (int i = 0; i < n; ++i) {
    const auto key = std::find(keys.begin(), keys.end(), items[static_cast<std::size_t>(i)]);
    if (key != keys.end()) expected.emplace_back(static_cast<int>(key - keys.begin()), i);
  }
  std::sort(expected.begin(), expected.end());
  device_vector<long long> matches(1);
  const auto expect_pairs = [&] {
    ASSERT_EQ(matches.to_host()[0], static_cast<long long>(expected.size()));
    const std::vector<int> build_rows = out.to_host(), probe_rows = second_out.to_host();
    std::vector<std::pair<int, int>> found;
    for (std::size_t i = 0; i < expected.size(); ++i) found.emplace_back(build_rows[i], probe_rows[i]);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
    matches.poison();
  };
  const auto output = strata::join_pairs(out.data(), second_out.data(), n);
  expect_used<Hub>(
      threads, [&] { return strata::TunedDeviceHashJoin<Hub>::Inner(build, probe, output, matches.data()); }, 1,
      join_rows::partition.join_threads);
  expect_pairs();
  using Table = strata::TunedJoinTable<Hub, int>;
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(Table::MemoryBytes(build, bytes));
  const scratch memory(bytes);
  Table table(memory.data(), bytes, build);
  expect_used<Hub>(threads, [&] { return table.Build(3); });
  expect_used<Hub>(threads, [&] { return table.Inner(probe, output, matches.data()); });
  expect_pairs();
}

}  // namespace
