// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of DeviceGroupBy, by the library's tuning and by one whose small tables fill up with few rows, and of
// HostGroupBy. Keys have one column, or several columns with nulls. Groups are in any order, in that of keys, or in
// that of first rows.
#include <strata/device/device_group_by.cuh>
#include <strata/device/group_by/host_group_by.cuh>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>

#include "random/random_sorts.cuh"

namespace group_by_random {

using namespace random_test;
using strata::GroupOrder;

template <GroupOrder Order, class Output>
auto in_group_order(const Output& output) {
  if constexpr (Order == GroupOrder::by_key) {
    return output.sorted();
  } else if constexpr (Order == GroupOrder::by_first_row) {
    return output.first_occurrence();
  } else {
    return output;
  }
}
constexpr const char* text_of_order(GroupOrder order) {
  return order == GroupOrder::by_key ? ", sorted" : order == GroupOrder::by_first_row ? ", first occurrence" : "";
}

/// Returns which group is written at which place. `first_rows` has the first row of each group. If groups are in any
/// order, `found(g)` returns the group that was found at place g of `written`.
template <GroupOrder Order, class Found>
std::vector<std::size_t> written_groups(const std::vector<std::size_t>& first_rows, std::size_t written,
                                        const Found& found) {
  std::vector<std::size_t> groups(first_rows.size());
  std::iota(groups.begin(), groups.end(), std::size_t{0});
  if constexpr (Order == GroupOrder::by_first_row) {
    std::sort(groups.begin(), groups.end(),
              [&](std::size_t a, std::size_t b) { return first_rows[a] < first_rows[b]; });
  } else if constexpr (Order == GroupOrder::any) {
    std::vector<bool> is_known(first_rows.size());
    for (std::size_t g = 0; g < written; ++g) {
      groups[g] = found(g);
      must_be(groups[g] < is_known.size(), "a key is written that no row has");
      must_be(!is_known[groups[g]], "a group is written twice");
      is_known[groups[g]] = true;
    }
  }
  groups.resize(written);
  return groups;
}
/// The values of `all` for these groups, then untouched ones up to `capacity`.
template <class T>
std::vector<T> of_groups(const std::vector<T>& all, const std::vector<std::size_t>& groups, std::size_t capacity) {
  std::vector<T> some;
  for (const std::size_t g : groups) some.push_back(all[g]);
  return and_untouched(std::move(some), capacity);
}

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
                                                    /*partition_sector_rows=*/4,
                                                    /*part_load_percent=*/60,
                                                    /*most_scattered_rows=*/150};
  };
  using MaxPolicy = Policy;
};

/// In place of a tuning, this says that HostGroupBy is called. That needs the host back end, where device memory is
/// host memory.
struct host_threads {};

/// The calls of DeviceGroupBy that are tested here, with the tuning `Hub`.
template <class Hub>
struct group_by_with : strata::TunedDeviceGroupBy<Hub> {};
template <>
struct group_by_with<host_threads> {
  static constexpr strata::HostGroupByOptions options{3};

  template <class Keys, class Aggregates, class Output>
  static cudaError_t Aggregate(void* storage, std::size_t& bytes, const Keys& keys, const Aggregates& all,
                               const Output& output, std::uint32_t* number, cudaStream_t stream) {
    if (storage != nullptr) must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return strata::HostGroupBy::Aggregate(storage, bytes, keys, all, output, number, options);
  }
  template <class Keys, class Aggregates, class Output>
  static cudaError_t Groups(void* storage, std::size_t& bytes, const Keys& keys, std::uint32_t* group_of_row,
                            const Aggregates& all, const Output& output, std::uint32_t* number, cudaStream_t stream) {
    if (storage != nullptr) must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return strata::HostGroupBy::Groups(storage, bytes, keys, group_of_row, all, output, number, options);
  }
};
template <class Hub>
constexpr const char* text_of_hub() {
  if constexpr (std::is_same_v<Hub, host_threads>) {
    return ", host threads";
  } else {
    return std::is_same_v<Hub, small_tables> ? ", small tables" : "";
  }
}

/// Keys with at most `different` different values, or any keys if it is 0.
template <class Key>
std::vector<Key> random_keys(source& data, std::size_t size, std::size_t different) {
  std::vector<Key> keys = random_items<Key>(data, size);
  if (different == 0 || size == 0) return keys;
  const std::vector<Key> some(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(std::min(different, size)));
  for (Key& key : keys) key = some[data.below(some.size())];
  return keys;
}

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

