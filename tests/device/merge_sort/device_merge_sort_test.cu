// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: long, shapes

// DeviceMergeSort: stable sorts of whole arrays by any comparator. It shares its kernels with DeviceSegmentedMergeSort,
// whose tests cover more paths.
#include <strata/device/device_merge_sort.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/merge_sort/segmented_merge_sort_support.cuh"
#include "device/schedules.cuh"

namespace {

using namespace merge_sort_test;
using strata::DeviceMergeSort;

segment_shape whole(std::size_t size) { return consecutive("whole", {static_cast<offset>(size)}); }

std::vector<std::size_t> some_sizes() {
  return if_small<std::vector<std::size_t>>(
      {0, 1, 2, 100, 4608, 4609, 12801},
      {0, 1, 2, 3, 31, 100, 2560, 2561, 4607, 4608, 4609, 12800, 12801, 20480, 20481, 36864, 36865, 70000, 350000});
}

template <class Key>
void expect_sorts_keys(std::size_t size, pattern how) {
  SCOPED_TRACE(testing::Message() << size << " keys of " << sizeof(Key) << " bytes, pattern " << static_cast<int>(how));
  const std::vector<Key> keys = make_keys<Key>(size, how);
  const auto order = expected_order(whole(size), keys, is_less{});
  device_vector<Key> in(keys), out(size);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceMergeSort::SortKeysCopy(storage, bytes, in.data(), out.data(), size, is_less{});
  }));
  expect_gathered(keys, order, out.to_host(), keys);
  expect_gathered(keys, expected_order(segment_shape{}, keys, is_less{}), in.to_host(), keys);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceMergeSort::SortKeys(storage, bytes, in.data(), size, is_less{});
  }));
  expect_gathered(keys, order, in.to_host(), keys);
}

TEST(device_merge_sort, keys_of_any_count) {
  for (const std::size_t size : some_sizes()) {
    ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<std::int32_t>(size, pattern::random));
  }
}

TEST(device_merge_sort, keys_of_any_pattern) {
  for (const pattern how : all_patterns) {
    ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<std::int32_t>(13000, how));
  }
}

/// Sorts with small tiles in one launch: as many tiles as a cluster holds, and more, up to what the 16 resident blocks
/// of the host back end hold.
template <class Hub>
void expect_sorts_small_tiles() {
  using sort = strata::TunedDeviceMergeSort<Hub>;
  for (const std::size_t size :
       {1, 32, 191, 192, 193, 320, 384, 385, 767, 768, 769, 1000, 1536, 1537, 3072, 3073, 5120, 5121, 6000}) {
    for (const pattern how : {pattern::random, pattern::few, pattern::reversed}) {
      SCOPED_TRACE(testing::Message() << size << ", pattern " << static_cast<int>(how));
      const std::vector<std::int32_t> keys = make_keys<std::int32_t>(size, how),
                                      values = make_values<std::int32_t>(size);
      const auto order = expected_order(whole(size), keys, is_greater{});
      // First all arrays begin at a multiple of 16 bytes, then neither the input nor the output does.
      for (const std::size_t lead : {0u, 1u}) {
        device_vector<std::int32_t> in(size + 1), out(size + 1);
        ASSERT_CUDA_SUCCESS(
            cudaMemcpy(in.data() + lead, keys.data(), size * sizeof(std::int32_t), cudaMemcpyHostToDevice));
        ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
          return sort::SortKeysCopy(storage, bytes, in.data() + lead, out.data() + lead, size, is_greater{});
        }));
        std::vector<std::int32_t> sorted = out.to_host();
        sorted.erase(lead == 0 ? sorted.end() - 1 : sorted.begin());
        ASSERT_NO_FATAL_FAILURE(expect_gathered(keys, order, sorted, keys));
        ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
          return sort::SortKeys(storage, bytes, in.data() + lead, size, is_greater{});
        }));
        sorted = in.to_host();
        sorted.erase(lead == 0 ? sorted.end() - 1 : sorted.begin());
        ASSERT_NO_FATAL_FAILURE(expect_gathered(keys, order, sorted, keys));
      }
      device_vector<std::int32_t> keys_in(keys), values_in(values);
      ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return sort::SortPairs(storage, bytes, keys_in.data(), values_in.data(), size, is_greater{});
      }));
      ASSERT_NO_FATAL_FAILURE(expect_gathered(keys, order, keys_in.to_host(), keys));
      ASSERT_NO_FATAL_FAILURE(expect_gathered(values, order, values_in.to_host(), values));
    }
  }
}

TEST(device_merge_sort, small_tiles_in_one_launch) { expect_sorts_small_tiles<tiny_tiles>(); }

