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
#include <strata/device/engine/launch.cuh>
#include <strata/device/group_by/agent.cuh>
#include <strata/device/group_by/aggregates.cuh>
#include <strata/device/group_by/group_keys.hpp>
#include <strata/device/radix_sort/dispatch.cuh>
#include <strata/device/scan/problem_reduce_by_key.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/specializations/random_access.hpp>
#include <strata/iterator/transform_input_iterator.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The states of a row, by its number.
template <class States, class Aggregates>
struct load_group_states {
  Aggregates aggregates;
  template <class Row>
  STRATA_D States operator()(Row row) const {
    States states;
    aggregates.load(row, states);
    return states;
  }
};

/// The states of a record, by its number.
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

/// An output of the words of groups, which writes keys up to the capacity.
template <class Key, class KeyOutputIterator>
class group_key_results
    : public random_access<group_key_results<Key, KeyOutputIterator>, std::size_t, std::ptrdiff_t> {
  using base = random_access<group_key_results, std::size_t, std::ptrdiff_t>;

  struct assignment {
    KeyOutputIterator out;
    std::size_t group;
    std::size_t capacity;
    STRATA_HD void operator=(const group_word_t<Key>& word) const {
      if (group >= capacity) return;
      *detail::advanced(out, group) =
          static_cast<output_value_t<KeyOutputIterator, Key>>(detail::group_key_of_word<Key>(word));
    }
  };

 public:
  using value_type = void;
  using reference = assignment;
  using pointer = void;

  group_key_results(KeyOutputIterator out, std::size_t capacity)
      : base(std::size_t{0}), out_(out), capacity_(capacity) {}

  STRATA_HD reference operator*() const { return {out_, this->position_, capacity_}; }
  template <class Distance>
  STRATA_HD reference operator[](Distance n) const {
    return *(*this + n);
  }

 private:
  KeyOutputIterator out_;
  std::size_t capacity_;
};

/// An output of the states of groups, which writes all aggregates up to the capacity.
template <class States, class Aggregates>
class group_results : public random_access<group_results<States, Aggregates>, std::size_t, std::ptrdiff_t> {
  using base = random_access<group_results, std::size_t, std::ptrdiff_t>;

  struct assignment {
    const Aggregates& aggregates;
    std::size_t group;
    std::size_t capacity;
    STRATA_HD void operator=(const States& states) const {
      if (group < capacity) aggregates.store(group, states);
    }
  };

 public:
  using value_type = void;
  using reference = assignment;
  using pointer = void;

  group_results(const Aggregates& aggregates, std::size_t capacity)
      : base(std::size_t{0}), aggregates_(aggregates), capacity_(capacity) {}

  STRATA_HD reference operator*() const { return {aggregates_, this->position_, capacity_}; }
  template <class Distance>
  STRATA_HD reference operator[](Distance n) const {
    return {aggregates_, this->position_ + static_cast<std::size_t>(n), capacity_};
  }

 private:
  Aggregates aggregates_;
  std::size_t capacity_;
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Each block combines its share of the tiles.
template <class KeyIterator, class Aggregates, class Row, class NumItems>
__launch_bounds__(group_block_threads, group_blocks_per_multiprocessor) STRATA_KERNEL
    void group_by_kernel(KeyIterator keys, const STRATA_GRID_CONSTANT Aggregates aggregates,
                         typename AgentGroupBy<KeyIterator, Aggregates, Row>::Records records, NumItems num_items) {
  using Agent = AgentGroupBy<KeyIterator, Aggregates, Row>;
  STRATA_DYNAMIC_SHARED(shared);
  const auto items = detail::number_of_items<std::size_t>(num_items);
  const std::size_t tiles = detail::ceiling_divide(items, std::size_t{Agent::tile_items});
  // Neighbouring tiles, because equal keys are often near each other.
  const std::size_t share = detail::ceiling_divide(tiles, static_cast<std::size_t>(gridDim.x));
  const std::size_t first = detail::least(blockIdx.x * share, tiles);
  Agent agent{*reinterpret_cast<typename Agent::TempStorage*>(shared), keys, aggregates, records};
  agent.run(items, first, detail::least(first + share, tiles));
}

/// Carries out one call of DeviceGroupBy::Aggregate: groups rows, or records of rows, by a sort and a reduction by key.
///
///     states are unordered:  rows -> records (table in shared memory) -> sorted records -> groups
///     otherwise:             rows -> sorted rows -> groups
template <class KeyIterator, class NumItemsT, class KeyOutputIterator, class NumGroupsIterator, class... Aggregate>
struct DispatchGroupBy {
  using Aggregates = GroupAggregates<Aggregate...>;
  using Key = iterator_value_t<KeyIterator>;
  using Word = group_word_t<Key>;
  using Row = item_count_t<NumItemsT>;
  using States = typename Aggregates::template states_type<Row>;
  using Count = kernel_count_t<NumItemsT>;

