// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of DeviceMergeSort, DeviceSegmentedMergeSort and DeviceSegmentedSort.
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>
#include <strata/device/device_segmented_sort.cuh>

#include "random/random_sorts.cuh"

namespace {

using namespace random_test;
using strata::DeviceMergeSort;
using strata::DeviceSegmentedMergeSort;
using strata::DeviceSegmentedSort;
using strata::DoubleBuffer;

/// Descending by the lowest 8 bits. Many different keys compare as equal, which shows whether the sort is stable.
struct by_low_bits {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return low(b) < low(a);
  }
  template <class T>
  static STRATA_HD unsigned low(const T& x) {
    return static_cast<unsigned>(x) & 255u;
  }
  template <std::size_t Count, class Word>
  static STRATA_HD unsigned low(const record<Count, Word>& x) {
    return static_cast<unsigned>(x.word[0]) & 255u;
  }
};
struct by_all {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

template <class T>
std::vector<std::size_t> compared_order(const T* keys, std::size_t count, bool by_few) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return by_few ? by_low_bits{}(keys[a], keys[b]) : by_all{}(keys[a], keys[b]);
  });
  return order;
}

template <class K, class V>
struct arrays {
  arrays(std::size_t n, std::size_t values, std::size_t segments, source& random)
      : keys(n, random),
        sorted(n, random),
        values_in(values, random),
        moved(values, random),
        begins(segments, random),
        ends(segments, random) {}
  array<K> keys;
  array<K> sorted;
  array<V> values_in;
  array<V> moved;
  array<std::int64_t> begins;
  array<std::int64_t> ends;
  std::vector<K> host_keys;
  std::vector<V> host_values;
  segment_list list;

  void renew(source& data, cudaStream_t stream) {
    host_keys = random_items<K>(data, keys.size());
    host_values = random_items<V>(data, values_in.size());
    list = random_segments(data, begins.size(), keys.size());
    keys.write(host_keys, stream);
    values_in.write(host_values, stream);
    begins.write(list.begins, stream);
    ends.write(list.ends, stream);
    sorted.forget(stream);
    moved.forget(stream);
  }
};

template <class K, class V, bool HasValues, class Compare>
problem sort(source& random) {
  const std::size_t size = random_size(random, most_items(random, 60000, 1u << 22));
  const auto held = std::make_shared<arrays<K, V>>(size, HasValues ? size : 0, 0, random);
  const bool in_place = random.chance(50);
  const over_input over = random_over_input(random, !in_place);
  problem made;
  made.what = description("merge sort", name_of<K>() + (HasValues ? " with " + name_of<V>() : ""), size) +
              (in_place ? ", in place" : "") + over.text();
  made.renew = [held](source& data, cudaStream_t stream) { held->renew(data, stream); };
  made.call = [held, size, in_place, over](void* storage, std::size_t& bytes, cudaStream_t stream) {
    using all = DeviceMergeSort;
    K* const keys = held->keys.data();
    K* const sorted = (over.keys ? held->keys : held->sorted).data();
    V* const values = held->values_in.data();
    V* const moved = (over.values ? held->values_in : held->moved).data();
    const Compare compare;
    if constexpr (HasValues) {
      return in_place ? all::SortPairs(storage, bytes, keys, values, size, compare, stream)
                      : all::SortPairsCopy(storage, bytes, keys, values, sorted, moved, size, compare, stream);
    } else {
      static_cast<void>(values);
      static_cast<void>(moved);
      return in_place ? all::SortKeys(storage, bytes, keys, size, compare, stream)
                      : all::StableSortKeysCopy(storage, bytes, keys, sorted, size, compare, stream);
    }
  };
  made.check = [held, size, in_place, over](cudaStream_t stream) {
    const std::vector<std::size_t> order =
        compared_order(held->host_keys.data(), size, std::is_same_v<Compare, by_low_bits>);
    must_be_same(in_order(held->host_keys, order), (in_place || over.keys ? held->keys : held->sorted).read(stream),
                 "keys");
    if (HasValues) {
      must_be_same(in_order(held->host_values, order),
                   (in_place || over.values ? held->values_in : held->moved).read(stream), "values");
    }
    if (!in_place && !over.keys) must_be_same(held->host_keys, held->keys.read(stream), "the input");
  };
  return made;
}

enum class what { keys, pairs, indices };

