// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of DeviceRadixSort and DeviceSegmentedRadixSort.
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>

#include "device/radix_sort/segmented_radix_sort_support.cuh"
#include "device/test_iterators.cuh"
#include "random/random_sorts.cuh"
#if !STRATA_HOST_SIMT
#include <cub/device/device_radix_sort.cuh>
#endif

namespace {

using namespace random_test;
using strata::DeviceRadixSort;
using strata::DeviceSegmentedRadixSort;
using strata::DoubleBuffer;

template <class K, class V>
struct arrays {
  arrays(std::size_t n, std::size_t values, source& random)
      : keys(n, random), sorted(n, random), values_in(values, random), moved(values, random) {}
  array<K> keys;
  array<K> sorted;
  array<V> values_in;
  array<V> moved;
  std::vector<K> host_keys;
  std::vector<V> host_values;
  int keys_selector = 0;
  int values_selector = 0;

  void renew(source& data, cudaStream_t stream) {
    host_keys = random_items<K>(data, keys.size());
    host_values = random_items<V>(data, values_in.size());
    keys.write(host_keys, stream);
    values_in.write(host_values, stream);
    sorted.forget(stream);
    moved.forget(stream);
  }
};

std::string description_of_sort(const std::string& call, bool descending, bit_range bits, bool two_buffers) {
  return call + (descending ? ", descending" : "") + ", bits " + std::to_string(bits.begin) + " to " +
         std::to_string(bits.end) + (two_buffers ? ", two buffers" : "");
}

/// Sorts pairs if `HasValues`, else keys. Keys of type `event` are sorted with a decomposer.
template <class K, class V, bool HasValues>
problem sort(source& random) {
  const std::size_t size = random_size(random, most_items(random, 60000, 1u << 23));
  const auto held = std::make_shared<arrays<K, V>>(size, HasValues ? size : 0, random);
  const bool descending = random.chance(40);
  const bool two_buffers = random.chance(30);
  const bool by_iterator = !two_buffers && !descending && random.chance(20);
  const over_input over = random_over_input(random, !two_buffers && !by_iterator);
  const bit_range bits = random_bit_range<K>(random);
  problem made;
  made.what = description_of_sort(description("sort", name_of<K>() + (HasValues ? " with " + name_of<V>() : ""), size),
                                  descending, bits, two_buffers) +
              over.text();
  made.renew = [held](source& data, cudaStream_t stream) { held->renew(data, stream); };
  made.call = [held, size, descending, two_buffers, by_iterator, over, bits](void* storage, std::size_t& bytes,
                                                                             cudaStream_t stream) {
    const auto sort = [&](const auto&... arguments) {
      if constexpr (HasValues) {
        return descending ? DeviceRadixSort::SortPairsDescending(storage, bytes, arguments...)
                          : DeviceRadixSort::SortPairs(storage, bytes, arguments...);
      } else {
        return descending ? DeviceRadixSort::SortKeysDescending(storage, bytes, arguments...)
                          : DeviceRadixSort::SortKeys(storage, bytes, arguments...);
      }
    };
    const auto with_bits = [&](const auto&... arrays_and_size) {
      if constexpr (std::is_same_v<K, event>) {
        return sort(arrays_and_size..., decompose_event{}, bits.begin, bits.end, stream);
      } else {
        return sort(arrays_and_size..., bits.begin, bits.end, stream);
      }
    };
    K* const keys = held->keys.data();
    K* const sorted = held->sorted.data();
    V* const values = held->values_in.data();
    V* const moved = held->moved.data();
    if (two_buffers) {
      DoubleBuffer<K> key_buffers(keys, sorted);
      DoubleBuffer<V> value_buffers(values, moved);
      cudaError_t status = cudaSuccess;
      // Buffers are passed by reference, which the functions above do not do.
      const auto run = [&](const auto&... rest) {
        if constexpr (HasValues) {
          return descending
                     ? DeviceRadixSort::SortPairsDescending(storage, bytes, key_buffers, value_buffers, size, rest...)
                     : DeviceRadixSort::SortPairs(storage, bytes, key_buffers, value_buffers, size, rest...);
        } else {
          return descending ? DeviceRadixSort::SortKeysDescending(storage, bytes, key_buffers, size, rest...)
                            : DeviceRadixSort::SortKeys(storage, bytes, key_buffers, size, rest...);
        }
      };
      if constexpr (std::is_same_v<K, event>) {
        status = run(decompose_event{}, bits.begin, bits.end, stream);
      } else {
        status = run(bits.begin, bits.end, stream);
      }
      held->keys_selector = key_buffers.selector;
      held->values_selector = value_buffers.selector;
      return status;
    }
    held->keys_selector = over.keys ? 0 : 1;
    held->values_selector = over.values ? 0 : 1;
    if constexpr (sizeof(K) == 4 && !HasValues) {
      if (by_iterator) return with_bits(device_test::strided<const K>(keys, 1), sorted, size);
    }
    if constexpr (HasValues) {
      return with_bits(static_cast<const K*>(keys), over.keys ? keys : sorted, static_cast<const V*>(values),
                       over.values ? values : moved, size);
    } else {
      return with_bits(static_cast<const K*>(keys), over.keys ? keys : sorted, size);
    }
  };
  made.check = [held, size, descending, two_buffers, over, bits](cudaStream_t stream) {
    const std::vector<std::size_t> order = sorted_order(held->host_keys.data(), size, bits, descending);
    const std::vector<K> keys = in_order(held->host_keys, order);
    must_be_same(keys, (held->keys_selector == 1 ? held->sorted : held->keys).read(stream), "keys");
    if (HasValues) {
      must_be_same(in_order(held->host_values, order),
                   (held->values_selector == 1 ? held->moved : held->values_in).read(stream), "values");
    }
    if (!two_buffers && !over.keys) must_be_same(held->host_keys, held->keys.read(stream), "the input");
#if !STRATA_HOST_SIMT
    if constexpr (!HasValues && std::is_integral_v<K>) {
      if (two_buffers || over.keys) return;
      const auto call = [&](void* storage, std::size_t& bytes) {
        const K* const in = held->keys.data();
        K* const out = held->sorted.data();
        must(descending
                 ? cub::DeviceRadixSort::SortKeysDescending(storage, bytes, in, out, size, bits.begin, bits.end, stream)
                 : cub::DeviceRadixSort::SortKeys(storage, bytes, in, out, size, bits.begin, bits.end, stream),
             "CUB");
      };
      std::size_t bytes = 0;
      call(nullptr, bytes);
      const guarded storage(bytes, 0);
      if (size > 0 && bits.end > bits.begin) {
        call(storage.data(), bytes);
        must_be_same(held->sorted.read(stream), keys, "CUB's keys");
      }
    }
#endif
  };
  return made;
}

template <class K, class Index>
problem arg_sort(source& random) {
  const std::size_t size = random_size(random, most_items(random, 60000, 1u << 22));
  const auto held = std::make_shared<memory<K, Index>>(size, size, random);
  const bool descending = random.chance(40);
  const bit_range bits = std::is_same_v<K, event> ? bit_range{0, bits_of_key<K>} : random_bit_range<K>(random);
  problem made;
  made.what = description_of_sort(description("ArgSort", name_of<K>(), size), descending, bits, false);
  made.renew = [held, size](source& data, cudaStream_t stream) { held->renew(random_items<K>(data, size), stream); };
  made.call = [held, size, descending, bits](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const K* const keys = held->in.data();
    Index* const indices = held->out.data();
    if constexpr (std::is_same_v<K, event>) {
      const decompose_event by;
      return descending ? DeviceRadixSort::ArgSortDescending(storage, bytes, keys, indices, size, by, stream)
                        : DeviceRadixSort::ArgSort(storage, bytes, keys, indices, size, by, stream);
    } else {
      return descending
                 ? DeviceRadixSort::ArgSortDescending(storage, bytes, keys, indices, size, bits.begin, bits.end, stream)
                 : DeviceRadixSort::ArgSort(storage, bytes, keys, indices, size, bits.begin, bits.end, stream);
    }
  };
  made.check = [held, size, descending, bits](cudaStream_t stream) {
    std::vector<Index> expected;
    for (const std::size_t i : sorted_order(held->items.data(), size, bits, descending)) {
      expected.push_back(static_cast<Index>(i));
    }
    must_be_same(expected, held->out.read(stream), "indices");
  };
  return made;
}

/// Tests segmented sorts. With a `Hub`, its tuning is used.
template <class K, class V, bool HasValues, class Hub = void>
problem sort_segments(source& random) {
  std::size_t size = random_size(random, most_items(random, 60000, 1u << 22));
  std::size_t count = random_number_of_segments(random, is_gpu ? 200000 : 6000);
  if constexpr (!std::is_void_v<Hub>) {
    // Few segments, so that most cases have a long one.
    size += 1000 + random.below(is_gpu ? 1000000 : 5000);
    count = 1 + random.below(20);
  }
  struct with_segments : arrays<K, V> {
    with_segments(std::size_t n, std::size_t values, std::size_t segments, source& from)
        : arrays<K, V>(n, values, from), begins(segments, from), ends(segments, from) {}
    array<std::int64_t> begins;
    array<std::int64_t> ends;
    segment_list list;
  };
  const auto held = std::make_shared<with_segments>(size, HasValues ? size : 0, count, random);
  const bool descending = random.chance(40);
  const bool two_buffers = random.chance(30);
  const over_input over = random_over_input(random, !two_buffers);
  const bit_range bits = random_bit_range<K>(random);
  problem made;
  made.what = description_of_sort(description(std::is_void_v<Hub> ? "segmented sort" : "segmented sort, tuned",
                                              name_of<K>() + (HasValues ? " with " + name_of<V>() : ""), size) +
                                      ", " + std::to_string(count) + " segments",
                                  descending, bits, two_buffers) +
              over.text();
  made.renew = [held, size, count](source& data, cudaStream_t stream) {
    held->renew(data, stream);
    held->list = random_segments(data, count, size);
    held->begins.write(held->list.begins, stream);
    held->ends.write(held->list.ends, stream);
  };
  made.call = [held, size, count, descending, two_buffers, over, bits](void* storage, std::size_t& bytes,
                                                                       cudaStream_t stream) {
    using all = DeviceSegmentedRadixSort;
    const std::int64_t* const begins = held->begins.data();
    const std::int64_t* const ends = held->ends.data();
    DoubleBuffer<K> keys(held->keys.data(), held->sorted.data());
    DoubleBuffer<V> values(held->values_in.data(), held->moved.data());
    const auto by = [&](auto&&... what) {
      if constexpr (!std::is_void_v<Hub>) {
        using device_test::sort_segments_tuned;
        return descending ? sort_segments_tuned<Hub, true>(storage, bytes, what..., size, count, begins, ends,
                                                           bits.begin, bits.end, stream)
                          : sort_segments_tuned<Hub, false>(storage, bytes, what..., size, count, begins, ends,
                                                            bits.begin, bits.end, stream);
      } else if constexpr (HasValues) {
        return descending
                   ? all::SortPairsDescending(storage, bytes, what..., size, count, begins, ends, bits.begin, bits.end,
                                              stream)
                   : all::SortPairs(storage, bytes, what..., size, count, begins, ends, bits.begin, bits.end, stream);
      } else {
        return descending
                   ? all::SortKeysDescending(storage, bytes, what..., size, count, begins, ends, bits.begin, bits.end,
                                             stream)
                   : all::SortKeys(storage, bytes, what..., size, count, begins, ends, bits.begin, bits.end, stream);
      }
    };
    cudaError_t status = cudaSuccess;
    const K* const in = held->keys.data();
    const V* const values_in = held->values_in.data();
    K* const keys_out = (over.keys ? held->keys : held->sorted).data();
    if constexpr (HasValues) {
      V* const values_out = (over.values ? held->values_in : held->moved).data();
      status = two_buffers ? by(keys, values) : by(in, keys_out, values_in, values_out);
    } else {
      static_cast<void>(values_in);
      status = two_buffers ? by(keys) : by(in, keys_out);
    }
    held->keys_selector = two_buffers ? keys.selector : over.keys ? 0 : 1;
    held->values_selector = two_buffers ? values.selector : over.values ? 0 : 1;
    return status;
  };
  made.check = [held, size, descending, two_buffers, over, bits](cudaStream_t stream) {
    const std::vector<std::size_t> order =
        order_of_segments(held->list, size, [&](std::size_t first, std::size_t length) {
          return sorted_order(held->host_keys.data() + first, length, bits, descending);
        });
    const auto check = [&](const auto& items, const auto& output, bool is_input, const char* what) {
      // With two buffers, items outside of segments may be in either buffer.
      if (two_buffers) {
        must_be_same(items_of_segments(held->list, in_order(items, order)),
                     items_of_segments(held->list, output.read(stream)), what);
      } else {
        const auto expected = in_order(items, order);
        must_be_same(is_input ? expected : segments_alone(held->list, expected), output.read(stream), what);
      }
    };
    check(held->host_keys, held->keys_selector == 1 ? held->sorted : held->keys, over.keys, "keys");
    if (HasValues) {
      check(held->host_values, held->values_selector == 1 ? held->moved : held->values_in, over.values, "values");
    }
  };
  return made;
}

const std::vector<maker> makers = {
    sort<std::uint32_t, std::uint32_t, false>,
    sort<__half, std::uint8_t, false>,
    sort<event, std::uint8_t, false>,
    sort<std::uint8_t, bytes3, true>,
    arg_sort<float, std::int64_t>,
    sort_segments<std::uint32_t, std::uint8_t, false>,
    sort_segments<std::uint16_t, bytes12, true>,
    // With this tuning, segments of more than 1024 items count as long.
    sort_segments<std::uint32_t, std::uint32_t, true, device_test::tiles_of<256, 2>>,
#if !defined(STRATA_TEST_FEW_TYPES)
    sort<std::uint8_t, std::uint8_t, false>,
    sort<std::int16_t, std::uint8_t, false>,
    sort<std::int64_t, std::uint8_t, false>,
    sort<float, std::uint8_t, false>,
    sort<std::uint32_t, std::uint32_t, true>,
    sort<double, std::uint64_t, true>,
    sort<__nv_bfloat16, bytes16, true>,
    arg_sort<std::int32_t, std::uint32_t>,
    arg_sort<event, std::int32_t>,
    sort_segments<float, std::uint32_t, true>,
#endif
};

}  // namespace

int main(int count, char** values) { return random_test::run_family("radix_sort", makers, count, values); }
