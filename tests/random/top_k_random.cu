// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceTopK, DeviceSegmentedTopK, DeviceMerge and DeviceHistogram, random cases.
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_segmented_top_k.cuh>
#include <strata/device/device_top_k.cuh>

#include <limits>

#include "device/test_iterators.cuh"
#include "random/random_sorts.cuh"

namespace {

using namespace random_test;
using strata::DeviceHistogram;
using strata::DeviceMerge;
using strata::DeviceSegmentedTopK;
using strata::DeviceTopK;

std::size_t size_of_case(source& random) { return random_size(random, most_items(random, 100000, 1u << 23)); }

// ---------------------------------------------------------------------------- the k first items

/// Items of the least or greatest keys, the first of equal ones, in the order of the input or sorted.
template <class Key, bool IsMax, bool IsSorted, bool HasValues>
problem top_k(source& random) {
  using Value = std::uint32_t;
  const std::size_t size = size_of_case(random);
  const std::size_t k = random.chance(10) ? size + random.below(3) : random_size(random, size);
  const bool by_iterator = random.chance(20);
  struct arrays : memory<Key, Key> {
    arrays(std::size_t n, std::size_t results, source& from)
        : memory<Key, Key>(n, results, from),
          values(HasValues ? n : 0, from),
          values_out(HasValues ? results : 0, from) {}
    array<Value> values;
    array<Value> values_out;
    std::vector<Value> host_values;
  };
  // More capacity than results: nothing is written behind them.
  const auto held = std::make_shared<arrays>(size, k + random.below(40), random);
  problem made;
  made.what = description(IsMax ? "Max" : "Min", name_of<Key>(), size) + ", k " + std::to_string(k) +
              (HasValues ? ", pairs" : "") + (IsSorted ? ", sorted" : "") + (by_iterator ? ", iterator" : "");
  made.renew = [held, size](source& data, cudaStream_t stream) {
    held->renew(random_items<Key>(data, size), stream);
    held->host_values = random_items<Value>(data, held->values.size());
    held->values.write(held->host_values, stream);
    held->values_out.forget(stream);
  };
  made.call = [held, size, k, by_iterator](void* storage, std::size_t& bytes, cudaStream_t stream) {
    using all = DeviceTopK;
    Key* const out = held->out.data();
    const Value* const values = held->values.data();
    Value* const values_out = held->values_out.data();
    const auto call = [&](const auto& in) {
      if constexpr (HasValues && IsSorted) {
        return IsMax ? all::MaxPairsSorted(storage, bytes, in, out, values, values_out, size, k, stream)
                     : all::MinPairsSorted(storage, bytes, in, out, values, values_out, size, k, stream);
      } else if constexpr (HasValues) {
        return IsMax ? all::MaxPairs(storage, bytes, in, out, values, values_out, size, k, stream)
                     : all::MinPairs(storage, bytes, in, out, values, values_out, size, k, stream);
      } else if constexpr (IsSorted) {
        return IsMax ? all::MaxKeysSorted(storage, bytes, in, out, size, k, stream)
                     : all::MinKeysSorted(storage, bytes, in, out, size, k, stream);
      } else {
        return IsMax ? all::MaxKeys(storage, bytes, in, out, size, k, stream)
                     : all::MinKeys(storage, bytes, in, out, size, k, stream);
      }
    };
    const Key* const in = held->in.data();
    return by_iterator ? call(device_test::strided<const Key>(in, 1)) : call(in);
  };
  made.check = [held, size, k](cudaStream_t stream) {
    std::vector<std::size_t> order = sorted_order(held->items.data(), size, {0, bits_of_key<Key>}, IsMax);
    order.resize(std::min(k, size));
    if (!IsSorted) std::sort(order.begin(), order.end());
    must_be_same(and_untouched(in_order(held->items, order), held->out.size()), held->out.read(stream), "keys");
    if constexpr (HasValues) {
      must_be_same(and_untouched(in_order(held->host_values, order), held->values_out.size()),
                   held->values_out.read(stream), "values");
    }
  };
  return made;
}

// ---------------------------------------------------------------------------- the k first items of each segment

/// Rows of one size, or segments by offsets, with the indices of results. All segments have room for as many results.
template <class Key, bool IsMax, bool IsSorted>
problem segmented_top_k(source& random) {
  const bool is_fixed = random.chance(50);
  const std::size_t segments = random.chance(20) ? random.below(3) : 1 + random.below(random.chance(20) ? 2000 : 60);
  const std::size_t most = random.pick<std::size_t>({8, 64, 70, 256, 300, 1024, 1100, 4096, 9000, 40000});
  std::vector<int> offsets(segments + 1, 0);
  const std::size_t row = random.below(std::min<std::size_t>(most, size_of_case(random) / (segments + 1) + 8) + 1);
  for (std::size_t s = 0; s < segments; ++s) {
    const std::size_t size = is_fixed ? row : random.chance(5) ? 20 * row : random.below(row + 1);
    offsets[s + 1] = offsets[s] + static_cast<int>(size);
  }
  const auto size = static_cast<std::size_t>(offsets[segments]);
  const std::size_t k = random.chance(70) ? random.below(40) : random.below(random.chance(50) ? row + 3 : 3000);
  struct arrays : memory<Key, Key> {
    arrays(std::size_t n, std::size_t results, std::size_t num_offsets, source& from)
        : memory<Key, Key>(n, results, from), indices(results, from), offsets(num_offsets, from) {}
    array<std::uint32_t> indices;
    array<int> offsets;
  };
  const auto held = std::make_shared<arrays>(size, segments * k + random.below(40), segments + 1, random);
  problem made;
  made.what = std::string("DeviceSegmentedTopK::Arg") + (IsMax ? "Max" : "Min") + (IsSorted ? "Sorted" : "") + ", " +
              name_of<Key>() + ", " + std::to_string(segments) + (is_fixed ? " rows of " : " segments of up to ") +
              std::to_string(row) + ", k " + std::to_string(k);
  made.renew = [held, size, offsets](source& data, cudaStream_t stream) {
    held->renew(random_items<Key>(data, size), stream);
    held->offsets.write(offsets, stream);
    held->indices.forget(stream);
  };
  made.call = [held, segments, row, k, is_fixed](void* storage, std::size_t& bytes, cudaStream_t stream) {
    using all = DeviceSegmentedTopK;
    const Key* const in = held->in.data();
    Key* const out = held->out.data();
    std::uint32_t* const indices = held->indices.data();
    const auto call = [&](const auto& where) {
      if constexpr (IsMax && IsSorted) return all::ArgMaxSorted(storage, bytes, in, out, indices, where, k, stream);
      if constexpr (IsMax && !IsSorted) return all::ArgMax(storage, bytes, in, out, indices, where, k, stream);
      if constexpr (!IsMax && IsSorted) return all::ArgMinSorted(storage, bytes, in, out, indices, where, k, stream);
      if constexpr (!IsMax && !IsSorted) return all::ArgMin(storage, bytes, in, out, indices, where, k, stream);
    };
    const int* const begins = held->offsets.data();
    return is_fixed ? call(strata::SegmentsOfSize(segments, row))
                    : call(strata::SegmentsByOffsets(segments, begins, begins + 1));
  };
  made.check = [held, segments, offsets, k](cudaStream_t stream) {
    std::vector<Key> keys = and_untouched(std::vector<Key>{}, held->out.size());
    std::vector<std::uint32_t> indices = and_untouched(std::vector<std::uint32_t>{}, held->indices.size());
    for (std::size_t s = 0; s < segments; ++s) {
      const auto begin = static_cast<std::size_t>(offsets[s]), end = static_cast<std::size_t>(offsets[s + 1]);
      std::vector<std::size_t> order =
          sorted_order(held->items.data() + begin, end - begin, {0, bits_of_key<Key>}, IsMax);
      order.resize(std::min(k, end - begin));
      if (!IsSorted) std::sort(order.begin(), order.end());
      for (std::size_t i = 0; i < order.size(); ++i) {
        keys[s * k + i] = held->items[begin + order[i]];
        indices[s * k + i] = static_cast<std::uint32_t>(order[i]);
      }
    }
    must_be_same(keys, held->out.read(stream), "keys");
    must_be_same(indices, held->indices.read(stream), "indices");
  };
  return made;
}

// ---------------------------------------------------------------------------- merges

/// By the upper part of a number: items that are equal are not the same.
struct less_upper {
  int shift;
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a >> shift < b >> shift;
  }
  template <std::size_t Count, class Word>
  STRATA_HD bool operator()(const record<Count, Word>& a, const record<Count, Word>& b) const {
    return a.word[0] >> shift < b.word[0] >> shift;
  }
};

