// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_reduce.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/agent_build.cuh>
#include <strata/device/hash_join/agent_probe.cuh>
#include <strata/device/hash_join/join_output.cuh>
#include <strata/device/hash_join/table.cuh>
#include <strata/device/hash_join/tuning.hpp>
#include <strata/device/segmented_scan/segments.cuh>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

STRATA_D unsigned long long join_thread() {
  return static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
STRATA_D void begin_join_kernel() {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
}
STRATA_D unsigned long long join_threads() {
  return static_cast<unsigned long long>(gridDim.x) * blockDim.x;
}

/// Empties the table.
template <class Table>
STRATA_D void clear_join_table(const Table& table) {
  const unsigned long long threads = join_threads();
  const unsigned long long slots = static_cast<unsigned long long>(table.num_slots) + 1;
  for (unsigned long long i = join_thread(); i < slots; i += threads) {
    table.slots[i] = Table::Slot::empty;
    if (table.further != nullptr) table.further[i] = 0;
  }
  if (join_thread() == 0) *table.has_duplicates = 0;
}
template <class Table>
STRATA_KERNEL void join_clear_kernel(Table table) {
  begin_join_kernel();
  detail::clear_join_table(table);
}

/// Nothing has been written yet, and nobody has been found.
template <class Row>
STRATA_KERNEL void join_reset_kernel(unsigned long long* total, unsigned long long* taken,
                                     unsigned* matched, unsigned long long words) {
  begin_join_kernel();
  const unsigned long long threads = join_threads();
  for (unsigned long long i = join_thread(); i < words; i += threads) matched[i] = 0;
  if (join_thread() != 0) return;
  *total = 0;
  if (taken != nullptr) *taken = 0;
}

template <class Table>
STRATA_D void insert_join_rows(const Table& table, unsigned long long first_row) {
  // All lists are made anew after this.
  if (join_thread() == 0) *table.listed = 0;
  const AgentJoinInsert<Table> agent{table};
  // Whole warps stay together.
  const unsigned long long in_block = threadIdx.x;
  for (unsigned long long row = first_row + join_thread(); row - in_block < table.rows;
       row += join_threads()) {
    agent.insert(row);
  }
}
template <class Table>
STRATA_KERNEL void join_insert_kernel(Table table, unsigned long long first_row) {
  begin_join_kernel();
  detail::insert_join_rows(table, first_row);
}

template <int BlockThreads, class Table>
using join_lists_agent = AgentJoinLists<Table, BlockThreads, 4>;

template <class Agent, class Table>
STRATA_D void place_join_lists(typename Agent::TempStorage& storage, const Table& table) {
  if (*table.has_duplicates == 0) return;
  const unsigned long long tiles = table.num_slots / Agent::tile_items + 1;
  for (unsigned long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    __syncthreads();
    Agent{storage, table}.place(tile);
  }
}
template <class MaxPolicy, class Table>
__launch_bounds__(MaxPolicy::ActivePolicy::table.build_threads)
    STRATA_KERNEL void join_place_kernel(Table table) {
  using Agent = join_lists_agent<MaxPolicy::ActivePolicy::table.build_threads, Table>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  detail::place_join_lists<Agent>(storage.Alias(), table);
}

template <class Table>
STRATA_D void fill_join_lists(const Table& table) {
  if (*table.has_duplicates == 0) return;
  for (unsigned long long i = join_thread(); i < table.rows; i += join_threads()) {
    AgentJoinLists<Table, 32, 1>::fill(table, i);
  }
}
template <class Table>
STRATA_KERNEL void join_fill_kernel(Table table) {
  begin_join_kernel();
  detail::fill_join_lists(table);
}

template <class Table, class Row>
STRATA_KERNEL void join_find_begins_kernel(Table table, const Row* sorted) {
  begin_join_kernel();
  for (unsigned long long i = join_thread(); i < table.rows; i += join_threads()) {
    AgentJoinLists<Table, 32, 1>::find_begin(table, sorted, i);
  }
}

/// Adds up the rows of the result: all in `*probe.total` or, if not null, each tile's in `counts`.
template <class Agent, class Reduce, class Table, class Key, class Row>
STRATA_D void count_join_tiles(typename Reduce::TempStorage& storage, const Table& table,
                               const join_probe<Key, Row>& probe, unsigned long long first_tile,
                               unsigned long long tiles, unsigned long long* counts) {
  for (unsigned long long i = blockIdx.x; i < tiles; i += gridDim.x) {
    const unsigned long long tile = first_tile + i;
    __syncthreads();
    const unsigned long long sum = Reduce(storage).Sum(Agent::count(table, probe, tile));
    if (threadIdx.x != 0) continue;
    if (counts != nullptr) {
      counts[tile] = sum;
    } else if (sum != 0) {
      atomicAdd(probe.total, sum);
    }
  }
}
template <class MaxPolicy, class Table, class Key, class Row>
__launch_bounds__(MaxPolicy::ActivePolicy::table.probe_threads,
                  MaxPolicy::ActivePolicy::table.probe_blocks_per_multiprocessor)
    STRATA_KERNEL void join_count_kernel(Table table, join_probe<Key, Row> probe,
                                         unsigned long long first_tile, unsigned long long tiles,
                                         unsigned long long* counts) {
  constexpr join_table_tuning tuning = MaxPolicy::ActivePolicy::table;
  using Agent = AgentJoinProbe<Table, Key, tuning.probe_threads, tuning.probe_items>;
  using Reduce = BlockReduce<unsigned long long, tuning.probe_threads>;
  STRATA_SHARED(storage, typename Reduce::TempStorage);
  begin_join_kernel();
  detail::count_join_tiles<Agent, Reduce>(storage, table, probe, first_tile, tiles, counts);
}

/// By one block: turns the counts of tiles, in `list.begins`, into where they begin, and finds how
/// many units they and those before them have.
template <int BlockThreads, class Row>
__launch_bounds__(BlockThreads)
    STRATA_KERNEL void join_scan_kernel(join_tile_list list, unsigned long long tiles,
                                        std::int64_t capacity, unsigned long long* total) {
  using Count = unsigned long long;
  using Scan = BlockScan<Count, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  STRATA_SHARED(scan_storage, typename Scan::TempStorage);
  STRATA_SHARED(unit_storage, typename Scan::TempStorage);
  begin_join_kernel();
  Count all = 0;
  Count all_units = 0;
  for (Count first = 0; first < tiles; first += BlockThreads) {
    const Count tile = first + threadIdx.x;
    const Count count = tile < tiles ? list.begins[tile] : 0;
    Count begin = 0;
    Count sum = 0;
    Scan(scan_storage).ExclusiveSum(count, begin, sum);
    begin += all;
    const Count units = join_units_of(begin, count, capacity);
    Count end = 0;
    Count sum_of_units = 0;
    Scan(unit_storage).InclusiveSum(units, end, sum_of_units);
    if (tile < tiles) {
      list.begins[tile] = begin;
      list.unit_ends[tile] = all_units + end;
    }
    all += sum;
    all_units += sum_of_units;
    __syncthreads();
  }
  if (threadIdx.x == 0) *total = all;
}

/// Looks up and writes, or puts tiles with many results on the list.
template <class MaxPolicy, class Index, class Table, class Key, class Row, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::table.probe_threads,
                  MaxPolicy::ActivePolicy::table.probe_blocks_per_multiprocessor)
    STRATA_KERNEL void join_probe_kernel(Table table, join_probe<Key, Row> probe,
                                         unsigned long long first_tile, unsigned long long tiles,
                                         join_tile_list list, Sink sink) {
  constexpr join_table_tuning tuning = MaxPolicy::ActivePolicy::table;
  using Agent = AgentJoinProbe<Table, Key, tuning.probe_threads, tuning.probe_items>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  Agent agent(storage.Alias(), table, probe);
  for (unsigned long long i = blockIdx.x; i < tiles; i += gridDim.x) {
    agent.template join<Index>(first_tile + i, list, sink);
  }
}

