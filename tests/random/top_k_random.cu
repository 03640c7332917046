// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of DeviceTopK, DeviceSegmentedTopK, DeviceMerge and DeviceHistogram.
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_segmented_top_k.cuh>
#include <strata/device/device_top_k.cuh>

#include <limits>
#include <tuple>

#include "device/test_iterators.cuh"
#include "random/random_sorts.cuh"
#include "support/fp8.cuh"

namespace {

using namespace random_test;
using strata::DeviceHistogram;
using strata::DeviceMerge;
using strata::DeviceSegmentedTopK;
using strata::DeviceTopK;
using none = strata::NullType;  // no decomposer

template <class T>
inline constexpr bool is_fp8 = std::is_same_v<T, __nv_fp8_e4m3> || std::is_same_v<T, __nv_fp8_e5m2>;

std::size_t size_of_case(source& random) { return random_size(random, most_items(random, 100000, 1u << 23)); }

// ---------------------------------------------------------------------------- the k first items

/// Selects the k least or greatest keys, the first ones among equal keys, in the order of the input or sorted.
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
  // The capacity may be larger than k. Then nothing may be written after the results.
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

/// A number with the order of the keys. For 8-bit floats, it is computed from the numbers that they represent.
template <class Key>
std::uint64_t word_of(const Key& key) {
  if constexpr (is_fp8<Key>) {
    return ordered_word(strata_test::number_of(key));
  } else {
    return ordered_word(key);
  }
}
template <class Key>
std::vector<Key> random_keys(source& data, std::size_t count) {
  if constexpr (is_fp8<Key>) {
    const std::vector<std::uint8_t> bytes = random_items<std::uint8_t>(data, count);
    std::vector<Key> keys(count);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(static_cast<void*>(&keys[i]), &bytes[i], 1);
    return keys;
  } else {
    return random_items<Key>(data, count);
  }
}

#if STRATA_HOST_SIMT
/// Returns fields in a tuple, as a decomposer for CUB does.
struct decompose_to_tuple {
  std::tuple<std::uint8_t&, std::int16_t&> operator()(event& e) const { return {e.kind, e.day}; }
};
#else
using decompose_to_tuple = decompose_event;
#endif

enum class segments_are { of_size, by_offsets, by_lengths };
enum class results_are { number, future, rows, padded, compact };
enum class form { keys, pairs, arg };

/// The segments of a case, their numbers of results, and where the results go, on the host.
struct segment_plan {
  std::vector<std::size_t> begins, lengths, results, places;
  std::size_t size = 0, stride = 0, items = 0;  // of a segment, between two segments, of the input
  std::size_t most_results = 0, outputs = 0;
  std::vector<int> offsets, ends, given_lengths, numbers, out_offsets;  // arrays for the device

