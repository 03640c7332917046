// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/future_count.cuh>
#include <strata/device/group_by/aggregates.cuh>
#include <strata/device/group_by/call.hpp>
#include <strata/device/group_by/group_keys.hpp>
#include <strata/device/group_by/key_columns.cuh>
#include <strata/device/group_by/wide_key.hpp>
#include <strata/device/join/common/join_hash.hpp>
#include <strata/device/join/host/options.hpp>
#include <strata/device/join/host/table.hpp>
#include <strata/device/join/host/thread_team.hpp>
#include <strata/iterator/discard_output_iterator.cuh>
#include <strata/iterator/specializations/random_access.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <thread>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// Options of HostGroupBy.
struct HostGroupByOptions {
  unsigned threads = 0;  ///< The number of threads, up to 256; 0: as many as the machine runs at the same time.
};

namespace detail {

/// The words of rows, as an iterator.
template <class KeyIterator>
class host_group_words : public random_access<host_group_words<KeyIterator>, std::size_t, std::ptrdiff_t> {
  using base = random_access<host_group_words, std::size_t, std::ptrdiff_t>;
  using Key = iterator_value_t<KeyIterator>;

 public:
  using value_type = group_word_t<Key>;
  using reference = value_type;
  using pointer = const value_type*;

  STRATA_HD host_group_words() : host_group_words(nullptr) {}
  STRATA_HD explicit host_group_words(const KeyIterator* keys) : base(std::size_t{0}), keys_(keys) {}

  STRATA_HD reference operator*() const { return word(this->position_); }
  template <class Distance>
  STRATA_HD reference operator[](Distance n) const {
    return word(this->position_ + static_cast<std::size_t>(n));
  }

 private:
  STRATA_HD value_type word(std::size_t row) const { return detail::group_word_of(detail::item_at(*keys_, row)); }

  const KeyIterator* keys_;
};

/// Hashes words. `join_partitioner` mixes the bits of the result.
struct host_group_hash {
  template <class Word>
  STRATA_HD std::uint64_t operator()(const Word& word) const {
    if constexpr (is_wide_group_key<Word>) {
      std::uint64_t hash = 0;
      for (const std::uint64_t part : word.words) hash = detail::mixed_hash(hash) ^ part;
      return hash;
    } else if constexpr (sizeof(Word) > 8) {
      return detail::mixed_hash(static_cast<std::uint64_t>(word >> 64)) ^ static_cast<std::uint64_t>(word);
    } else {
      return word;
    }
  }
};

/// Carries out one call of HostGroupBy. `Call` is a group_by_call.
///
///     rows -> partitions by hash -> in each: a table of groups, and the rows of each group in their order
///     groups -> their order -> states of each group's rows, combined from the first to the last
template <class Call>
class host_group_by {
  using KeyIterator = typename Call::KeyIterator;
  using Key = typename Call::Key;
  using Row = typename Call::Row;
  using Aggregates = typename Call::Aggregates;
  using States = typename Aggregates::template states_type<Row>;
  using Items = typename Aggregates::template items_type<Row>;
  using Words = host_group_words<KeyIterator>;
  using Table = host_join_table<Row, Words, host_group_hash, host_equality>;
  using Group = typename Table::groups::group;
  static constexpr bool has_order = Call::order != GroupOrder::any;
  /// Bits of the mask, or groups, that a thread writes at a time.
  static constexpr std::size_t task_items = 4096;
  /// Parts of the groups that are sorted at the same time.
  static constexpr std::size_t sorted_parts = 64;
  enum slot { team_threads = Table::slots, slice_counts, group_of_row, mask, first_groups, order, merged, slots };

  const Call& call_;
  HostGroupByOptions options_;
  temporary_storage::layout<slots> storage_;

 public:
  host_group_by(const Call& call, const HostGroupByOptions& options) : call_(call), options_(options) {}

  cudaError_t run(void* temp_storage, std::size_t& temp_storage_bytes) {
    const std::size_t most_rows = detail::max_items(call_.keys.num_items);
    if (!call_.are_counts_valid(most_rows) || detail::is_refused(most_rows >= static_cast<Row>(~Row{0}), "num_items",
                                                                 "is 2^32 - 1, a row number that means no row")) {
      return cudaErrorInvalidValue;
    }
    Table table = table_of(most_rows, most_rows, nullptr);
    reserve(table, most_rows);
    if (temp_storage == nullptr) return detail::answer_size_query(storage_, temp_storage_bytes);
    if (detail::refuses_storage(storage_, temp_storage, temp_storage_bytes) || !call_.are_arrays_valid(most_rows)) {
      return cudaErrorInvalidValue;
    }
    const auto rows = detail::number_of_items<std::size_t>(call_.keys.num_items);
    const thread_team team(storage_.template get<std::thread>(team_threads), options_.threads);
    const std::uint32_t* valid = nullptr;
    if constexpr (Call::drops_rows) valid = combined_mask(team, rows);
    table = table_of(most_rows, rows, valid);
    table.map(storage_, 0);
    table.build(team, storage_.template get<std::size_t>(slice_counts), storage_.template get<Row>(group_of_row));
    write_groups(team, table);
    return cudaSuccess;
  }

