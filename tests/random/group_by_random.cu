// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceGroupBy, random cases: by the usual tuning, and by one of small tables that few rows fill.
#include <strata/device/device_group_by.cuh>

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "random/random_sorts.cuh"

namespace group_by_random {

using namespace random_test;

struct small_tables {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::group_by_tuning tuning{/*block_threads=*/64,
                                                    /*items_per_thread=*/4,
                                                    /*blocks_per_multiprocessor=*/2,
                                                    /*table_bytes=*/4096,
                                                    /*most_slots=*/64,
                                                    /*least_rows=*/1,
                                                    /*hash_threads=*/64,
                                                    /*hash_items_per_thread=*/4,
                                                    /*hash_blocks_per_multiprocessor=*/2,
                                                    /*hash_table_bytes=*/4096,
                                                    /*hash_slots=*/64,
                                                    /*part_threads=*/64,
                                                    /*part_blocks_per_multiprocessor=*/2,
                                                    /*part_table_bytes=*/2048,
                                                    /*partition_bits=*/4,
                                                    /*partition_items_per_thread=*/8,
                                                    /*most_table_rows=*/500,
                                                    /*most_slots_in_memory=*/512,
                                                    /*partition_threads=*/64,
                                                    /*partition_blocks_per_multiprocessor=*/2,
                                                    /*partition_sector_rows=*/4};
  };
  using MaxPolicy = Policy;
};

/// Keys of `different` numbers, or any.
template <class Key>
std::vector<Key> random_keys(source& data, std::size_t size, std::size_t different) {
  std::vector<Key> keys = random_items<Key>(data, size);
  if (different == 0 || size == 0) return keys;
  const std::vector<Key> some(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(std::min(different, size)));
  for (Key& key : keys) key = some[data.below(some.size())];
  return keys;
}

/// The rows in the order of their groups: by key, then as they come.
template <class Key>
std::vector<std::size_t> rows_by_group(const std::vector<Key>& keys) {
  std::vector<std::size_t> rows(keys.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return strata::RadixTraits<Key>::ordered(keys[a]) < strata::RadixTraits<Key>::ordered(keys[b]);
  });
  return rows;
}