  /// A table needs atomic operations on words, and entries that are not too large.
  static constexpr bool uses_table =
      Aggregates::are_unordered && sizeof(Word) <= 8 && sizeof(Word) + sizeof(States) <= 96;
  /// Larger states are not sorted, but their numbers.
  static constexpr bool sorts_states = sizeof(States) <= 16;

  using Records = group_records<Word, States, Row>;
  using RowNumbers = CountingInputIterator<Row>;
  using SortCount = std::conditional_t<uses_table, FutureCount<Row>, NumItemsT>;
  using KeyWords = TransformInputIterator<Word, group_word_of_key<Key>, KeyIterator>;
  using RowStates = TransformInputIterator<States, load_group_states<States, Aggregates>, RowNumbers>;
  using SortKeys = std::conditional_t<uses_table, const Word*, KeyWords>;
  using SortStates = std::conditional_t<uses_table, const States*, RowStates>;
  using SortValues = std::conditional_t<sorts_states, SortStates, RowNumbers>;
  using Value = std::conditional_t<sorts_states, States, Row>;
  using Sort = DispatchRadixSort<SortKeys, SortValues, Value, SortCount, false, identity_decomposer>;

  GroupKeys<KeyIterator, NumItemsT> keys;
  Aggregates aggregates;
  GroupOutput<KeyOutputIterator> groups;
  NumGroupsIterator d_num_groups;
  cudaStream_t stream;

  cudaError_t run(void* d_temp_storage, std::size_t& temp_storage_bytes) const {
    const std::size_t rows = detail::max_items(keys.num_items);
    if (detail::refuses_input(keys.keys, keys.num_items, "d_keys") ||
        detail::is_refused(!groups.has_valid_capacity, "capacity", "is negative or larger than 2^63 - 1") ||
        !aggregates.can_reach(rows)) {
      return cudaErrorInvalidValue;
    }
    std::size_t sort_bytes = 0;
    std::size_t reduce_bytes = 0;
    cudaError_t status = sort(nullptr, sort_bytes, {}, nullptr, nullptr);
    if (status != cudaSuccess) return status;
    status = reduce(nullptr, reduce_bytes, {}, nullptr, nullptr);
    if (status != cudaSuccess) return status;

    temporary_storage::layout<slots> storage;
    storage.template reserve<Word>(words_slot, rows);
    if (uses_table) {
      storage.template reserve<States>(states_slot, rows);
      storage.template reserve<Row>(number_slot, 1);
    }
    if (!uses_table || !sorts_states) storage.template reserve<Value>(values_slot, rows);
    storage.template reserve<unsigned char>(phase_slot, sort_bytes);
    storage.template reserve<unsigned char>(phase_slot, reduce_bytes);
    if (d_temp_storage == nullptr) return detail::answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes) || !are_arrays_valid(rows)) {
      return cudaErrorInvalidValue;
    }

