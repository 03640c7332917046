// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of DeviceGroupBy and HostGroupBy whose keys have several columns, some with nulls. Groups are in any
// order, in that of keys, or in that of first rows. Some calls write the group of each row.
#include <strata/iterator/counting_input_iterator.cuh>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "random/random_groups.cuh"

namespace group_by_random {

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
    columns<host_threads, GroupOrder::by_key, nulls::as_group, false, float, std::int8_t>,
    columns<host_threads, GroupOrder::any, nulls::dropped, true, std::uint64_t, std::int64_t, std::uint16_t>,
#endif
};

}  // namespace group_by_random

int main(int count, char** values) {
  return random_test::run_family("group_by_columns", group_by_random::makers, count, values);
}
