// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/agent_sorted_join.cuh>
#include <strata/device/hash_join/kernels.cuh>
#include <strata/device/hash_join/sorted_sides.cuh>
#include <strata/device/hash_join/tuning.hpp>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class MaxPolicy, class Key, class Row>
using join_sorted_agent =
    AgentSortedJoin<Key, Row, MaxPolicy::sorted.threads, MaxPolicy::sorted.items(sizeof(Key))>;

/// Cuts both sides into tiles; nothing has been written yet.
template <class Key, class Row>
STRATA_KERNEL void join_sorted_split_kernel(join_sorted_sides<Key, Row> sides, unsigned tile_items,
                                            int log2_lanes, unsigned long long* taken) {
  begin_join_kernel();
  // Whole warps stay together.
  const unsigned long long split = join_thread() >> log2_lanes;
  const unsigned long long asked = split < sides.tiles ? split * tile_items : sides.rows();
  const Row row = find_sorted_split(sides, asked, log2_lanes);
  if (split <= sides.tiles) sides.splits[split] = row;
  if (join_thread() != 0) return;
  *sides.total = 0;
  if (taken != nullptr) *taken = 0;
}

/// Adds up the rows of the result: all in `*sides.total` or, if not null, each tile's in `counts`,
/// where build rows without a partner come behind all tiles.
template <class MaxPolicy, class Key, class Row>
__launch_bounds__(MaxPolicy::ActivePolicy::sorted.threads,
                  MaxPolicy::ActivePolicy::sorted.blocks_per_multiprocessor)
    STRATA_KERNEL void join_sorted_count_kernel(join_sorted_sides<Key, Row> sides,
                                                unsigned long long* counts) {
  using Agent = join_sorted_agent<typename MaxPolicy::ActivePolicy, Key, Row>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  Agent agent(storage.Alias(), sides);
  for (unsigned long long tile = blockIdx.x; tile < sides.tiles; tile += gridDim.x) {
    unsigned long long results = 0;
    unsigned long long lonely = 0;
    agent.count(tile, results, lonely);
    if (threadIdx.x != 0) continue;
    if (counts == nullptr) {
      if (results + lonely != 0) atomicAdd(sides.total, results + lonely);
      continue;
    }
    counts[tile] = results;
    if (sides.kind == JoinKind::full) counts[sides.tiles + tile] = lonely;
  }
}

/// Joins and writes, or puts tiles with many results on the list.
template <class MaxPolicy, class Index, class Key, class Row, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::sorted.threads,
                  MaxPolicy::ActivePolicy::sorted.blocks_per_multiprocessor)
    STRATA_KERNEL void join_sorted_kernel(join_sorted_sides<Key, Row> sides, join_tile_list list,
                                          Sink sink) {
  using Agent = join_sorted_agent<typename MaxPolicy::ActivePolicy, Key, Row>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  Agent agent(storage.Alias(), sides);
  for (unsigned long long tile = blockIdx.x; tile < sides.tiles; tile += gridDim.x) {
    agent.template join<Index>(tile, list, sink);
  }
}

template <class MaxPolicy, class Index, class Key, class Row, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::sorted.threads,
                  MaxPolicy::ActivePolicy::sorted.blocks_per_multiprocessor)
    STRATA_KERNEL void join_sorted_write_kernel(join_sorted_sides<Key, Row> sides,
                                                join_tile_list list, unsigned long long tiles,
                                                Sink sink) {
  using Agent = join_sorted_agent<typename MaxPolicy::ActivePolicy, Key, Row>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  Agent agent(storage.Alias(), sides);
  write_join_units<Index>(agent, list, tiles, sink);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
