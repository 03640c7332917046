// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/global_table/kernels.cuh>
#include <strata/device/join/global_table/table.cuh>
#include <strata/device/radix_sort/dispatch.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// An iterator over row numbers, for a sort. CountingInputIterator does the same, but its header adds more lines to a
/// program.
template <class Row>
struct join_row_numbers {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Row;
  using difference_type = std::ptrdiff_t;
  using pointer = const Row*;
  using reference = Row;

  Row first;

  STRATA_HD Row operator[](std::ptrdiff_t n) const { return static_cast<Row>(first + static_cast<Row>(n)); }
  STRATA_HD Row operator*() const { return first; }
  STRATA_HD join_row_numbers operator+(std::ptrdiff_t n) const { return {(*this)[n]}; }
};

/// The parts of a table besides slots.
struct join_table_features {
  /// The number of rows of each key.
  bool counts;
  /// Lists of the rows of each key. For results in the order of the probe rows, the rows of each list ascend.
  bool lists;
  /// The slot of each row: for lists, and for kinds whose result has unmatched build rows.
  bool slots_of_rows;
};

/// A table of up to `rows` build rows in memory of the caller, and the launches that build it.
template <class MaxPolicy, class ActivePolicy, class Keys, class Row, class Hash, class Equal, bool IsOrdered>
class join_table_storage {
 public:
  using Table = join_table<Keys, Row, Hash, Equal>;
  using Slot = typename Table::Slot;
  using RowNumbers = join_row_numbers<Row>;
  using Sort = DispatchRadixSort<const Row*, RowNumbers, Row, std::size_t, false, identity_decomposer>;

  static constexpr int slots = 9;

  join_table_storage(Row rows, join_table_features features) : rows_(rows), features_(features) {}

  /// Twice as many slots as rows, or as many as `Row` can number. With fewer, searches get long.
  static Row number_of_slots(Row rows) {
    constexpr Row max_slots = Table::none - 2;
    // not for users: constants of two classes
    static_assert(max_slots > Slot::max_rows, "a table has more slots than build rows");
    return rows < max_slots / 2 ? 2 * rows + 1 : max_slots;
  }

  template <class Layout>
  cudaError_t reserve(Layout& storage, int first) {
    const auto rows = static_cast<std::size_t>(rows_);
    const std::size_t all_slots = static_cast<std::size_t>(number_of_slots(rows_)) + 1;
    storage.template reserve<typename Slot::Word>(first + words, all_slots);
    storage.template reserve<unsigned long long>(first + counters, 2);
    if (features_.counts) storage.template reserve<Row>(first + duplicates, all_slots);
    if (features_.slots_of_rows) storage.template reserve<Row>(first + slot_of, rows);
    if (features_.lists) {
      storage.template reserve<Row>(first + begins, all_slots);
      storage.template reserve<Row>(first + lists, rows);
    }
    if (!features_.lists) return cudaSuccess;
    if constexpr (!IsOrdered) {
      storage.template reserve<Row>(first + ranks, rows);
    } else {
      sort_bytes_ = 0;
      const cudaError_t status = sort(nullptr, sort_bytes_, nullptr, nullptr, nullptr, rows_, nullptr);
      if (status != cudaSuccess) return status;
      storage.template reserve<Row>(first + sorted, rows);
      storage.template reserve<unsigned char>(first + sorting, sort_bytes_);
    }
    return cudaSuccess;
  }

  /// Returns the table of this side.
  template <class Layout, class Options>
  Table map(const Layout& storage, int first, const JoinSide<Keys>& build, const Options& options) {
    Table table(options.hash, options.equal);
    table.keys = build.keys;
    table.valid = build.valid_mask;
    table.rows = static_cast<Row>(build.rows);
    table.nulls_equal = options.nulls_equal;
    table.promised_unique = build.is_unique;
    table.num_slots = number_of_slots(rows_);
    table.slots = storage.template get<typename Slot::Word>(first + words);
    auto* const counter = storage.template get<unsigned long long>(first + counters);
    table.has_duplicates = reinterpret_cast<unsigned*>(counter);
    table.listed = reinterpret_cast<Row*>(counter + 1);
    if (features_.counts) table.duplicates = storage.template get<Row>(first + duplicates);
    if (features_.slots_of_rows) {
      table.slot_of = storage.template get<Row>(first + slot_of);
    }
    if (features_.lists) {
      table.begins = storage.template get<Row>(first + begins);
      table.lists = storage.template get<Row>(first + lists);
    }
    if (features_.lists && !IsOrdered) table.rank_of = storage.template get<Row>(first + ranks);
    if (features_.lists && IsOrdered) {
      sorted_ = storage.template get<Row>(first + sorted);
      sorting_ = storage.template get<unsigned char>(first + sorting);
    }
    return table;
  }