/// `tiny_tiles` without clusters.
struct tiny_grid {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, tiny_tiles::Policy> {
    static constexpr strata::merge_sort_grid_tuning one_cluster{64, 3, 1, 1};
  };
  using MaxPolicy = Policy;
};
TEST(device_merge_sort, small_tiles_of_resident_blocks) { expect_sorts_small_tiles<tiny_grid>(); }

// Each size makes several tiles. Tiles have 12800 keys of up to 4 bytes, 6400 of 8, 2304 of 12, 1792 of 16, 768 of 40.
TEST(device_merge_sort, keys_of_any_size) {
  ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<record11>(if_small<std::size_t>(5000, 15000), pattern::few));
  ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<record16>(8000, pattern::few));
#if !STRATA_TEST_FEW_TYPES
  ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<std::uint8_t>(30000, pattern::random));
  ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<std::uint16_t>(30000, pattern::random));
  ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<double>(20000, pattern::few));
  ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<record12>(15000, pattern::few));
  ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<record40>(5000, pattern::few));
#endif
}

template <class Key, class Value>
void expect_stable_pairs(std::size_t size) {
  SCOPED_TRACE(size);
  const std::vector<Key> keys = make_keys<Key>(size, pattern::few);
  const std::vector<Value> values = make_values<Value>(size);
  const auto order = expected_order(whole(size), keys, is_greater{});
  device_vector<Key> in(keys), out(size);
  device_vector<Value> values_in(values), values_out(size);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceMergeSort::StableSortPairsCopy(storage, bytes, in.data(), values_in.data(), out.data(),
                                                values_out.data(), size, is_greater{});
  }));
  expect_gathered(keys, order, out.to_host(), keys);
  expect_gathered(values, order, values_out.to_host(), values);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceMergeSort::StableSortPairs(storage, bytes, in.data(), values_in.data(), size, is_greater{});
  }));
  expect_gathered(keys, order, in.to_host(), keys);
  expect_gathered(values, order, values_in.to_host(), values);
}

TEST(device_merge_sort, pairs_are_stable) {
  for (const std::size_t size : some_sizes()) {
    if (is_small() && size != 4609 && size != 12801) continue;
    ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint32_t, std::uint32_t>(size)));
  }
  // A merge holds 11 bytes for each of these pairs of 8 bytes.
  ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<record7, std::uint8_t>(4000)));
#if !STRATA_TEST_FEW_TYPES
  ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint8_t, record40>(4000)));
  ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<record40, std::uint16_t>(4000)));
#endif
}

template <std::size_t Bytes>
struct bytes_of {
  unsigned char words[Bytes];
};
/// Refuses to compile if a merge of the grid has more than 48 KiB.
template <std::size_t KeyBytes, std::size_t ValueBytes>
constexpr std::size_t shared_bytes_of_grid() {
  using Key = bytes_of<KeyBytes>;
  using Value = bytes_of<ValueBytes>;
  using Hub = strata::segmented_merge_sort_policy_hub<strata::detail::merge_sort_item_bytes<Key, Value>()>;
  using Row = strata::detail::resident_grid_row<typename Hub::MaxPolicy::ActivePolicy>;
  return sizeof(typename strata::detail::AgentMergeSortGrid<Row, strata::detail::whole_grid, Key, Value, const Key*,
                                                            const Value*, is_greater>::TempStorage);
}
template <std::size_t... KeyBytes>
constexpr bool fits_with_all_values(std::index_sequence<KeyBytes...>) {
  return ((shared_bytes_of_grid<KeyBytes + 1, 1>() <= 64 << 10) && ...) &&
         ((shared_bytes_of_grid<KeyBytes + 1, 2>() <= 64 << 10) && ...) &&
         ((shared_bytes_of_grid<KeyBytes + 1, 3>() <= 64 << 10) && ...) &&
         ((shared_bytes_of_grid<KeyBytes + 1, 5>() <= 64 << 10) && ...);
}
/// On compute capability 7.5, a block may have 64 KiB.
TEST(device_merge_sort, tiles_of_pairs_of_any_size_fit_in_shared_memory) {
  EXPECT_TRUE(fits_with_all_values(std::make_index_sequence<100>{}));
}

