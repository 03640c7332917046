// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/future_count.cuh>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/engine/launch.cuh>
#include <strata/device/group_by/agent.cuh>
#include <strata/device/group_by/aggregates.cuh>
#include <strata/device/group_by/call.hpp>
#include <strata/device/group_by/group_keys.hpp>
#include <strata/device/group_by/hash_dispatch.cuh>
#include <strata/device/group_by/key_columns.cuh>
#include <strata/device/group_by/sample.cuh>
#include <strata/device/group_by/shared_items.cuh>
#include <strata/device/group_by/tuning.hpp>
#include <strata/device/group_by/wide_keys.cuh>
#include <strata/device/radix_sort/dispatch.cuh>
#include <strata/device/scan/problem_reduce_by_key.cuh>
#include <strata/device/scan/problem_scan.cuh>
#include <strata/device/scan/problem_select.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/specializations/tabulate_output.hpp>
#include <strata/iterator/transform_input_iterator.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Returns the word of the row with a given number.
template <class KeyIterator>
struct group_word_of_row {
  KeyIterator keys;
  group_sort_word<iterator_value_t<KeyIterator>> word;
  template <class Row>
  STRATA_HD auto operator()(Row row) const {
    return word(detail::item_at(keys, static_cast<std::size_t>(row)));
  }
};

/// Returns the payload of the row with a given number.
template <class Types, class Aggregates>
struct group_payload_of_row {
  Aggregates aggregates;
  template <class Row>
  STRATA_D typename Types::Payload operator()(Row row) const {
    return Types::payload_of(aggregates, row);
  }
};

/// Returns the states of a row, from the payload that was moved with it.
template <class Types, class Aggregates>
struct group_states_of_payload {
  Aggregates aggregates;
  STRATA_D typename Types::States operator()(const typename Types::Payload& payload) const {
    return Types::states_of(aggregates, payload);
  }
};

/// Returns the states of the record with a given number.
template <class States>
struct group_states_at {
  const States* states;
  template <class Row>
  STRATA_D States operator()(Row record) const {
    return states[record];
  }
};

template <class Aggregates>
struct combine_group_states {
  Aggregates aggregates;
  template <class States>
  STRATA_HD States operator()(const States& a, const States& b) const {
    States both = a;
    aggregates.combine(both, b);
    return both;
  }
};

/// Returns the key of a word.
template <class GroupKey>
struct group_key_of {
  using Key = GroupKey;
  STRATA_HD Key operator()(const group_word_t<Key>& word) const { return detail::group_key_of_word<Key>(word); }
};

/// Takes the word of each group, and writes the keys of groups below the capacity. `KeyOf` returns the key of a word.
template <class KeyOf, class KeyOutputIterator>
struct write_group_key : KeyOf {
  KeyOutputIterator out;
  std::size_t capacity;
  template <class Word>
  STRATA_HD void operator()(std::size_t group, const Word& word) const {
    if (group >= capacity) return;
    *detail::advanced(out, group) =
        static_cast<output_value_t<KeyOutputIterator, typename KeyOf::Key>>(KeyOf::operator()(word));
  }
};

/// Takes the states of each group, and writes all aggregates of groups below the capacity.
template <class Aggregates>
struct write_group_aggregates {
  Aggregates aggregates;
  std::size_t capacity;
  template <class States>
  STRATA_HD void operator()(std::size_t group, const States& states) const {
    if (group < capacity) aggregates.store(group, states);
  }
};

/// Returns 1 if a group begins at index i of the sorted words, but 0 for the first group.
template <class Word>
struct group_begins_at {
  const Word* words;
  template <class Row>
  STRATA_D Row operator()(Row i) const {
    return i > 0 && words[i] != words[i - 1] ? 1 : 0;
  }
};

/// Takes the group of each sorted row, and writes it to the output, at the row's index in the input.
template <class GroupOfRowIterator, class Row>
struct write_group_of_row {
  GroupOfRowIterator out;
  const Row* rows;
  STRATA_HD void operator()(std::size_t position, Row group) const {
    detail::store_count(detail::advanced(out, static_cast<std::size_t>(rows[position])), group);
  }
};

/// The output of the number of groups. A call launches two reductions by key, and at least one of them has no rows. The
/// sorted rows' reduction writes the number if it has rows. Otherwise the records' reduction writes the number, even if
/// there are no records.
template <class NumGroupsIterator, class Row>
struct group_number_output {
  NumGroupsIterator out;
  const Row* sorted_rows;
  bool is_of_sorted_rows;