  std::size_t segments() const { return begins.size(); }
};

template <segments_are Segments, results_are Results>
segment_plan random_plan(source& random) {
  segment_plan plan;
  const std::size_t segments = random.chance(20) ? random.below(3) : 1 + random.below(random.chance(15) ? 2000 : 60);
  const std::size_t most = random.pick<std::size_t>({8, 64, 70, 256, 300, 1024, 1100, 4096, 9000, 40000});
  const std::size_t row = random.below(std::min<std::size_t>(most, size_of_case(random) / (segments + 1) + 8) + 1);
  plan.size = row;
  // There may be gaps between rows, or rows may overlap.
  plan.stride = random.chance(40) ? row : random.chance(80) ? row + random.below(20) : random.below(row + 1);
  std::size_t begin = random.chance(50) ? 0 : random.below(10);
  for (std::size_t s = 0; s < segments; ++s) {
    std::size_t length = row;
    if constexpr (Segments == segments_are::of_size) {
      begin = s * plan.stride;
    } else if constexpr (Segments == segments_are::by_lengths) {
      begin = s * plan.stride;
      // A length may be negative, or larger than the stride.
      const auto given = random.chance(5) ? -3 : static_cast<int>(random.below(plan.stride + 2));
      plan.given_lengths.push_back(given);
      length = given < 0 ? 0 : std::min(static_cast<std::size_t>(given), plan.stride);
    } else {
      length = random.chance(5) ? 20 * row : random.below(row + 1);
      const bool is_backwards = random.chance(5);
      if (is_backwards) length = 0;
      plan.offsets.push_back(static_cast<int>(begin));
      plan.ends.push_back(static_cast<int>(begin + length) - (is_backwards && begin > 0 ? 1 : 0));
    }
    plan.begins.push_back(begin);
    plan.lengths.push_back(length);
    plan.items = std::max(plan.items, begin + length);
    begin += length + (random.chance(30) ? random.below(20) : 0);
  }
  const std::size_t k = random.chance(70) ? random.below(40) : random.below(random.chance(50) ? row + 3 : 3000);
  plan.most_results = Results == results_are::number ? k : k + random.below(5);
  constexpr bool is_each =
      Results == results_are::rows || Results == results_are::padded || Results == results_are::compact;
  if (Results == results_are::future) plan.numbers.push_back(static_cast<int>(k));
  for (std::size_t s = 0; s < segments; ++s) {
    std::size_t own = k;
    if (is_each) {
      const int number = random.chance(5) ? -2 : static_cast<int>(random.below(plan.most_results + 3));
      plan.numbers.push_back(number);
      own = number < 0 ? 0 : std::min(static_cast<std::size_t>(number), plan.most_results);
    }
    own = std::min(own, plan.lengths[s]);
    plan.results.push_back(own);
    if (Results == results_are::compact) {
      plan.out_offsets.push_back(static_cast<int>(plan.outputs));
      plan.places.push_back(plan.outputs);
      plan.outputs += own + (random.chance(10) ? random.below(4) : 0);
    } else {
      plan.places.push_back(s * plan.most_results);
      plan.outputs += plan.most_results;
    }
  }
  return plan;
}

template <class Key, class Decomposer, bool IsMax, bool IsSorted, form Form, segments_are Segments, results_are Results,
          bool ByIterator = false>
problem segmented_top_k(source& random) {
  using Value = std::uint32_t;
  constexpr bool has_values = Form != form::keys;
  const segment_plan plan = random_plan<Segments, Results>(random);
  struct arrays : memory<Key, Key> {
    arrays(const segment_plan& from, source& random)
        : memory<Key, Key>(from.items, from.outputs + random.below(40), random),
          values(Form == form::pairs ? from.items : 0, random),
          values_out(has_values ? from.outputs + random.below(40) : 0, random),
          offsets(from.offsets.size(), random),
          ends(from.ends.size(), random),
          lengths(from.given_lengths.size(), random),
          numbers(from.numbers.size(), random),
          out_offsets(from.out_offsets.size(), random) {}
    array<Value> values, values_out;
    array<int> offsets, ends, lengths, numbers, out_offsets;
    std::vector<Value> host_values;
    Key padding{};
  };
  const auto held = std::make_shared<arrays>(plan, random);
  held->padding = random_keys<Key>(random, 1)[0];
  problem made;
  made.what = std::string("DeviceSegmentedTopK::") + (Form == form::arg ? "Arg" : "") + (IsMax ? "Max" : "Min") +
              (Form == form::keys    ? "Keys"
               : Form == form::pairs ? "Pairs"
                                     : "") +
              (IsSorted ? "Sorted" : "") + ", " + name_of<Key>() + ", " + std::to_string(plan.segments()) +
              (Segments == segments_are::of_size      ? " rows of "
               : Segments == segments_are::by_offsets ? " segments of up to "
                                                      : " lengths of up to ") +
              std::to_string(plan.size) + ", stride " + std::to_string(plan.stride) + ", k up to " +
              std::to_string(plan.most_results) + ", results " + std::to_string(static_cast<int>(Results));
  made.renew = [held, plan](source& data, cudaStream_t stream) {
    held->renew(random_keys<Key>(data, plan.items), stream);
    held->host_values = random_items<Value>(data, held->values.size());
    held->values.write(held->host_values, stream);
    held->values_out.forget(stream);
    held->offsets.write(plan.offsets, stream);
    held->ends.write(plan.ends, stream);
    held->lengths.write(plan.given_lengths, stream);
    held->numbers.write(plan.numbers, stream);
    held->out_offsets.write(plan.out_offsets, stream);
  };
  made.call = [held, plan](void* storage, std::size_t& bytes, cudaStream_t stream) {
    using all = DeviceSegmentedTopK;
    const int* const numbers = held->numbers.data();
    const auto segments = [&] {
      if constexpr (Segments == segments_are::of_size) {
        return strata::SegmentsOfSize(plan.segments(), plan.size, plan.stride);
      } else if constexpr (Segments == segments_are::by_offsets) {
        const int* const begins = held->offsets.data();
        const int* const ends = held->ends.data();
        return strata::SegmentsByOffsets(plan.segments(), begins, ends);
      } else {
        const int* const lengths = held->lengths.data();
        return strata::SegmentsByLengths(plan.segments(), lengths, plan.stride);
      }
    }();
    const auto k = [&] {
      if constexpr (Results == results_are::number) {
        return plan.most_results;
      } else if constexpr (Results == results_are::future) {
        return strata::FutureCount(numbers, plan.most_results);
      } else if constexpr (Results == results_are::rows) {
        return strata::ResultRows(numbers, plan.most_results);
      } else if constexpr (Results == results_are::padded) {
        return strata::PaddedResultRows(numbers, plan.most_results, held->padding, -1);
      } else {
        const int* const offsets = held->out_offsets.data();
        return strata::ResultsAtOffsets(numbers, plan.most_results, offsets);
      }
    }();
    const auto in = [&] {
      const Key* const first = held->in.data();
      if constexpr (ByIterator) {
        return device_test::strided<const Key>(first, 1);
      } else {
        return first;
      }
    }();
    Key* const out = held->out.data();
    const Value* const values = held->values.data();
    Value* const values_out = held->values_out.data();
    const auto call = [&](const auto&... rest) {
      if constexpr (Form == form::keys) {
        if constexpr (IsMax && IsSorted) return all::MaxKeysSorted(storage, bytes, in, out, segments, k, rest...);
        if constexpr (IsMax && !IsSorted) return all::MaxKeys(storage, bytes, in, out, segments, k, rest...);
        if constexpr (!IsMax && IsSorted) return all::MinKeysSorted(storage, bytes, in, out, segments, k, rest...);
        if constexpr (!IsMax && !IsSorted) return all::MinKeys(storage, bytes, in, out, segments, k, rest...);
      } else if constexpr (Form == form::pairs) {
        if constexpr (IsMax && IsSorted)
          return all::MaxPairsSorted(storage, bytes, in, out, values, values_out, segments, k, rest...);
        if constexpr (IsMax && !IsSorted)
          return all::MaxPairs(storage, bytes, in, out, values, values_out, segments, k, rest...);
        if constexpr (!IsMax && IsSorted)
          return all::MinPairsSorted(storage, bytes, in, out, values, values_out, segments, k, rest...);
        if constexpr (!IsMax && !IsSorted)
          return all::MinPairs(storage, bytes, in, out, values, values_out, segments, k, rest...);
      } else {
        if constexpr (IsMax && IsSorted)
          return all::ArgMaxSorted(storage, bytes, in, out, values_out, segments, k, rest...);
        if constexpr (IsMax && !IsSorted) return all::ArgMax(storage, bytes, in, out, values_out, segments, k, rest...);
        if constexpr (!IsMax && IsSorted)
          return all::ArgMinSorted(storage, bytes, in, out, values_out, segments, k, rest...);
        if constexpr (!IsMax && !IsSorted)
          return all::ArgMin(storage, bytes, in, out, values_out, segments, k, rest...);
      }
    };
    if constexpr (std::is_same_v<Decomposer, none>) {
      return call(stream);
    } else {
      return call(Decomposer{}, stream);
    }
  };
  made.check = [held, plan](cudaStream_t stream) {
    std::vector<Key> keys = and_untouched(std::vector<Key>{}, held->out.size());
    std::vector<Value> values = and_untouched(std::vector<Value>{}, held->values_out.size());
    std::vector<std::uint64_t> words;
    for (const Key& key : held->items) words.push_back(word_of(key));
    for (std::size_t s = 0; s < plan.segments(); ++s) {
      const std::size_t begin = plan.begins[s], place = plan.places[s];
      std::vector<std::size_t> order = sorted_order(words.data() + begin, plan.lengths[s], {0, 64}, IsMax);
      order.resize(plan.results[s]);
      if (!IsSorted) std::sort(order.begin(), order.end());
      for (std::size_t i = 0; i < order.size(); ++i) {
        keys[place + i] = held->items[begin + order[i]];
        if constexpr (Form == form::arg) values[place + i] = static_cast<Value>(order[i]);
        if constexpr (Form == form::pairs) values[place + i] = held->host_values[begin + order[i]];
      }
      for (std::size_t i = order.size(); Results == results_are::padded && i < plan.most_results; ++i) {
        keys[place + i] = held->padding;
        if constexpr (has_values) values[place + i] = static_cast<Value>(-1);
      }
    }
    must_be_same(keys, held->out.read(stream), "keys");
    must_be_same(values, held->values_out.read(stream), "values");
  };
  return made;
}

// ---------------------------------------------------------------------------- merges

/// Compares only the upper bits of a number, so different items may be equal.
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

/// Tests histograms. Even bins have an integer width, so that the bin of an integer does not depend on rounding.
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
      // Bins have random widths, and some are empty.
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
    segmented_top_k<float, none, true, false, form::arg, segments_are::of_size, results_are::number>,
    segmented_top_k<std::int32_t, none, true, true, form::pairs, segments_are::by_offsets, results_are::rows>,
    segmented_top_k<std::uint8_t, none, false, false, form::keys, segments_are::by_lengths, results_are::padded>,
    segmented_top_k<event, decompose_event, true, true, form::arg, segments_are::of_size, results_are::compact>,
    segmented_top_k<__half, none, false, true, form::keys, segments_are::of_size, results_are::padded>,
    segmented_top_k<__nv_fp8_e4m3, none, true, false, form::pairs, segments_are::by_lengths, results_are::compact>,
    merge<std::int32_t, false>,
    merge<std::uint64_t, true>,
    histogram<std::uint8_t, std::uint32_t, true>,
    histogram<std::int32_t, unsigned long long, true>,
    histogram<std::uint8_t, std::uint32_t, false>,
#if !defined(STRATA_TEST_FEW_TYPES)
    top_k<std::int32_t, true, false, false>,
    top_k<std::int16_t, true, true, true>,
    top_k<__half, true, false, true>,
    segmented_top_k<float, none, false, true, form::arg, segments_are::by_lengths, results_are::rows, true>,
    segmented_top_k<float, none, true, false, form::pairs, segments_are::by_offsets, results_are::compact>,
    segmented_top_k<std::uint64_t, none, true, false, form::keys, segments_are::of_size, results_are::future>,
    segmented_top_k<event, decompose_to_tuple, false, false, form::pairs, segments_are::by_lengths,
                    results_are::future>,
    segmented_top_k<__nv_bfloat16, none, true, false, form::arg, segments_are::by_offsets, results_are::padded>,
    segmented_top_k<__nv_fp8_e5m2, none, false, true, form::arg, segments_are::by_offsets, results_are::number>,
    merge<std::uint8_t, true>,
    merge<bytes24, false>,
    histogram<std::int16_t, std::uint32_t, true>,
    histogram<std::int32_t, std::uint32_t, false>,
#endif
};

}  // namespace

int main(int count, char** values) { return random_test::run_family("top_k", makers, count, values); }
