// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/look_back.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/tuning.hpp>
#include <strata/device/join/merge/agent_join.cuh>
#include <strata/device/join/merge/tile.cuh>
#include <strata/device/join/output/chunks.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

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

/// Joins tiles and writes their results, or adds tiles with many results to the list. If a full join's result is in the
/// order of the probe rows, unmatched build rows follow, in as many tiles again. The two orders have separate kernels,
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

/// Carries out a join of two sides in ascending order. Nothing is hashed. Both sides are read once, except tiles with
/// many results: blocks that write such a tile's output chunks read it again.
template <class MaxPolicy, class ActivePolicy, class Index, class Row, class Key, class Sink, bool IsOrdered>
struct DispatchMergeJoin {
  static constexpr bool has_rows = !std::is_same_v<Sink, NullType>;
  using Sides = join_merge_sides<Key, Row>;
  using Layout = temporary_storage::layout<8>;
  static constexpr unsigned tile_items = join_merge_agent<ActivePolicy, Key, Row>::tile_items;

  /// `call` is a join_call.
  template <class Call>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, const Call& call) {
    Sides sides;
    sides.kind = call.kind;
    sides.promised_unique = call.build.is_unique;
    sides.build_keys = call.build.keys;
    sides.build_rows = static_cast<Row>(call.build.rows);
    sides.probe_keys = call.probe.keys;
    sides.probe_rows = static_cast<Row>(call.probe.rows);
    sides.capacity = call.capacity;
    sides.total = call.total;
    sides.tiles = detail::ceiling_divide<unsigned long long>(sides.rows(), tile_items);
    warp_look_back tile_order{};
    // In an ordered join, unmatched build rows come after all others.
    tile_order.tiles = sides.kind == JoinKind::full && IsOrdered ? 2 * sides.tiles : sides.tiles;
    Layout storage;
    storage.template reserve<unsigned long long>(counters, 2);
    storage.template reserve<Row>(splits, sides.tiles + 1);
    if (has_rows) {
      storage.template reserve<unsigned long long>(listed_tiles, sides.tiles);
      storage.template reserve<unsigned long long>(begins, sides.tiles);
      storage.template reserve<unsigned long long>(chunk_ends, sides.tiles);
      if (IsOrdered) {
        storage.template reserve<unsigned>(states, tile_order.tiles);
        storage.template reserve<unsigned long long>(sums, tile_order.tiles);
        storage.template reserve<unsigned long long>(ends, tile_order.tiles);
      }
    }
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;

    sides.splits = storage.template get<Row>(splits);
    const auto get = [&](slot what) { return storage.template get<unsigned long long>(what); };
    join_tile_list list{};
    list.counter = get(counters);
    tile_order.ticket = get(counters) + 1;
    if (has_rows) {
      list.tiles = get(listed_tiles);
      list.begins = get(begins);
      list.chunk_ends = get(chunk_ends);
      if (IsOrdered) {
        tile_order.states = storage.template get<unsigned>(states);
        tile_order.sums = get(sums);
        tile_order.ends = get(ends);
      }
    }
    return run(sides, list, tile_order, detail::base_join_launch("strata::DeviceHashJoin", call.device, call.stream),
               call.device, call.sink);
  }

 private:
  enum slot { counters, splits, listed_tiles, begins, chunk_ends, states, sums, ends };
  static constexpr join_merge_tuning tuning = ActivePolicy::merge;
  static constexpr unsigned split_threads = tuning.split_threads;

  static cudaError_t run(const Sides& sides, const join_tile_list& list, const warp_look_back& order,
                         const launch_configuration& base, const device_properties& device, const Sink& sink) {
    int log2_lanes = tuning.log2_split_lanes;
    while (log2_lanes > 0 && sides.tiles >> (tuning.log2_all_split_lanes - log2_lanes) != 0) --log2_lanes;
    const unsigned long long splitting = (sides.tiles + 1) << log2_lanes;
    cudaError_t status =
        strata::launch(join_launch(base, splitting / split_threads + 1, tuning.split_threads),
                       join_merge_split_kernel<Key, Row>, sides, tile_items, log2_lanes, list.counter, order);
    if (status != cudaSuccess || sides.tiles == 0) return status;
    if constexpr (!has_rows) {
      return strata::launch(detail::join_launch(base, sides.tiles, tuning.threads),
                            join_merge_count_kernel<MaxPolicy, Key, Row>, sides);
    } else {
      status = strata::launch(join_launch(base, order.tiles, tuning.threads),
                              join_merge_kernel<MaxPolicy, IsOrdered, Index, Key, Row, Sink>, sides, list, order, sink);
      // Tiles in which no row has more than one result are never listed.
      const bool may_be_listed = detail::has_pairs(sides.kind) && !sides.promised_unique && sides.capacity > 0;
      if (status != cudaSuccess || !may_be_listed) return status;
      const auto max_chunks =
          sides.tiles + static_cast<unsigned long long>(sides.capacity) / ActivePolicy::output.chunk_rows;
      const unsigned long long resident = static_cast<unsigned long long>(device.multiprocessors) *
                                          static_cast<unsigned>(tuning.blocks_per_multiprocessor);
      return strata::launch(detail::join_launch(base, detail::least(max_chunks, resident), tuning.threads),
                            join_merge_write_kernel<MaxPolicy, Index, Key, Row, Sink>, sides, list, sink);
    }
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