template <class K, class V, what What, class Compare>
problem sort_segments(source& random) {
  const std::size_t most = random_size(random, most_items(random, 60000, 1u << 22));
  const std::size_t count = random_number_of_segments(random, is_gpu ? 200000 : 6000);
  const bool has_size = random.chance(30) && count > 0;
  const std::size_t fixed = has_size ? random.below(1 + most / count) : 0;
  const std::size_t size = has_size ? fixed * count : most;
  const auto held = std::make_shared<arrays<K, V>>(size, What == what::keys ? 0 : size, count, random);
  const bool in_place = What != what::indices && random.chance(50);
  const over_input over = random_over_input(random, What != what::indices && !in_place);
  problem made;
  made.what = description("segmented merge sort",
                          name_of<K>() + (What == what::keys      ? ""
                                          : What == what::indices ? ", indices"
                                                                  : " with " + name_of<V>()),
                          size) +
              ", " + std::to_string(count) + " segments" + (has_size ? " of size " + std::to_string(fixed) : "") +
              (in_place ? ", in place" : "") + over.text();
  made.renew = [held, count, has_size, fixed](source& data, cudaStream_t stream) {
    held->renew(data, stream);
    if (!has_size) return;
    for (std::size_t s = 0; s < count; ++s) {
      held->list.begins[s] = static_cast<std::int64_t>(s * fixed);
      held->list.ends[s] = static_cast<std::int64_t>((s + 1) * fixed);
    }
  };
  made.call = [held, size, count, in_place, over, has_size, fixed](void* storage, std::size_t& bytes,
                                                                   cudaStream_t stream) {
    using all = DeviceSegmentedMergeSort;
    const auto sort = [&](const auto&... segments) {
      K* const keys = held->keys.data();
      K* const sorted = (over.keys ? held->keys : held->sorted).data();
      V* const values = held->values_in.data();
      V* const moved = (over.values ? held->values_in : held->moved).data();
      const Compare compare;
      if constexpr (What == what::pairs) {
        return in_place ? all::SortPairs(storage, bytes, keys, values, segments..., compare, stream)
                        : all::SortPairsCopy(storage, bytes, keys, values, sorted, moved, segments..., compare, stream);
      } else if constexpr (What == what::indices) {
        static_cast<void>(values);
        static_cast<void>(sorted);
        return all::SortIndices(storage, bytes, keys, moved, segments..., compare, stream);
      } else {
        static_cast<void>(values);
        static_cast<void>(moved);
        return in_place ? all::SortKeys(storage, bytes, keys, segments..., compare, stream)
                        : all::SortKeysCopy(storage, bytes, keys, sorted, segments..., compare, stream);
      }
    };
    const std::int64_t* const begins = held->begins.data();
    const std::int64_t* const ends = held->ends.data();
    return has_size ? sort(count, fixed) : sort(size, count, begins, ends);
  };
  made.check = [held, size, in_place, over](cudaStream_t stream) {
    const std::vector<std::size_t> order =
        order_of_segments(held->list, size, [&](std::size_t first, std::size_t length) {
          return compared_order(held->host_keys.data() + first, length, std::is_same_v<Compare, by_low_bits>);
        });
    const auto check = [&](const auto& items, const auto& in, const auto& out, bool is_over, const char* name) {
      const auto expected = in_order(items, order);
      must_be_same(is_over ? expected : segments_alone(held->list, expected), (is_over ? in : out).read(stream), name);
    };
    if constexpr (What == what::indices) {
      std::vector<V> all(size);
      for (std::size_t s = 0; s < held->list.size(); ++s) {
        // Indices count from the first item of the input, not of the segment.
        for (std::size_t i = 0; i < held->list.length(s); ++i) {
          const auto at = static_cast<std::size_t>(held->list.begins[s]) + i;
          all[at] = static_cast<V>(order[at]);
        }
      }
      must_be_same(segments_alone(held->list, all), held->moved.read(stream), "indices");
    } else {
      check(held->host_keys, held->keys, held->sorted, in_place || over.keys, "keys");
      if constexpr (What == what::pairs) {
        check(held->host_values, held->values_in, held->moved, in_place || over.values, "values");
      }
    }
  };
  return made;
}

/// A policy with small tiles. Segments above 500 items are radix sorted, in tiles of 768.
struct digits_above_500 {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::segment_tile_tuning one_thread{32, 2, 1, 16}, few_threads{64, 4, 1, 24};
    static constexpr strata::segment_tile_tuning part_of_tile{64, 3, 1, 96}, one_tile{64, 3, 1, 192};
    static constexpr strata::segment_tile_tuning many_tiles{128, 3, 1, 384}, whole_array{128, 5, 1, 640};
    static constexpr strata::segment_tile_tuning tile_per_multiprocessor{64, 5, 1, 320};
    static constexpr strata::segment_merge_tuning merge{32, 5, 1, 96}, merge_whole_array{64, 7, 1, 320};
    static constexpr strata::segment_merge_tuning merge_per_multiprocessor{32, 7, 1, 160};
    static constexpr strata::merge_sort_grid_tuning one_cluster{64, 3, 1, 8}, resident_grid{64, 5, 4};
    static constexpr strata::radix_histogram_tuning histogram{256, 16 << 10};
    static constexpr strata::radix_pass_tuning pass{256, 3, 1};
    static constexpr strata::long_segment_tuning long_segments{500, 0, 0, 0};
    static constexpr strata::number_tile_tuning number_tile{0, 0, 0, 0};
  };
  using MaxPolicy = Policy;
};
using by_digits_above_500 = strata::TunedDeviceSegmentedSort<digits_above_500>;

