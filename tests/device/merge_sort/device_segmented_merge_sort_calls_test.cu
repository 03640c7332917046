// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of DeviceSegmentedMergeSort: every function, the library's own tilings, offsets and counts of any types, and
// wrong arguments.
#include <strata/device/device_segmented_merge_sort.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "device/merge_sort/segmented_merge_sort_support.cuh"

namespace {

using namespace merge_sort_test;
using strata::DeviceSegmentedMergeSort;
using Key = std::int32_t;
using Value = std::uint32_t;

// ------------------------------------------------------------------ every function

/// The arrays of a call, before and after it, and the expected order.
struct sorting {
  explicit sorting(const segment_shape& of)
      : shape(of),
        keys(make_keys<Key>(shape.items(), pattern::few)),
        values(make_values<Value>(shape.items())),
        order(expected_order(shape, keys, is_less{})),
        offsets(shape),
        keys_in(keys),
        keys_out(std::vector<Key>(keys.size(), 77)),
        values_in(values),
        values_out(std::vector<Value>(keys.size(), 77)) {}

  template <class Call>
  void run(const Call& call) {
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return call(storage, bytes, items_of(shape), shape.segments(), offsets.begins.data(), offsets.ends.data());
    }));
  }
  void expect_in_place(bool has_values) {
    expect_gathered(keys, order, keys_in.to_host(), keys);
    const std::vector<std::size_t> nothing(order.size(), nowhere);
    expect_gathered(values, has_values ? order : nothing, values_in.to_host(), values);
  }
  void expect_copied(bool has_keys, bool has_values) {
    const std::vector<std::size_t> nothing(order.size(), nowhere);
    const std::vector<Key> before(keys.size(), 77);
    const std::vector<Value> values_before(keys.size(), 77);
    EXPECT_EQ(keys, keys_in.to_host());
    EXPECT_EQ(values, values_in.to_host());
    expect_gathered(keys, has_keys ? order : nothing, keys_out.to_host(), before);
    if (has_values) expect_gathered(values, order, values_out.to_host(), values_before);
  }
  void expect_indices() {
    const std::vector<Value> indices = values_out.to_host();
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(order[i] == nowhere ? 77u : order[i], indices[i]) << i;
    }
  }

  segment_shape shape;
  std::vector<Key> keys;
  std::vector<Value> values;
  std::vector<std::size_t> order;
  device_offsets offsets;
  device_vector<Key> keys_in, keys_out;
  device_vector<Value> values_in, values_out;
};

/// Shapes for which the library chooses different tilings.
std::vector<segment_shape> library_shapes() {
  std::vector<segment_shape> some;
  some.push_back(
      scattered(consecutive("long", {0, 1, 30, 3200, 6399, 3201, 6401, 12800, 12801, 2, if_small(13000, 60000)}), 31));
  some.push_back(consecutive("one", {if_small(13000, 27000)}));
  for (const offset length : {7, 31, 100, 700}) {
    std::vector<offset> lengths(static_cast<std::size_t>(if_small(2000, 20000) / length), length);
    lengths.back() = if_small(5000, 13000);
    some.push_back(consecutive("most_of_" + std::to_string(length), lengths));
  }
  return some;
}

TEST(device_segmented_merge_sort_calls, keys_in_place) {
  for (const segment_shape& shape : library_shapes()) {
    SCOPED_TRACE(shape);
    sorting data(shape);
    data.run([&](void* storage, std::size_t& bytes, auto... rest) {
      return DeviceSegmentedMergeSort::SortKeys(storage, bytes, data.keys_in.data(), rest..., is_less{});
    });
    data.expect_in_place(false);
  }
}