/// True if the rows of a policy fit together, as the dispatch asserts.
template <class Policy>
constexpr bool has_fitting_rows() {
  using strata::detail::segment_class;
  constexpr int least = Policy::one_tile.tile_items();
  for (const segment_class longer : {segment_class::one_tile, segment_class::many_tiles,
                                     segment_class::tile_per_multiprocessor, segment_class::whole_array}) {
    const strata::segment_tile_tuning tile = strata::detail::tuning_of<Policy>(longer);
    const strata::segment_merge_tuning merge = strata::detail::merge_tuning_of<Policy>(longer);
    if (tile.tile_items() < least || tile.tile_items() % merge.tile_items != 0 ||
        (merge.block_threads - 1) * merge.items_per_thread < merge.tile_items) {
      return false;
    }
  }
  return true;
}
template <int ItemBytes>
constexpr bool has_fitting_rows_of_bytes() {
  using Hub = strata::segmented_merge_sort_policy_hub<ItemBytes>;
  return has_fitting_rows<typename Hub::Policy750>() && has_fitting_rows<typename Hub::Policy900>() &&
         has_fitting_rows<typename Hub::Policy1200>();
}
template <int... I>
void expect_fitting_rows(std::integer_sequence<int, I...>) {
  const bool fits[] = {has_fitting_rows_of_bytes<I + 1>()...};
  for (const int i : {I...}) EXPECT_TRUE(fits[i]) << i + 1 << " bytes";
}
TEST(device_merge_sort, rows_of_items_of_any_size_fit_together) {
  expect_fitting_rows(std::make_integer_sequence<int, 130>{});
}

/// Expects that a block of the architecture may have as much shared memory as the kernels of a policy take.
template <class Policy, int Architecture, class Key>
void expect_tiles_fit() {
  using namespace strata::detail;
  using Segments = offset_segments<const int*, const int*>;
  constexpr auto most = static_cast<std::size_t>(limits_of(Architecture).shared_bytes_of_block);
  const auto expect_fits = [&](std::size_t bytes) {
    EXPECT_LE(bytes, most) << sizeof(Key) << " bytes, architecture " << Architecture;
  };
  const auto expect_tile_fits = [&](auto which) {
    constexpr segment_class longer = decltype(which)::value;
    expect_fits(sizeof(typename segments_agent<Policy, longer, Segments, Key, strata::NullType, const Key*,
                                               const strata::NullType*, is_less>::TempStorage));
    expect_fits(sizeof(typename merge_agent<Policy, longer, Key, strata::NullType, is_less>::TempStorage));
  };
  expect_tile_fits(std::integral_constant<segment_class, segment_class::one_tile>{});
  expect_tile_fits(std::integral_constant<segment_class, segment_class::many_tiles>{});
  expect_tile_fits(std::integral_constant<segment_class, segment_class::tile_per_multiprocessor>{});
  expect_tile_fits(std::integral_constant<segment_class, segment_class::whole_array>{});
}
template <std::size_t... Bytes>
void expect_all_tiles_fit() {
  (expect_tiles_fit<typename strata::segmented_merge_sort_policy_hub<Bytes>::Policy750, 750, bytes_of<Bytes>>(), ...);
  (expect_tiles_fit<typename strata::segmented_merge_sort_policy_hub<Bytes>::Policy860, 860, bytes_of<Bytes>>(), ...);
  (expect_tiles_fit<typename strata::segmented_merge_sort_policy_hub<Bytes>::Policy900, 900, bytes_of<Bytes>>(), ...);
  (expect_tiles_fit<typename strata::segmented_merge_sort_policy_hub<Bytes>::Policy1200, 1200, bytes_of<Bytes>>(), ...);
}
TEST(device_merge_sort, tiles_of_items_of_any_size_fit_in_shared_memory_of_all_architectures) {
  expect_all_tiles_fit<4, 8, 10, 11, 16, 20, 28, 32, 34, 48, 64, 75, 79, 130, 312, 500>();
}

TEST(device_merge_sort, items_that_no_block_can_merge_are_refused_before_anything_is_written) {
  const std::size_t size = 300;
  const std::vector<bytes_of<2400>> keys = make_keys<bytes_of<2400>>(size, pattern::few);
  device_vector<bytes_of<2400>> items(keys);
  EXPECT_EQ(cudaErrorInvalidValue, in_two_phases([&](void* storage, std::size_t& bytes) {
              return DeviceMergeSort::SortKeys(storage, bytes, items.data(), size, is_less{});
            }));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  expect_gathered(keys, expected_order(segment_shape{}, keys, is_less{}), items.to_host(), keys);
}

// ------------------------------------------------------------------ other functions and iterators

/// An iterator that computes its items: item i is the square of i - origin.
struct square_iterator {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  using pointer = const int*;
  using reference = int;
  int origin;
  STRATA_HD int operator[](std::ptrdiff_t i) const {
    const int distance = static_cast<int>(i) - origin;
    return distance * distance;
  }
};

