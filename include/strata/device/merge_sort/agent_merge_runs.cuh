// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/segment_tile.cuh>
#include <strata/block/specializations/vector_transfer.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/merge_sort/agent_tile.cuh>
#include <strata/device/merge_sort/merge_plan.cuh>
#include <strata/device/merge_sort/split_runs.cuh>
#include <strata/device/merge_sort/workspace.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A block of the merges of long segments. Each level merges the runs of a segment four at a time, from the output to
/// the buffer or back. Blocks take tiles of the result by tickets and find by a search which items of the four runs
/// belong there. A barrier of the grid separates two levels.
///
/// The searches leave it open whether a few items at both ends of a tile belong to it. All of them are merged, and the
/// tile stores only its own items. A tile is merged twice in shared memory: first the runs 0 and 1, and beside them 2
/// and 3; then both results, the second one stored in reverse.
///
/// AgentMerge (agent_merge_ranges.cuh) is another agent: it merges two runs whose ends are known exactly, and gathers
/// values from device memory. Both merge in shared memory by merge_in_tile.
///
/// A segment takes part in as many levels as it needs. For `TilesOfRun` see SegmentMergePlan.
template <int BlockThreads, int ItemsPerThread, int TileItems, int TilesOfRun, class Key, class Value, class Compare>
class AgentSegmentMerge {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static constexpr bool has_values = !std::is_same_v<Value, NullType>;
  using Item = segment_item<Key, Value>;
  using Arrays = merge_sort_arrays<Key, Value>;
  using Plan = SegmentMergePlan<BlockThreads, ItemsPerThread, TileItems, TilesOfRun, Key, Value, Compare>;
  static constexpr int max_open = Plan::max_open;
  static constexpr bool has_vectors = !has_values && transfers_vectors<Key>;
  using vectors = vector_transfer<Key, BlockThreads>;
  static constexpr int vector_items = sizeof(Item) < 16 ? 16 / static_cast<int>(sizeof(Item)) : 1;
  // Threads at the ends of a merge read before and behind its items.
  static constexpr int margin = round_up(ItemsPerThread, vector_items);
  using Memory = segment_tile<Item, 1, margin + Plan::capacity_items + 2 * merge_ways * vector_items + margin>;

 public:
  struct TempStorage {
    Memory memory;
    typename Plan::TempStorage plan;
  };

  STRATA_D AgentSegmentMerge(TempStorage& storage, const merge_sort_workspace& workspace, const Arrays& output,
                             const Arrays& buffer, const Compare& compare, int tiles_of_run = TilesOfRun)
      : storage_(storage),
        workspace_(workspace),
        plan_(storage.plan, workspace, output, buffer, compare, tiles_of_run),
        output_(output),
        buffer_(buffer),
        compare_(compare) {}

  STRATA_D void merge(const grid_barrier_arguments& arguments) {
    STRATA_UNROLL_N(1)
    for (unsigned level = 0; level < workspace_.progress->levels; ++level) {
      // One barrier for each level, with an epoch of its own. A barrier for all levels would keep its phase in
      // registers during the merges; the sum of epoch and level is computed when it is needed.
      grid_barrier<BlockThreads> barrier({arguments.flags, nullptr, arguments.epoch + level, false});
      if (level > 0) barrier.arrive();
      plan_.begin(level);
      if (level > 0) barrier.wait();
      STRATA_UNROLL_N(1)
      while (plan_.has_next()) {
        plan_.next(level);
        STRATA_UNROLL_N(1)
        for (int t = 0; t < plan_.count(); ++t) merge(plan_.tile(t));
        __syncthreads();
      }
    }
  }

 private:
  STRATA_D static int thread() { return detail::reloaded_thread_index(); }

  STRATA_D void merge(const merge_tile& planned) {
    if (planned.items == 0) return;
    int begins[merge_ways];
    load(planned, begins);
    const int count1 = planned.counts[0] + planned.counts[1];
    const int count2 = planned.counts[2] + planned.counts[3];
    Item merged[items_per_thread];
    // Threads of the first merge, then those of the second.
    const int threads1 = (count1 + ItemsPerThread - 1) / ItemsPerThread;
    {
      const int index = thread();
      const bool is2 = index >= threads1;
      const int diagonal = (is2 ? index - threads1 : index) * ItemsPerThread;
      if (diagonal < (is2 ? count2 : count1)) {
        merge_runs(is2 ? begins[2] : begins[0], planned.counts[is2 ? 2 : 0], is2 ? begins[3] : begins[1],
                   planned.counts[is2 ? 3 : 1], diagonal, merged);
      } else {
        // A register that is unset on this path counts as occupied throughout the loop.
        clear(merged);
      }
    }
    __syncthreads();
    const int origin = origin_of(planned);
    int skipped = planned.skipped;  // how many of the merged items lie before the tile
    if (count2 > 0) {
      const int index = thread();
      const bool is2 = index >= threads1;
      const int diagonal = (is2 ? index - threads1 : index) * ItemsPerThread;
      if (is2) {
        put(margin + count1 + count2 - 1, -1, diagonal, count2, merged);
      } else {
        put(margin, 1, diagonal, count1, merged);
      }
      __syncthreads();
      if (index * ItemsPerThread < planned.items) {
        merge_opposed(count1, count2, skipped + index * ItemsPerThread, merged);
      } else {
        clear(merged);
      }
      __syncthreads();
      skipped = 0;
    }
    put(origin - skipped, 1, thread() * ItemsPerThread, skipped + planned.items, merged);
    __syncthreads();
    store(planned, origin);
  }

