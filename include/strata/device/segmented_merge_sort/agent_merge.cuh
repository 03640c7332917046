// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/segment_tile.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/grid_barrier.cuh>
#include <strata/device/segmented_merge_sort/transfer.cuh>
#include <strata/device/segmented_merge_sort/workspace.cuh>
#include <strata/thread/thread_merge.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// One block of the merges of long segments. In each level the runs of a segment are merged pair by pair,
/// from the output to the buffer or back; blocks take tiles of the results in turn and find by a search
/// which items of the two runs belong there. Between two levels, all blocks meet.
///
/// A segment takes part in as many levels as it needs. `RunItems` is the length of the runs of the first.
template <int BlockThreads, int ItemsPerThread, int RunItems, class Key, class Value, class Compare>
class AgentSegmentMerge {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static constexpr bool has_values = !std::is_same_v<Value, NullType>;
  using Item = segment_item<Key, Value>;
  using Arrays = merge_sort_arrays<Key, Value>;
  static constexpr int tile_items = BlockThreads * ItemsPerThread;
  static constexpr int tiles_of_run = RunItems / tile_items;
  static_assert(RunItems % tile_items == 0,
                "segmented_merge_sort tuning: a tile of `large` must be some tiles of `merge`");
  static constexpr bool has_vectors = !has_values && transfers_vectors<Key>;
  using vectors = vector_transfer<Key, BlockThreads>;
  static constexpr int vector_items =
      sizeof(Item) < 16 ? 16 / static_cast<int>(sizeof(Item)) : 1;
  // Both runs may begin behind a multiple of 16 bytes; an item behind each is read, but not used.
  using Memory = segment_tile<Item, 1, tile_items + 3 * vector_items + 1>;

  /// A tile of the result of a merge.
  struct share {
    long long from1, from2, to;
    long long keys_from, keys_to;  // where keys are, behind where values are
    unsigned low_split;            // items of the first run before it, modulo 2^32
    int count1, count2;
    bool from_buffer;
  };
  static constexpr int shares_at_once = 32;

 public:
  struct TempStorage {
    Memory memory;
    share shares[shares_at_once];
    unsigned ends[shares_at_once];
    unsigned tile;  // In shared memory: merges need all registers.
    int count;      // of shares
  };

  STRATA_D AgentSegmentMerge(TempStorage& storage, const merge_sort_workspace& workspace,
                             const Arrays& output, const Arrays& buffer, const Compare& compare)
      : storage_(storage),
        workspace_(workspace),
        output_(output),
        buffer_(buffer),
        compare_(compare) {}

