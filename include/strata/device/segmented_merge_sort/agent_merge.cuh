// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/segment_tile.cuh>
#include <strata/block/specializations/serial_merge.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/grid_barrier.cuh>
#include <strata/device/segmented_merge_sort/merge_plan.cuh>
#include <strata/device/segmented_merge_sort/split_runs.cuh>
#include <strata/device/segmented_merge_sort/transfer.cuh>
#include <strata/device/segmented_merge_sort/workspace.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// One block of the merges of long segments. In each level the runs of a segment are merged four by four,
/// from the output to the buffer or back; blocks take tiles of the results in turn and find by a search
/// which items of the four runs belong there. Between two levels, all blocks meet.
///
/// The searches leave open a few items at both ends of a tile, which are merged with the others and not
/// stored. A tile is merged twice in shared memory: the first two runs and the last two beside each
/// other, then both results, the second of which lies there in reverse.
///
/// A segment takes part in as many levels as it needs. `RunItems` is the length of the runs of the first.
template <int BlockThreads, int ItemsPerThread, int TileItems, int RunItems, class Key, class Value,
          class Compare>
class AgentSegmentMerge {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static constexpr bool has_values = !std::is_same_v<Value, NullType>;
  using Item = segment_item<Key, Value>;
  using Arrays = merge_sort_arrays<Key, Value>;
  using Plan = SegmentMergePlan<BlockThreads, ItemsPerThread, TileItems, RunItems, Key, Value, Compare>;
  static constexpr int most_open = Plan::most_open;
  static constexpr bool has_vectors = !has_values && transfers_vectors<Key>;
  using vectors = vector_transfer<Key, BlockThreads>;
  static constexpr int vector_items =
      sizeof(Item) < 16 ? 16 / static_cast<int>(sizeof(Item)) : 1;
  // Threads that have no more items to merge go on to read, before and behind what there is.
  static constexpr int margin = round_up(ItemsPerThread, vector_items);
  using Memory = segment_tile<Item, 1, margin + Plan::room_items + 2 * merge_ways * vector_items + margin>;

 public:
  struct TempStorage {
    Memory memory;
    typename Plan::TempStorage plan;
  };

  STRATA_D AgentSegmentMerge(TempStorage& storage, const merge_sort_workspace& workspace,
                             const Arrays& output, const Arrays& buffer, const Compare& compare)
      : storage_(storage),
        workspace_(workspace),
        plan_(storage.plan, workspace, output, buffer, compare),
        output_(output),
        buffer_(buffer),
        compare_(compare) {}

  STRATA_D void merge(const grid_barrier_arguments& meeting) {
    STRATA_UNROLL_N(1)
    for (unsigned level = 0; level < workspace_.progress->levels; ++level) {
      // Told from the others by its tag, which may be taken from memory when it is needed.
      grid_barrier<BlockThreads> barrier({meeting.flags, nullptr, meeting.tag + level, false});
      if (level > 0) barrier.arrive();
      plan_.begin(level);
      if (level > 0) barrier.wait();
      STRATA_UNROLL_N(1)
      while (plan_.has_next()) {
        plan_.next(level);
        STRATA_UNROLL_N(1)
        for (int s = 0; s < plan_.count(); ++s) merge_tile(plan_.share(s));
        __syncthreads();
      }
    }
  }

 private:
  /// Computed again where it is needed, so that nothing that depends on it takes registers in between.
  STRATA_D static int thread() {
    int thread = static_cast<int>(threadIdx.x);
    platform::forget(thread);
    return thread;
  }

