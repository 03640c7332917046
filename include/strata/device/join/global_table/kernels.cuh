// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_reduce.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/tile_aggregates.cuh>
#include <strata/device/engine/tile_prefix.cuh>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/tuning.hpp>
#include <strata/device/join/global_table/agent_build.cuh>
#include <strata/device/join/global_table/agent_probe.cuh>
#include <strata/device/join/global_table/table.cuh>
#include <strata/device/join/output/chunks.cuh>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Empties the table.
template <class Table>
STRATA_D void clear_join_table(const Table& table) {
  const unsigned long long threads = join_threads();
  const unsigned long long slots = static_cast<unsigned long long>(table.num_slots) + 1;
  for (unsigned long long i = join_thread(); i < slots; i += threads) {
    table.slots[i] = Table::Slot::empty;
    if (table.duplicates != nullptr) table.duplicates[i] = 0;
  }
  if (join_thread() == 0) *table.has_duplicates = 0;
}
template <class Table>
STRATA_KERNEL void join_clear_kernel(Table table) {
  begin_join_kernel();
  detail::clear_join_table(table);
}

/// Sets the number of results and the counter of listed tiles to 0, and clears the marks of matched slots.
template <class Row>
STRATA_KERNEL void join_reset_kernel(unsigned long long* total, unsigned long long* counter, unsigned* matched,
                                     unsigned long long words) {
  begin_join_kernel();
  const unsigned long long threads = join_threads();
  for (unsigned long long i = join_thread(); i < words; i += threads) matched[i] = 0;
  if (join_thread() != 0) return;
  *total = 0;
  if (counter != nullptr) *counter = 0;
}

template <class Table>
STRATA_D void insert_join_rows(const Table& table, unsigned long long first_row) {
  // All lists are built again after this.
  if (join_thread() == 0) *table.listed = 0;
  const AgentJoinInsert<Table> agent{table};
  // A warp leaves the loop as a whole.
  const unsigned long long in_block = threadIdx.x;
  const unsigned long long rows = detail::rows_of(table);
  for (unsigned long long row = first_row + join_thread(); row - in_block < rows; row += join_threads()) {
    agent.insert(row);
  }
}
template <class Table>
STRATA_KERNEL void join_insert_kernel(Table table, unsigned long long first_row) {
  begin_join_kernel();
  detail::insert_join_rows(table, first_row);
}

template <class Tuning, int BlockThreads, class Table>
using join_lists_agent = AgentJoinLists<Table, BlockThreads, Tuning::table.list_items>;

template <class Agent, class Table>
STRATA_D void assign_join_list_offsets(typename Agent::TempStorage& storage, const Table& table) {
  if (*table.has_duplicates == 0) return;
  const unsigned long long tiles = table.num_slots / Agent::tile_items + 1;
  for (unsigned long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    __syncthreads();
    Agent{storage, table}.assign_offsets(tile);
  }
}
template <class MaxPolicy, class Table>
__launch_bounds__(MaxPolicy::ActivePolicy::table.build_threads)
    STRATA_KERNEL void join_list_offsets_kernel(Table table) {
  using Tuning = typename MaxPolicy::ActivePolicy;
  using Agent = join_lists_agent<Tuning, Tuning::table.build_threads, Table>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  detail::assign_join_list_offsets<Agent>(storage.Alias(), table);
}