TEST(device_segmented_merge_sort_calls, every_function) {
  const segment_shape shape = library_shapes()[0];
  const auto check = [&](const auto& call, const auto& expect) {
    sorting data(shape);
    data.run([&](void* storage, std::size_t& bytes, auto... rest) {
      return call(data, storage, bytes, rest..., is_less{});
    });
    expect(data);
  };
  using sort = DeviceSegmentedMergeSort;
  check([](sorting& d, void* s, std::size_t& b,
           auto... rest) { return sort::StableSortKeys(s, b, d.keys_in.data(), rest...); },
        [](sorting& d) { d.expect_in_place(false); });
  check([](sorting& d, void* s, std::size_t& b,
           auto... rest) { return sort::SortKeysCopy(s, b, d.keys_in.data(), d.keys_out.data(), rest...); },
        [](sorting& d) { d.expect_copied(true, false); });
  check([](sorting& d, void* s, std::size_t& b,
           auto... rest) { return sort::SortPairs(s, b, d.keys_in.data(), d.values_in.data(), rest...); },
        [](sorting& d) { d.expect_in_place(true); });
  check([](sorting& d, void* s, std::size_t& b,
           auto... rest) { return sort::SortIndices(s, b, d.keys_in.data(), d.values_out.data(), rest...); },
        [](sorting& d) {
          d.expect_copied(false, false);
          d.expect_indices();
        });
  check(
      [](sorting& d, void* s, std::size_t& b, auto... rest) {
        return sort::SortPairsCopy(s, b, d.keys_in.data(), d.values_in.data(), d.keys_out.data(), d.values_out.data(),
                                   rest...);
      },
      [](sorting& d) { d.expect_copied(true, true); });
#if !STRATA_TEST_FEW_TYPES
  check([](sorting& d, void* s, std::size_t& b,
           auto... rest) { return sort::StableSortKeysCopy(s, b, d.keys_in.data(), d.keys_out.data(), rest...); },
        [](sorting& d) { d.expect_copied(true, false); });
  check([](sorting& d, void* s, std::size_t& b,
           auto... rest) { return sort::StableSortPairs(s, b, d.keys_in.data(), d.values_in.data(), rest...); },
        [](sorting& d) { d.expect_in_place(true); });
  check(
      [](sorting& d, void* s, std::size_t& b, auto... rest) {
        return sort::StableSortPairsCopy(s, b, d.keys_in.data(), d.values_in.data(), d.keys_out.data(),
                                         d.values_out.data(), rest...);
      },
      [](sorting& d) { d.expect_copied(true, true); });
#endif
}

// ------------------------------------------------------------------ segments of one size

TEST(device_segmented_merge_sort_calls, segments_of_one_size) {
  using sort = DeviceSegmentedMergeSort;
  for (const auto& [count, size] : std::vector<std::pair<int, long long>>{{200, 1},
                                                                          {300, 7},
                                                                          {100, 31},
                                                                          {17, 100},
                                                                          {3, 3200},
                                                                          {2, 3201},
                                                                          {2, 12800},
                                                                          {1, 12801},
                                                                          {3, if_small(12900, 30000)}}) {
    SCOPED_TRACE(testing::Message() << count << " of " << size);
    const std::vector<offset> lengths(static_cast<std::size_t>(count), size);
    const segment_shape shape = consecutive("equal", lengths);
    {
      sorting data(shape);
      ASSERT_CUDA_SUCCESS(in_two_phases([&, count = count, size = size](void* s, std::size_t& b) {
        return sort::SortKeys(s, b, data.keys_in.data(), count, size, is_less{});
      }));
      data.expect_in_place(false);
    }
    if (is_small() && size != 7 && size != 12801) continue;
    {
      sorting data(shape);
      ASSERT_CUDA_SUCCESS(in_two_phases([&, count = count, size = size](void* s, std::size_t& b) {
        return sort::SortPairsCopy(s, b, data.keys_in.data(), data.values_in.data(), data.keys_out.data(),
                                   data.values_out.data(), count, size, is_less{});
      }));
      data.expect_copied(true, true);
    }
    {
      sorting data(shape);
      ASSERT_CUDA_SUCCESS(in_two_phases([&, count = count, size = size](void* s, std::size_t& b) {
        return sort::SortIndices(s, b, data.keys_in.data(), data.values_out.data(), count, size, is_less{});
      }));
      data.expect_indices();
    }
  }
}

// If no segment can be longer than a tile, a call launches only one kernel.
TEST(device_segmented_merge_sort_calls, short_segments_take_one_kernel) {
  sorting data(consecutive("short", std::vector<offset>(30, 100)));
  std::size_t bytes = 0;
  const auto call = [&](void* storage, cudaStream_t on) {
    return DeviceSegmentedMergeSort::SortKeys(storage, bytes, data.keys_in.data(), 30, 100, is_less{}, on);
  };
  ASSERT_CUDA_SUCCESS(call(nullptr, nullptr));
  EXPECT_LT(bytes, 25000u);
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(1u, recorded.nodes());
  const stream on;
  ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
  on.synchronize();
  data.expect_in_place(false);
}

// ------------------------------------------------------------------ what the host chooses

using strata::detail::segment_class;
using policy = strata::segmented_merge_sort_policy_hub<sizeof(Key)>::Policy900;

strata::detail::merge_sort_choice choice_of(unsigned long long items, long long segments, unsigned long long longest) {
  return strata::detail::choose_merge_sort<policy, false>(items, segments, static_cast<long long>(longest), 132,
                                                          segment_class::tile_per_multiprocessor);
}

