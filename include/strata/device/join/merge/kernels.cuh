// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/look_back.cuh>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/tuning.hpp>
#include <strata/device/join/merge/agent_join.cuh>
#include <strata/device/join/merge/agent_write.cuh>
#include <strata/device/join/merge/tile.cuh>
#include <strata/device/join/output/chunks.cuh>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class Tuning, class Key, class Row>
using join_merge_agent = AgentMergeJoin<Tuning, Key, Row, Tuning::merge.threads, Tuning::merge.items(sizeof(Key))>;
template <class Tuning, class Key, class Row>
using join_merge_writer = AgentMergeWrite<Tuning, Key, Row, Tuning::merge.threads, Tuning::merge.items(sizeof(Key))>;

/// Cuts both sides into tiles, and clears the counters.
template <class Key, class Row>
STRATA_KERNEL void join_merge_split_kernel(join_merge_sides<Key, Row> sides, unsigned tile_items, int log2_lanes,
                                           unsigned long long* listed, warp_look_back order) {
  begin_join_kernel();
  if (order.states != nullptr) {
    for (unsigned long long i = join_thread(); i < order.tiles; i += join_threads()) {
      order.states[i] = 0;
    }
  }
  if (join_thread() == 0) {
    *sides.total = 0;
    *listed = 0;
    *order.ticket = 0;
  }
  // All lanes of a warp search.
  const unsigned long long split = join_thread() >> log2_lanes;
  const unsigned long long diagonal = split < sides.tiles ? split * tile_items : sides.rows();
  const Row row = detail::find_merge_split(sides, diagonal, log2_lanes);
  // All lanes of a search have the same result.
  const bool is_first = (join_thread() & ((1u << log2_lanes) - 1)) == 0;
  if (is_first && split <= sides.tiles) sides.splits[split] = row;
}

/// Counts the rows of the result.
template <class MaxPolicy, class Key, class Row>
__launch_bounds__(MaxPolicy::ActivePolicy::merge.threads, MaxPolicy::ActivePolicy::merge.blocks_per_multiprocessor)
    STRATA_KERNEL void join_merge_count_kernel(join_merge_sides<Key, Row> sides) {
  using Agent = join_merge_agent<typename MaxPolicy::ActivePolicy, Key, Row>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  const warp_look_back none{};
  Agent agent(storage.Alias(), sides, none);
  for (unsigned long long tile = blockIdx.x; tile < sides.tiles; tile += gridDim.x) {
    const unsigned long long results = agent.count(tile);
    if (threadIdx.x == 0 && results != 0) atomicAdd(sides.total, results);
  }
}

/// Joins tiles and writes their results, or adds tiles with many results to the list. In the order of the
/// probe rows, unmatched build rows follow: as many tiles again. The two orders have separate kernels,
/// because one kernel for both would need more registers.
template <class MaxPolicy, bool IsOrdered, class Index, class Key, class Row, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::merge.threads, MaxPolicy::ActivePolicy::merge.blocks_per_multiprocessor)
    STRATA_KERNEL void join_merge_kernel(join_merge_sides<Key, Row> sides, join_tile_list list, warp_look_back order,
                                         Sink sink) {
  using Agent = join_merge_agent<typename MaxPolicy::ActivePolicy, Key, Row>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  if (!IsOrdered) order = {};
  Agent agent(storage.Alias(), sides, order);
  if constexpr (!IsOrdered) {
    for (unsigned long long tile = blockIdx.x; tile < sides.tiles; tile += gridDim.x) {
      agent.template join<Index>(tile, list, sink);
    }
  } else {
    for (unsigned long long tile; (tile = agent.take_ticket()) < order.tiles;) {
      if (tile < sides.tiles) {
        agent.template join<Index>(tile, list, sink);
      } else {
        agent.template join_unmatched<Index>(tile, sink);
      }
    }
  }
}

template <class MaxPolicy, class Index, class Key, class Row, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::merge.threads, MaxPolicy::ActivePolicy::merge.blocks_per_multiprocessor)
    STRATA_KERNEL void join_merge_write_kernel(join_merge_sides<Key, Row> sides, join_tile_list list, Sink sink) {
  using Agent = join_merge_writer<typename MaxPolicy::ActivePolicy, Key, Row>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  Agent agent(storage.Alias(), sides);
  detail::write_join_chunks<MaxPolicy::ActivePolicy::output.chunk_rows, Index>(agent, list, 0, sink);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