/// Sums, numbers of rows and extremes; with an operator, first items and what it makes of rows in their order.
template <class Key, class Hub, bool HasOperator, bool IsSorted>
problem aggregates(source& random) {
  const std::size_t size = random_size(random, most_items(random, 100000, 1u << 23));
  const std::size_t different = random.chance(30) ? 0 : 1 + random.below(random.chance(50) ? 20 : size + 1);
  const std::size_t capacity = random.chance(20) ? random.below(different + 2) : size;
  using Result = std::conditional_t<HasOperator, affine8, unsigned long long>;
  struct arrays : memory<Key, Key> {
    arrays(std::size_t n, std::size_t groups, source& from)
        : memory<Key, Key>(n, groups, from),
          values(n, from),
          lines(HasOperator ? n : 0, from),
          results(groups, from),
          least(groups, from),
          counts(groups, from),
          number(1, from) {}
    array<std::int32_t> values;
    array<affine8> lines;
    array<Result> results;
    array<std::int32_t> least;
    array<std::uint32_t> counts;
    array<std::uint32_t> number;
    std::vector<std::int32_t> host_values;
    std::vector<affine8> host_lines;
  };
  const auto held = std::make_shared<arrays>(size, capacity, random);
  problem made;
  made.what = description("Aggregate", name_of<Key>(), size) + ", " + std::to_string(different) +
              " keys (0: any), capacity " + std::to_string(capacity) + (HasOperator ? ", operator" : "") +
              (std::is_same_v<Hub, small_tables> ? ", small tables" : "") + (IsSorted ? ", sorted" : "");
  made.renew = [held, size, different](source& data, cudaStream_t stream) {
    held->renew(random_keys<Key>(data, size, different), stream);
    held->host_values = random_items<std::int32_t>(data, size);
    held->values.write(held->host_values, stream);
    held->host_lines = random_items<affine8>(data, HasOperator ? size : 0);
    held->lines.write(held->host_lines, stream);
    held->results.forget(stream);
    held->least.forget(stream);
    held->counts.forget(stream);
    held->number.forget(stream);
  };
  made.call = [held, size, capacity](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const auto call = [&](const auto& all) {
      const auto rows = strata::group_keys(held->in.data(), size);
      const auto output = strata::group_output(held->out.data(), capacity);
      using GroupBy = strata::TunedDeviceGroupBy<Hub>;
      if constexpr (IsSorted) {
        return GroupBy::Aggregate(storage, bytes, rows, all, output.sorted(), held->number.data(), stream);
      } else {
        return GroupBy::Aggregate(storage, bytes, rows, all, output, held->number.data(), stream);
      }
    };
    const std::int32_t* const values = held->values.data();
    if constexpr (HasOperator) {
      return call(strata::group_aggregates(
          strata::group_reduce(held->lines.data(), held->results.data(), compose{}, affine8{3, 5}),
          strata::group_count(held->counts.data()), strata::group_first(values, held->least.data())));
    } else {
      return call(strata::group_aggregates(strata::group_sum(values, held->results.data()),
                                           strata::group_count(held->counts.data()),
                                           strata::group_min(values, held->least.data())));
    }
  };
  made.check = [held, capacity](cudaStream_t stream) {
    std::vector<Result> results;
    std::vector<std::int32_t> least;
    std::vector<std::uint32_t> counts;
    std::vector<std::uint64_t> words;
    using Traits = strata::RadixTraits<Key>;
    for (const std::size_t row : rows_by_group(held->items)) {
      const auto word = static_cast<std::uint64_t>(Traits::ordered(held->items[row]));
      const std::int32_t value = held->host_values[row];
      if (words.empty() || words.back() != word) {
        words.push_back(word);
        results.push_back([] {
          if constexpr (HasOperator) {
            return affine8{3, 5};
          } else {
            return Result{0};
          }
        }());
        least.push_back(value);
        counts.push_back(0);
      }
      if constexpr (HasOperator) {
        results.back() = compose{}(results.back(), held->host_lines[row]);
      } else {
        results.back() += static_cast<Result>(value);
        least.back() = std::min(least.back(), value);
      }
      ++counts.back();
    }
    must_be_same(std::vector<std::uint32_t>{static_cast<std::uint32_t>(words.size())}, held->number.read(stream),
                 "number of groups");
    const auto written = static_cast<std::ptrdiff_t>(std::min(capacity, words.size()));
    const auto front = [written](auto all) {
      all.erase(all.begin() + written, all.end());
      return all;
    };
    std::vector<std::uint64_t> found;
    for (const Key& key : front(held->out.read(stream))) {
      found.push_back(static_cast<std::uint64_t>(Traits::ordered(key)));
    }
    // The expected groups in the order of those found.
    std::vector<std::size_t> groups(found.size());
    std::iota(groups.begin(), groups.end(), std::size_t{0});
    if (!IsSorted) {
      auto in_order = found;
      std::sort(in_order.begin(), in_order.end());
      if (std::adjacent_find(in_order.begin(), in_order.end()) != in_order.end())
        throw failure("a group is written twice");
      for (std::size_t g = 0; g < found.size(); ++g) {
        const auto place = std::lower_bound(words.begin(), words.end(), found[g]);
        if (place == words.end() || *place != found[g]) throw failure("a key is written that no row has");
        groups[g] = static_cast<std::size_t>(place - words.begin());
      }
    }
    const auto expected = [&groups](const auto& all) {
      std::decay_t<decltype(all)> some;
      for (const std::size_t g : groups) some.push_back(all[g]);
      return some;
    };
    must_be_same(expected(words), found, "keys");
    must_be_same(expected(results), front(held->results.read(stream)), "results");
    must_be_same(expected(least), front(held->least.read(stream)), "least or first items");
    must_be_same(expected(counts), front(held->counts.read(stream)), "counts");
  };
  return made;
}

const std::vector<maker> makers = {
    aggregates<std::uint8_t, strata::default_policy_hub, false, false>,
    aggregates<std::int32_t, strata::default_policy_hub, false, false>,
    aggregates<std::int32_t, small_tables, false, false>,
    aggregates<std::int32_t, small_tables, false, true>,
    aggregates<float, small_tables, false, false>,
    aggregates<std::uint64_t, small_tables, false, false>,
    aggregates<std::int16_t, strata::default_policy_hub, true, false>,
    aggregates<double, small_tables, true, true>,
};

}  // namespace group_by_random

int main(int count, char** values) {
  return random_test::run_family("group_by", group_by_random::makers, count, values);
}
