// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments/counts.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/merge/kernels.cuh>
#include <strata/device/join/output/chunks.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out a join of two sides in ascending order: both are read once, and nothing is hashed.
template <class MaxPolicy, class ActivePolicy, class Index, class Row, class Key, class Sink, bool MayBeOrdered>
struct DispatchSortedJoin {
  static constexpr bool has_rows = !std::is_same_v<Sink, NullType>;
  using Sides = join_sorted_sides<Key, Row>;
  using Layout = temporary_storage::layout<8>;
  static constexpr unsigned tile_items = join_sorted_agent<ActivePolicy, Key, Row>::tile_items;

  /// Whether the join uses the promise. It does not if rows have no key, whose position is not specified.
  template <class Options>
  static bool may_join(const JoinSide<const Key*>& build, const JoinSide<const Key*>& probe, const Options& options) {
    return build.is_sorted && probe.is_sorted && options.strategy == JoinStrategy::automatic &&
           build.valid_mask == nullptr && probe.valid_mask == nullptr;
  }

  /// The pointers of `sides` to temporary storage are not set yet. A size query does not read `device`.
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, Sides sides, JoinOrder order,
                              const Sink& sink, const device_properties& device, cudaStream_t stream) {
    sides.tiles = ceiling_divide<unsigned long long>(sides.rows(), tile_items);
    const bool is_any = !MayBeOrdered || order == JoinOrder::any;
    warp_look_back tile_order{};
    // In an ordered join, unmatched build rows come after all others.
    tile_order.tiles = sides.kind == JoinKind::full && !is_any ? 2 * sides.tiles : sides.tiles;
    Layout storage;
    storage.template reserve<unsigned long long>(counters, 2);
    storage.template reserve<Row>(splits, sides.tiles + 1);
    if (has_rows) {
      storage.template reserve<unsigned long long>(listed_tiles, sides.tiles);
      storage.template reserve<unsigned long long>(begins, sides.tiles);
      storage.template reserve<unsigned long long>(chunk_ends, sides.tiles);
      if (!is_any) {
        storage.template reserve<unsigned>(states, tile_order.tiles);
        storage.template reserve<unsigned long long>(sums, tile_order.tiles);
        storage.template reserve<unsigned long long>(ends, tile_order.tiles);
      }
    }
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (!storage.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;

    sides.splits = storage.template get<Row>(splits);
    const auto get = [&](slot what) { return storage.template get<unsigned long long>(what); };
    join_tile_list list{};
    list.counter = get(counters);
    tile_order.ticket = get(counters) + 1;
    if (has_rows) {
      list.tiles = get(listed_tiles);
      list.begins = get(begins);
      list.chunk_ends = get(chunk_ends);
      if (!is_any) {
        tile_order.states = storage.template get<unsigned>(states);
        tile_order.sums = get(sums);
        tile_order.ends = get(ends);
      }
    }
    launch_configuration base{"strata::DeviceHashJoin", dim3(1), dim3(1)};
    base.stream = stream;
    base.programmatic = device.ptx_version >= 900;
    return run(sides, list, tile_order, base, device, sink);
  }

 private:
  enum slot { counters, splits, listed_tiles, begins, chunk_ends, states, sums, ends };
  static constexpr join_sorted_tuning tuning = ActivePolicy::sorted;

  static launch_configuration with_grid(launch_configuration base, unsigned long long blocks, int threads) {
    constexpr unsigned max_blocks = 0x7fffffff;
    base.grid = dim3(blocks < max_blocks ? static_cast<unsigned>(blocks) : max_blocks);
    base.block = dim3(static_cast<unsigned>(threads));
    return base;
  }

  static cudaError_t run(const Sides& sides, const join_tile_list& list, const warp_look_back& order,
                         const launch_configuration& base, const device_properties& device, const Sink& sink) {
    constexpr int split_threads = 128;
    // If searches are few, their latency counts; if they are many, their throughput.
    int log2_lanes = tuning.log2_split_lanes;
    while (log2_lanes > 0 && sides.tiles >> (16 - log2_lanes) != 0) --log2_lanes;
    const unsigned long long splitting = (sides.tiles + 1) << log2_lanes;
    cudaError_t status =
        strata::launch(with_grid(base, splitting / split_threads + 1, split_threads),
                       join_sorted_split_kernel<Key, Row>, sides, tile_items, log2_lanes, list.counter, order);
    if (status != cudaSuccess || sides.tiles == 0) return status;
    if constexpr (!has_rows) {
      return strata::launch(with_grid(base, sides.tiles, tuning.threads), join_sorted_count_kernel<MaxPolicy, Key, Row>,
                            sides);
    } else {
      auto* kernel = join_sorted_kernel<MaxPolicy, false, Index, Key, Row, Sink>;
      if constexpr (MayBeOrdered) {
        if (order.states != nullptr) kernel = join_sorted_kernel<MaxPolicy, true, Index, Key, Row, Sink>;
      }
      status = strata::launch(with_grid(base, order.tiles, tuning.threads), kernel, sides, list, order, sink);
      // Tiles in which no row has more than one result are never listed.
      const bool may_be_listed = detail::has_pairs(sides.kind) && !sides.promised_unique && sides.capacity > 0;
      if (status != cudaSuccess || !may_be_listed) return status;
      const auto max_chunks = sides.tiles + static_cast<unsigned long long>(sides.capacity) / join_output_chunk_rows;
      const unsigned long long resident = static_cast<unsigned long long>(device.multiprocessors) *
                                          static_cast<unsigned>(tuning.blocks_per_multiprocessor);
      return strata::launch(with_grid(base, max_chunks < resident ? max_chunks : resident, tuning.threads),
                            join_sorted_write_kernel<MaxPolicy, Index, Key, Row, Sink>, sides, list, sink);
    }
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