// The class is chosen without asking a device. Its bounds are those in the comments of segment_class.
TEST(device_segmented_merge_sort_calls, the_class_follows_from_the_mean_length) {
  const std::pair<unsigned long long, segment_class> bounds[] = {
      {10, segment_class::one_thread},   {11, segment_class::few_threads},   {72, segment_class::few_threads},
      {73, segment_class::part_of_tile}, {640, segment_class::part_of_tile}, {641, segment_class::one_tile},
      {6400, segment_class::one_tile},   {6401, segment_class::many_tiles},  {12800, segment_class::many_tiles}};
  for (const auto& [mean, expected] : bounds) {
    const auto choice = choice_of(mean << 20, 1 << 20, mean << 20);
    EXPECT_FALSE(choice.queues_all) << mean;
    EXPECT_TRUE(choice.first == expected) << mean;
    EXPECT_TRUE(choice.longer == (mean > 6400 ? segment_class::many_tiles : segment_class::one_tile)) << mean;
  }
  EXPECT_TRUE(choice_of(12801ull << 20, 1 << 20, 12801ull << 20).queues_all);
}

TEST(device_segmented_merge_sort_calls, few_items_take_a_tile_on_each_multiprocessor) {
  const auto whole = choice_of(132 * 10560, 132, 10560);
  EXPECT_TRUE(!whole.queues_all && whole.first == segment_class::tile_per_multiprocessor);
  EXPECT_EQ(10560, whole.tile_items);
  const auto longer = choice_of(100000, 2, 100000);
  EXPECT_TRUE(longer.queues_all && longer.longer == segment_class::tile_per_multiprocessor);
  EXPECT_TRUE(choice_of(2000, 2000, 2000).first == segment_class::one_thread);
  // With at most one segment for each multiprocessor, the large tile is chosen, although segments may be longer.
  EXPECT_TRUE(choice_of(132 * 500, 132, 132 * 500).first == segment_class::tile_per_multiprocessor);
  EXPECT_FALSE(choice_of(133 * 500, 133, 133 * 500).first == segment_class::tile_per_multiprocessor);
}

// ------------------------------------------------------------------ offsets and counts

template <class Begin, class End, class Items, class Count>
void expect_offsets(Items items, Count count) {
  segment_shape shape = scattered(consecutive("some", {4, 0, 50, 600, 0, 33, 1}), 13);
  for (std::size_t i = 0; i < shape.ends.size(); ++i) {
    shape.ends[i] = std::max(shape.begins[i], shape.ends[i]);
  }
  sorting data(shape);
  const device_vector<Begin> begins(std::vector<Begin>(shape.begins.begin(), shape.begins.end()));
  const device_vector<End> ends(std::vector<End>(shape.ends.begin(), shape.ends.end()));
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceSegmentedMergeSort::SortKeysCopy(storage, bytes, data.keys_in.data(), data.keys_out.data(), items,
                                                  count, begins.data(), ends.data(), is_less{});
  }));
  data.expect_copied(true, false);
}

TEST(device_segmented_merge_sort_calls, offsets_and_counts_of_any_integer_types) {
  expect_offsets<std::uint16_t, std::uint64_t>(std::uint16_t{688}, std::uint8_t{7});
#if !STRATA_TEST_FEW_TYPES
  expect_offsets<std::int32_t, std::int16_t>(688ull, 7);
#endif
}

/// Offsets have more than 32 bits, so the pointers lie far before the arrays.
TEST(device_segmented_merge_sort_calls, offsets_above_32_bits) {
  constexpr offset far = (offset{1} << 33) + 5;
  segment_shape shape = scattered(consecutive("some", {4, 0, 50, 13000, 0, 33, 1}), 14);
  sorting data(shape);
  segment_shape moved = shape;
  for (offset& begin : moved.begins) begin += far;
  for (offset& end : moved.ends) end += far;
  const device_offsets offsets(moved);
  const auto before = [](auto* items) {
    using item = std::remove_pointer_t<decltype(items)>;
    return reinterpret_cast<item*>(reinterpret_cast<std::uintptr_t>(items) -
                                   static_cast<std::uintptr_t>(far) * sizeof(item));
  };
  device_vector<offset> indices(shape.items());
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceSegmentedMergeSort::SortIndices(storage, bytes, static_cast<const Key*>(before(data.keys_in.data())),
                                                 before(indices.data()), items_of(shape), shape.segments(),
                                                 offsets.begins.data(), offsets.ends.data(), is_less{});
  }));
  const std::vector<offset> found = indices.to_host();
  for (std::size_t i = 0; i < data.order.size(); ++i) {
    if (data.order[i] == nowhere) {
      ASSERT_TRUE(strata_test::is_poison(found[i])) << i;
    } else {
      ASSERT_EQ(far + static_cast<offset>(data.order[i]), found[i]) << i;
    }
  }
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceSegmentedMergeSort::SortPairs(storage, bytes, before(data.keys_in.data()),
                                               before(data.values_in.data()), items_of(shape), shape.segments(),
                                               offsets.begins.data(), offsets.ends.data(), is_less{});
  }));
  data.expect_in_place(true);
}