    auto* const words = storage.template get<Word>(words_slot);
    Records records{words, nullptr, nullptr};
    Value* values = nullptr;
    if constexpr (uses_table) {
      records.states = storage.template get<States>(states_slot);
      records.number = storage.template get<Row>(number_slot);
      if (rows > 0) {
        status = combine(records, rows);
        if (status != cudaSuccess) return status;
      }
    }
    if constexpr (uses_table && sorts_states) {
      values = records.states;
    } else {
      values = storage.template get<Value>(values_slot);
    }
    auto* const phase = storage.template get<unsigned char>(phase_slot);
    status = sort(phase, sort_bytes, records, words, values);
    if (status != cudaSuccess) return status;
    return reduce(phase, reduce_bytes, records, words, values);
  }

 private:
  enum slot { words_slot, states_slot, number_slot, values_slot, phase_slot, slots };

  /// How many rows, or records of them, are sorted.
  SortCount sort_count(const Records& records) const {
    if constexpr (uses_table) {
      return FutureCount<Row>(records.number, detail::max_items(keys.num_items));
    } else {
      return keys.num_items;
    }
  }
  SortStates states_of(const Records& records) const {
    if constexpr (uses_table) {
      return records.states;
    } else {
      return RowStates(RowNumbers(0), {aggregates});
    }
  }

  /// Rows are combined to records.
  cudaError_t combine(const Records& records, std::size_t rows) const {
    using Agent = AgentGroupBy<KeyIterator, Aggregates, Row>;
    const auto kernel = group_by_kernel<KeyIterator, Aggregates, Row, Count>;
    device_properties device;
    cudaError_t status = detail::current_device_properties(device, stream);
    if (status != cudaSuccess) return status;
    static kernel_property_cache cache;
    std::size_t resident = 0;
    status = detail::resident_blocks(cache, device, kernel, group_block_threads, sizeof(typename Agent::TempStorage),
                                     resident, group_blocks_per_multiprocessor);
    if (status != cudaSuccess) return status;
    status = cudaMemsetAsync(records.number, 0, sizeof(Row), stream);
    if (status != cudaSuccess) return status;
    const std::size_t blocks =
        detail::least(detail::ceiling_divide(rows, std::size_t{Agent::tile_items}), resident);
    return strata::launch({"strata::DeviceGroupBy", dim3(static_cast<unsigned>(blocks)), dim3(group_block_threads),
                           sizeof(typename Agent::TempStorage), stream},
                          kernel, keys.keys, aggregates, records, static_cast<Count>(keys.num_items));
  }

  /// Sorts words and values. Records are sorted in place.
  cudaError_t sort(void* storage, std::size_t& bytes, const Records& records, Word* words, Value* values) const {
    constexpr int bits = 8 * static_cast<int>(sizeof(Word));
    radix_buffers<SortKeys, Word> sorted_keys{sort_keys(records), words, nullptr};
    radix_buffers<SortValues, Value> sorted_values{sort_values(records), values, nullptr};
    return Sort::Dispatch(storage, bytes, sorted_keys, sorted_values, sort_count(records), 0, bits,
                          identity_decomposer{}, radix_scratch::in_storage, stream);
  }
  SortKeys sort_keys(const Records& records) const {
    if constexpr (uses_table) {
      return records.words;
    } else {
      return KeyWords(keys.keys, {});
    }
  }
  SortValues sort_values(const Records& records) const {
    if constexpr (sorts_states) {
      return states_of(records);
    } else {
      return RowNumbers(0);
    }
  }

  /// Reduces the states of equal words.
  cudaError_t reduce(void* storage, std::size_t& bytes, const Records& records, const Word* words,
                     const Value* values) const {
    if constexpr (sorts_states) {
      return reduce_states(storage, bytes, records, words, values);
    } else if constexpr (uses_table) {
      using Gather = TransformInputIterator<States, group_states_at<States>, const Row*>;
      return reduce_states(storage, bytes, records, words, Gather(values, {records.states}));
    } else {
      using Gather = TransformInputIterator<States, load_group_states<States, Aggregates>, const Row*>;
      return reduce_states(storage, bytes, records, words, Gather(values, {aggregates}));
    }
  }
  template <class StatesIterator>
  cudaError_t reduce_states(void* storage, std::size_t& bytes, const Records& records, const Word* words,
                            StatesIterator states) const {
    return detail::dispatch_reduce_by_key<States, default_policy_hub>(
        "strata::DeviceGroupBy", storage, bytes, words, states, group_key_results<Key, KeyOutputIterator>(groups.keys, groups.capacity),
        group_results<States, Aggregates>(aggregates, groups.capacity), d_num_groups,
        combine_group_states<Aggregates>{aggregates}, Equality{}, sort_count(records), stream);
  }

  bool are_arrays_valid(std::size_t rows) const {
    const std::size_t written = detail::least(rows, groups.capacity);
    if (detail::refuses_null(d_num_groups, "d_num_groups") || detail::refuses_null_count(keys.num_items) ||
        (rows > 0 && detail::refuses_null(keys.keys, "d_keys")) ||
        (written > 0 && detail::refuses_null(groups.keys, "d_keys_out")) || aggregates.has_null(rows, written)) {
      return false;
    }
    argument_bytes outputs[Aggregates::size + 2];
    argument_bytes inputs[Aggregates::size + 2];
    outputs[0] = detail::bytes_of(d_num_groups, 1, "d_num_groups");
    outputs[1] = detail::bytes_of(groups.keys, written, "d_keys_out");
    inputs[0] = detail::bytes_of(keys.keys, rows, "d_keys");
    inputs[1] = {{}, "the FutureCount"};
    if constexpr (is_future_count<NumItemsT>) {
      inputs[1] = detail::bytes_of(keys.num_items.pointer(), 1, "the FutureCount");
    }
    aggregates.list_arrays(rows, written, {outputs + 2, inputs + 2});
    return !detail::outputs_overlap(outputs, inputs);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
