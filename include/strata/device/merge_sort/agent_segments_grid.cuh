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

/// How a grid finds the segments that it sorts.
enum class segments_plan {
  /// An earlier kernel has queued them, and cleared the flags of the barrier.
  queued,
  /// There are few segments, and an earlier kernel has sorted the short ones. Each block reads all lengths, and ends if
  /// no segment is for the grid. No earlier kernel has cleared anything: block 0 clears the counters and queues the
  /// segments, and all blocks wait for it.
  few,
  /// Like `few`, without an earlier kernel.
  few_and_all
};

/// A block of a grid that sorts, in one launch, all segments, or those that an earlier kernel has left. All blocks are
/// resident, and there are more blocks than tiles of long segments:
///
///     block      0     1     2     3     4     5     6     7     8
///     tiles     | segment A       | B         | C         |
///     segments                                             | queued ones, by tickets
///
/// The blocks of a long segment sort and merge its tiles as AgentMergeSortGrid does. While they sort, they wait for
/// each other, and for no other block.
template <class Row, class Key, class Value, class KeysIn, class ValuesIn, class Compare>
class AgentSegmentsGrid {
  static constexpr merge_sort_grid_tuning row = Row::value;
  static constexpr auto largest_tile = static_cast<unsigned>(row.tile_items());
  using Arrays = merge_sort_arrays<Key, Value>;
  using Sort = AgentMergeSortGrid<Row, part_of_grid, Key, Value, KeysIn, ValuesIn, Compare>;
  using Tile = AgentSegmentTile<row.block_threads, row.items_per_thread, Key, Value, KeysIn, ValuesIn, Compare>;

 public:
  /// The state is in shared memory, because sorts need all registers.
  struct State {
    part_of_grid blocks;
    Arrays output, buffer;  // from the segment on
    unsigned num_items, tile_items;
    queued_segments_state queue;
    bool is_last;
  };
  struct TempStorage {
    // The first member, so that offsets of a tile in shared memory are constants.
    typename Sort::TempStorage sort;
    State state;
  };

  STRATA_D AgentSegmentsGrid(unsigned char* shared, const merge_sort_workspace& workspace, const Compare& compare)
      : shared_(shared), workspace_(workspace), compare_(compare) {}

  /// Sorts the segments as `plan` says, except those that are for an earlier kernel.
  template <class Segments>
  STRATA_D void sort(segments_plan plan, const KeysIn& keys, const ValuesIn& values, const Segments& segments,
                     long long num_segments, const segment_limits& limits, const Arrays& output, const Arrays& merged,
                     const Arrays& buffer, const grid_barrier_arguments& arguments) {
    grid_barrier<row.block_threads> barrier(arguments);
    grid_barrier_arguments passed = arguments;
    if (plan != segments_plan::queued) {
      // With `few`, the lengths are read before the wait: the previous kernel does not write the offsets, and it has
      // waited for the kernels before it.
      if (plan == segments_plan::few_and_all) platform::wait_for_previous_kernel();
      const bool has_segments = has_any(segments, num_segments, limits);
      if (plan == segments_plan::few) platform::wait_for_previous_kernel();
      if (!has_segments) return;
      if (blockIdx.x == 0) queue_all(segments, num_segments, limits);
      barrier.arrive();
      barrier.wait();
      ++passed.epoch;
    }
    sort_queued(keys, values, segments, limits, output, merged, buffer, passed);
    if (plan != segments_plan::queued) barrier.leave(state().is_last);
  }

 private:
  /// True if a segment is longer than those that the earlier kernel sorts.
  template <class Segments>
  STRATA_D static bool has_any(const Segments& segments, long long num_segments, const segment_limits& limits) {
    bool found = false;
    for (long long i = threadIdx.x; i < num_segments; i += row.block_threads) {
      const long long length = segments(i).length;
      found = found || limits.is_queued(length) || limits.is_split(length);
    }
    return __syncthreads_or(found ? 1 : 0) != 0;
  }

  /// Clears the counters and queues the segments. One block calls this.
  template <class Segments>
  STRATA_D void queue_all(const Segments& segments, long long num_segments, const segment_limits& limits) const {
    if (threadIdx.x == 0) *workspace_.progress = merge_sort_progress{};
    __syncthreads();
    STRATA_UNROLL_N(1)
    for (long long first = 0; first < num_segments; first += row.block_threads) {
      const long long i = first + threadIdx.x;
      segment_bounds bounds{0, 0};
      if (i < num_segments) bounds = segments(i);
      detail::enqueue(workspace_, limits, i, bounds, i < num_segments);
    }
  }

  /// `merged` is the output, or a scratch array for keys that have no output.
  template <class Segments>
  STRATA_D void sort_queued(const KeysIn& keys, const ValuesIn& values, const Segments& segments,
                            const segment_limits& limits, const Arrays& output, const Arrays& merged,
                            const Arrays& buffer, const grid_barrier_arguments& barrier) {
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

  STRATA_D TempStorage& storage() const { return *reinterpret_cast<TempStorage*>(shared_); }
  STRATA_D State& state() const { return storage().state; }

  /// Plans the block's tile. Returns false if it has none.
  STRATA_D bool plan(const Arrays& merged, const Arrays& buffer) const {
    const unsigned owner = workspace_.tiles[blockIdx.x];
    if (owner == merge_sort_workspace::no_segment) return false;
    const split_segment& whole = workspace_.split[owner];
    const auto items = static_cast<unsigned>(whole.length), first_block = static_cast<unsigned>(whole.first_tile);
    // There are no more tiles than with tiles of the largest size. All but the last have the same size.
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