  STRATA_D void merge_tile(const merge_share& planned) {
    if (planned.items == 0) return;
    int begins[merge_ways];
    load(planned, begins);
    const int count1 = planned.counts[0] + planned.counts[1];
    const int count2 = planned.counts[2] + planned.counts[3];
    Item merged[items_per_thread];
    // Threads of the first merge, then those of the second.
    const int threads1 = (count1 + ItemsPerThread - 1) / ItemsPerThread;
    {
      const int mine = thread();
      const bool is2 = mine >= threads1;
      const int diagonal = (is2 ? mine - threads1 : mine) * ItemsPerThread;
      if (diagonal < (is2 ? count2 : count1)) {
        merge_runs(is2 ? begins[2] : begins[0], planned.counts[is2 ? 2 : 0],
                   is2 ? begins[3] : begins[1], planned.counts[is2 ? 3 : 1], diagonal, merged);
      } else {
        // Registers that are unset here would be taken for occupied through all of the loop.
        clear(merged);
      }
    }
    __syncthreads();
    const int origin = origin_of(planned);
    if (count2 == 0) {
      put(origin - planned.skipped, 1, thread() * ItemsPerThread, planned.skipped + planned.items,
          merged);
    } else {
      const int mine = thread();
      const bool is2 = mine >= threads1;
      const int diagonal = (is2 ? mine - threads1 : mine) * ItemsPerThread;
      if (is2) {
        put(margin + count1 + count2 - 1, -1, diagonal, count2, merged);
      } else {
        put(margin, 1, diagonal, count1, merged);
      }
      __syncthreads();
      if (mine * ItemsPerThread < planned.items) {
        merge_opposed(count1, count2, planned.skipped + mine * ItemsPerThread, merged);
      } else {
        clear(merged);
      }
      __syncthreads();
      put(origin, 1, thread() * ItemsPerThread, planned.items, merged);
    }
    __syncthreads();
    store(planned, origin);
  }

  STRATA_D static void clear(Item (&items)[items_per_thread]) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) items[i] = Item{};
  }

  /// Brings the parts of the runs to shared memory; `begins` says where they are.
  STRATA_D void load(const merge_share& planned, int (&begins)[merge_ways]) {
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
    // The wait for items and the waits of the searches are one.
    plan_.go_on();
    platform::wait_for_async_copies();
    __syncthreads();
  }

  /// `step` is 1 or -1.
  STRATA_D void put(int origin, int step, int diagonal, int count,
                    const Item (&merged)[items_per_thread]) {
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

  STRATA_D const Arrays& target_of(const merge_share& planned) const {
    return planned.from_buffer ? output_ : buffer_;
  }
  /// Where the result begins in shared memory; what is skipped has room before it.
  STRATA_D int origin_of(const merge_share& planned) const {
    const int least = margin + round_up(most_open, vector_items);
    if constexpr (has_vectors) {
      return least + vectors::surplus(target_of(planned).keys + planned.to + planned.keys_to);
    } else {
      return least;
    }
  }

  STRATA_D void store(const merge_share& planned, int origin) {
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

  /// A thread's items, from `diagonal` on, of the stable merge of two runs.
  STRATA_D void merge_runs(int begin1, int count1, int begin2, int count2, int diagonal,
                           Item (&merged)[items_per_thread]) {
    Memory& memory = storage_.memory;
    const int first =
        detail::split_runs_of_tile<1>(memory, begin1, count1, begin2, count2, diagonal, compare_);
    const int end1 = begin1 + count1, end2 = begin2 + count2;
    platform::may_be_unwritten(memory.at(end1), sizeof(Item) * items_per_thread);
    platform::may_be_unwritten(memory.at(end2), sizeof(Item));
    detail::merge_serially<ItemsPerThread>(memory, begin1 + first, end1, begin2 + diagonal - first,
                                           end2, merged, compare_);
  }

  /// The same of two runs side by side, the second of which lies in reverse.
  STRATA_D void merge_opposed(int count1, int count2, int diagonal, Item (&merged)[items_per_thread]) {
    Memory& memory = storage_.memory;
    const int end1 = margin + count1, last2 = end1 + count2 - 1;
    const int first =
        detail::split_runs_of_tile<-1>(memory, margin, count1, last2, count2, diagonal, compare_);
    platform::may_be_unwritten(memory.at(0), sizeof(Item) * static_cast<std::size_t>(margin));
    detail::merge_opposed_serially<ItemsPerThread>(memory, margin + first, end1,
                                                   last2 - (diagonal - first), merged, compare_);
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