template <class Key, bool HasValues>
problem merge(source& random) {
  using Value = bytes12;
  const std::size_t size = size_of_case(random);
  const std::size_t first = random.chance(30) ? random.below(5) : random.below(size + 1);
  const std::size_t here = std::min(first, size);
  const less_upper less{static_cast<int>(random.pick({0, 2, 5, 7}))};
  struct arrays {
    arrays(std::size_t a, std::size_t b, source& from)
        : keys1(a, from),
          keys2(b, from),
          out(a + b, from),
          values1(HasValues ? a : 0, from),
          values2(HasValues ? b : 0, from),
          values_out(HasValues ? a + b : 0, from) {}
    array<Key> keys1, keys2, out;
    array<Value> values1, values2, values_out;
    std::vector<Key> host_keys1, host_keys2;
    std::vector<Value> host_values1, host_values2;
  };
  const auto held = std::make_shared<arrays>(here, size - here, random);
  problem made;
  made.what = description(HasValues ? "MergePairs" : "MergeKeys", name_of<Key>(), size) + ", " + std::to_string(here) +
              " of the first array, shift " + std::to_string(less.shift);
  made.renew = [held, less](source& data, cudaStream_t stream) {
    held->host_keys1 = random_items<Key>(data, held->keys1.size());
    held->host_keys2 = random_items<Key>(data, held->keys2.size());
    std::stable_sort(held->host_keys1.begin(), held->host_keys1.end(), less);
    std::stable_sort(held->host_keys2.begin(), held->host_keys2.end(), less);
    held->host_values1 = random_items<Value>(data, held->values1.size());
    held->host_values2 = random_items<Value>(data, held->values2.size());
    held->keys1.write(held->host_keys1, stream);
    held->keys2.write(held->host_keys2, stream);
    held->values1.write(held->host_values1, stream);
    held->values2.write(held->host_values2, stream);
    held->out.forget(stream);
    held->values_out.forget(stream);
  };
  made.call = [held, less](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const auto n1 = held->keys1.size(), n2 = held->keys2.size();
    const Key* const keys1 = held->keys1.data();
    const Key* const keys2 = held->keys2.data();
    if constexpr (HasValues) {
      const Value* const values1 = held->values1.data();
      const Value* const values2 = held->values2.data();
      return DeviceMerge::MergePairs(storage, bytes, keys1, values1, n1, keys2, values2, n2, held->out.data(),
                                     held->values_out.data(), less, stream);
    } else {
      return DeviceMerge::MergeKeys(storage, bytes, keys1, n1, keys2, n2, held->out.data(), less, stream);
    }
  };
  made.check = [held, less](cudaStream_t stream) {
    std::vector<Key> keys;
    std::vector<Value> values;
    std::size_t a = 0, b = 0;
    while (a < held->host_keys1.size() || b < held->host_keys2.size()) {
      const bool is_second = a == held->host_keys1.size() ||
                             (b < held->host_keys2.size() && less(held->host_keys2[b], held->host_keys1[a]));
      keys.push_back(is_second ? held->host_keys2[b] : held->host_keys1[a]);
      if (HasValues) values.push_back(is_second ? held->host_values2[b] : held->host_values1[a]);
      ++(is_second ? b : a);
    }
    must_be_same(keys, held->out.read(stream), "keys");
    must_be_same(values, held->values_out.read(stream), "values");
  };
  return made;
}

