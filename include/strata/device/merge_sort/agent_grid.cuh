// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/merge_sort/agent_merge_ranges.cuh>
#include <strata/device/merge_sort/agent_tile.cuh>
#include <strata/device/merge_sort/tuning.hpp>
#include <strata/device/merge_sort/workspace.cuh>

#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A barrier of the blocks of a cluster that is the whole grid, in place of grid_barrier. All blocks wait for all.
struct merge_sort_cluster_barrier {
  STRATA_D explicit merge_sort_cluster_barrier(const grid_barrier_arguments&) {}
  STRATA_D static void arrive() {}
  STRATA_D static void wait_for(unsigned, unsigned) { platform::cluster_sync(); }
  STRATA_D static void leave(bool&) {}
};

/// Which blocks sort the segment, and where it begins in the input: all blocks of the grid, at the first item.
/// part_of_grid (agent_segments_grid.cuh) is for one of several segments.
struct whole_grid {
  static constexpr unsigned first_block = 0;
  static constexpr long long begin = 0;
  /// No earlier kernel of the call clears the flags of the barrier.
  static constexpr bool is_only_kernel = true;

  STRATA_D static unsigned blocks() { return gridDim.x; }
};

/// A block of a sort of one segment in one launch. All blocks are resident, and each has a tile. It sorts the tile.
/// Then, in each level, two runs are merged, and the block makes the items of the result that belong at the positions
/// of its tile.
///
///     block     0      1      2      3      4
///     level 0   0      +      1 | 2  +  3 | 4       tiles
///     level 1   0 .. 1    +     2 .. 3    | 4
///     level 2   0        ..          3    + 4
///
/// Levels alternate between output and buffer, so that the last level writes the output. Before a level, a block waits
/// only for the blocks whose items come to the same merge. These blocks have written the items that it reads, and no
/// other blocks have read the items that it overwrites.
template <class Row, class Blocks, class Key, class Value, class KeysIn, class ValuesIn, class Compare>
class AgentMergeSortGrid {
  static constexpr merge_sort_grid_tuning row = Row::value;
  static constexpr int block_threads = row.block_threads;
  using Arrays = merge_sort_arrays<Key, Value>;
  using Tile = AgentSegmentTile<block_threads, row.items_per_thread, Key, Value, KeysIn, ValuesIn, Compare>;
  using Runs = merge_arrays<const Key*, const Value*, const Key*, const Value*, Key*, Value*, unsigned>;
  using Barrier = std::conditional_t<row.cluster_blocks != 0, merge_sort_cluster_barrier, grid_barrier<block_threads>>;
  struct merge_policy {
    static constexpr merge_tuning tuning{block_threads, row.items_per_thread, row.blocks_per_multiprocessor, 0};
  };
  using Merge = AgentMerge<merge_policy, Runs, const Compare>;

 public:
  union TempStorage {
    typename Tile::TempStorage tile;
    typename Merge::TempStorage merge;
    bool is_last;
  };

  /// `output` and `buffer` begin with the segment.
  STRATA_D AgentMergeSortGrid(unsigned char* shared, const Blocks& blocks, const Arrays& output, const Arrays& buffer,
                              unsigned num_items, unsigned tile_items, const Compare& compare)
      : storage_(*reinterpret_cast<TempStorage*>(shared)),
        blocks_(blocks),
        output_(output),
        buffer_(buffer),
        num_items_(num_items),
        tile_items_(tile_items),
        compare_(compare) {}

  STRATA_D void sort(const KeysIn& keys, const ValuesIn& values, const grid_barrier_arguments& arguments) {
    Barrier barrier(arguments);
    if constexpr (Blocks::is_only_kernel) {
      if (blockIdx.x == 0 && threadIdx.x == 0) *arguments.departures = 0;
    }
    const int levels = detail::log2_ceiling(blocks_.blocks());
    sort_tile(keys, values, levels % 2 == 0 ? output_ : buffer_);
    STRATA_UNROLL_N(1)
    for (int level = 0; level < levels; ++level) {
      const unsigned first = (blockIdx.x - blocks_.first_block) & -(2u << level), end = first + (2u << level);
      barrier.arrive();
      barrier.wait_for(blocks_.first_block + first, blocks_.first_block + detail::least(end, blocks_.blocks()));
      const bool to_output = (levels - level) % 2 != 0;
      merge(first * tile_items_, tile_items_ << level, to_output ? buffer_ : output_, to_output ? output_ : buffer_);
    }
    if constexpr (Blocks::is_only_kernel) {
      if (levels > 0) barrier.leave(storage_.is_last);
    }
  }

 private:
  STRATA_D unsigned first_item() const { return (blockIdx.x - blocks_.first_block) * tile_items_; }
  STRATA_D unsigned items() const {
    const unsigned left = num_items_ - first_item();
    return detail::least(left, tile_items_);
  }

  STRATA_D void sort_tile(const KeysIn& keys, const ValuesIn& values, const Arrays& to) {
    Tile tile(storage_.tile, keys, values, compare_);
    tile.sort_segment(blocks_.begin + first_item(), static_cast<int>(items()));
    tile.store_segment(first_item(), static_cast<int>(items()), to);
  }

  /// Makes the block's part of the merge of two runs. These begin at item `first`, and have `run_items` items each, or
  /// what is left.
  STRATA_D void merge(unsigned first, unsigned run_items, const Arrays& from, const Arrays& to) {
    const unsigned left = num_items_ - first, count1 = detail::least(left, run_items);
    const unsigned rest = left - count1, count2 = detail::least(rest, run_items), second = first + count1;
    const Arrays run1 = from.at(first, first), run2 = from.at(second, second), result = to.at(first, first);
    const Runs runs{run1.keys, run1.values, count1, run2.keys, run2.values, count2, result.keys, result.values};
    Merge(storage_.merge, runs, compare_).merge_from(first_item() - first, items());
  }

  TempStorage& storage_;
  const Blocks& blocks_;
  const Arrays& output_;
  const Arrays& buffer_;
  unsigned num_items_, tile_items_;
  const Compare& compare_;
};

}  // namespace detail
STRATA_NAMESPACE_END