TEST(device_merge_sort, inputs_may_be_iterators) {
  const std::size_t size = if_small<std::size_t>(3300, 14000);
  const square_iterator squares{1000};
  std::vector<int> keys(size);
  for (std::size_t i = 0; i < size; ++i) keys[i] = squares[static_cast<std::ptrdiff_t>(i)];
  const auto order = expected_order(whole(size), keys, is_less{});
  device_vector<int> out(size);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceMergeSort::StableSortKeysCopy(storage, bytes, squares, out.data(), size, is_less{});
  }));
  expect_gathered(keys, order, out.to_host(), keys);
  // The output has another type of keys than the input.
  const device_vector<std::uint8_t> narrow(make_keys<std::uint8_t>(size, pattern::random));
  const std::vector<std::uint8_t> before = narrow.to_host();
  std::vector<int> wide(before.begin(), before.end());
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceMergeSort::SortKeysCopy(storage, bytes, narrow.data(), out.data(), size, is_less{});
  }));
  std::sort(wide.begin(), wide.end());
  EXPECT_EQ(wide, out.to_host());
}

TEST(device_merge_sort, a_graph_may_be_replayed_with_other_items) {
  const std::size_t size = if_small<std::size_t>(13000, 40000);
  device_vector<int> items(size);
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return DeviceMergeSort::StableSortKeys(storage, bytes, items.data(), size, is_less{}, on);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_LE(recorded.nodes(), 4u);
  const stream on;
  for (const pattern how : all_patterns) {
    std::vector<int> keys = make_keys<int>(size, how);
    items.assign(keys);
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    std::stable_sort(keys.begin(), keys.end());
    ASSERT_EQ(keys, items.to_host());
  }
}

// A comparator that changes when it is called.
struct counting_is_less {
  unsigned calls = 0;
  STRATA_HD bool operator()(int a, int b) { return ++calls != 0 && a < b; }
};
TEST(device_merge_sort, comparators_need_not_be_const) {
  for (const std::size_t size : sizes{100, 13000, 30000}) {
    std::vector<int> keys = make_keys<int>(size, pattern::random);
    device_vector<int> items(keys);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceMergeSort::SortKeys(storage, bytes, items.data(), size, counting_is_less{});
    }));
    std::stable_sort(keys.begin(), keys.end());
    EXPECT_EQ(keys, items.to_host());
  }
}

TEST(device_merge_sort, refuses_wrong_arguments) {
  device_vector<int> items(std::vector<int>{3, 1, 2, 0});
  const auto status_of = [&](int* in, int* out, int count, std::size_t missing) {
    std::size_t bytes = 0;
    const cudaError_t query = DeviceMergeSort::SortKeysCopy(nullptr, bytes, in, out, count, is_less{});
    if (query != cudaSuccess) return query;
    const scratch storage(bytes);
    bytes -= missing;
    const cudaError_t status = DeviceMergeSort::SortKeysCopy(storage.data(), bytes, in, out, count, is_less{});
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    return status;
  };
  int* const data = items.data();
  EXPECT_EQ(cudaErrorInvalidValue, status_of(data, data + 2, -1, 0));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(data, data + 2, 2, 1));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(nullptr, data + 2, 2, 0));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(data, nullptr, 2, 0));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(data, data + 1, 2, 0));
  EXPECT_EQ((std::vector<int>{3, 1, 2, 0}), items.to_host());
  EXPECT_CUDA_SUCCESS(status_of(nullptr, nullptr, 0, 0));
  EXPECT_CUDA_SUCCESS(status_of(data, data + 2, 2, 0));
  EXPECT_EQ((std::vector<int>{3, 1, 1, 3}), items.to_host());
}

TEST(device_merge_sort, storage_is_as_documented) {
  int* const keys = nullptr;
  std::size_t bytes = 0;
  for (const std::size_t size : {std::size_t{100000}, std::size_t{1} << 28, std::size_t{1} << 33}) {
    ASSERT_CUDA_SUCCESS(DeviceMergeSort::SortKeysCopy(nullptr, bytes, keys, keys, size, is_less{}));
    EXPECT_GE(bytes, size * sizeof(int));
    EXPECT_LE(bytes, size * sizeof(int) + 20000 + size / 6400 * 4) << size << " keys";
  }
}

struct is_nearer {
  STRATA_HD bool operator()(const float2& a, const float2& b) const {
    return a.x * a.x + a.y * a.y < b.x * b.x + b.y * b.y;
  }
};

TEST(device_merge_sort, sorts_points_by_distance) {
  device_vector<float2> points(std::vector<float2>{{3, 4}, {0, 1}, {-2, 0}});
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceMergeSort::SortKeys(storage, bytes, points.data(), 3, is_nearer{});
  }));
  const std::vector<float2> sorted = points.to_host();
  EXPECT_EQ(1, sorted[0].y);
  EXPECT_EQ(-2, sorted[1].x);
  EXPECT_EQ(3, sorted[2].x);
}

}  // namespace
