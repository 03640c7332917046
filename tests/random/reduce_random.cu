// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of DeviceReduce and DeviceSegmentedReduce.
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_segmented_reduce.cuh>

#include "device/test_iterators.cuh"
#include "random/random_oracles.cuh"
#include "random/random_test.cuh"
#if !STRATA_HOST_SIMT
#include <cub/device/device_reduce.cuh>
#endif

namespace {

using namespace random_test;
using strata::DeviceReduce;
using strata::DeviceSegmentedReduce;

std::size_t size_of_case(source& random) { return random_size(random, most_items(random, 100000, 1u << 23)); }

// ---------------------------------------------------------------------------- one result

template <class T, class Op>
problem reduce_by(source& random) {
  const std::size_t size = size_of_case(random);
  const auto held = std::make_shared<memory<T, T>>(size, 1, random);
  const T init = item_of<T>(random());
  const bool by_iterator = random.chance(30);
  const bool without_storage = random.chance(10);
  problem made;
  made.what = description("Reduce", name_of<T>(), size) + (by_iterator ? ", iterator" : "") +
              (without_storage ? ", without storage" : "");
  made.can_be_captured = !without_storage;
  made.renew = [held, size](source& data, cudaStream_t stream) { held->renew(random_items<T>(data, size), stream); };
  made.call = [held, size, init, by_iterator, without_storage](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const T* const in = held->in.data();
    T* const out = held->out.data();
    if (without_storage && storage != nullptr) {
      return DeviceReduce::Reduce(in, out, size, Op{}, init, stream);
    }
    return by_iterator ? DeviceReduce::Reduce(storage, bytes, device_test::strided<const T>(in, 1), out, size, Op{},
                                              init, stream)
                       : DeviceReduce::Reduce(storage, bytes, in, out, size, Op{}, init, stream);
  };
  made.check = [held, size, init](cudaStream_t stream) {
    must_be_same<T>({reduced(init, held->items.data(), size, Op{})}, held->out.read(stream), "the result");
  };
  return made;
}

template <class T, class Out>
problem sum(source& random) {
  const std::size_t size = size_of_case(random);
  const auto held = std::make_shared<memory<T, Out>>(size, 1, random);
  problem made;
  made.what = description("Sum", name_of<T>(), size);
  made.renew = [held, size](source& data, cudaStream_t stream) { held->renew(random_addends<T>(data, size), stream); };
  made.call = [held, size](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return DeviceReduce::Sum(storage, bytes, held->in.data(), held->out.data(), size, stream);
  };
  made.check = [held, size](cudaStream_t stream) {
    const std::vector<Out> found = held->out.read(stream);
    Out expected{};
    for (const T& item : held->items) expected = wrapping_sum{}(expected, static_cast<Out>(item));
    must_be_same<Out>({expected}, found, "the sum");
#if !STRATA_HOST_SIMT
    if constexpr (std::is_integral_v<Out> && std::is_same_v<T, Out>) {
      std::size_t bytes = 0;
      must(cub::DeviceReduce::Sum(nullptr, bytes, held->in.data(), held->out.data(), size, stream), "CUB");
      const guarded storage(bytes, 0);
      must(cub::DeviceReduce::Sum(storage.data(), bytes, held->in.data(), held->out.data(), size, stream), "CUB");
      must_be_same(held->out.read(stream), found, "CUB's sum");
    }
#endif
  };
  return made;
}

template <class T, bool IsMax>
problem extreme(source& random) {
  const std::size_t size = size_of_case(random);
  const auto held = std::make_shared<memory<T, T>>(size, 1, random);
  problem made;
  made.what = description(IsMax ? "Max" : "Min", name_of<T>(), size);
  made.renew = [held, size](source& data, cudaStream_t stream) { held->renew(random_items<T>(data, size), stream); };
  made.call = [held, size](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const T* const in = held->in.data();
    return IsMax ? DeviceReduce::Max(storage, bytes, in, held->out.data(), size, stream)
                 : DeviceReduce::Min(storage, bytes, in, held->out.data(), size, stream);
  };
  made.check = [held, size](cudaStream_t stream) {
    must_be_same<T>({extreme_of<IsMax>(held->items.data(), size)}, held->out.read(stream), "the extreme");
  };
  return made;
}

template <class T, bool IsMax>
problem index_of_extreme_item(source& random) {
  const std::size_t size = size_of_case(random);
  const auto held = std::make_shared<memory<T, T>>(size, 1, random);
  const auto index = std::make_shared<array<std::int64_t>>(1, random);
  problem made;
  made.what = description(IsMax ? "ArgMax" : "ArgMin", name_of<T>(), size);
  made.renew = [held, index, size](source& data, cudaStream_t stream) {
    held->renew(random_items<T>(data, size), stream);
    index->forget(stream);
  };
  made.call = [held, index, size](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const T* const in = held->in.data();
    return IsMax ? DeviceReduce::ArgMax(storage, bytes, in, held->out.data(), index->data(), size, stream)
                 : DeviceReduce::ArgMin(storage, bytes, in, held->out.data(), index->data(), size, stream);
  };
  made.check = [held, index, size](cudaStream_t stream) {
    const std::size_t at = index_of_extreme<IsMax>(held->items.data(), size);
    must_be_same<std::int64_t>({static_cast<std::int64_t>(at)}, index->read(stream), "the index");
    const T expected = size == 0 ? extreme_of<IsMax, T>(nullptr, 0) : held->items[at];
    must_be_same<T>({expected}, held->out.read(stream), "the extreme");
  };
  return made;
}

struct times_three {
  STRATA_HD std::uint64_t operator()(std::uint8_t x) const { return 3u * x + 1u; }
};

problem transform_reduce(source& random) {
  const std::size_t size = size_of_case(random);
  const auto held = std::make_shared<memory<std::uint8_t, std::uint64_t>>(size, 1, random);
  problem made;
  made.what = description("TransformReduce", name_of<std::uint8_t>(), size);
  made.renew = [held, size](source& data, cudaStream_t stream) {
    held->renew(random_items<std::uint8_t>(data, size), stream);
  };
  made.call = [held, size](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return DeviceReduce::TransformReduce(storage, bytes, held->in.data(), held->out.data(), size, wrapping_sum{},
                                         times_three{}, std::uint64_t{5}, stream);
  };
  made.check = [held](cudaStream_t stream) {
    std::uint64_t expected = 5;
    for (const std::uint8_t item : held->items) expected += times_three{}(item);
    must_be_same<std::uint64_t>({expected}, held->out.read(stream), "the result");
  };
  return made;
}

// ---------------------------------------------------------------------------- by key

template <class K, class T, class Op>
problem reduce_by_key(source& random) {
  const std::size_t size = random_size(random, most_items(random, 60000, 1u << 22));
  struct arrays {
    arrays(std::size_t n, source& from)
        : keys(n, from), values(n, from), unique(n, from), sums(n, from), runs(1, from) {}
    array<K> keys;
    array<T> values;
    array<K> unique;
    array<T> sums;
    array<std::int64_t> runs;
    std::vector<K> host_keys;
    std::vector<T> host_values;
  };
  const auto held = std::make_shared<arrays>(size, random);
  const bool by_iterator = random.chance(30);
  problem made;
  made.what = description("ReduceByKey", name_of<K>() + " " + name_of<T>(), size) + (by_iterator ? ", iterator" : "");
  made.renew = [held, size](source& data, cudaStream_t stream) {
    held->host_keys =
        random_items<K>(data, size, data.pick({law::runs, law::few, law::equal, law::uniform, law::ascending}));
    held->host_values = random_items<T>(data, size);
    held->keys.write(held->host_keys, stream);
    held->values.write(held->host_values, stream);
    held->unique.forget(stream);
    held->sums.forget(stream);
    held->runs.forget(stream);
  };
  made.call = [held, size, by_iterator](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const K* const keys = held->keys.data();
    const T* const values = held->values.data();
    return by_iterator ? DeviceReduce::ReduceByKey(storage, bytes, device_test::strided<const K>(keys, 1),
                                                   held->unique.data(), device_test::strided<const T>(values, 1),
                                                   held->sums.data(), held->runs.data(), Op{}, size, stream)
                       : DeviceReduce::ReduceByKey(storage, bytes, keys, held->unique.data(), values, held->sums.data(),
                                                   held->runs.data(), Op{}, size, stream);
  };
  made.check = [held, size](cudaStream_t stream) {
    std::vector<K> unique;
    std::vector<T> sums;
    for (std::size_t i = 0; i < size; ++i) {
      if (i > 0 && held->host_keys[i] == held->host_keys[i - 1]) {
        sums.back() = Op{}(sums.back(), held->host_values[i]);
      } else {
        unique.push_back(held->host_keys[i]);
        sums.push_back(held->host_values[i]);
      }
    }
    must_be_same<std::int64_t>({static_cast<std::int64_t>(unique.size())}, held->runs.read(stream),
                               "the number of runs");
    must_be_same(and_untouched(unique, size), held->unique.read(stream), "keys");
    must_be_same(and_untouched(sums, size), held->sums.read(stream), "sums");
  };
  return made;
}

// ---------------------------------------------------------------------------- segments

enum class what_of_segments { reduce, sum, min, arg_max };

template <class T, class Out, what_of_segments What, class Op = wrapping_sum>
problem of_segments(source& random) {
  const std::size_t most = most_items(random, 60000, 1u << 22);
  const std::size_t count = random_number_of_segments(random, is_gpu ? 100000 : 6000);
  const std::size_t size = random_size(random, most);
  const std::size_t fixed = random.chance(30) && count > 0 ? 1 + random.below(1 + size / count) : 0;
  const std::size_t items = fixed > 0 ? fixed * count : size;
  struct arrays : memory<T, Out> {
    arrays(std::size_t n, std::size_t segments, source& from)
        : memory<T, Out>(n, segments, from), begins(segments, from), ends(segments, from) {}
    array<std::int64_t> begins;
    array<std::int64_t> ends;
    segment_list list;
  };
  const auto held = std::make_shared<arrays>(items, count, random);
  T init{};
  if constexpr (What == what_of_segments::reduce) init = item_of<T>(random());
  problem made;
  made.what = description("segments", name_of<T>(), items) + ", " + std::to_string(count) + " segments, kind " +
              std::to_string(static_cast<int>(What)) + (fixed > 0 ? " of size " + std::to_string(fixed) : "");
  made.renew = [held, items, count, fixed](source& data, cudaStream_t stream) {
    held->renew(What == what_of_segments::sum ? random_addends<T>(data, items) : random_items<T>(data, items), stream);
    held->list = random_segments(data, count, items);
    if (fixed > 0) {
      for (std::size_t s = 0; s < count; ++s) {
        held->list.begins[s] = static_cast<std::int64_t>(s * fixed);
        held->list.ends[s] = static_cast<std::int64_t>((s + 1) * fixed);
      }
    }
    held->begins.write(held->list.begins, stream);
    held->ends.write(held->list.ends, stream);
  };
  made.call = [held, count, fixed, init](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const T* const in = held->in.data();
    Out* const out = held->out.data();
    const std::int64_t* const begins = held->begins.data();
    const std::int64_t* const ends = held->ends.data();
    const auto segments = static_cast<std::int64_t>(count);
    const auto length = static_cast<int>(fixed);
    using all = DeviceSegmentedReduce;
    if constexpr (What == what_of_segments::reduce) {
      return fixed > 0 ? all::Reduce(storage, bytes, in, out, segments, length, Op{}, init, stream)
                       : all::Reduce(storage, bytes, in, out, segments, begins, ends, Op{}, init, stream);
    } else if constexpr (What == what_of_segments::sum) {
      return fixed > 0 ? all::Sum(storage, bytes, in, out, segments, length, stream)
                       : all::Sum(storage, bytes, in, out, segments, begins, ends, stream);
    } else if constexpr (What == what_of_segments::min) {
      return fixed > 0 ? all::Min(storage, bytes, in, out, segments, length, stream)
                       : all::Min(storage, bytes, in, out, segments, begins, ends, stream);
    } else {
      return fixed > 0 ? all::ArgMax(storage, bytes, in, out, segments, length, stream)
                       : all::ArgMax(storage, bytes, in, out, segments, begins, ends, stream);
    }
  };
  made.check = [held, count, init](cudaStream_t stream) {
    std::vector<Out> expected(count);
    for (std::size_t s = 0; s < count; ++s) {
      const T* const first = held->items.data() + held->list.begins[s];
      const std::size_t length = held->list.length(s);
      if constexpr (What == what_of_segments::reduce) {
        expected[s] = reduced(init, first, length, Op{});
      } else if constexpr (What == what_of_segments::sum) {
        expected[s] = Out{};
        for (std::size_t i = 0; i < length; ++i) {
          expected[s] = wrapping_sum{}(expected[s], static_cast<Out>(first[i]));
        }
      } else if constexpr (What == what_of_segments::min) {
        expected[s] = extreme_of<false>(first, length);
      } else {
        const std::size_t at = index_of_extreme<true>(first, length);
        std::memset(static_cast<void*>(&expected[s]), 0, sizeof(Out));
        expected[s].key = static_cast<decltype(Out::key)>(at);
        expected[s].value = length == 0 ? extreme_of<true, T>(nullptr, 0) : first[at];
      }
    }
    must_be_same(expected, held->out.read(stream), "results of segments");
  };
  return made;
}

const std::vector<maker> makers = {
    reduce_by<std::uint8_t, wrapping_sum>,
    reduce_by<affine16, compose>,
    sum<float, float>,
    extreme<float, false>,
    extreme<__half, true>,
    index_of_extreme_item<std::int16_t, true>,
    transform_reduce,
    reduce_by_key<std::uint8_t, affine16, compose>,
    reduce_by_key<bytes12, std::uint64_t, wrapping_sum>,
    of_segments<affine8, affine8, what_of_segments::reduce, strata::Sum>,
    of_segments<std::int32_t, std::int64_t, what_of_segments::sum>,
    of_segments<double, double, what_of_segments::min>,
    of_segments<float, strata::KeyValuePair<int, float>, what_of_segments::arg_max>,
#if !defined(STRATA_TEST_FEW_TYPES)
    reduce_by<std::int64_t, wrapping_sum>,
    reduce_by<affine8, strata::Sum>,
    reduce_by<bytes3, wrapping_sum>,
    reduce_by<bytes64, wrapping_sum>,
    reduce_by<uint128, wrapping_sum>,
    sum<std::uint8_t, std::uint32_t>,
    sum<std::int32_t, std::int32_t>,
    sum<double, double>,
    sum<__half, __half>,
    extreme<double, true>,
    extreme<__nv_bfloat16, false>,
    extreme<std::int8_t, false>,
    extreme<int128, true>,
    index_of_extreme_item<float, false>,
    reduce_by_key<std::uint32_t, std::uint32_t, wrapping_sum>,
    of_segments<bytes24, bytes24, what_of_segments::reduce>,
    of_segments<float, float, what_of_segments::sum>,
#endif
};

}  // namespace

int main(int count, char** values) { return random_test::run_family("reduce", makers, count, values); }
