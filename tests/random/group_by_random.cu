// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of DeviceGroupBy and HostGroupBy whose keys have one column, by the library's tuning and by one whose
// small tables fill up with few rows. Groups are in any order, in that of keys, or in that of first rows.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "random/random_groups.cuh"

namespace group_by_random {

/// Indices of the rows, sorted by key, then by index.
template <class Key>
std::vector<std::size_t> rows_by_group(const std::vector<Key>& keys) {
  std::vector<std::size_t> rows(keys.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return strata::RadixTraits<Key>::ordered(keys[a]) < strata::RadixTraits<Key>::ordered(keys[b]);
  });
  return rows;
}

/// The keys that a call expects, and how many percent of the rows have other keys.
template <class Key>
struct expected_range {
  Key lowest;
  unsigned keys;
  unsigned others_percent;

  static expected_range random(source& from) {
    const unsigned keys = 1 + static_cast<unsigned>(from.below(from.chance(80) ? 70 : 4000));
    return {static_cast<Key>(from.below(100)), keys, from.chance(50) ? 0 : static_cast<unsigned>(from.below(101))};
  }
  void put_keys(source& data, std::vector<Key>& others) const {
    for (Key& key : others) {
      if (!data.chance(others_percent)) key = static_cast<Key>(static_cast<std::uint64_t>(lowest) + data.below(keys));
    }
  }
};

/// Tests sums, numbers of rows and extremes; with an operator, first items, and the operator's results in row order.
template <class Key, class Hub, bool HasOperator, GroupOrder Order, bool HasRange = false>
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
  std::conditional_t<HasRange, expected_range<Key>, strata::NullType> range{};
  if constexpr (HasRange) range = expected_range<Key>::random(random);
  problem made;
  made.what = description("Aggregate", name_of<Key>(), size) + ", " + std::to_string(different) +
              " keys (0: any), capacity " + std::to_string(capacity) + (HasOperator ? ", operator" : "") +
              text_of_hub<Hub>() + text_of_order(Order);
  made.can_be_captured = !std::is_same_v<Hub, host_threads>;
  if constexpr (HasRange) {
    made.what += ", " + std::to_string(range.keys) + " keys expected, " + std::to_string(range.others_percent) +
                 " % of the rows have others";
  }
  made.renew = [held, size, different, range](source& data, cudaStream_t stream) {
    std::vector<Key> keys = random_keys<Key>(data, size, different);
    if constexpr (HasRange) range.put_keys(data, keys);
    held->renew(std::move(keys), stream);
    held->host_values = random_items<std::int32_t>(data, size);
    held->values.write(held->host_values, stream);
    held->host_lines = random_items<affine8>(data, HasOperator ? size : 0);
    held->lines.write(held->host_lines, stream);
    held->results.forget(stream);
    held->least.forget(stream);
    held->counts.forget(stream);
    held->number.forget(stream);
  };
  made.call = [held, size, capacity, range](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const auto call = [&](const auto& all) {
      const auto rows = [&] {
        const auto keys = strata::group_keys(held->in.data(), size);
        if constexpr (HasRange) {
          return keys.key_range(range.lowest,
                                static_cast<Key>(static_cast<std::uint64_t>(range.lowest) + range.keys - 1));
        } else {
          return keys;
        }
      }();
      const auto output = in_group_order<Order>(strata::group_output(held->out.data(), capacity));
      return group_by_with<Hub>::Aggregate(storage, bytes, rows, all, output, held->number.data(), stream);
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
    std::vector<std::size_t> first_rows;
    using Traits = strata::RadixTraits<Key>;
    for (const std::size_t row : rows_by_group(held->items)) {
      const auto word = static_cast<std::uint64_t>(Traits::ordered(held->items[row]));
      const std::int32_t value = held->host_values[row];
      if (words.empty() || words.back() != word) {
        words.push_back(word);
        first_rows.push_back(row);
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
    const std::size_t written = std::min(capacity, words.size());
    std::vector<std::uint64_t> found;
    for (const Key& key : held->out.read(stream)) found.push_back(static_cast<std::uint64_t>(Traits::ordered(key)));
    found.resize(written);
    const auto groups = written_groups<Order>(first_rows, written, [&](std::size_t g) {
      const auto place = std::lower_bound(words.begin(), words.end(), found[g]);
      return place == words.end() || *place != found[g] ? words.size()
                                                        : static_cast<std::size_t>(place - words.begin());
    });
    must_be_same(of_groups(words, groups, written), found, "keys");
    must_be_same(of_groups(results, groups, capacity), held->results.read(stream), "results");
    must_be_same(of_groups(least, groups, capacity), held->least.read(stream), "least or first items");
    must_be_same(of_groups(counts, groups, capacity), held->counts.read(stream), "counts");
  };
  return made;
}

const std::vector<maker> makers = {
    aggregates<std::uint8_t, strata::default_policy_hub, false, GroupOrder::any>,
    aggregates<std::int32_t, strata::default_policy_hub, false, GroupOrder::any>,
    aggregates<std::int32_t, small_tables, false, GroupOrder::any>,
    aggregates<std::int32_t, small_tables, false, GroupOrder::by_key>,
    aggregates<float, small_tables, false, GroupOrder::any>,
    aggregates<std::uint64_t, small_tables, false, GroupOrder::any>,
    aggregates<std::int32_t, small_tables, false, GroupOrder::any, true>,
    aggregates<std::uint8_t, strata::default_policy_hub, false, GroupOrder::any, true>,
    aggregates<std::int16_t, strata::default_policy_hub, true, GroupOrder::any>,
    aggregates<double, small_tables, true, GroupOrder::by_key>,
    aggregates<std::int64_t, small_tables, false, GroupOrder::by_first_row>,
    aggregates<float, strata::default_policy_hub, true, GroupOrder::by_first_row>,
#if STRATA_HOST_SIMT
    aggregates<std::int32_t, host_threads, false, GroupOrder::any>,
    aggregates<double, host_threads, true, GroupOrder::by_first_row>,
#endif
};

}  // namespace group_by_random

int main(int count, char** values) {
  return random_test::run_family("group_by", group_by_random::makers, count, values);
}
