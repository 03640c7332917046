// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/keys.hpp>
#include <strata/device/join/output/offsets.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/radix_partition/partitions.cuh>
#include <strata/device/join/shared_table/shared_table.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

template <class Word, int BlockThreads>
class join_grouped_table;

/// Shared memory of shared_table_state.
template <class Table, class OutputOffsets>
struct shared_table_storage {
  typename Table::TempStorage table;
  typename OutputOffsets::TempStorage offsets;
  unsigned long long counted;
};

/// The state that all agents which join by a table in shared memory have in common. `Sink` is NullType if rows are only
/// counted. With `IsOneTable`, all rows are one partition, and are read from the sides themselves, not from records.
/// With `ReadsHashes`, there may be hashes instead of records.
template <class Keys, class Hash, class Equal, class Index, class Sink, int BlockThreads, int GroupThreads,
          bool IsOneTable, bool GroupsHashes, bool ReadsHashes = false>
struct shared_table_state {
  using Partitions = join_partitions<Keys, Hash, Equal>;
  using Count = unsigned long long;
  static constexpr bool is_wide = is_join_double_word<iterator_value_t<Keys>, Hash, Equal>;
  using Word = std::conditional_t<is_wide, unsigned long long, unsigned>;
  using Row = join_hashed_row<Word>;
  using Table =
      std::conditional_t<GroupsHashes, join_grouped_table<Word, BlockThreads>, join_shared_table<Word, BlockThreads>>;
  using OutputOffsets = join_output_offsets<BlockThreads, GroupThreads>;
  static constexpr unsigned threads = BlockThreads;
  static constexpr bool has_rows = !std::is_same_v<Sink, NullType>;
  static constexpr unsigned none = no_join_row<unsigned>;
  static constexpr bool writes_partners = std::is_same_v<Sink, join_partner_sink>;
  /// True if records hold the numbers of `join_numbered_keys`. Otherwise they hold the indices of rows.
  static constexpr bool has_numbers = are_numbered_keys<Keys> && !IsOneTable;

  using TempStorage = shared_table_storage<Table, OutputOffsets>;

  STRATA_D shared_table_state(TempStorage& temp_storage, unsigned char* shared, const Partitions& partitions,
                              const Sink& output)
      : storage(temp_storage),
        table(temp_storage.table, shared, partitions.plan),
        offsets(temp_storage.offsets, partitions.total),
        found(reinterpret_cast<unsigned*>(shared + partitions.plan.bytes_before_found())),
        join(partitions),
        sink(output) {}

  STRATA_D Row row_of(const join_side_records<Keys>& side, std::size_t i) const {
    if constexpr (IsOneTable) {
      const auto& key = side.keys[static_cast<difference_of<Keys>>(i)];
      const unsigned long long hash = detail::join_hash<iterator_value_t<Keys>, Equal>(join.hash, key);
      return {static_cast<Word>(is_wide ? hash : hash >> 32), static_cast<unsigned>(i)};
    } else {
      if constexpr (ReadsHashes) {
        if (!side.has_row_ids) return {side.partitioned.hashes()[i], 0};
      }
      const join_record record = side.partitioned.records[i];
      if constexpr (is_wide) {
        return {static_cast<Word>(record.hash) << 32 | side.partitioned.lower[i], record.row};
      } else {
        return {record.hash, record.row};
      }
    }
  }

  // Returns row `i` of the build side's rows from `begin` on, in the form in which the table stores it.
  STRATA_D Row build_row_of(unsigned begin, std::size_t i) const {
    Row row = row_of(join.build, begin + i);
    if (has_positions()) row.row = static_cast<unsigned>(i);
    return row;
  }

  // True if entries have positions instead of row numbers, because a row number can have more bits than an entry has
  // room for. A position counts from the first row of the table. Each result then reads the row number from the record
  // at the position.
  STRATA_D bool has_positions() const {
    return has_numbers && table.row_limit() < detail::number_limit_of(join.build.keys);
  }

  // True if a search may stop at the first partner. Debug builds search on, to find a broken promise.
  STRATA_D bool stops_at_one() const { return join.promised_unique && !STRATA_DEBUG; }

  STRATA_D bool is_partner(Word seen, unsigned probe_row) const {
    if (Partitions::hash_is_key || !table.is_row(seen)) return table.is_row(seen);
    const iterator_value_t<Keys>& build_key = join.build.keys[seen];
    const iterator_value_t<Keys>& probe_key = join.probe.keys[probe_row];
    return join.equal(build_key, probe_key);
  }

  // Clears the marks that say which rows of a table have been found.
  STRATA_D void clear_found(unsigned rows) const {
    for (unsigned i = threadIdx.x; i <= rows / 32; i += threads) found[i] = 0;
  }

  STRATA_D void write(Count position, unsigned build_row, unsigned probe_row) const {
    if (position < static_cast<Count>(join.capacity)) write_inside(position, build_row, probe_row);
  }
  STRATA_D void write_inside(Count position, unsigned build_row, unsigned probe_row) const {
    if constexpr (has_rows) {
      if (has_positions() && build_row != none) {
        build_row = join.build.partitioned.records[build_begin + build_row].row;
      }
      sink(static_cast<std::int64_t>(position), row_index(build_row), row_index(probe_row));
    }
  }
  STRATA_D static Index row_index(unsigned row) {
    if constexpr (sizeof(Index) > sizeof(row)) {
      if (row == none) return no_row<Index>;
    }
    return static_cast<Index>(row);
  }

  // The one block that has joined all probe rows of the partition calls this.
  STRATA_D void emit_unmatched_rows(unsigned rows) {
    __syncthreads();
    for (unsigned first = 0; first < rows; first += threads) {
      const unsigned i = first + threadIdx.x;
      const bool is_unmatched = i < rows && (found[i / 32] >> (i % 32) & 1) == 0;
      if constexpr (!has_rows) {
        counted += is_unmatched ? 1 : 0;
      } else {
        unsigned sum = 0;
        const unsigned begin = OutputOffsets::scan_flag(is_unmatched, sum);
        const Count offset = offsets.reserve(sum);
        if (is_unmatched) write(offset + begin, table.row_at(i), none);
      }
    }
  }

  STRATA_D void add_counted() { detail::add_join_results(storage.counted, counted, join.total); }

  TempStorage& storage;
  Table table;
  OutputOffsets offsets;
  unsigned* found;
  const Partitions& join;
  const Sink& sink;
  Count counted = 0;
  unsigned build_begin = 0;  // index of the table's first row among the build records; used if entries have positions
};

}  // namespace detail
STRATA_NAMESPACE_END
