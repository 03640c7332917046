// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/future_count.cuh>
#include <strata/device/group_by/aggregates.cuh>
#include <strata/device/group_by/group_keys.hpp>
#include <strata/device/group_by/key_columns.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The arguments of a grouped aggregation, and their checks. `GroupOfRowIterator` is NullType if the groups of rows are
/// not written.
template <class GroupOfRowIterator, class GroupKeys, class KeyOutputIterator, GroupOrder Order, class NumGroups,
          class AggregatesOfGroup>
struct group_by_call {
  using Keys = GroupKeys;
  using KeyOutput = KeyOutputIterator;
  using Aggregates = AggregatesOfGroup;
  using NumGroupsIterator = NumGroups;
  using KeyIterator = decltype(Keys::keys);
  using NumItemsT = decltype(Keys::num_items);
  using Key = iterator_value_t<KeyIterator>;
  using Row = item_count_t<NumItemsT>;
  static constexpr GroupOrder order = Order;
  static constexpr bool writes_groups_of_rows = !std::is_same_v<GroupOfRowIterator, NullType>;
  /// True if rows without a key are in no group.
  static constexpr bool drops_rows = drops_group_rows<KeyIterator>;

  Keys keys;
  GroupOfRowIterator d_group_of_row;
  Aggregates aggregates;
  GroupOutput<KeyOutputIterator, Order> groups;
  NumGroupsIterator d_num_groups;

  /// Checks the arguments that a size query has: counts, the capacity, how far iterators can be advanced, and the type
  /// of `d_group_of_row`.
  bool are_counts_valid(std::size_t rows) const {
    if (detail::refuses_input(keys.keys, keys.num_items, "d_keys") ||
        detail::is_refused(!groups.has_valid_capacity, "capacity", "is negative or larger than 2^63 - 1") ||
        !aggregates.can_reach(rows)) {
      return false;
    }
    if constexpr (is_group_key_columns<KeyIterator>) {
      if (!keys.keys.can_reach(rows)) return false;
    }
    if constexpr (writes_groups_of_rows) {
      using Group = declared_value_t<GroupOfRowIterator, Row>;
      if (detail::refuses_index_type<Group>(rows, "d_group_of_row") ||
          detail::refuses_reach(d_group_of_row, rows, "d_group_of_row")) {
        return false;
      }
    }
    return true;
  }
  /// Checks the other arguments. The call has up to `rows` rows.
  bool are_arrays_valid(std::size_t rows) const {
    const std::size_t written = detail::least(rows, groups.capacity);
    if (detail::refuses_null(d_num_groups, "d_num_groups") || detail::refuses_null_count(keys.num_items) ||
        (rows > 0 &&
         (detail::refuses_null_keys(keys.keys, "d_keys") || detail::refuses_null(d_group_of_row, "d_group_of_row"))) ||
        (written > 0 && detail::refuses_null_keys(groups.keys, "d_keys_out")) || aggregates.has_null(rows, written)) {
      return false;
    }
    constexpr std::size_t keys_out = detail::num_group_key_arrays<KeyOutputIterator>();
    constexpr std::size_t keys_in = detail::num_group_key_arrays<KeyIterator>();
    argument_bytes outputs[Aggregates::size + 2 + keys_out];
    argument_bytes inputs[Aggregates::size + 1 + keys_in];
    outputs[0] = detail::bytes_of(d_num_groups, 1, "d_num_groups");
    outputs[1] = detail::bytes_of(d_group_of_row, rows, "d_group_of_row");
    detail::list_key_arrays(groups.keys, written, "d_keys_out", outputs + 2);
    inputs[0] = {{}, "the FutureCount"};
    if constexpr (is_future_count<NumItemsT>) {
      inputs[0] = detail::bytes_of(keys.num_items.pointer(), 1, "the FutureCount");
    }
    detail::list_key_arrays(keys.keys, rows, "d_keys", inputs + 1);
    aggregates.list_arrays(rows, written, {outputs + 2 + keys_out, inputs + 1 + keys_in});
    return !detail::outputs_overlap(outputs, inputs);
  }
};

/// Returns the call of these arguments. Its keys and its output of keys have the same form: one column, or several.
template <class KeyIterator, class NumItemsT, bool HasRange, class GroupOfRowIterator, class Aggregates,
          class KeyOutputIterator, GroupOrder Order, class NumGroupsIterator>
auto make_group_by_call(const GroupKeys<KeyIterator, NumItemsT, HasRange>& keys, GroupOfRowIterator d_group_of_row,
                        const Aggregates& aggregates, const GroupOutput<KeyOutputIterator, Order>& groups,
                        NumGroupsIterator d_num_groups) {
  const auto all_keys = detail::group_keys_for(keys.keys, groups.keys);
  const auto keys_out = detail::group_key_output_for(all_keys, groups.keys);
  return group_by_call<GroupOfRowIterator, GroupKeys<std::decay_t<decltype(all_keys)>, NumItemsT, HasRange>,
                       std::decay_t<decltype(keys_out)>, Order, NumGroupsIterator, Aggregates>{
      {all_keys, keys.num_items, keys.range},
      d_group_of_row,
      aggregates,
      {keys_out, groups.capacity, groups.has_valid_capacity},
      d_num_groups};
}

}  // namespace detail
STRATA_NAMESPACE_END