  struct assignment {
    group_number_output output;
    template <class Count>
    STRATA_D void operator=(const Count& count) const {
      if ((*output.sorted_rows != 0) == output.is_of_sorted_rows) detail::store_count(output.out, count);
    }
  };
  STRATA_D assignment operator*() const { return {*this}; }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Takes the sample and writes the plan. The grid has one block.
template <class Rows, class Row, class NumItems>
__launch_bounds__(group_sample_threads)
    STRATA_KERNEL void group_by_sample_kernel(const STRATA_GRID_CONSTANT Rows rows, NumItems num_items,
                                              unsigned table_slots, unsigned blocks, bool may_move,
                                              group_plan<Row>* plan) {
  using Agent = AgentGroupSample<Rows, Row>;
  STRATA_DYNAMIC_SHARED(shared);
  Agent agent{*reinterpret_cast<typename Agent::TempStorage*>(shared)};
  agent.run(rows, detail::number_of_items<std::size_t>(num_items), table_slots, blocks, may_move, plan);
}

/// If the plan says `in_table` or `after_pass`, each block combines its share of the tiles in its table. If there is no
/// memory for all records, the last block changes the plan: the rows are sorted.
template <class MaxPolicy, class KeyIterator, class Aggregates, class Row>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads,
                  MaxPolicy::ActivePolicy::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void group_by_kernel(const STRATA_GRID_CONSTANT group_rows<KeyIterator, Aggregates, Row> rows,
                                       const STRATA_GRID_CONSTANT group_moved_rows<KeyIterator, Aggregates, Row> moved,
                                       typename group_by_types<KeyIterator, Aggregates, Row>::Records records,
                                       group_plan<Row>* plan) {
  using Types = group_by_types<KeyIterator, Aggregates, Row>;
  using Agent = AgentGroupBy<typename MaxPolicy::ActivePolicy, Types, Aggregates>;
  STRATA_DYNAMIC_SHARED(shared);
  Agent agent{*reinterpret_cast<typename Agent::TempStorage*>(shared), rows.aggregates, records};
  const Row in_table = plan->in_table;
  const Row after_pass = plan->after_pass;
  if (after_pass != 0) {
    agent.run(moved, static_cast<std::size_t>(after_pass));
  } else if (in_table != 0) {
    agent.run(rows, static_cast<std::size_t>(in_table));
  } else {
    return;
  }
  if (detail::is_last_block(&plan->departures) && threadIdx.x == 0 &&
      platform::load_relaxed(&plan->records) > records.capacity) {
    plan->sorted = in_table + after_pass;
    plan->records = 0;
  }
}

inline constexpr int group_scatter_threads = 256;

/// Writes the number of each row's group to the row's place in the output. The rows may come in any order.
template <class Write, class Row, class NumRows>
__launch_bounds__(group_scatter_threads)
    STRATA_KERNEL void group_scatter_kernel(Write write, const Row* groups, NumRows num_rows) {
  const std::size_t i = std::size_t{blockIdx.x} * group_scatter_threads + threadIdx.x;
  if (i < detail::number_of_items<std::size_t>(num_rows)) write(i, groups[i]);
}

template <class Policy>
using group_by_rows = if_rows<group_by_tuning, decltype(Policy::tuning)>;

/// Carries out one call of DeviceGroupBy. `Call` is a group_by_call.
///
///     sorted:            rows -> sorted rows -> groups
///     in_table:          rows -> records (table in shared memory) -> sorted records -> groups
///     after_pass:        rows -> rows with neighbouring hashes -> records -> sorted records -> groups
///
/// Rows are sorted if there are few of them, if the groups of rows are written, or if no table can be used (see
/// may_use_table). They are also sorted if rows without a key are dropped and group_hash_call cannot take the call (see
/// may_use_hash). Else a sample on the device chooses the method. The kernels of all methods are launched. Only the
/// kernels of the chosen method have rows.
///
/// If rows without a key are in no group, the numbers of the other rows are listed before rows are sorted.
///
/// Wide keys are not moved: only row numbers are sorted. The word of a sorted row is then the place of the first row of
/// its group.
///
/// If groups may come in any order, group_hash_call replaces the sample and the tables. It also takes calls of few
/// rows, up to the tuning's `most_table_rows`. Calls of more rows, but fewer than `least_rows`, are sorted unless the
/// range of keys is small.
template <class PolicyHub, class Call>
struct DispatchGroupBy : Call {
  static_assert(hub_has_rows<group_by_rows, PolicyHub>,
                "DeviceGroupBy: each policy in the chain of PolicyHub::MaxPolicy must name itself in its ChainedPolicy "
                "and have the member tuning (group_by_tuning)");
  using MaxPolicy = typename hub_or<group_by_rows, PolicyHub, group_by_policy_hub>::MaxPolicy;
  using typename Call::Aggregates;
  using typename Call::Key;
  using typename Call::KeyIterator;
  using typename Call::NumGroupsIterator;
  using typename Call::NumItemsT;
  using typename Call::Row;
  using KeyOutputIterator = typename Call::KeyOutput;
  using Call::aggregates;
  using Call::d_num_groups;
  using Call::drops_rows;
  using Call::groups;
  using Call::keys;
  using Call::writes_groups_of_rows;
  static constexpr bool is_wide = is_wide_group_key<Key>;
  using Types = group_by_types<KeyIterator, Aggregates, Row, writes_groups_of_rows || is_wide>;
  using Word = std::conditional_t<is_wide, Row, typename Types::Word>;
  using States = typename Types::States;
  using Payload = typename Types::Payload;
  using Count = kernel_count_t<NumItemsT>;
  using Rows = group_rows<KeyIterator, Aggregates, Row>;
  using MovedRows = group_moved_rows<KeyIterator, Aggregates, Row>;
  using Plan = group_plan<Row>;
  using Records = typename Types::Records;
  using NumberOutput = group_number_output<NumGroupsIterator, Row>;
  using PlannedCount = FutureCount<Row>;