// ------------------------------------------------------------------ arguments

/// Right arguments, with one segment to sort. A test makes one of them wrong.
struct arguments {
  device_vector<Key> memory{std::vector<Key>{2, 1, 0, 0, 5, 6, 0, 0}};
  device_vector<int> device_offsets{std::vector<int>{0, 2}};
  Key* keys_in = memory.data();
  Key* keys_out = memory.data() + 2;
  Key* values_in = memory.data() + 4;
  Key* values_out = memory.data() + 6;
  long long items = 2;
  long long segments = 1;
  const int* begins = device_offsets.data();
  const int* ends = device_offsets.data() + 1;
  bool is_short_of_storage = false;

  cudaError_t copy() const {
    return in_storage(is_short_of_storage, [&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedMergeSort::SortPairsCopy(storage, bytes, keys_in, values_in, keys_out, values_out, items,
                                                     segments, begins, ends, is_less{});
    });
  }
  cudaError_t in_place() const {
    return in_storage(is_short_of_storage, [&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedMergeSort::SortPairs(storage, bytes, keys_in, values_in, items, segments, begins, ends,
                                                 is_less{});
    });
  }
  cudaError_t of_size() const {
    return in_storage(is_short_of_storage, [&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedMergeSort::SortKeys(storage, bytes, keys_in, segments, items, is_less{});
    });
  }
};

template <class Change>
void expect_refused(const char* what, bool in_place_too, const Change& change) {
  SCOPED_TRACE(what);
  arguments wrong;
  change(wrong);
  EXPECT_EQ(cudaErrorInvalidValue, wrong.copy());
  if (in_place_too) {
    EXPECT_EQ(cudaErrorInvalidValue, wrong.in_place());
  }
  EXPECT_EQ((std::vector<Key>{2, 1, 0, 0, 5, 6, 0, 0}), wrong.memory.to_host());
}

TEST(device_segmented_merge_sort_calls, refuses_wrong_arguments) {
  expect_refused("items", true, [](arguments& a) { a.items = -1; });
  expect_refused("segments", true, [](arguments& a) { a.segments = -1; });
  expect_refused("keys_in", true, [](arguments& a) { a.keys_in = nullptr; });
  expect_refused("keys_out", false, [](arguments& a) { a.keys_out = nullptr; });
  expect_refused("values_in", true, [](arguments& a) { a.values_in = nullptr; });
  expect_refused("values_out", false, [](arguments& a) { a.values_out = nullptr; });
  expect_refused("begins", true, [](arguments& a) { a.begins = nullptr; });
  expect_refused("ends", true, [](arguments& a) { a.ends = nullptr; });
  expect_refused("keys overlap", false, [](arguments& a) { a.keys_out = a.keys_in + 1; });
  expect_refused("values overlap", false, [](arguments& a) { a.values_out = a.values_in + 1; });
  expect_refused("outputs overlap", false, [](arguments& a) { a.values_out = a.keys_out + 1; });
  expect_refused("values on offsets", false,
                 [](arguments& a) { a.values_out = reinterpret_cast<Key*>(const_cast<int*>(a.begins)) + 1; });
  {
    arguments pairs;  // in place only: the inputs of a copy may share memory
    pairs.values_in = pairs.keys_in + 1;
    EXPECT_EQ(cudaErrorInvalidValue, pairs.in_place());
  }
  expect_refused("storage", true, [](arguments& a) { a.is_short_of_storage = true; });
  arguments wrong;
  wrong.segments = -1;
  EXPECT_EQ(cudaErrorInvalidValue, wrong.of_size());
  wrong.segments = 1;
  wrong.items = -2;
  EXPECT_EQ(cudaErrorInvalidValue, wrong.of_size());
  wrong.segments = wrong.items = 1ll << 40;
  std::size_t bytes = 0;
  EXPECT_EQ(cudaErrorInvalidValue, DeviceSegmentedMergeSort::SortKeys(wrong.memory.data(), bytes, wrong.keys_in,
                                                                      wrong.segments, wrong.items, is_less{}));
}