/// Tests DeviceSegmentedSort, which sorts numbers in either direction.
template <class K, class V, bool HasValues, class Sort = DeviceSegmentedSort>
problem sort_numbers(source& random) {
  const std::size_t size = random_size(random, most_items(random, 60000, 1u << 22));
  const std::size_t count = random_number_of_segments(random, is_gpu ? 200000 : 6000);
  const auto held = std::make_shared<arrays<K, V>>(size, HasValues ? size : 0, count, random);
  const bool descending = random.chance(40);
  const bool two_buffers = random.chance(30);
  const over_input over = random_over_input(random, !two_buffers);
  problem made;
  made.what = description("segmented sort", name_of<K>() + (HasValues ? " with " + name_of<V>() : ""), size) + ", " +
              std::to_string(count) + " segments" + (descending ? ", descending" : "") +
              (two_buffers ? ", two buffers" : "") + over.text() +
              (std::is_same_v<Sort, DeviceSegmentedSort> ? "" : ", small tiles");
  made.renew = [held](source& data, cudaStream_t stream) { held->renew(data, stream); };
  made.call = [held, size, count, descending, two_buffers, over](void* storage, std::size_t& bytes,
                                                                 cudaStream_t stream) {
    using all = Sort;
    const std::int64_t* const begins = held->begins.data();
    const std::int64_t* const ends = held->ends.data();
    DoubleBuffer<K> keys(held->keys.data(), held->sorted.data());
    DoubleBuffer<V> values(held->values_in.data(), held->moved.data());
    const auto by = [&](auto&&... arguments) {
      if constexpr (HasValues) {
        return descending ? all::SortPairsDescending(storage, bytes, arguments..., size, count, begins, ends, stream)
                          : all::SortPairs(storage, bytes, arguments..., size, count, begins, ends, stream);
      } else {
        return descending ? all::SortKeysDescending(storage, bytes, arguments..., size, count, begins, ends, stream)
                          : all::SortKeys(storage, bytes, arguments..., size, count, begins, ends, stream);
      }
    };
    const K* const in = held->keys.data();
    K* const keys_out = (over.keys ? held->keys : held->sorted).data();
    cudaError_t status = cudaSuccess;
    if constexpr (HasValues) {
      const V* const values_in = held->values_in.data();
      V* const values_out = (over.values ? held->values_in : held->moved).data();
      status = two_buffers ? by(keys, values) : by(in, keys_out, values_in, values_out);
    } else {
      status = two_buffers ? by(keys) : by(in, keys_out);
    }
    if (status == cudaSuccess && (keys.selector != 0 || values.selector != 0)) {
      return cudaErrorUnknown;
    }
    return status;
  };
  made.check = [held, size, descending, two_buffers, over](cudaStream_t stream) {
    const std::vector<std::size_t> order =
        order_of_segments(held->list, size, [&](std::size_t first, std::size_t length) {
          return sorted_order(held->host_keys.data() + first, length, {0, bits_of_key<K>}, descending);
        });
    const auto check = [&](const auto& items, const auto& in, const auto& out, bool is_over, const char* name) {
      const auto expected = in_order(items, order);
      must_be_same(is_over ? expected : segments_alone(held->list, expected), (is_over ? in : out).read(stream), name);
    };
    check(held->host_keys, held->keys, held->sorted, two_buffers || over.keys, "keys");
    if (HasValues) check(held->host_values, held->values_in, held->moved, two_buffers || over.values, "values");
  };
  return made;
}

const std::vector<maker> makers = {
    sort<bytes12, std::uint8_t, false, by_all>,
    sort<std::int16_t, bytes24, true, by_low_bits>,
    sort_segments<std::uint32_t, std::uint32_t, what::pairs, by_low_bits>,
    sort_segments<bytes3, std::uint8_t, what::keys, by_low_bits>,
    sort_segments<std::int32_t, std::int32_t, what::indices, by_low_bits>,
    sort_numbers<float, std::uint32_t, true>,
    sort_numbers<std::int32_t, std::uint32_t, true, by_digits_above_500>,
#if !defined(STRATA_TEST_FEW_TYPES)
    sort<std::uint32_t, std::uint8_t, false, by_low_bits>,
    sort<int128, std::uint8_t, false, by_all>,
    sort<bytes64, std::uint32_t, true, by_low_bits>,
    sort_segments<std::uint64_t, std::uint8_t, what::keys, by_all>,
    sort_segments<std::uint8_t, bytes16, what::pairs, by_all>,
    sort_numbers<std::int32_t, std::uint8_t, false>,
    sort_numbers<__half, bytes12, true>,
    sort_numbers<std::uint64_t, std::uint8_t, false>,
    sort_numbers<float, std::uint8_t, false, by_digits_above_500>,
    sort_numbers<std::uint16_t, std::uint8_t, true, by_digits_above_500>,
    sort_numbers<std::int64_t, std::uint8_t, false, by_digits_above_500>,
#endif
};

}  // namespace

int main(int count, char** values) { return random_test::run_family("merge_sort", makers, count, values); }
