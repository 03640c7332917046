// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/engine/segments.cuh>
#include <strata/device/merge_sort/agent_grid.cuh>
#include <strata/device/merge_sort/agent_segments.cuh>
#include <strata/device/merge_sort/agent_tile.cuh>
#include <strata/device/merge_sort/workspace.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Some neighbouring blocks of a grid, which sort one segment of several.
struct part_of_grid {
  unsigned first_block;
  unsigned count;
  long long begin;
  static constexpr bool is_only_kernel = false;

  STRATA_D unsigned blocks() const { return count; }
};

/// A block of a sort of all segments that an earlier kernel has left, in one launch. All blocks are resident, and there
/// are more than tiles of long segments:
///
///     block      0     1     2     3     4     5     6     7     8
///     tiles     | segment A       | B         | C         |
///     segments                                             | queued ones, by tickets
///
/// The blocks of a long segment sort and merge its tiles as AgentMergeSortGrid does. They wait for each other, and for
/// no other block.
template <class Row, class Key, class Value, class KeysIn, class ValuesIn, class Compare>
class AgentSegmentsGrid {
  static constexpr merge_sort_grid_tuning row = Row::value;
  static constexpr auto largest_tile = static_cast<unsigned>(row.tile_items());
  using Arrays = merge_sort_arrays<Key, Value>;
  using Sort = AgentMergeSortGrid<Row, part_of_grid, Key, Value, KeysIn, ValuesIn, Compare>;
  using Tile = AgentSegmentTile<row.block_threads, row.items_per_thread, Key, Value, KeysIn, ValuesIn, Compare>;

 public:
  /// In shared memory: sorts need all registers.
  struct State {
    part_of_grid blocks;
    Arrays output, buffer;  // from the segment on
    unsigned num_items, tile_items;
    queued_segments_state queue;
  };
  struct TempStorage {
    // First: offsets of a tile in shared memory are constants.
    typename Sort::TempStorage sort;
    State state;
  };

  STRATA_D AgentSegmentsGrid(unsigned char* shared, const merge_sort_workspace& workspace, const Compare& compare)
      : shared_(shared), workspace_(workspace), compare_(compare) {}

  /// `merged` is the output, or a scratch array for keys that have no output.
  template <class Segments>
  STRATA_D void sort(const KeysIn& keys, const ValuesIn& values, const Segments& segments, const segment_limits& limits,
                     const Arrays& output, const Arrays& merged, const Arrays& buffer,
                     const grid_barrier_arguments& barrier) {
    if (blockIdx.x < workspace_.num_tiles()) {
      if (plan(merged, buffer)) {
        const State& state = this->state();
        Sort(shared_, state.blocks, state.output, state.buffer, state.num_items, state.tile_items, compare_)
            .sort(keys, values, barrier);
      }
    } else {
      merge_sort_workspace queue = workspace_;
      queue.tile_capacity = 0;  // All tickets are for queued segments.
      Tile tile(storage().sort.tile, keys, values, compare_);
      AgentQueuedSegments<Tile>(tile, state().queue, limits, queue).sort(segments, output, merged, buffer);
    }
  }

 private:
  STRATA_D TempStorage& storage() const { return *reinterpret_cast<TempStorage*>(shared_); }
  STRATA_D State& state() const { return storage().state; }

  /// False if the block has no tile.
  STRATA_D bool plan(const Arrays& merged, const Arrays& buffer) const {
    const unsigned owner = workspace_.tiles[blockIdx.x];
    if (owner == merge_sort_workspace::no_segment) return false;
    const split_segment& whole = workspace_.split[owner];
    const auto items = static_cast<unsigned>(whole.length), first_block = static_cast<unsigned>(whole.first_tile);
    // Tiles of equal size, of which there may be fewer than of the largest size.
    const unsigned tile_items =
        round_up(ceiling_divide(items, ceiling_divide(items, largest_tile)), static_cast<unsigned>(warp_threads));
    const unsigned count = ceiling_divide(items, tile_items);
    if (blockIdx.x - first_block >= count) return false;
    if (threadIdx.x == 0) {
      const long long begin = whole.begin, in_buffer = whole.buffer_begin;
      State& state = this->state();
      state.blocks = {first_block, count, begin};
      state.output = merged.at(workspace_.keys_are_scratch ? in_buffer : begin, begin);
      state.buffer = buffer.at(in_buffer, in_buffer);
      state.num_items = items;
      state.tile_items = tile_items;
    }
    __syncthreads();
    return true;
  }

  unsigned char* shared_;
  const merge_sort_workspace& workspace_;
  const Compare& compare_;
};

}  // namespace detail
STRATA_NAMESPACE_END
