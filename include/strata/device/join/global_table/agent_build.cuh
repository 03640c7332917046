// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/global_table/table.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Inserts build rows into the table. `Table` is a join_table.
template <class Table>
struct AgentJoinInsert {
  using Slot = typename Table::Slot;
  using Word = typename Table::Word;
  using Row = decltype(Table::rows);

  const Table& table;

  /// Inserts the row that has index `i` in the list, if `i` is less than the number of rows. All lanes of a warp call
  /// this.
  STRATA_D void insert(unsigned long long i) const {
    Row slot = Table::none;
    bool is_duplicate = false;
    Row row = 0;
    if (i < detail::rows_of(table) && table.list.get(i, row)) {
      if (!detail::join_row_is_valid(table.valid, row)) {
        if (table.nulls_equal) slot = take_null_slot(row, is_duplicate);
      } else {
        slot = take_slot(row, is_duplicate);
      }
      if (table.slot_of != nullptr) table.slot_of[row] = slot;
    }
    STRATA_ASSERT(!(table.promised_unique && is_duplicate),
                  "JoinSide::unique was promised, but the key of build row %llu is also "
                  "that of another",
                  static_cast<unsigned long long>(row));
    if (table.duplicates != nullptr) count_duplicate(slot, is_duplicate, row);
  }

 private:
  STRATA_D Row take_slot(Row row, bool& is_duplicate) const {
    const typename Table::Key key = table.keys[row];
    if (!table.has_partners(key)) return Table::none;
    const Word hash = table.hash_of(key);
    if (!table.list.has_hash(detail::upper_half(hash))) return Table::none;
    const Word mine = Slot::make(hash, row);
    Row slot = table.first_slot(hash);
    for (;;) {
      // relaxed: the row number leads to keys, which no thread writes.
      Word there = platform::load_relaxed(table.slots + slot);
      if (there == Slot::empty) {
        there = atomicCAS(table.slots + slot, Slot::empty, mine);
        if (there == Slot::empty) return slot;
      }
      if (table.is_at(there, key, hash)) {
        is_duplicate = true;
        return slot;
      }
      slot = table.next_slot(slot);
    }
  }

  STRATA_D Row take_null_slot(Row row, bool& is_duplicate) const {
    Word* const slot = table.slots + table.num_slots;
    is_duplicate =
        platform::load_relaxed(slot) != Slot::empty || atomicCAS(slot, Slot::empty, Slot::make(0, row)) != Slot::empty;
    return table.num_slots;
  }

  // One addition for all lanes with the same key, because all rows may have it.
  STRATA_D void count_duplicate(Row slot, bool is_duplicate, Row row) const {
    const unsigned lanes = __ballot_sync(full_warp_mask, is_duplicate ? 1 : 0);
    if (lanes == 0) return;
    if (is_duplicate) {
      const unsigned peers = __match_any_sync(lanes, slot);
      const int leader = __ffs(static_cast<int>(peers)) - 1;
      Row before = 0;
      if (static_cast<int>(platform::lane_id()) == leader) {
        before = atomicAdd(table.duplicates + slot, static_cast<Row>(__popc(peers)));
        if (platform::load_relaxed(table.has_duplicates) == 0) {
          platform::store_relaxed(table.has_duplicates, 1u);
        }
      }
      before = __shfl_sync(peers, before, leader);
      if (table.rank_of != nullptr) {
        table.rank_of[row] = before + static_cast<Row>(__popc(peers & platform::lane_mask_lt()));
      }
    }
  }
};

/// Reserves a range of `lists` for each slot with duplicates, by one addition for a tile of slots, and
/// writes the rows there. The order of the ranges depends on timing.
template <class Table, int BlockThreads, int ItemsPerThread>
struct AgentJoinLists {
  using Slot = typename Table::Slot;
  using Row = decltype(Table::rows);
  using Scan = BlockScan<unsigned long long, BlockThreads, BLOCK_SCAN_WARP_SCANS>;

  static constexpr int tile_items = BlockThreads * ItemsPerThread;

  struct TempStorage {
    typename Scan::TempStorage scan;
    unsigned long long first;
  };

  TempStorage& storage;
  const Table& table;

  STRATA_D void assign_offsets(unsigned long long tile) const {
    const unsigned long long first = tile * tile_items + threadIdx.x;
    unsigned long long counts[ItemsPerThread];
    unsigned long long sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned long long slot = first + static_cast<unsigned>(i * BlockThreads);
      const unsigned long long duplicates = slot <= table.num_slots ? table.duplicates[slot] : 0;
      counts[i] = duplicates == 0 ? 0 : duplicates + 1;
      sum += counts[i];
    }
    unsigned long long offset = 0;
    unsigned long long all = 0;
    Scan(storage.scan).ExclusiveSum(sum, offset, all);
    if (all == 0) return;
    if (threadIdx.x == 0) storage.first = atomicAdd(table.listed, static_cast<Row>(all));
    __syncthreads();
    offset += storage.first;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (counts[i] == 0) continue;
      table.begins[first + static_cast<unsigned>(i * BlockThreads)] = static_cast<Row>(offset);
      offset += counts[i];
    }
  }

  STRATA_D static void fill(const Table& table, unsigned long long i) {
    Row row = 0;
    if (i >= detail::rows_of(table) || !table.list.get(i, row)) return;
    const Row slot = table.slot_of[row];
    if (slot == Table::none || table.duplicates[slot] == 0) return;
    const bool is_first = Slot::row(table.slots[slot]) == row;
    table.lists[table.begins[slot] + (is_first ? 0 : 1 + table.rank_of[row])] = row;
  }

  /// Replaces both functions above if `table.lists` has all rows, sorted by slot. `sorted` has the slots.
  STRATA_D static void find_begin(const Table& table, const Row* sorted, unsigned long long i) {
    if (i >= table.rows) return;
    const Row slot = sorted[i];
    if (slot != Table::none && (i == 0 || sorted[i - 1] != slot)) {
      table.begins[slot] = static_cast<Row>(i);
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