enum class nulls { none, dropped, as_group };

/// A key as groups compare it: nulls are equal to each other, and greater than all keys.
using code = std::pair<bool, std::uint64_t>;

/// Passes the numbers of all columns to `call`, as types.
template <class Call, std::size_t... Columns>
auto with_columns(std::index_sequence<Columns...>, const Call& call) {
  return call(std::integral_constant<std::size_t, Columns>{}...);
}

/// Tests rows with several key columns, some of which have nulls. With `WritesGroups`, the group of each row is
/// written.
template <class Hub, GroupOrder Order, nulls Nulls, bool WritesGroups, class... Keys>
problem columns(source& random) {
  using sequence = std::index_sequence_for<Keys...>;
  constexpr std::size_t width = sizeof...(Keys);
  const std::size_t size = random_size(random, most_items(random, 50000, 1u << 22));
  // The number of different keys in each column, or 0 for any.
  const std::size_t different = random.chance(20) ? 0 : 1 + random.below(random.chance(70) ? 12 : size + 1);
  const std::size_t capacity = random.chance(30) ? random.below(2 * different + 2) : size;
  const auto null_percent = static_cast<unsigned>(random.chance(20) ? 100 : random.below(60));
  struct arrays {
    arrays(std::size_t n, std::size_t groups, source& from)
        : in{std::make_unique<array<Keys>>(n, from)...},
          out{std::make_unique<array<Keys>>(groups, from)...},
          values(n, from),
          reals(n, from),
          sums(groups, from),
          real_sums(groups, from),
          most(groups, from),
          counts(groups, from),
          first(groups, from),
          any(groups, from),
          group_of_row(n, from),
          number(1, from) {
      for (std::size_t i = 0; i < width; ++i) {
        has_mask[i] = Nulls != nulls::none && from.chance(70);
        masks[i] = std::make_unique<array<std::uint32_t>>((n + 31) / 32, from);
        flags[i] = std::make_unique<array<std::uint8_t>>(groups, from);
      }
    }
    std::tuple<std::unique_ptr<array<Keys>>...> in, out;
    std::array<std::unique_ptr<array<std::uint32_t>>, width> masks;
    std::array<std::unique_ptr<array<std::uint8_t>>, width> flags;
    array<std::int32_t> values;
    array<float> reals;
    array<std::int64_t> sums;
    array<float> real_sums;
    array<std::int32_t> most;
    array<std::uint32_t> counts, first, any, group_of_row, number;
    std::array<bool, width> has_mask{};
    // The content of the arrays, on the host.
    std::vector<std::array<code, width>> codes;
    std::vector<bool> is_in_group;
    std::vector<std::int32_t> host_values;
    std::vector<float> host_reals;
  };
  const auto held = std::make_shared<arrays>(size, capacity, random);
  problem made;
  made.what = description(WritesGroups ? "Groups" : "Aggregate", "rows", size) + ", columns";
  ((made.what += " " + name_of<Keys>()), ...);
  made.what += ", " + std::to_string(different) + " keys of each (0: any), capacity " + std::to_string(capacity) +
               (Nulls == nulls::none      ? ""
                : Nulls == nulls::dropped ? ", nulls are dropped"
                                          : ", nulls are groups") +
               text_of_hub<Hub>() + text_of_order(Order);
  made.can_be_captured = !std::is_same_v<Hub, host_threads>;
  made.renew = [held, size, different, null_percent](source& data, cudaStream_t stream) {
    held->codes.assign(size, {});
    held->is_in_group.assign(size, true);
    const auto renew_column = [&](auto column) {
      using Key = std::tuple_element_t<column, std::tuple<Keys...>>;
      const std::vector<Key> keys = random_keys<Key>(data, size, different);
      std::get<column>(held->in)->write(keys, stream);
      std::get<column>(held->out)->forget(stream);
      std::vector<std::uint32_t> mask((size + 31) / 32, 0);
      for (std::size_t i = 0; i < size; ++i) {
        const bool is_null = held->has_mask[column] && data.chance(null_percent);
        if (!is_null) mask[i / 32] |= 1u << i % 32;
        if (is_null && Nulls == nulls::dropped) held->is_in_group[i] = false;
        held->codes[i][column] = {is_null,
                                  is_null ? 0 : static_cast<std::uint64_t>(strata::RadixTraits<Key>::ordered(keys[i]))};
      }
      held->masks[column]->write(mask, stream);
      held->flags[column]->forget(stream);
    };
    with_columns(sequence{}, [&](auto... column) { (renew_column(column), ...); });
    held->host_values = random_items<std::int32_t>(data, size);
    held->values.write(held->host_values, stream);
    held->host_reals = random_addends<float>(data, size);
    held->reals.write(held->host_reals, stream);
    held->sums.forget(stream);
    held->real_sums.forget(stream);
    held->most.forget(stream);
    for (auto* numbers : {&held->counts, &held->first, &held->any, &held->group_of_row, &held->number}) {
      numbers->forget(stream);
    }
  };
  made.call = [held, size, capacity](void* storage, std::size_t& bytes, cudaStream_t stream) {
    using GroupBy = group_by_with<Hub>;
    const strata::CountingInputIterator<std::uint32_t> row_numbers(0);
    const std::int32_t* const values = held->values.data();
    const auto all = strata::group_aggregates(
        strata::group_sum(values, held->sums.data()), strata::group_max(values, held->most.data()),
        strata::group_count(held->counts.data()), strata::group_first(row_numbers, held->first.data()),
        strata::group_any(row_numbers, held->any.data()),
        strata::group_sum(held->reals.data(), held->real_sums.data()).unordered());
    const auto keys_of = [&](auto... column) {
      const auto keys = strata::group_keys(std::get<column>(held->in)->data()..., static_cast<std::uint32_t>(size));
      if constexpr (Nulls == nulls::none) {
        return keys;
      } else {
        const auto masked = keys.valid((held->has_mask[column] ? held->masks[column]->data() : nullptr)...);
        if constexpr (Nulls == nulls::as_group) {
          return masked.nulls_as_group();
        } else {
          return masked.nulls_dropped();
        }
      }
    };
    const auto output_of = [&](auto... column) {
      return in_group_order<Order>(strata::group_output(std::get<column>(held->out)->data()..., capacity))
          .valid(held->flags[column]->data()...);
    };
    const auto keys = with_columns(sequence{}, keys_of);
    const auto output = with_columns(sequence{}, output_of);
    if constexpr (WritesGroups) {
      return GroupBy::Groups(storage, bytes, keys, held->group_of_row.data(), all, output, held->number.data(), stream);
    } else {
      return GroupBy::Aggregate(storage, bytes, keys, all, output, held->number.data(), stream);
    }
  };
  made.check = [held, size, capacity](cudaStream_t stream) {
    std::map<std::array<code, width>, std::vector<std::size_t>> rows_of;
    for (std::size_t i = 0; i < size; ++i) {
      if (held->is_in_group[i]) rows_of[held->codes[i]].push_back(i);
    }
    std::map<std::array<code, width>, std::size_t> group_of;
    std::vector<std::array<code, width>> keys;
    std::vector<std::size_t> first_rows;
    std::vector<std::int64_t> sums;
    std::vector<float> real_sums;
    std::vector<std::int32_t> most;
    std::vector<std::uint32_t> counts, first;
    for (const auto& [key, rows] : rows_of) {
      group_of[key] = keys.size();
      keys.push_back(key);
      first_rows.push_back(rows.front());
      first.push_back(static_cast<std::uint32_t>(rows.front()));
      counts.push_back(static_cast<std::uint32_t>(rows.size()));
      sums.push_back(0);
      real_sums.push_back(0);
      most.push_back(held->host_values[rows.front()]);
      for (const std::size_t row : rows) {
        sums.back() += held->host_values[row];
        real_sums.back() += held->host_reals[row];
        most.back() = std::max(most.back(), held->host_values[row]);
      }
    }
    must_be_same(std::vector<std::uint32_t>{static_cast<std::uint32_t>(keys.size())}, held->number.read(stream),
                 "number of groups");
    const std::size_t written = std::min(capacity, keys.size());
    std::vector<std::array<code, width>> found(written);
    const auto read_column = [&](auto column) {
      using Key = std::tuple_element_t<column, std::tuple<Keys...>>;
      const std::vector<Key> keys_out = std::get<column>(held->out)->read(stream);
      const std::vector<std::uint8_t> flags = held->flags[column]->read(stream);
      for (std::size_t g = 0; g < capacity; ++g) {
        if (g >= written) {
          must_be(flags[g] == poison, "a flag behind the groups was written");
          continue;
        }
        must_be(flags[g] < 2, "flags are 0 or 1");
        const auto word = static_cast<std::uint64_t>(strata::RadixTraits<Key>::ordered(keys_out[g]));
        must_be(flags[g] == 1 || word == static_cast<std::uint64_t>(strata::RadixTraits<Key>::ordered(Key(0))),
                "the key of a null is not 0");
        found[g][column] = {flags[g] == 0, flags[g] == 0 ? 0 : word};
      }
    };
    with_columns(sequence{}, [&](auto... column) { (read_column(column), ...); });
    // If the groups of rows are written, groups are in key order, unless the order of first rows is asked for.
    constexpr GroupOrder expected_order = WritesGroups && Order == GroupOrder::any ? GroupOrder::by_key : Order;
    const auto groups = written_groups<expected_order>(first_rows, written, [&](std::size_t g) {
      const auto known = group_of.find(found[g]);
      return known == group_of.end() ? keys.size() : known->second;
    });
    for (std::size_t g = 0; g < written; ++g) must_be(found[g] == keys[groups[g]], "a key is wrong");
    must_be_same(of_groups(sums, groups, capacity), held->sums.read(stream), "sums");
    must_be_same(of_groups(real_sums, groups, capacity), held->real_sums.read(stream), "unordered sums");
    must_be_same(of_groups(most, groups, capacity), held->most.read(stream), "greatest items");
    must_be_same(of_groups(counts, groups, capacity), held->counts.read(stream), "counts");
    must_be_same(of_groups(first, groups, capacity), held->first.read(stream), "first rows");
    const std::vector<std::uint32_t> any = held->any.read(stream);
    for (std::size_t g = 0; g < written; ++g) {
      must_be(any[g] < size && held->is_in_group[any[g]] && held->codes[any[g]] == keys[groups[g]],
              "any row of a group is a row of another one");
    }
    if (!WritesGroups) return;
    // All groups have numbers, even those beyond the capacity.
    const auto all_groups = written_groups<expected_order>(first_rows, keys.size(), [](std::size_t g) { return g; });
    std::vector<std::uint32_t> number_of(keys.size()), group_of_row(size, untouched<std::uint32_t>());
    for (std::size_t g = 0; g < all_groups.size(); ++g) number_of[all_groups[g]] = static_cast<std::uint32_t>(g);
    for (std::size_t i = 0; i < size; ++i) {
      if (held->is_in_group[i]) group_of_row[i] = number_of[group_of.at(held->codes[i])];
    }
    must_be_same(group_of_row, held->group_of_row.read(stream), "groups of rows");
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
    columns<small_tables, GroupOrder::any, nulls::as_group, false, std::uint8_t, std::int32_t>,
    columns<small_tables, GroupOrder::any, nulls::dropped, false, std::uint64_t>,
    columns<small_tables, GroupOrder::any, nulls::none, true, double, std::int64_t>,
    columns<small_tables, GroupOrder::by_key, nulls::as_group, false, float, std::int8_t>,
    columns<small_tables, GroupOrder::by_key, nulls::dropped, false, std::uint16_t, std::uint32_t>,
    columns<small_tables, GroupOrder::by_first_row, nulls::as_group, false, std::uint64_t>,
    columns<small_tables, GroupOrder::any, nulls::as_group, false, std::uint64_t, float, std::int64_t>,
    columns<small_tables, GroupOrder::by_first_row, nulls::dropped, true, std::int8_t, double, std::int64_t,
            std::uint64_t>,
    columns<small_tables, GroupOrder::by_first_row, nulls::dropped, true, std::uint32_t, float>,
    columns<small_tables, GroupOrder::by_first_row, nulls::none, false, std::int8_t, std::uint8_t, std::int16_t>,
    columns<strata::default_policy_hub, GroupOrder::by_first_row, nulls::dropped, false, std::int32_t>,
#if STRATA_HOST_SIMT
    aggregates<std::int32_t, host_threads, false, GroupOrder::any>,
    aggregates<double, host_threads, true, GroupOrder::by_first_row>,
    columns<host_threads, GroupOrder::by_key, nulls::as_group, false, float, std::int8_t>,
    columns<host_threads, GroupOrder::any, nulls::dropped, true, std::uint64_t, std::int64_t, std::uint16_t>,
#endif
};

}  // namespace group_by_random

int main(int count, char** values) {
  return random_test::run_family("group_by", group_by_random::makers, count, values);
}