// ---------------------------------------------------------------------------- histograms

/// Even bins have a whole width, and so an integer has one bin whatever the arithmetic.
template <class Sample, class Counter, bool IsEven>
problem histogram(source& random) {
  const std::size_t size = size_of_case(random);
  const std::size_t bins = random.chance(30) ? 1 + random.below(5) : 1 + random.below(random.chance(20) ? 20000 : 300);
  using limits = std::numeric_limits<Sample>;
  constexpr auto lowest = static_cast<std::int64_t>(limits::lowest());
  constexpr auto values = static_cast<std::uint64_t>(limits::max()) - static_cast<std::uint64_t>(lowest);
  const std::size_t in_range = std::max<std::size_t>(1, std::min<std::size_t>(bins, values));
  const std::uint64_t width = 1 + random.below(static_cast<std::size_t>(values / in_range));
  const std::int64_t lower = lowest + static_cast<std::int64_t>(random.below(values - width * in_range + 1));
  struct arrays : memory<Sample, Counter> {
    arrays(std::size_t n, std::size_t outputs, source& from)
        : memory<Sample, Counter>(n, outputs, from), levels(IsEven ? 0 : outputs + 1, from) {}
    array<Sample> levels;
    std::vector<Sample> host_levels;
  };
  const auto held = std::make_shared<arrays>(size, in_range, random);
  problem made;
  made.what = description(IsEven ? "HistogramEven" : "HistogramRange", name_of<Sample>(), size) + ", " +
              std::to_string(in_range) + " bins from " + std::to_string(lower) + ", " + std::to_string(width) + " wide";
  made.renew = [held, size, in_range, lower, width](source& data, cudaStream_t stream) {
    held->renew(random_items<Sample>(data, size), stream);
    held->host_levels.clear();
    for (std::size_t i = 0; i <= in_range; ++i) {
      held->host_levels.push_back(static_cast<Sample>(lower + static_cast<std::int64_t>(i * width)));
    }
    if (!IsEven) {
      // Bins of any width, some of them empty.
      for (Sample& level : held->host_levels) {
        level = static_cast<Sample>(lower + static_cast<std::int64_t>(data.below(in_range * width + 1)));
      }
      std::sort(held->host_levels.begin(), held->host_levels.end());
      held->levels.write(held->host_levels, stream);
    }
  };
  made.call = [held, size, in_range, lower, width](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const Sample* const in = held->in.data();
    const int levels = static_cast<int>(in_range) + 1;
    if constexpr (IsEven) {
      return DeviceHistogram::HistogramEven(storage, bytes, in, held->out.data(), levels, static_cast<Sample>(lower),
                                            static_cast<Sample>(lower + static_cast<std::int64_t>(in_range * width)),
                                            static_cast<std::int64_t>(size), stream);
    } else {
      const Sample* const at = held->levels.data();
      return DeviceHistogram::HistogramRange(storage, bytes, in, held->out.data(), levels, at,
                                             static_cast<std::int64_t>(size), stream);
    }
  };
  made.check = [held](cudaStream_t stream) {
    std::vector<Counter> expected(held->out.size(), 0);
    const std::vector<Sample>& levels = held->host_levels;
    for (const Sample& sample : held->items) {
      const auto bin = std::upper_bound(levels.begin(), levels.end(), sample) - levels.begin() - 1;
      if (bin >= 0 && static_cast<std::size_t>(bin) < expected.size()) ++expected[static_cast<std::size_t>(bin)];
    }
    must_be_same(expected, held->out.read(stream), "counts");
  };
  return made;
}

const std::vector<maker> makers = {
    top_k<std::uint8_t, true, false, false>,
    top_k<float, false, false, true>,
    top_k<double, true, true, true>,
    top_k<std::uint64_t, false, true, false>,
    segmented_top_k<float, true, false>,
    segmented_top_k<std::int32_t, true, true>,
    segmented_top_k<std::uint8_t, false, false>,
    merge<std::int32_t, false>,
    merge<std::uint64_t, true>,
    histogram<std::uint8_t, std::uint32_t, true>,
    histogram<std::int32_t, unsigned long long, true>,
    histogram<std::uint8_t, std::uint32_t, false>,
#if !defined(STRATA_TEST_FEW_TYPES)
    top_k<std::int32_t, true, false, false>,
    top_k<std::int16_t, true, true, true>,
    top_k<__half, true, false, true>,
    segmented_top_k<float, false, true>,
    segmented_top_k<std::uint64_t, true, false>,
    merge<std::uint8_t, true>,
    merge<bytes24, false>,
    histogram<std::int16_t, std::uint32_t, true>,
    histogram<std::int32_t, std::uint32_t, false>,
#endif
};

}  // namespace

int main(int count, char** values) { return random_test::run_family("top_k", makers, count, values); }