template <class Table>
STRATA_D void fill_join_lists(const Table& table) {
  if (*table.has_duplicates == 0) return;
  for (unsigned long long i = join_thread(); i < detail::rows_of(table); i += join_threads()) {
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

/// Counts the rows of the result. Writes the count of each tile to `counts`; if that is null, adds the counts to
/// `*probe.total`.
template <class Agent, class Reduce, class Table, class Keys, class Row>
STRATA_D void count_join_tiles(typename Reduce::TempStorage& storage, const Table& table,
                               const join_probe<Keys, Row>& probe, unsigned long long first_tile,
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
template <class MaxPolicy, class Table, class Keys, class Row>
__launch_bounds__(MaxPolicy::ActivePolicy::table.probe_threads,
                  MaxPolicy::ActivePolicy::table.probe_blocks_per_multiprocessor)
    STRATA_KERNEL void join_count_kernel(Table table, join_probe<Keys, Row> probe, unsigned long long first_tile,
                                         unsigned long long tiles, unsigned long long* counts) {
  constexpr join_table_tuning tuning = MaxPolicy::ActivePolicy::table;
  using Agent = AgentJoinProbe<typename MaxPolicy::ActivePolicy, Table, Keys, tuning.probe_threads, tuning.probe_items>;
  using Reduce = BlockReduce<unsigned long long, tuning.probe_threads>;
  STRATA_SHARED(storage, typename Reduce::TempStorage);
  begin_join_kernel();
  detail::count_join_tiles<Agent, Reduce>(storage, table, probe, first_tile, tiles, counts);
}

/// Replaces the numbers of results of tiles in `list.begins` by their exclusive prefix sums. Writes the inclusive
/// prefix sums of the tiles' numbers of output chunks to `list.chunk_ends`. One block calls this.
template <class MaxPolicy, class Row>
__launch_bounds__(MaxPolicy::ActivePolicy::table.scan_threads)
    STRATA_KERNEL void join_scan_kernel(join_tile_list list, unsigned long long tiles, std::int64_t capacity,
                                        unsigned long long* total) {
  constexpr int threads = MaxPolicy::ActivePolicy::table.scan_threads;
  constexpr unsigned chunk_rows = MaxPolicy::ActivePolicy::output.chunk_rows;
  using Count = unsigned long long;
  using Scan = BlockScan<Count, threads, BLOCK_SCAN_WARP_SCANS>;
  STRATA_SHARED(scan_storage, typename Scan::TempStorage);
  STRATA_SHARED(chunk_storage, typename Scan::TempStorage);
  begin_join_kernel();
  Count all = 0;
  Count all_chunks = 0;
  for (Count first = 0; first < tiles; first += threads) {
    const Count tile = first + threadIdx.x;
    const Count count = tile < tiles ? list.begins[tile] : 0;
    Count begin = 0;
    Count sum = 0;
    Scan(scan_storage).ExclusiveSum(count, begin, sum);
    begin += all;
    const Count chunks = detail::join_output_chunks_of<chunk_rows>(begin, count, capacity);
    Count end = 0;
    Count sum_of_chunks = 0;
    Scan(chunk_storage).InclusiveSum(chunks, end, sum_of_chunks);
    if (tile < tiles) {
      list.begins[tile] = begin;
      list.chunk_ends[tile] = all_chunks + end;
    }
    all += sum;
    all_chunks += sum_of_chunks;
    __syncthreads();
  }
  if (threadIdx.x == 0) *total = all;
}

/// Looks tiles up and writes their results, or adds tiles with many results to the list.
template <class MaxPolicy, class Index, class Table, class Keys, class Row, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::table.probe_threads,
                  MaxPolicy::ActivePolicy::table.probe_blocks_per_multiprocessor)
    STRATA_KERNEL void join_probe_kernel(Table table, join_probe<Keys, Row> probe, unsigned long long first_tile,
                                         unsigned long long tiles, join_tile_list list, Sink sink) {
  constexpr join_table_tuning tuning = MaxPolicy::ActivePolicy::table;
  using Agent = AgentJoinProbe<typename MaxPolicy::ActivePolicy, Table, Keys, tuning.probe_threads, tuning.probe_items>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  Agent agent(storage.Alias(), table, probe);
  for (unsigned long long i = blockIdx.x; i < tiles; i += gridDim.x) {
    agent.template join<Index>(first_tile + i, list, sink);
  }
}

/// Joins few probe rows in one launch: a block has a tile of them, and waits for the numbers of results of the tiles
/// before it (`device/engine/tile_prefix.cuh`). These numbers are in words that are tagged with the epoch, and the last
/// tile stores the total. So no kernel clears anything first.
template <class MaxPolicy, class Index, class Table, class Keys, class Row, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::table.probe_threads, 2)
    STRATA_KERNEL void join_probe_few_kernel(Table table, join_probe<Keys, Row> probe,
                                             tile_aggregates_arguments exchange, Sink sink) {
  using Agent =
      AgentJoinProbe<typename MaxPolicy::ActivePolicy, Table, Keys, MaxPolicy::ActivePolicy::table.probe_threads, 1>;
  using Count = unsigned long long;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  Agent agent(storage.Alias(), table, probe);
  const auto count_tile = [&](unsigned tile) { return Agent::count_by_warp(table, probe, tile); };
  running_prefix<Count, Sum, decltype(count_tile)> prefix(exchange, blockIdx.x, gridDim.x, Sum{}, count_tile);
  prefix.begin_with(0);
  prefix.for_each_tile(gridDim.x, [&](std::size_t tile) { agent.template join_in_order<Index>(tile, prefix, sink); });
}

/// Writes the output chunks of the listed tiles.
template <class MaxPolicy, class Index, class Table, class Keys, class Row, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::table.probe_threads,
                  MaxPolicy::ActivePolicy::table.probe_blocks_per_multiprocessor)
    STRATA_KERNEL void join_write_kernel(Table table, join_probe<Keys, Row> probe, join_tile_list list,
                                         unsigned long long tiles, Sink sink) {
  constexpr join_table_tuning tuning = MaxPolicy::ActivePolicy::table;
  using Agent = AgentJoinProbe<typename MaxPolicy::ActivePolicy, Table, Keys, tuning.probe_threads, tuning.probe_items>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  Agent agent(storage.Alias(), table, probe);
  detail::write_join_chunks<MaxPolicy::ActivePolicy::output.chunk_rows, Index>(agent, list, tiles, sink);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