  STRATA_D void merge(const grid_barrier_arguments& meeting) {
    STRATA_UNROLL_N(1)
    for (unsigned level = 0; level < workspace_.progress->levels; ++level) {
      if (level > 0) {
        // Told from the others by its tag, which may be taken from memory when it is needed.
        grid_barrier<BlockThreads> barrier({meeting.flags, nullptr, meeting.tag + level, false});
        barrier.arrive();
        barrier.wait();
      }
      if (thread() == 0) storage_.tile = blockIdx.x;
      __syncthreads();
      STRATA_UNROLL_N(1)
      while (storage_.tile < num_tiles()) {
        plan(static_cast<int>(level), storage_.tile);
        STRATA_UNROLL_N(1)
        for (int s = 0; s < storage_.count; ++s) merge_share(s);
        __syncthreads();
        if (thread() == 0) storage_.tile += shares_at_once * gridDim.x;
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
  STRATA_D unsigned num_tiles() const {
    return static_cast<unsigned>(workspace_.num_tiles()) * unsigned{tiles_of_run};
  }

  /// Looks for the ends of each share. Where there are few, a warp does for each, in a fifth of the steps,
  /// each of which waits for memory; where there are many, a thread, so that all go on at a time.
  STRATA_D void plan(int level, unsigned first_tile) {
    constexpr int few = 4;
    const unsigned left = ceiling_divide(num_tiles() - first_tile, gridDim.x);
    const int count = left < shares_at_once ? static_cast<int>(left) : shares_at_once;
    if (count <= few) {
      const int warp = thread() / warp_threads;
      STRATA_UNROLL_N(1)
      for (int search = warp; search < 2 * count; search += BlockThreads / warp_threads) {
        plan_end<true>(level, first_tile, search, platform::lane_id() == 0);
      }
    } else {
      STRATA_UNROLL_N(1)
      for (int search = thread(); search < 2 * count; search += BlockThreads) {
        plan_end<false>(level, first_tile, search, true);
      }
    }
    if (thread() == 0) storage_.count = count;
    __syncthreads();
    if (thread() < count) {
      share& planned = storage_.shares[thread()];
      const int items = planned.count2;
      const auto count1 = static_cast<int>(storage_.ends[thread()] - planned.low_split);
      // If the comparator is no ordering, searches need not agree.
      planned.count1 = count1 < 0 ? 0 : count1 < items ? count1 : items;
      planned.count2 = items - planned.count1;
    }
    __syncthreads();
  }

  template <bool ByWarp>
  STRATA_D void plan_end(int level, unsigned first_tile, int search, bool writes) {
    const int s = search / 2;
    const bool is_end = search % 2 != 0;
    const unsigned tile = first_tile + static_cast<unsigned>(s) * gridDim.x;
    share found{0, 0, 0, 0, 0, 0, 0, 0, false};
    const unsigned owner = workspace_.tiles[tile / unsigned{tiles_of_run}];
    if (owner != merge_sort_workspace::no_segment) {
      const split_segment whole = workspace_.split[owner];
      const long long begin =
          static_cast<long long>(tile - whole.first_tile * unsigned{tiles_of_run}) * tile_items;
      if (level < whole.levels && begin < whole.length) {
        find<ByWarp>(whole, level, begin, is_end, found);
      }
    }
    if (!writes) return;
    if (is_end) {
      storage_.ends[s] = found.low_split;
    } else {
      storage_.shares[s] = found;
    }
  }

  /// How many items of the first run come before a tile's begin or end, and what follows from it.
  template <bool ByWarp>
  STRATA_D void find(const split_segment& whole, int level, long long begin, bool is_end,
                     share& found) const {
    const long long run = static_cast<long long>(RunItems) << level;
    const long long pair = begin / RunItems >> (level + 1) << (level + 1);
    const long long pair_begin = pair * RunItems;
    const long long left = whole.length - pair_begin;
    const long long count1 = left < run ? left : run;
    const long long count2 = left - count1 < run ? left - count1 : run;
    const long long diagonal = begin - pair_begin;
    const long long rest = count1 + count2 - diagonal;
    const int items = static_cast<int>(rest < tile_items ? rest : static_cast<long long>(tile_items));
    // After as many levels as the segment has, it lies in the output.
    const bool from_buffer = (whole.levels - level) % 2 != 0;
    const long long base = (from_buffer ? whole.buffer_begin : whole.begin) + pair_begin;
    const long long scratch =
        workspace_.keys_are_scratch ? whole.buffer_begin - whole.begin : 0;
    found.keys_from = from_buffer ? 0 : scratch;
    found.keys_to = from_buffer ? scratch : 0;
    const Key* const run1 = (from_buffer ? buffer_ : output_).keys + base + found.keys_from;
    const Key* const run2 = run1 + count1;
    const long long border = is_end ? diagonal + items : diagonal;
    const long long split = ByWarp ? warp_merge_path(run1, run2, count1, count2, border)
                                   : MergePath(run1, run2, count1, count2, border, compare_);
    found.from1 = base + split;
    found.from2 = base + count1 + diagonal - split;
    found.to = (from_buffer ? whole.begin : whole.buffer_begin) + begin;
    found.from_buffer = from_buffer;
    found.low_split = static_cast<unsigned>(split);
    found.count2 = items;
  }

  /// MergePath by all lanes of a warp, which look at 32 places at a time.
  STRATA_D long long warp_merge_path(const Key* run1, const Key* run2, long long count1,
                                     long long count2, long long diagonal) const {
    const auto lane = static_cast<long long>(platform::lane_id());
    long long first = diagonal < count2 ? 0 : diagonal - count2;
    long long last = diagonal < count1 ? diagonal : count1;
    while (first < last) {
      const long long left = last - first;
      const long long step = left <= warp_threads ? 1 : (left + warp_threads) / (warp_threads + 1);
      const long long place = first + (lane + 1) * step - 1;
      const bool is_before =
          place < last && !compare_(run2[diagonal - 1 - place], run1[place]);
      const int count = __popc(__ballot_sync(full_warp_mask, is_before));
      first += count * step;
      if (left <= warp_threads) break;
      const long long next = first + step - 1;
      if (count < warp_threads && next < last) last = next;
    }
    return first;
  }

  STRATA_D void merge_share(int s) {
    const share& planned = storage_.shares[s];
    const int count1 = planned.count1, count2 = planned.count2, items = count1 + count2;
    if (items == 0) return;
    const Arrays& from = planned.from_buffer ? buffer_ : output_;
    const Key* const keys = from.keys + planned.keys_from;
    Memory& memory = storage_.memory;
    int begin1 = 0, begin2 = count1 + 1;
    if constexpr (has_vectors) {
      begin1 = vectors::surplus(keys + planned.from1);
      begin2 = round_up(begin1 + count1, vector_items) + vectors::surplus(keys + planned.from2);
      vectors::load(thread(), keys + planned.from1, count1, memory.at(begin1));
      vectors::load(thread(), keys + planned.from2, count2, memory.at(begin2));
    } else {
      STRATA_UNROLL_N(4)
      for (int i = thread(); i < items; i += BlockThreads) {
        const bool is2 = i >= count1;
        const long long place = is2 ? planned.from2 + (i - count1) : planned.from1 + i;
        Item* const item = memory.at(is2 ? begin2 + (i - count1) : begin1 + i);
        if constexpr (has_values) {
          load_part(&item->key, keys, place);
          load_part(&item->value, static_cast<const Value*>(from.values), place);
        } else {
          load_part(item, keys, place);
        }
      }
    }
    platform::wait_for_async_copies();
    __syncthreads();
    Item merged[items_per_thread];
    if (const int diagonal = thread() * ItemsPerThread; diagonal < items) {
      merge_in_block(begin1, count1, begin2, count2, diagonal, merged);
    } else {
      // Registers that are unset here would be taken for occupied through all of the loop.
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) merged[i] = Item{};
    }
    __syncthreads();
    put(planned, merged);
    __syncthreads();
    store(planned);
  }

  STRATA_D void put(const share& planned, const Item (&merged)[items_per_thread]) {
    Memory& memory = storage_.memory;
    const int diagonal = thread() * ItemsPerThread;
    const int left = planned.count1 + planned.count2 - diagonal;
    const int origin = origin_of(planned);
    if (left >= ItemsPerThread) {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) memory.put(origin + diagonal + i, merged[i]);
    } else {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) {
        if (i < left) memory.put(origin + diagonal + i, merged[i]);
      }
    }
  }