/// Writes the units of the listed tiles. A block has neighbours, most of which are of one tile.
/// `tiles` is how many there are if all are listed.
template <class Index, class Agent, class Sink>
STRATA_D void write_join_units(Agent& agent, const join_tile_list& list, unsigned long long tiles,
                               const Sink& sink) {
  using Count = unsigned long long;
  const bool all_are_listed = list.tiles == nullptr;
  if (!all_are_listed) tiles = *list.taken >> join_tile_list::unit_bits;
  const Count units = tiles > 0 ? list.unit_ends[tiles - 1] : 0;
  const Count each = units / gridDim.x + (units % gridDim.x != 0 ? 1 : 0);
  const Count begin = blockIdx.x * each;
  const Count end = begin + each < units ? begin + each : units;
  for (Count unit = begin; unit < end;) {
    const Count at = find_segment(list.unit_ends, tiles, unit);
    const Count tile = all_are_listed ? at : list.tiles[at];
    __syncthreads();
    const Count results = agent.prepare(tile);
    // All units of the tile at once.
    const Count tile_end = list.unit_ends[at];
    const Count next = tile_end < end ? tile_end : end;
    const Count before = at > 0 ? list.unit_ends[at - 1] : 0;
    const Count last = (next - before) * join_unit;
    agent.template write<Index>(tile, list.begins[at], (unit - before) * join_unit,
                                results < last ? results : last, sink);
    unit = next;
  }
}
template <class MaxPolicy, class Index, class Table, class Key, class Row, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::table.probe_threads,
                  MaxPolicy::ActivePolicy::table.probe_blocks_per_multiprocessor)
    STRATA_KERNEL void join_write_kernel(Table table, join_probe<Key, Row> probe,
                                         join_tile_list list, unsigned long long tiles, Sink sink) {
  constexpr join_table_tuning tuning = MaxPolicy::ActivePolicy::table;
  using Agent = AgentJoinProbe<Table, Key, tuning.probe_threads, tuning.probe_items>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  Agent agent(storage.Alias(), table, probe);
  detail::write_join_units<Index>(agent, list, tiles, sink);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