  /// A table needs atomic operations on words, and entries that are not too large.
  static constexpr bool may_use_table = !writes_groups_of_rows && !is_wide && Aggregates::are_unordered &&
                                        sizeof(Word) <= 8 && sizeof(Word) + sizeof(States) <= 96;
  static constexpr bool may_use_hash = may_use_table && Call::order != GroupOrder::by_key &&
                                       sizeof(typename Types::Slot) + sizeof(States) <= group_most_entry_bytes;
  /// Words of 1 and 2 bytes are not moved by a hash, because a full sort of them takes at most two passes.
  static constexpr bool may_move_rows = sizeof(Word) >= 4;
  /// True if states are sorted with their words. If they are larger, the numbers of records are sorted instead.
  static constexpr bool sorts_states = sizeof(States) <= 16;
  using RecordValue = std::conditional_t<sorts_states, States, Row>;

  using RowNumbers = CountingInputIterator<Row>;
  /// The numbers of the rows that are sorted: all rows, or the rows that have keys.
  using SortedRows = std::conditional_t<drops_rows, const Row*, RowNumbers>;
  using KeyWords =
      std::conditional_t<drops_rows, TransformInputIterator<Word, group_word_of_row<KeyIterator>, const Row*>,
                         TransformInputIterator<Word, group_sort_word<Key>, KeyIterator>>;
  using Payloads = TransformInputIterator<Payload, group_payload_of_row<Types, Aggregates>, SortedRows>;
  template <class NumRows>
  using RowSort = DispatchRadixSort<KeyWords, Payloads, Payload, NumRows, false, identity_decomposer>;
  using RecordSort = DispatchRadixSort<const Word*, std::conditional_t<sorts_states, const States*, RowNumbers>,
                                       RecordValue, PlannedCount, false, identity_decomposer>;

  cudaStream_t stream;

  cudaError_t run(void* d_temp_storage, std::size_t& temp_storage_bytes) const {
    const std::size_t rows = detail::max_items(keys.num_items);
    if (!this->are_counts_valid(rows)) return cudaErrorInvalidValue;
    if constexpr (may_use_table) {
      const bool has_many_rows = rows >= detail::least_in_chain<group_by_least_rows, MaxPolicy>();
      if constexpr (may_use_hash) {
        if (has_many_rows || has_small_range() ||
            rows <= detail::least_in_chain<group_by_most_table_rows, MaxPolicy>()) {
          return run_by_hash(d_temp_storage, temp_storage_bytes, rows);
        }
      } else if constexpr (!drops_rows) {
        if (has_many_rows) return run_by_plan(d_temp_storage, temp_storage_bytes, rows);
      }
    }
    if constexpr (is_wide) {
      return run_wide(d_temp_storage, temp_storage_bytes, rows);
    } else {
      return run_sorted(d_temp_storage, temp_storage_bytes, rows);
    }
  }

 private:
  template <class Policy>
  using slots_of_table = group_by_hash_slots<Policy, sizeof(typename Types::Slot) + sizeof(States)>;
  /// True if the caller expects so few keys that they fit in a table in shared memory, on any device.
  bool has_small_range() const {
    if constexpr (std::is_same_v<decltype(keys.range), NullType>) {
      return false;
    } else {
      return keys.range.keys > 0 && keys.range.keys <= detail::least_in_chain<slots_of_table, MaxPolicy>();
    }
  }