  STRATA_D const Arrays& target_of(const share& planned) const {
    return planned.from_buffer ? output_ : buffer_;
  }
  STRATA_D int origin_of([[maybe_unused]] const share& planned) const {
    if constexpr (has_vectors) {
      return vectors::surplus(target_of(planned).keys + planned.to + planned.keys_to);
    } else {
      return 0;
    }
  }

  STRATA_D void store(const share& planned) {
    const Arrays& to = target_of(planned);
    const int items = planned.count1 + planned.count2;
    const long long target = planned.to;
    Key* const keys_to = to.keys + target + planned.keys_to;
    if constexpr (has_vectors) {
      vectors::store(thread(), storage_.memory.at(origin_of(planned)), items, keys_to);
    } else {
      STRATA_UNROLL_N(4)
      for (int i = thread(); i < items; i += BlockThreads) {
        const Item* const item = storage_.memory.at(i);
        keys_to[i] = key_of(*item);
        if constexpr (has_values) to.values[target + i] = item->value;
      }
    }
    __syncthreads();
  }

  STRATA_D void merge_in_block(int begin1, int count1, int begin2, int count2, int diagonal,
                               Item (&merged)[items_per_thread]) {
    Memory& memory = storage_.memory;
    int first = diagonal - count2, last = diagonal < count1 ? diagonal : count1;
    first = first > 0 ? first : 0;
    while (first < last) {
      const int middle = static_cast<int>(static_cast<unsigned>(first + last) / 2);
      if (compare_(key_of(memory.get(begin2 + diagonal - 1 - middle)),
                   key_of(memory.get(begin1 + middle)))) {
        last = middle;
      } else {
        first = middle + 1;
      }
    }
    const int end1 = begin1 + count1, end2 = begin2 + count2;
    int index1 = begin1 + first, index2 = begin2 + diagonal - first;
    // The item behind a run is read with the others, which costs less than not to, and behind both runs
    // the first goes on to be read; nobody looks at what is found there.
    platform::may_be_unwritten(memory.at(end1), sizeof(Item) * items_per_thread);
    platform::may_be_unwritten(memory.at(end2), sizeof(Item));
    Item item1 = memory.get(index1), item2 = memory.get(index2);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const bool from2 =
          index2 < end2 && (index1 >= end1 || compare_(key_of(item2), key_of(item1)));
      merged[i] = from2 ? item2 : item1;
      const int next = (from2 ? index2 : index1) + 1;
      index1 = from2 ? index1 : next;
      index2 = from2 ? next : index2;
      if (i + 1 < ItemsPerThread) {
        const Item item = memory.get(next);
        item2 = from2 ? item : item2;
        item1 = from2 ? item1 : item;
      }
    }
  }

  TempStorage& storage_;
  const merge_sort_workspace& workspace_;
  const Arrays& output_;
  const Arrays& buffer_;
  const Compare& compare_;
};

}  // namespace detail
STRATA_NAMESPACE_END
