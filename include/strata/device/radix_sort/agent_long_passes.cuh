// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/work_done.cuh>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/radix_sort/agent_pass.cuh>
#include <strata/device/radix_sort/long_segments.cuh>
#include <strata/device/radix_sort/problem.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// All passes over the long segments. A block takes one tile of one pass after another, by tickets:
///
///     ticket     0  1  2  3  4    5  6  7  8  9    ...        of 5 tiles in all long segments
///     pass       first            second                      that the tile's segment does not skip
///     tile       0  1  2  3  4    0  1  2  3  4
///
/// Before a block moves a tile, it waits until the pass before has moved all tiles of the same segment. Then it moves
/// the tile as AgentRadixPass does, whose look-back waits for tiles before it in the same pass.
///
/// Forward progress: both wait for lower tickets only.
///
/// `ValueIterator` is NullType for sorts of keys.
template <class Policy, class Key, class ValueIterator, class Value, class Digits, class State>
class AgentLongSegmentPasses {
  static constexpr int max_passes = ceiling_divide(Digits::key_bits, radix_bits);
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  using Pass = AgentRadixPass<Policy, const Key*, ValueIterator, Digits, State>;
  using KeyBuffers = radix_buffers<const Key*, Key>;
  using ValueBuffers = radix_buffers<ValueIterator, Value>;
  using Segments = long_segments<max_passes>;
  using Segment = typename Segments::Segment;

 public:
  static constexpr std::size_t tile_items = Pass::tile_items;

  struct TempStorage {
    // Of the segment of the block's tile, by thread 0.
    KeyBuffers keys;
    ValueBuffers values;
    radix_workspace workspace;
    Segment* segment;
    unsigned long long length;
    unsigned long long first_tile;
    unsigned long long tiles;
    int passes;
    int complete_passes;  // at least so many have moved all tiles
    // Of the tile.
    bool is_over;  // there is none
    int pass;
    std::size_t tile;
  };

  /// Dynamic shared memory: what a pass needs lies behind the rest.
  static constexpr std::size_t pass_offset = round_up(sizeof(TempStorage), std::size_t{128});
  static constexpr std::size_t shared_bytes = pass_offset + Pass::shared_bytes;

  STRATA_D AgentLongSegmentPasses(unsigned char* shared, const KeyBuffers& keys, const ValueBuffers& values,
                                  const radix_bit_range& range, const Digits& digits, const Segments& segments,
                                  long_segment_progress* progress)
      : storage_(*reinterpret_cast<TempStorage*>(shared)),
        shared_(shared + pass_offset),
        keys_(keys),
        values_(values),
        range_(range),
        digits_(digits),
        segments_(segments),
        progress_(progress) {}

  STRATA_D void run() {
    const unsigned long long tiles = long_segment_count::of(progress_->listed).tiles;
    if (tiles == 0) return;
    if (threadIdx.x == 0) storage_.first_tile = storage_.tiles = 0;  // no segment
    for (;;) {
      if (threadIdx.x == 0) storage_.is_over = !take_tile(tiles);
      __syncthreads();
      if (storage_.is_over) return;
      move_tile(shared_, storage_, range_, digits_);
      __syncthreads();
      if (threadIdx.x == 0) detail::add_done(&storage_.segment->tiles_moved, 1);
    }
  }

 private:
  // A function of its own: inlined into the loop over tiles, ptxas spills a hundred registers.
  STRATA_DETAIL_D_NOINLINE static void move_tile(unsigned char* shared, const TempStorage& storage,
                                                 const radix_bit_range& range, const Digits& digits) {
    Pass(shared, storage.keys, storage.values, static_cast<std::size_t>(storage.length), storage.pass, range, digits,
         storage.workspace)
        .move_tile(storage.tile);
  }

  // By one thread: false if there is no tile left.
  STRATA_D bool take_tile(unsigned long long tiles) const {
    for (;;) {
      const unsigned long long ticket = detail::take_ticket(&progress_->tickets);
      const unsigned long long order = ticket / tiles;
      const unsigned long long tile = ticket - order * tiles;
      if (order >= progress_->most_passes) return false;
      // The unsigned difference is large if the tile comes before the segment.
      if (tile - storage_.first_tile >= storage_.tiles) load_segment(segments_.segment_of_tile[tile]);
      const auto passes_before = static_cast<int>(order);
      if (passes_before >= storage_.passes) continue;
      if (passes_before > storage_.complete_passes) {
        detail::wait_until_done(&storage_.segment->tiles_moved, order * storage_.tiles);
        storage_.complete_passes = passes_before;
      }
      storage_.pass = storage_.segment->passes_in_order[passes_before];
      storage_.tile = static_cast<std::size_t>(tile - storage_.first_tile);
      return true;
    }
  }

  STRATA_D void load_segment(unsigned index) const {
    Segment& segment = segments_.list[index];
    storage_.keys = {keys_.input + segment.begin, keys_.output + segment.keys_out_begin,
                     keys_.scratch + segment.scratch_begin};
    if constexpr (has_values) {
      storage_.values = {detail::advanced(values_.input, static_cast<std::size_t>(segment.begin)),
                         values_.output + segment.begin, values_.scratch + segment.scratch_begin};
    }
    const std::size_t first_state = static_cast<std::size_t>(segment.first_tile) * radix_bins;
    storage_.workspace = {};
    storage_.workspace.bins = segments_.bins_of(index);
    storage_.workspace.plan = segment.plan;
    for (int i = 0; i < 2; ++i) storage_.workspace.states[i] = static_cast<State*>(segments_.states[i]) + first_state;
    storage_.segment = &segment;
    storage_.length = segment.length;
    storage_.first_tile = segment.first_tile;
    storage_.tiles = segment.tiles;
    storage_.passes = segment.passes;
    storage_.complete_passes = 0;
  }

  TempStorage& storage_;
  unsigned char* shared_;
  const KeyBuffers& keys_;
  const ValueBuffers& values_;
  const radix_bit_range& range_;
  const Digits& digits_;
  const Segments& segments_;
  long_segment_progress* progress_;
};

}  // namespace detail
STRATA_NAMESPACE_END