  enum slot {
    words_slot,
    payloads_slot,
    phase_slot,
    kept_rows_slot,
    num_kept_slot,
    slots_of_sorted,
    rows_slot = slots_of_sorted,
    other_rows_slot,
    slots_of_wide,
    plan_slot = slots_of_sorted,
    record_words_slot,
    states_slot,
    values_slot,
    slots_of_plan
  };

  // ------------------------------------------------------------------ groups in any order

  cudaError_t run_by_hash(void* d_temp_storage, std::size_t& temp_storage_bytes, std::size_t rows) const {
    return detail::call_with_shared_group_items(
        d_temp_storage, temp_storage_bytes, aggregates,
        [&](std::size_t& bytes, const auto& all) { return run_by_hash(d_temp_storage, bytes, rows, all); });
  }
  template <class All>
  cudaError_t run_by_hash(void* d_temp_storage, std::size_t& temp_storage_bytes, std::size_t rows,
                          const All& all) const {
    bool is_aligned = aggregates.has_aligned_packs();
    if constexpr (is_group_pack_array<KeyIterator>) is_aligned = is_aligned && detail::is_group_pack_aligned(keys.keys);
    if constexpr (is_group_key_columns<KeyIterator>) is_aligned = is_aligned && keys.keys.has_aligned_packs();
    group_hash_call<MaxPolicy, KeyIterator, NumItemsT, Row, All, KeyOutputIterator, NumGroupsIterator,
                    decltype(keys.range)>
        call{{{}, keys.keys, all, is_aligned},
             keys.num_items,
             {groups.keys, all, groups.capacity},
             d_num_groups,
             stream,
             keys.range,
             {},
             {}};
    call.reserve();
    if (d_temp_storage == nullptr) return detail::answer_size_query(call.storage, temp_storage_bytes);
    if (detail::refuses_storage(call.storage, d_temp_storage, temp_storage_bytes) || !this->are_arrays_valid(rows)) {
      return cudaErrorInvalidValue;
    }
    return call.launch();
  }

  // ------------------------------------------------------------------ rows are sorted