 private:
  Table table_of(std::size_t most_rows, std::size_t rows, const std::uint32_t* valid) const {
    return {Words(&call_.keys.keys), valid, most_rows, rows, HostJoinTuning{}, host_group_hash{}, host_equality{}};
  }
  void reserve(const Table& table, std::size_t rows) {
    table.reserve(storage_, 0);
    storage_.template reserve<std::thread>(team_threads, thread_team::most_threads);
    storage_.template reserve<std::size_t>(slice_counts, table.slice_counts(rows));
    storage_.template reserve<Row>(group_of_row, rows);
    storage_.template reserve<std::size_t>(first_groups, table.partitions() + 1);
    if (Call::drops_rows) storage_.template reserve<std::uint32_t>(mask, detail::ceiling_divide(rows, std::size_t{32}));
    if (has_order) {
      storage_.template reserve<Row>(order, rows);
      storage_.template reserve<Row>(merged, rows);
    }
  }

  /// Sets a bit for each row that has keys in all columns.
  const std::uint32_t* combined_mask(const thread_team& team, std::size_t rows) const {
    auto* const words = storage_.template get<std::uint32_t>(mask);
    team.run(detail::ceiling_divide(rows, task_items), [&](std::uint64_t task) {
      const std::size_t first = static_cast<std::size_t>(task) * task_items;
      const std::size_t last = detail::least(rows, first + task_items);
      for (std::size_t begin = first; begin < last; begin += 32) {
        std::uint32_t word = 0;
        for (std::size_t row = begin; row < detail::least(last, begin + 32); ++row) {
          if (call_.keys.keys.has_keys(row)) word |= std::uint32_t{1} << row % 32;
        }
        words[begin / 32] = word;
      }
    });
    return words;
  }

  void write_groups(const thread_team& team, const Table& table) const {
    const auto tables = table.all_groups();
    // The last partition has the rows that are in no group.
    const std::size_t partitions = table.partitions() - 1;
    const std::size_t* const begins = tables.build_side.begins;
    // For each partition, the number of groups in the partitions before it.
    auto* const groups_before = storage_.template get<std::size_t>(first_groups);
    groups_before[0] = 0;
    team.run(partitions, [&](std::uint64_t p) {
      const std::size_t rows = begins[p + 1] - begins[p];
      std::size_t found = 0, groups = 0;
      while (found < rows) found += tables.groups[begins[p] + groups++].count;
      groups_before[p + 1] = groups;
    });
    for (std::size_t p = 0; p < partitions; ++p) groups_before[p + 1] += groups_before[p];
    const std::size_t groups = groups_before[partitions];
    const Row* places = nullptr;
    if constexpr (has_order) {
      auto* const list = storage_.template get<Row>(order);
      team.run(partitions, [&](std::uint64_t p) {
        for (std::size_t g = groups_before[p]; g < groups_before[p + 1]; ++g) {
          list[g] = static_cast<Row>(begins[p] + (g - groups_before[p]));
        }
      });
      places = sort_groups(team, tables, list, storage_.template get<Row>(merged), groups);
      team.run(detail::ceiling_divide(groups, task_items), [&](std::uint64_t task) {
        const std::size_t first = static_cast<std::size_t>(task) * task_items;
        const std::size_t last = detail::least(groups, first + task_items);
        for (std::size_t g = first; g < last; ++g) write_group(tables, tables.groups[places[g]], g);
      });
    } else {
      team.run(partitions, [&](std::uint64_t p) {
        for (std::size_t g = groups_before[p]; g < groups_before[p + 1]; ++g) {
          write_group(tables, tables.groups[begins[p] + (g - groups_before[p])], g);
        }
      });
    }
    detail::store_count(call_.d_num_groups, static_cast<Row>(groups));
  }

