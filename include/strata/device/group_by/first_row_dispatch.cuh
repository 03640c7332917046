// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/future_count.cuh>
#include <strata/device/group_by/aggregates.cuh>
#include <strata/device/group_by/call.hpp>
#include <strata/device/group_by/dispatch.cuh>
#include <strata/device/group_by/group_keys.hpp>
#include <strata/device/group_by/key_columns.cuh>
#include <strata/device/group_by/shared_items.cuh>
#include <strata/device/scan/problem_scan.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/discard_output_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Returns the aggregates with another one added at the end.
template <class Last>
GroupAggregates<Last> with_last_group_aggregate(const GroupAggregates<>&, const Last& last) {
  return {last, {}};
}
template <class First, class... Rest, class Last>
GroupAggregates<First, Rest..., Last> with_last_group_aggregate(const GroupAggregates<First, Rest...>& aggregates,
                                                                const Last& last) {
  return {aggregates.first, detail::with_last_group_aggregate(aggregates.rest, last)};
}

template <class State>
STRATA_HD State last_group_state(const group_states<State>& states) {
  return states.first;
}
template <class First, class Second, class... Rest>
STRATA_HD auto last_group_state(const group_states<First, Second, Rest...>& states) {
  return detail::last_group_state(states.rest);
}

/// Aggregates whose states are kept in temporary storage, to be written later.
template <class Aggregates, class Row>
struct kept_group_aggregates : Aggregates {
  using States = typename Aggregates::template states_type<Row>;
  States* kept;

  STRATA_HD void store(std::size_t group, const States& states) const { kept[group] = states; }
  // Nothing is written to the outputs yet.
  bool has_null(std::size_t rows, std::size_t) const { return Aggregates::has_null(rows, 0); }
  void list_arrays(std::size_t rows, std::size_t, group_arrays arrays) const {
    Aggregates::list_arrays(rows, 0, arrays);
  }
};
template <class Aggregates, class Row>
inline constexpr bool may_share_group_items<kept_group_aggregates<Aggregates, Row>> = false;

/// Returns the number of bits of a word that are set.
struct group_bits_of_word {
  STRATA_D unsigned operator()(unsigned word) const { return static_cast<unsigned>(__popc(word)); }
};

/// All groups of a call, in any order, and the bits that tell their places in the order of first rows. `Call` is the
/// DispatchGroupBy of the call. `All` has its aggregates, and one more for the first row.
template <class Call, class All>
struct group_places {
  using Key = typename Call::Key;
  using Row = typename Call::Row;
  using States = typename All::template states_type<Row>;
  using KeyOutput = decltype(Call::groups.keys);
  static constexpr std::size_t word_bits = 32;

  Call call;
  All all;
  Key* keys;
  States* states;
  Row* number;
  std::conditional_t<Call::writes_groups_of_rows, Row*, NullType> groups_of_rows;
  unsigned* first_rows;  // a bit for each row
  Row* up_to;            // for each of these words: how many bits are set in it and in the words before it