  cudaError_t clear(const Table& table, const launch_configuration& base, int multiprocessors) {
    const std::size_t blocks = blocks_for(static_cast<std::size_t>(table.num_slots) + 1);
    const std::size_t max_blocks = static_cast<std::size_t>(multiprocessors) *
                                   static_cast<unsigned>(ActivePolicy::clear.blocks_per_multiprocessor);
    if constexpr (IsOrdered && are_counted_keys<Keys>) {
      // All rows up to the bound are sorted by slot. Rows beyond the number that the device knows have no slot.
      const std::size_t bytes = table.slot_of == nullptr ? 0 : static_cast<std::size_t>(table.rows) * sizeof(Row);
      const cudaError_t status = bytes == 0 ? cudaSuccess : cudaMemsetAsync(table.slot_of, 0xff, bytes, base.stream);
      if (status != cudaSuccess) return status;
    }
    return strata::launch(join_launch(base, detail::least(blocks, max_blocks), build_threads), join_clear_kernel<Table>,
                          table);
  }

  /// Inserts rows [first, table.rows) into the table.
  cudaError_t insert(const Table& table, const launch_configuration& base, Row first) {
    if (first >= table.rows) return cudaSuccess;
    return strata::launch(detail::join_launch(base, blocks_for(table.rows - first), build_threads),
                          join_insert_kernel<Table>, table, static_cast<unsigned long long>(first));
  }

  /// Lists the rows of each key. Call this when all rows are in.
  cudaError_t list(const Table& table, const launch_configuration& base) {
    if (!features_.lists || table.rows == 0) return cudaSuccess;
    if constexpr (IsOrdered) {
      return sort_lists(table, base);
    } else {
      constexpr std::size_t tile = static_cast<std::size_t>(build_threads) * ActivePolicy::table.list_items;
      const std::size_t all_slots = static_cast<std::size_t>(table.num_slots) + 1;
      const cudaError_t status = strata::launch(join_launch(base, ceiling_divide(all_slots, tile), build_threads),
                                                join_list_offsets_kernel<MaxPolicy, Table>, table);
      if (status != cudaSuccess) return status;
      return strata::launch(detail::join_launch(base, blocks_for(table.rows), build_threads), join_fill_kernel<Table>,
                            table);
    }
  }

 private:
  enum slot {
    words,
    counters,
    duplicates,
    begins,
    lists,
    slot_of,
    ranks,
    sorted,
    sorting,
  };
  static constexpr int build_threads = ActivePolicy::table.build_threads;

  static std::size_t blocks_for(std::size_t threads) {
    return ceiling_divide(threads, static_cast<std::size_t>(build_threads));
  }

  cudaError_t sort_lists(const Table& table, const launch_configuration& base) {
    cudaError_t status = sort(sorting_, sort_bytes_, table.slot_of, sorted_, table.lists, table.rows, base.stream);
    if (status != cudaSuccess) return status;
    return strata::launch(detail::join_launch(base, blocks_for(table.rows), build_threads),
                          join_find_begins_kernel<Table, Row>, table, static_cast<const Row*>(sorted_));
  }

  // The slot number of a row without a slot has all bits set, so that the row comes last.
  cudaError_t sort(void* storage, std::size_t& bytes, const Row* slots_in, Row* slots_out, Row* rows_out, Row rows,
                   cudaStream_t stream) const {
    const int bits = log2_ceiling(static_cast<unsigned long long>(number_of_slots(rows_)) + 2);
    return Sort::Dispatch(storage, bytes, {slots_in, slots_out, nullptr}, {RowNumbers{0}, rows_out, nullptr},
                          static_cast<std::size_t>(rows), 0, bits, identity_decomposer{}, radix_scratch::in_storage,
                          stream);
  }

  Row rows_;
  join_table_features features_;
  std::size_t sort_bytes_ = 0;
  Row* sorted_ = nullptr;
  void* sorting_ = nullptr;
};

STRATA_ARCH_DETAIL_NAMESPACE_END