  /// Sorts the places of groups by their keys, or by their first rows. Returns the array that has the result.
  template <class Tables>
  static Row* sort_groups(const thread_team& team, const Tables& tables, Row* list, Row* other, std::size_t groups) {
    const auto is_before = [&tables](Row a, Row b) {
      const auto& first = tables.groups[a].first;
      const auto& second = tables.groups[b].first;
      if constexpr (Call::order == GroupOrder::by_first_row) {
        return first.row < second.row;
      } else {
        return first.key_in(tables.build_side.keys) < second.key_in(tables.build_side.keys);
      }
    };
    const auto begin_of = [groups](std::size_t part) {
      return groups / sorted_parts * part + detail::least(part, groups % sorted_parts);
    };
    team.run(sorted_parts,
             [&](std::uint64_t part) { std::sort(list + begin_of(part), list + begin_of(part + 1), is_before); });
    for (std::size_t width = 1; width < sorted_parts; width *= 2) {
      team.run(sorted_parts / (2 * width), [&](std::uint64_t pair) {
        const std::size_t first = static_cast<std::size_t>(pair) * 2 * width;
        const std::size_t begin = begin_of(first), middle = begin_of(first + width), end = begin_of(first + 2 * width);
        std::merge(list + begin, list + middle, list + middle, list + end, other + begin, is_before);
      });
      std::swap(list, other);
    }
    return list;
  }

  /// Combines the rows of a group, and writes it as group `to`.
  template <class Tables>
  void write_group(const Tables& tables, const Group& group, std::size_t to) const {
    const Row* const rows = tables.rows + (group.end - group.count);
    if constexpr (Call::writes_groups_of_rows) {
      for (Row i = 0; i < group.count; ++i) {
        detail::store_count(detail::advanced(call_.d_group_of_row, static_cast<std::size_t>(rows[i])),
                            static_cast<Row>(to));
      }
    }
    if (to >= call_.groups.capacity) return;
    States states = states_of(rows[0]);
    for (Row i = 1; i < group.count; ++i) call_.aggregates.combine(states, states_of(rows[i]));
    call_.aggregates.store(to, states);
    using KeyOut = typename Call::KeyOutput;
    *detail::advanced(call_.groups.keys, to) = static_cast<output_value_t<KeyOut, Key>>(
        detail::group_key_of_word<Key>(group.first.key_in(tables.build_side.keys)));
  }
  States states_of(Row row) const {
    Items items;
    call_.aggregates.read(row, items);
    States states;
    Aggregates::template make_states<Row>(items, states);
    return states;
  }
};

}  // namespace detail

/// Groups rows by their keys like DeviceGroupBy, by threads of the host. Every pointer is a host pointer, and all is
/// done when a call returns. Programs without a GPU use it; so do programs with few rows or with rows in host memory.
///
/// - **Arguments and result.** As for DeviceGroupBy, with functors that can be called on the host. The number of a
///   FutureCount lies in host memory. `key_range` has no effect.
/// - **Call.** Twice, first with `temp_storage == nullptr`, or once without `temp_storage` and `temp_storage_bytes`.
///   Then memory comes from the heap. A program links the system's threads library.
/// - **Order and determinism.** All results repeat, even the order of groups that may come in any order, and sums that
///   are `unordered()`. They do not depend on the number of threads. Aggregates combine rows from first to last.
/// - **Temporary storage.** 44 to 72 bytes for each row if the type of `num_items` has at most 32 bits, else 88 to 120
///   bytes. If rows without a key are dropped, one bit more for each row.
/// - **Errors.** As for DeviceGroupBy, but no launch can fail. `cudaErrorInvalidValue` also for 2^32 - 1 rows if the
///   type of `num_items` has 32 bits. `cudaErrorMemoryAllocation` if the heap has no memory.
/// - **Algorithm.** Rows are partitioned by a hash of their keys. A thread makes a table of the groups of a partition,
///   which lists the rows of each group. Then threads combine the rows of groups. So one thread combines all rows of a
///   key, even if it is frequent. See host_join_table.
///
/// @code
/// #include <strata/device/group_by/host_group_by.cuh>
///
/// int main() {
///   const int customers[6] = {7, 3, 7, 5, 3, 7};
///   const int amounts[6] = {10, 20, 30, 40, 50, 60};
///   int ids[6], groups = 0;
///   long long spent[6];
///   const auto sums = strata::group_aggregates(strata::group_sum(amounts, spent));
///   const auto output = strata::group_output(ids, 6).first_occurrence();
///   const auto keys = strata::group_keys(customers, 6);
///   if (strata::HostGroupBy::Aggregate(keys, sums, output, &groups) != cudaSuccess) return 1;
///   for (int g = 0; g < groups; ++g) std::printf("%d: %lld\n", ids[g], spent[g]);
/// }
/// // prints: 7: 100
/// // prints: 3: 70
/// // prints: 5: 40
/// @endcode
struct HostGroupBy {
  /// Writes the key and the aggregates of each group, and the number of groups to `*num_groups`.
  template <class KeyIterator, class NumItemsT, bool HasRange, class... Aggregates, class KeyOutputIterator,
            GroupOrder Order, class NumGroupsIterator>
  static cudaError_t Aggregate(void* temp_storage, std::size_t& temp_storage_bytes,
                               const GroupKeys<KeyIterator, NumItemsT, HasRange>& keys,
                               const GroupAggregates<Aggregates...>& aggregates,
                               const GroupOutput<KeyOutputIterator, Order>& groups, NumGroupsIterator num_groups,
                               const HostGroupByOptions& options = {}) {
    const auto call = detail::make_group_by_call(keys, NullType{}, aggregates, groups, num_groups);
    return detail::host_group_by<std::decay_t<decltype(call)>>(call, options).run(temp_storage, temp_storage_bytes);
  }
  /// Like Aggregate; it also writes the group of each row. Row i is in group `group_of_row[i]`, even if that group is
  /// beyond the capacity. Groups are in ascending order of their keys, unless `group_output(...).first_occurrence()`
  /// asks for the order of their first rows.
  template <class KeyIterator, class NumItemsT, bool HasRange, class GroupOfRowIterator, class... Aggregates,
            class KeyOutputIterator, GroupOrder Order, class NumGroupsIterator>
  static cudaError_t Groups(void* temp_storage, std::size_t& temp_storage_bytes,
                            const GroupKeys<KeyIterator, NumItemsT, HasRange>& keys, GroupOfRowIterator group_of_row,
                            const GroupAggregates<Aggregates...>& aggregates,
                            const GroupOutput<KeyOutputIterator, Order>& groups, NumGroupsIterator num_groups,
                            const HostGroupByOptions& options = {}) {
    constexpr GroupOrder order = Order == GroupOrder::any ? GroupOrder::by_key : Order;
    const GroupOutput<KeyOutputIterator, order> in_order{groups.keys, groups.capacity, groups.has_valid_capacity};
    const auto call = detail::make_group_by_call(keys, group_of_row, aggregates, in_order, num_groups);
    return detail::host_group_by<std::decay_t<decltype(call)>>(call, options).run(temp_storage, temp_storage_bytes);
  }
  /// Writes the number of different keys to `*num_groups`, and nothing else.
  template <class KeyIterator, class NumItemsT, bool HasRange, class NumGroupsIterator>
  static cudaError_t CountDistinct(void* temp_storage, std::size_t& temp_storage_bytes,
                                   const GroupKeys<KeyIterator, NumItemsT, HasRange>& keys,
                                   NumGroupsIterator num_groups, const HostGroupByOptions& options = {}) {
    const DiscardOutputIterator<> none;
    return Aggregate(temp_storage, temp_storage_bytes, keys, strata::group_aggregates(strata::group_count(none)),
                     strata::group_output(none, 0), num_groups, options);
  }