  STRATA_D std::size_t first_row(std::size_t group) const {
    return static_cast<std::size_t>(detail::last_group_state(states[group]));
  }
  STRATA_D std::size_t place(std::size_t group) const {
    const std::size_t row = first_row(group);
    const unsigned from_row = group_bits_of_word{}(first_rows[row / word_bits] >> row % word_bits);
    return static_cast<std::size_t>(up_to[row / word_bits]) - from_row;
  }
  STRATA_D void mark(std::size_t group) const {
    const std::size_t row = first_row(group);
    atomicOr(first_rows + row / word_bits, 1u << row % word_bits);
  }
  STRATA_D void write(std::size_t group) const {
    const std::size_t to = place(group);
    if (to >= call.groups.capacity) return;
    *detail::advanced(call.groups.keys, to) = static_cast<output_value_t<KeyOutput, Key>>(keys[group]);
    all.store(to, states[group]);
  }
  STRATA_D void write_group_of_row(std::size_t row) const {
    if constexpr (Call::drops_rows) {
      if (!call.keys.keys.has_keys(row)) return;
    }
    const std::size_t to = place(static_cast<std::size_t>(groups_of_rows[row]));
    detail::store_count(detail::advanced(call.d_group_of_row, row), static_cast<Row>(to));
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

inline constexpr int group_place_threads = 256;

/// Without `IsMarked`, marks the first row of each group. With `IsMarked`, writes the groups, and the groups of rows.
template <bool IsMarked, class Places>
__launch_bounds__(group_place_threads) STRATA_KERNEL void group_place_kernel(const STRATA_GRID_CONSTANT Places places) {
  const auto groups = static_cast<std::size_t>(*places.number);
  const std::size_t first = std::size_t{blockIdx.x} * group_place_threads + threadIdx.x;
  const std::size_t step = std::size_t{gridDim.x} * group_place_threads;
  for (std::size_t g = first; g < groups; g += step) IsMarked ? places.write(g) : places.mark(g);
  if constexpr (IsMarked) {
    if (first == 0) detail::store_count(places.call.d_num_groups, *places.number);
    if constexpr (!std::is_same_v<decltype(places.groups_of_rows), NullType>) {
      const std::size_t rows = detail::number_of_items<std::size_t>(places.call.keys.num_items);
      for (std::size_t row = first; row < rows; row += step) places.write_group_of_row(row);
    }
  }
}

/// Carries out a call whose groups come in the order of their first rows.
///
///     rows -> groups in any order, each with its first row, in temporary storage
///     first rows -> a bit for each row -> how many set bits are before it: the place of its group
///
/// The number of groups never leaves the device. A sort of the groups by their first rows would take more memory.
template <class PolicyHub, class Call>
struct DispatchGroupsByFirstRow {
  using Key = typename Call::Key;
  using Row = typename Call::Row;

  const Call& call;

  cudaError_t run(void* d_temp_storage, std::size_t& temp_storage_bytes) const {
    const std::size_t rows = detail::max_items(call.keys.num_items);
    if (!call.are_counts_valid(rows)) return cudaErrorInvalidValue;
    // The aggregate that finds the first row comes last, so that the others share items as they do in other calls.
    using Rows = CountingInputIterator<Row>;
    const group_first_aggregate<Rows, DiscardOutputIterator<>> first_row{Rows(0), {}};
    return detail::call_with_shared_group_items(
        d_temp_storage, temp_storage_bytes, detail::with_last_group_aggregate(call.aggregates, first_row),
        [&](std::size_t& bytes, const auto& all) { return run(d_temp_storage, bytes, rows, all); });
  }

 private:
  enum slot {
    phase_slot,
    keys_slot,
    states_slot,
    number_slot,
    groups_of_rows_slot,
    first_rows_slot,
    up_to_slot,
    slots
  };

  template <class All>
  cudaError_t run(void* d_temp_storage, std::size_t& temp_storage_bytes, std::size_t rows, const All& all) const {
    using Places = group_places<Call, All>;
    using States = typename Places::States;
    Places places{call, all, nullptr, nullptr, nullptr, {}, nullptr, nullptr};
    const std::size_t words = detail::ceiling_divide(rows, Places::word_bits);
    std::size_t group_bytes = 0, scan_bytes = 0;
    cudaError_t status = group(nullptr, group_bytes, places, rows);
    if (status == cudaSuccess) status = count(nullptr, scan_bytes, places, words);
    if (status != cudaSuccess) return status;
    temporary_storage::layout<slots> storage;
    storage.template reserve<unsigned char>(phase_slot, detail::most(group_bytes, scan_bytes));
    storage.template reserve<Key>(keys_slot, rows);
    storage.template reserve<States>(states_slot, rows);
    storage.template reserve<Row>(number_slot, 1);
    if (Call::writes_groups_of_rows) storage.template reserve<Row>(groups_of_rows_slot, rows);
    storage.template reserve<unsigned>(first_rows_slot, words);
    storage.template reserve<Row>(up_to_slot, words);
    if (d_temp_storage == nullptr) return detail::answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes) || !call.are_arrays_valid(rows)) {
      return cudaErrorInvalidValue;
    }
    places.keys = storage.template get<Key>(keys_slot);
    places.states = storage.template get<States>(states_slot);
    places.number = storage.template get<Row>(number_slot);
    places.first_rows = storage.template get<unsigned>(first_rows_slot);
    places.up_to = storage.template get<Row>(up_to_slot);
    if constexpr (Call::writes_groups_of_rows) places.groups_of_rows = storage.template get<Row>(groups_of_rows_slot);
    auto* const phase = storage.template get<unsigned char>(phase_slot);
    status = group(phase, group_bytes, places, rows);
    // In a graph, a node that sets no bytes would be an error.
    if (status == cudaSuccess && words > 0) {
      status = cudaMemsetAsync(places.first_rows, 0, words * sizeof(*places.first_rows), call.stream);
    }
    // More than 2,048 blocks would not help: an H200 holds 8 on each of 132 multiprocessors at a time.
    const std::size_t blocks = detail::most<std::size_t>(1, detail::least<std::size_t>(2048, words / 16));
    const launch_configuration configuration{"strata::DeviceGroupBy", dim3(static_cast<unsigned>(blocks)),
                                             dim3(group_place_threads), 0, call.stream};
    if (status == cudaSuccess) status = strata::launch(configuration, group_place_kernel<false, Places>, places);
    if (status == cudaSuccess) status = count(phase, scan_bytes, places, words);
    if (status == cudaSuccess) status = strata::launch(configuration, group_place_kernel<true, Places>, places);
    return status;
  }

  /// Keeps all groups in any order.
  template <class Places>
  cudaError_t group(void* storage, std::size_t& bytes, const Places& places, std::size_t rows) const {
    using Inner = group_by_call<decltype(places.groups_of_rows), typename Call::Keys, Key*, GroupOrder::any, Row*,
                                kept_group_aggregates<decltype(places.all), Row>>;
    const DispatchGroupBy<PolicyHub, Inner> inner{
        {call.keys, places.groups_of_rows, {places.all, places.states}, {places.keys, rows, true}, places.number},
        call.stream};
    return inner.run(storage, bytes);
  }
  /// For each word, counts the first rows up to its end.
  template <class Places>
  cudaError_t count(void* storage, std::size_t& bytes, const Places& places, std::size_t words) const {
    using Counts = TransformInputIterator<Row, group_bits_of_word, const unsigned*>;
    const scan_problem<Counts, Row*, Row, Sum, true, NullType> problem{
        Counts(places.first_rows, {}), places.up_to, Sum{}, {}};
    return DispatchScan<std::decay_t<decltype(problem)>, default_policy_hub>::Dispatch(storage, bytes, problem, words,
                                                                                       call.stream);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