  STRATA_D static void clear(Item (&items)[items_per_thread]) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) items[i] = Item{};
  }

  /// Loads the parts of the runs to shared memory, at the indices `begins`.
  STRATA_D void load(const merge_tile& planned, int (&begins)[merge_ways]) {
    Memory& memory = storage_.memory;
    const Arrays& from = planned.from_buffer ? buffer_ : output_;
    const Key* const keys = from.keys + planned.keys_from;
    int next = margin;
    STRATA_UNROLL
    for (int run = 0; run < merge_ways; ++run) {
      const int count = planned.counts[run];
      const long long first = planned.from[run];
      if constexpr (has_vectors) {
        begins[run] = round_up(next, vector_items) + vectors::surplus(keys + first);
        vectors::load(thread(), keys + first, count, memory.at(begins[run]));
      } else {
        begins[run] = next;
        STRATA_UNROLL_N(4)
        for (int i = thread(); i < count; i += BlockThreads) {
          Item* const item = memory.at(next + i);
          if constexpr (has_values) {
            detail::load_part(&item->key, keys, first + i);
            detail::load_part(&item->value, static_cast<const Value*>(from.values), first + i);
          } else {
            detail::load_part(item, keys, first + i);
          }
        }
      }
      next = begins[run] + count;
    }
    // The searches load keys while the copies are in flight.
    plan_.make_steps();
    platform::wait_for_async_copies();
    __syncthreads();
  }

  /// `step` is 1 or -1.
  STRATA_D void put(int origin, int step, int diagonal, int count, const Item (&merged)[items_per_thread]) {
    Memory& memory = storage_.memory;
    const int left = count - diagonal, first = origin + step * diagonal;
    if (left >= ItemsPerThread) {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) memory.put(first + step * i, merged[i]);
    } else {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) {
        if (i < left) memory.put(first + step * i, merged[i]);
      }
    }
  }

  STRATA_D const Arrays& target_of(const merge_tile& planned) const { return planned.from_buffer ? output_ : buffer_; }
  /// The index of the result in shared memory. Skipped items lie before it.
  STRATA_D int origin_of(const merge_tile& planned) const {
    const int first = margin + round_up(max_open, vector_items);
    if constexpr (has_vectors) {
      return first + vectors::surplus(target_of(planned).keys + planned.to + planned.keys_to);
    } else {
      return first;
    }
  }

  STRATA_D void store(const merge_tile& planned, int origin) {
    const Arrays& to = target_of(planned);
    const int items = planned.items;
    const long long target = planned.to;
    Key* const keys_to = to.keys + target + planned.keys_to;
    if constexpr (has_vectors) {
      vectors::store(thread(), storage_.memory.at(origin), items, keys_to);
    } else {
      STRATA_UNROLL_N(4)
      for (int i = thread(); i < items; i += BlockThreads) {
        const Item* const item = storage_.memory.at(origin + i);
        keys_to[i] = detail::key_of(*item);
        if constexpr (has_values) to.values[target + i] = item->value;
      }
    }
    __syncthreads();
  }

  /// A thread's slice, from `diagonal` on, of the stable merge of two runs.
  STRATA_D void merge_runs(int begin1, int count1, int begin2, int count2, int diagonal,
                           Item (&merged)[items_per_thread]) {
    Memory& memory = storage_.memory;
    platform::may_be_unwritten(memory.at(begin1 + count1), sizeof(Item) * items_per_thread);
    platform::may_be_unwritten(memory.at(begin2 + count2), sizeof(Item));
    detail::merge_in_tile<1, ItemsPerThread>(memory, begin1, count1, begin2, count2, diagonal, merged, compare_);
  }

  /// Merges two runs that lie side by side, the second one in reverse order.
  STRATA_D void merge_opposed(int count1, int count2, int diagonal, Item (&merged)[items_per_thread]) {
    Memory& memory = storage_.memory;
    platform::may_be_unwritten(memory.at(0), sizeof(Item) * static_cast<std::size_t>(margin));
    detail::merge_in_tile<-1, ItemsPerThread>(memory, margin, count1, margin + count1 + count2 - 1, count2, diagonal,
                                              merged, compare_);
  }

  TempStorage& storage_;
  const merge_sort_workspace& workspace_;
  Plan plan_;
  const Arrays& output_;
  const Arrays& buffer_;
  const Compare& compare_;
};

}  // namespace detail
STRATA_NAMESPACE_END