  /// Aggregate with temporary storage from the heap.
  template <class KeyIterator, class NumItemsT, bool HasRange, class... Aggregates, class KeyOutputIterator,
            GroupOrder Order, class NumGroupsIterator>
  static cudaError_t Aggregate(const GroupKeys<KeyIterator, NumItemsT, HasRange>& keys,
                               const GroupAggregates<Aggregates...>& aggregates,
                               const GroupOutput<KeyOutputIterator, Order>& groups, NumGroupsIterator num_groups,
                               const HostGroupByOptions& options = {}) {
    return with_heap([&](void* storage, std::size_t& bytes) {
      return Aggregate(storage, bytes, keys, aggregates, groups, num_groups, options);
    });
  }
  /// Groups with temporary storage from the heap.
  template <class KeyIterator, class NumItemsT, bool HasRange, class GroupOfRowIterator, class... Aggregates,
            class KeyOutputIterator, GroupOrder Order, class NumGroupsIterator>
  static cudaError_t Groups(const GroupKeys<KeyIterator, NumItemsT, HasRange>& keys, GroupOfRowIterator group_of_row,
                            const GroupAggregates<Aggregates...>& aggregates,
                            const GroupOutput<KeyOutputIterator, Order>& groups, NumGroupsIterator num_groups,
                            const HostGroupByOptions& options = {}) {
    return with_heap([&](void* storage, std::size_t& bytes) {
      return Groups(storage, bytes, keys, group_of_row, aggregates, groups, num_groups, options);
    });
  }
  /// CountDistinct with temporary storage from the heap.
  template <class KeyIterator, class NumItemsT, bool HasRange, class NumGroupsIterator>
  static cudaError_t CountDistinct(const GroupKeys<KeyIterator, NumItemsT, HasRange>& keys,
                                   NumGroupsIterator num_groups, const HostGroupByOptions& options = {}) {
    return with_heap(
        [&](void* storage, std::size_t& bytes) { return CountDistinct(storage, bytes, keys, num_groups, options); });
  }

 private:
  template <class Call>
  static cudaError_t with_heap(const Call& call) {
    std::size_t bytes = 0;
    cudaError_t status = call(nullptr, bytes);
    if (status != cudaSuccess) return status;
    void* const storage = std::malloc(bytes);
    if (storage == nullptr) return cudaErrorMemoryAllocation;
    status = call(storage, bytes);
    std::free(storage);
    return status;
  }
};

STRATA_NAMESPACE_END