  cudaError_t run_sorted(void* d_temp_storage, std::size_t& temp_storage_bytes, std::size_t rows) const {
    std::size_t keep_bytes = 0, sort_bytes = 0, reduce_bytes = 0, number_bytes = 0;
    cudaError_t status = keep_rows(nullptr, keep_bytes, nullptr, nullptr);
    if (status != cudaSuccess) return status;
    status = sort_rows(nullptr, sort_bytes, nullptr, nullptr, nullptr, num_sorted(nullptr), 0);
    if (status != cudaSuccess) return status;
    status = reduce_rows(nullptr, reduce_bytes, nullptr, nullptr, d_num_groups, num_sorted(nullptr));
    if (status != cudaSuccess) return status;
    status = number_rows(nullptr, number_bytes, nullptr, nullptr, num_sorted(nullptr));
    if (status != cudaSuccess) return status;
    temporary_storage::layout<slots_of_sorted> storage;
    storage.template reserve<Word>(words_slot, rows);
    storage.template reserve<Payload>(payloads_slot, rows);
    storage.template reserve<unsigned char>(phase_slot, sort_bytes);
    storage.template reserve<unsigned char>(phase_slot, reduce_bytes);
    storage.template reserve<unsigned char>(phase_slot, number_bytes);
    if constexpr (drops_rows) {
      storage.template reserve<unsigned char>(phase_slot, keep_bytes);
      storage.template reserve<Row>(kept_rows_slot, rows);
      storage.template reserve<Row>(num_kept_slot, 1);
    }
    if (d_temp_storage == nullptr) return detail::answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes) || !this->are_arrays_valid(rows)) {
      return cudaErrorInvalidValue;
    }
    auto* const words = storage.template get<Word>(words_slot);
    auto* const payloads = storage.template get<Payload>(payloads_slot);
    auto* const phase = storage.template get<unsigned char>(phase_slot);
    auto* const kept_rows = storage.template get<Row>(kept_rows_slot);
    auto* const num_kept = storage.template get<Row>(num_kept_slot);
    status = keep_rows(phase, keep_bytes, kept_rows, num_kept);
    if (status != cudaSuccess) return status;
    status = sort_rows(phase, sort_bytes, words, payloads, kept_rows, num_sorted(num_kept), 0);
    if (status != cudaSuccess) return status;
    status = reduce_rows(phase, reduce_bytes, words, payloads, d_num_groups, num_sorted(num_kept));
    if (status != cudaSuccess) return status;
    return number_rows(phase, number_bytes, words, payloads, num_sorted(num_kept));
  }

  /// Sorts and reduces rows with wide keys.
  cudaError_t run_wide(void* d_temp_storage, std::size_t& temp_storage_bytes, std::size_t rows) const {
    temporary_storage::layout<slots_of_wide> storage;
    // With a null `phase`, each step only returns its size.
    const auto run_steps = [&](void* phase, std::size_t(&bytes)[5]) {
      Row* const kept_rows = drops_rows ? storage.template get<Row>(kept_rows_slot) : nullptr;
      auto* const num_kept = storage.template get<Row>(num_kept_slot);
      auto* const begins = storage.template get<Row>(words_slot);
      cudaError_t status = keep_rows(phase, bytes[0], kept_rows, num_kept);
      if (status != cudaSuccess) return status;
      const Row* sorted = nullptr;
      status = detail::sort_wide_group_rows<KeyIterator::bits>(
          phase, bytes[1], keys.keys, kept_rows, storage.template get<std::uint64_t>(words_slot),
          storage.template get<Row>(rows_slot), storage.template get<Row>(other_rows_slot), num_sorted(num_kept),
          sorted, stream);
      if (status != cudaSuccess) return status;
      const wide_group_rows<KeyIterator, Row> in_order{keys.keys, sorted};
      status = detail::find_wide_groups(phase, bytes[2], in_order, begins, num_sorted(num_kept), stream);
      if (status != cudaSuccess) return status;
      status =
          reduce(phase, bytes[3], begins, states_of(sorted), key_results(in_order), d_num_groups, num_sorted(num_kept));
      if (status != cudaSuccess) return status;
      return number_rows(phase, bytes[4], begins, sorted, num_sorted(num_kept));
    };
    std::size_t bytes[5] = {};
    const cudaError_t status = run_steps(nullptr, bytes);
    if (status != cudaSuccess) return status;
    storage.template reserve<std::uint64_t>(words_slot, rows);
    storage.template reserve<Row>(words_slot, rows);
    storage.template reserve<Row>(rows_slot, rows);
    storage.template reserve<Row>(other_rows_slot, rows);
    for (const std::size_t step : bytes) storage.template reserve<unsigned char>(phase_slot, step);
    if constexpr (drops_rows) {
      storage.template reserve<Row>(kept_rows_slot, rows);
      storage.template reserve<Row>(num_kept_slot, 1);
    }
    if (d_temp_storage == nullptr) return detail::answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes) || !this->are_arrays_valid(rows)) {
      return cudaErrorInvalidValue;
    }
    return run_steps(storage.template get<unsigned char>(phase_slot), bytes);
  }

  /// If rows without a key are dropped, lists the rows that have keys.
  cudaError_t keep_rows([[maybe_unused]] void* storage, [[maybe_unused]] std::size_t& bytes,
                        [[maybe_unused]] Row* kept_rows, [[maybe_unused]] Row* num_kept) const {
    if constexpr (drops_rows) {
      return detail::dispatch_select<select_by::key, false, default_policy_hub>(
          storage, bytes, RowNumbers(0), NullType{}, kept_rows, NullType{}, num_kept, keys.num_items,
          has_group_keys<KeyIterator>{keys.keys}, stream);
    } else {
      return cudaSuccess;
    }
  }
  /// Returns the number of rows that are sorted.
  auto num_sorted([[maybe_unused]] const Row* num_kept) const {
    if constexpr (drops_rows) {
      return PlannedCount(num_kept, detail::max_items(keys.num_items));
    } else {
      return keys.num_items;
    }
  }

  /// Sorts the words of rows with their payloads. If `mixed_bits` is not 0, it sorts by that many upper bits of the
  /// mixed words. If rows without a key are dropped, `kept_rows` lists the rows that are sorted.
  template <class NumRows>
  cudaError_t sort_rows(void* storage, std::size_t& bytes, Word* words, Payload* payloads, const Row* kept_rows,
                        NumRows num_rows, int mixed_bits) const {
    constexpr int bits = 8 * static_cast<int>(sizeof(Word));
    const auto sort = [&](const KeyWords& words_in, const SortedRows& all) {
      const Payloads payloads_in(all, {aggregates});
      return RowSort<NumRows>::Dispatch(storage, bytes, {words_in, words, nullptr}, {payloads_in, payloads, nullptr},
                                        num_rows, mixed_bits > 0 ? bits - mixed_bits : 0,
                                        mixed_bits > 0 ? bits : detail::group_key_bits<KeyIterator>(),
                                        identity_decomposer{}, radix_scratch::in_storage, stream);
    };
    if constexpr (drops_rows) {
      return sort(KeyWords(kept_rows, {keys.keys, {mixed_bits > 0}}), kept_rows);
    } else {
      static_cast<void>(kept_rows);
      return sort(KeyWords(keys.keys, {mixed_bits > 0}), RowNumbers(0));
    }
  }
  template <class NumRows, class NumberOut>
  cudaError_t reduce_rows(void* storage, std::size_t& bytes, const Word* words, const Payload* payloads,
                          NumberOut number_out, NumRows num_rows) const {
    return reduce(storage, bytes, words, states_of(payloads), key_results(), number_out, num_rows);
  }
  auto states_of(const Payload* payloads) const {
    using StatesOfRows = TransformInputIterator<States, group_states_of_payload<Types, Aggregates>, const Payload*>;
    return StatesOfRows(payloads, {aggregates});
  }

  /// Writes the group of each row. Sorted rows of one group lie side by side, so a scan counts how many groups, without
  /// the first, begin at a row or before it. This is the number of the row's group.
  template <class NumRows>
  cudaError_t number_rows([[maybe_unused]] void* storage, [[maybe_unused]] std::size_t& bytes,
                          [[maybe_unused]] const Word* words, [[maybe_unused]] const Payload* rows,
                          [[maybe_unused]] NumRows num_rows) const {
    if constexpr (writes_groups_of_rows) {
      if (detail::max_items(num_rows) > detail::least_in_chain<group_by_most_scattered_rows, MaxPolicy>()) {
        return number_rows_in_parts(storage, bytes, words, rows, num_rows);
      }
      return scan_groups(storage, bytes, words, tabulate_output(WriteGroupOfRow{this->d_group_of_row, rows}), num_rows);
    } else {
      return cudaSuccess;
    }
  }
  using WriteGroupOfRow = write_group_of_row<decltype(Call::d_group_of_row), Row>;
  template <class Results, class NumRows>
  cudaError_t scan_groups(void* storage, std::size_t& bytes, const Word* words, const Results& results,
                          NumRows num_rows) const {
    using Begins = TransformInputIterator<Row, group_begins_at<Word>, RowNumbers>;
    using Problem = scan_problem<Begins, Results, Row, Sum, true, NullType>;
    const Problem problem{Begins(RowNumbers(0), {words}), results, Sum{}, {}};
    return DispatchScan<Problem, default_policy_hub>::Dispatch(storage, bytes, problem, num_rows, stream);
  }
  /// Each write to a random place of a large output moves a whole sector of memory. So the call first sorts pairs of a
  /// row number and its group, in temporary storage. It sorts them by the upper 8 bits of the row number, which choose
  /// one of 256 parts of the output. Then they are written part by part. A part fits in the L2 cache, which collects
  /// the writes.
  template <class NumRows>
  cudaError_t number_rows_in_parts(void* storage, std::size_t& bytes, const Word* words, const Row* rows,
                                   NumRows num_rows) const {
    using RowsByPart = DispatchRadixSort<const Row*, const Row*, Row, NumRows, false, identity_decomposer>;
    const std::size_t most_rows = detail::max_items(num_rows);
    const int bits = detail::most(8, detail::log2_ceiling(most_rows));
    temporary_storage::layout<4> layout;
    // With a null `step`, each step only returns its size.
    std::size_t bytes_of_step[2] = {};
    const auto run_steps = [&](void* step, Row* groups_of_rows, Row* part_rows, Row* part_groups) {
      const cudaError_t status = scan_groups(step, bytes_of_step[0], words, groups_of_rows, num_rows);
      if (status != cudaSuccess) return status;
      return RowsByPart::Dispatch(step, bytes_of_step[1], {rows, part_rows, nullptr},
                                  {groups_of_rows, part_groups, nullptr}, num_rows, bits - 8, bits,
                                  identity_decomposer{}, radix_scratch::in_storage, stream);
    };
    cudaError_t status = run_steps(nullptr, nullptr, nullptr, nullptr);
    if (status != cudaSuccess) return status;
    for (const int array : {0, 1, 2}) layout.template reserve<Row>(array, most_rows);
    for (const std::size_t size : bytes_of_step) layout.template reserve<unsigned char>(3, size);
    if (storage == nullptr) return detail::answer_size_query(layout, bytes);
    if (!layout.map(storage, bytes)) return cudaErrorInvalidValue;
    Row* const part_rows = layout.template get<Row>(1);
    Row* const part_groups = layout.template get<Row>(2);
    status = run_steps(layout.template get<unsigned char>(3), layout.template get<Row>(0), part_rows, part_groups);
    if (status != cudaSuccess) return status;
    const auto blocks = static_cast<unsigned>(detail::ceiling_divide(most_rows, std::size_t{group_scatter_threads}));
    const launch_configuration launch{"strata::DeviceGroupBy, groups of rows", dim3(blocks),
                                      dim3(group_scatter_threads), 0, stream};
    return strata::launch(launch, group_scatter_kernel<WriteGroupOfRow, Row, kernel_count_t<NumRows>>,
                          WriteGroupOfRow{this->d_group_of_row, part_rows}, part_groups,
                          static_cast<kernel_count_t<NumRows>>(num_rows));
  }

  // ------------------------------------------------------------------ a sample chooses

  cudaError_t run_by_plan(void* d_temp_storage, std::size_t& temp_storage_bytes, std::size_t rows) const {
    planned call{*this, {}, rows, {}, {}};
    const PlannedCount any{nullptr, rows};
    const NumberOutput number_out{d_num_groups, nullptr, false};
    cudaError_t status = sort_rows(nullptr, call.bytes[0], nullptr, nullptr, nullptr, any, 0);
    if (status == cudaSuccess) status = reduce_rows(nullptr, call.bytes[1], nullptr, nullptr, number_out, any);
    const PlannedCount some{nullptr, record_capacity(rows)};
    if (status == cudaSuccess) status = sort_records(nullptr, call.bytes[2], {}, nullptr, some);
    if (status == cudaSuccess) status = reduce_records(nullptr, call.bytes[3], {}, nullptr, number_out, some);
    if (status != cudaSuccess) return status;
    auto& storage = call.storage;
    storage.template reserve<Plan>(plan_slot, 1);
    storage.template reserve<Word>(words_slot, rows);
    storage.template reserve<Payload>(payloads_slot, rows);
    storage.template reserve<Word>(record_words_slot, record_capacity(rows));
    storage.template reserve<States>(states_slot, record_capacity(rows));
    if (!sorts_states) storage.template reserve<RecordValue>(values_slot, record_capacity(rows));
    for (const std::size_t bytes : call.bytes) storage.template reserve<unsigned char>(phase_slot, bytes);
    if (d_temp_storage == nullptr) return detail::answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes) || !this->are_arrays_valid(rows)) {
      return cudaErrorInvalidValue;
    }
    const cudaError_t known = detail::current_device_properties(call.device, stream);
    if (known != cudaSuccess) return known;
    return MaxPolicy::Invoke(call.device.ptx_version, call);
  }

  /// Returns the number of records that there is memory for.
  static std::size_t record_capacity(std::size_t rows) {
    return detail::ceiling_divide(rows, std::size_t{least_rows_of_record});
  }

  /// The launches of a call whose method a sample chooses.
  struct planned {
    const DispatchGroupBy& call;
    temporary_storage::layout<slots_of_plan> storage;
    std::size_t rows;
    std::size_t bytes[4];
    device_properties device;

    template <class ActivePolicy>
    cudaError_t Invoke() {
      using Agent = AgentGroupBy<ActivePolicy, Types, Aggregates>;
      constexpr group_by_tuning tuning = ActivePolicy::tuning;
      static_assert(is_group_by_tuning(tuning),
                    "group_by_tuning: numbers of threads must be powers of two from 32 to 1024, numbers of slots "
                    "powers of two and at least the threads, items per thread 1 to 32, partition_bits at least 1, and "
                    "partition_sector_rows a power of two up to 32, but not 2");
      auto* const plan = storage.template get<Plan>(plan_slot);
      auto* const words = storage.template get<Word>(words_slot);
      auto* const payloads = storage.template get<Payload>(payloads_slot);
      auto* const phase = storage.template get<unsigned char>(phase_slot);
      const Records records{storage.template get<Word>(record_words_slot), storage.template get<States>(states_slot),
                            &plan->records, static_cast<Row>(record_capacity(rows))};
      RecordValue* values = nullptr;
      if constexpr (sorts_states) {
        values = records.states;
      } else {
        values = storage.template get<RecordValue>(values_slot);
      }
      const auto kernel = group_by_kernel<MaxPolicy, KeyIterator, Aggregates, Row>;
      constexpr std::size_t table_bytes = sizeof(typename Agent::TempStorage);
      static kernel_property_cache cache;
      std::size_t blocks = 0;
      cudaError_t status = detail::resident_blocks(cache, device, kernel, tuning.block_threads, table_bytes, blocks,
                                                   tuning.blocks_per_multiprocessor);
      if (status != cudaSuccess) return status;
      const Rows all{call.keys.keys, call.aggregates};
      status = call.sample(all, Agent::table_slots, blocks, plan);
      if (status != cudaSuccess) return status;
      if constexpr (may_move_rows) {
        status = call.sort_rows(phase, bytes[0], words, payloads, nullptr, PlannedCount(&plan->after_pass, rows), 8);
        if (status != cudaSuccess) return status;
      }
      status = strata::launch({"strata::DeviceGroupBy", dim3(static_cast<unsigned>(blocks)), dim3(tuning.block_threads),
                               table_bytes, call.stream},
                              kernel, all, MovedRows{words, payloads, call.aggregates}, records, plan);
      if (status != cudaSuccess) return status;
      const PlannedCount num_sorted(&plan->sorted, rows);
      status = call.sort_rows(phase, bytes[0], words, payloads, nullptr, num_sorted, 0);
      if (status != cudaSuccess) return status;
      status = call.reduce_rows(phase, bytes[1], words, payloads, NumberOutput{call.d_num_groups, &plan->sorted, true},
                                num_sorted);
      if (status != cudaSuccess) return status;
      const PlannedCount num_records(&plan->records, record_capacity(rows));
      status = call.sort_records(phase, bytes[2], records, values, num_records);
      if (status != cudaSuccess) return status;
      return call.reduce_records(phase, bytes[3], records, values,
                                 NumberOutput{call.d_num_groups, &plan->sorted, false}, num_records);
    }
  };

  cudaError_t sample(const Rows& all, unsigned table_slots, std::size_t blocks, Plan* plan) const {
    using Agent = AgentGroupSample<Rows, Row>;
    const auto kernel = group_by_sample_kernel<Rows, Row, Count>;
    static kernel_property_cache cache;
    int unused = 0;
    const cudaError_t status = detail::resident_blocks_per_multiprocessor(cache, kernel, group_sample_threads,
                                                                          sizeof(typename Agent::TempStorage), unused);
    if (status != cudaSuccess) return status;
    return strata::launch(
        {"strata::DeviceGroupBy", dim3(1), dim3(group_sample_threads), sizeof(typename Agent::TempStorage), stream},
        kernel, all, static_cast<Count>(keys.num_items), table_slots, static_cast<unsigned>(blocks), may_move_rows,
        plan);
  }

  /// Sorts records in place.
  cudaError_t sort_records(void* storage, std::size_t& bytes, const Records& records, RecordValue* values,
                           const PlannedCount& num_records) const {
    constexpr int bits = detail::group_key_bits<KeyIterator>();
    if constexpr (sorts_states) {
      return RecordSort::Dispatch(storage, bytes, {records.words, records.words, nullptr},
                                  {records.states, values, nullptr}, num_records, 0, bits, identity_decomposer{},
                                  radix_scratch::in_storage, stream);
    } else {
      return RecordSort::Dispatch(storage, bytes, {records.words, records.words, nullptr},
                                  {RowNumbers(0), values, nullptr}, num_records, 0, bits, identity_decomposer{},
                                  radix_scratch::in_storage, stream);
    }
  }
  cudaError_t reduce_records(void* storage, std::size_t& bytes, const Records& records, const RecordValue* values,
                             NumberOutput number_out, const PlannedCount& num_records) const {
    const Word* const words = records.words;
    if constexpr (sorts_states) {
      return reduce(storage, bytes, words, values, key_results(), number_out, num_records);
    } else {
      using Gather = TransformInputIterator<States, group_states_at<States>, const Row*>;
      return reduce(storage, bytes, words, Gather(values, {records.states}), key_results(), number_out, num_records);
    }
  }

  // ------------------------------------------------------------------ rows and records

  template <class KeyOf = group_key_of<Key>>
  auto key_results(const KeyOf& key_of = {}) const {
    return tabulate_output(write_group_key<KeyOf, KeyOutputIterator>{key_of, groups.keys, groups.capacity});
  }
  /// Reduces the states of equal words.
  template <class StatesIterator, class KeyResults, class NumberOut, class NumRows>
  cudaError_t reduce(void* storage, std::size_t& bytes, const Word* words, StatesIterator states,
                     KeyResults key_results_out, NumberOut number_out, NumRows num_rows) const {
    return detail::dispatch_reduce_by_key<States, default_policy_hub>(
        "strata::DeviceGroupBy", storage, bytes, words, states, key_results_out,
        tabulate_output(write_group_aggregates<Aggregates>{aggregates, groups.capacity}), number_out,
        combine_group_states<Aggregates>{aggregates}, Equality{}, num_rows, stream);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