TEST(device_segmented_merge_sort_calls, accepts_right_arguments) {
  arguments right;
  EXPECT_CUDA_SUCCESS(right.copy());
  EXPECT_EQ((std::vector<Key>{2, 1, 1, 2, 5, 6, 6, 5}), right.memory.to_host());
  EXPECT_CUDA_SUCCESS(right.in_place());
  EXPECT_EQ((std::vector<Key>{1, 2, 1, 2, 6, 5, 6, 5}), right.memory.to_host());
  EXPECT_CUDA_SUCCESS(right.of_size());
}

// A literal 0 as the stream must compile. It converts to a pointer only if the call passes it on as a stream.
TEST(device_segmented_merge_sort_calls, a_stream_may_be_a_literal_0) {
  using sort = DeviceSegmentedMergeSort;
  Key* const keys = nullptr;
  Value* const values = nullptr;
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(sort::SortKeys(nullptr, bytes, keys, 0, 0, is_less{}, 0));
  EXPECT_CUDA_SUCCESS(sort::StableSortKeys(nullptr, bytes, keys, 0, 0, is_less{}, 0));
  EXPECT_CUDA_SUCCESS(sort::StableSortKeysCopy(nullptr, bytes, keys, keys, 0, 0, is_less{}, 0));
  EXPECT_CUDA_SUCCESS(sort::StableSortPairs(nullptr, bytes, keys, values, 0, 0, is_less{}, 0));
  EXPECT_CUDA_SUCCESS(sort::StableSortPairsCopy(nullptr, bytes, keys, values, keys, values, 0, 0, is_less{}, 0));
}

TEST(device_segmented_merge_sort_calls, nothing_to_sort) {
  for (const bool has_items : {false, true}) {
    arguments none;
    (has_items ? none.segments : none.items) = 0;
    EXPECT_CUDA_SUCCESS(none.copy());
    EXPECT_CUDA_SUCCESS(none.in_place());
    EXPECT_CUDA_SUCCESS(none.of_size());
    none.keys_in = none.keys_out = none.values_in = none.values_out = nullptr;
    none.begins = none.ends = nullptr;
    EXPECT_CUDA_SUCCESS(none.copy());
    EXPECT_CUDA_SUCCESS(none.in_place());
    EXPECT_EQ((std::vector<Key>{2, 1, 0, 0, 5, 6, 0, 0}), none.memory.to_host());
  }
}

TEST(device_segmented_merge_sort_calls, storage_is_bounded_by_items) {
  const auto bytes_of = [](long long items, long long segments) {
    std::size_t bytes = 0;
    int* keys = nullptr;
    const long long* offsets = nullptr;
    EXPECT_CUDA_SUCCESS(
        DeviceSegmentedMergeSort::SortKeys(nullptr, bytes, keys, items, segments, offsets, offsets, is_less{}));
    return bytes;
  };
  std::size_t last = 0;
  for (long long items = 0; items < 5000000000; items = items * 5 / 3 + 7) {
    const std::size_t bytes = bytes_of(items, 10);
    EXPECT_GE(bytes, last) << items;
    EXPECT_LE(bytes, 4.4 * static_cast<double>(items) + 30000) << items;
    EXPECT_EQ(bytes, bytes_of(items, 1ll << 40)) << items;
    last = bytes;
  }
}

struct word {
  int begin;
  int length;
};
struct is_shorter {
  STRATA_HD bool operator()(const word& a, const word& b) const { return a.length < b.length; }
};

cudaError_t sort_words(word* words, int num_words, const int* documents, int num_documents) {
  void* temp = nullptr;
  std::size_t bytes = 0;
  cudaError_t status = DeviceSegmentedMergeSort::SortKeys(nullptr, bytes, words, num_words, num_documents, documents,
                                                          documents + 1, is_shorter{});
  if (status == cudaSuccess) status = cudaMalloc(&temp, bytes);
  if (status == cudaSuccess) {
    status = DeviceSegmentedMergeSort::SortKeys(temp, bytes, words, num_words, num_documents, documents, documents + 1,
                                                is_shorter{});
  }
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_CUDA_SUCCESS(cudaFree(temp));
  return status;
}

TEST(device_segmented_merge_sort_calls, sorts_structs_by_a_member) {
  device_vector<word> words(std::vector<word>{{0, 5}, {6, 1}, {8, 5}, {14, 2}, {17, 1}});
  const device_vector<int> documents(std::vector<int>{0, 3, 3, 5});
  ASSERT_CUDA_SUCCESS(sort_words(words.data(), 5, documents.data(), 3));
  const std::vector<word> sorted = words.to_host();
  const int begins[] = {6, 0, 8, 17, 14};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(begins[i], sorted[i].begin);
}

}  // namespace
