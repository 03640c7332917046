// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_shape.cuh>
#include <strata/block/specializations/segment_slots.cuh>
#include <strata/block/specializations/segment_tile.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/thread_sort.cuh>
#include <strata/warp/specializations/companions.cuh>

STRATA_NAMESPACE_BEGIN

/// Sorts many segments, which lie side by side in the shared memory of a block, by any comparator, stably. No segment
/// is mixed with another. Items are keys of `KeyT`, or pairs of a key and a value of `ValueT`.
///
/// All threads of the block make each of these steps, in uniform control flow:
///
/// | step | |
/// |---|---|
/// | `Plan(length, offset)` | each thread passes a segment; returns how many of these fit the tile |
/// | `Origin(position)` | optional: sets where in the tile the first segment begins |
/// | (caller) | writes items to `Position(index)`, then `__syncthreads()` |
/// | `Sort(compare)` | sorts; contains its barriers |
/// | (caller) | reads items from `Position(index)` |
///
/// `SortOwn` replaces `Plan` and `Sort` where each thread knows where its segment lies in the tile:
/// `SortOwn(begin, count, compare)` if no segment has more than `ItemsPerThread` items,
/// `SortOwn(begin, count, owners, compare)` if each segment has `owners` threads. `SortAll(count, compare)` replaces
/// `Plan` and `Sort` where the tile has one segment.
///
/// - A thread owns up to `ItemsPerThread` (N) items of one segment: it is an owner of the segment. A segment of n items
///   has ceil(n / N) owners and takes ceil(log2(ceil(n / N))) levels of merging, wherever it lies.
/// - `Plan` takes the segments of the first threads, as many as the threads can own, and returns their number: at
///   least 1. A segment must have at most BlockDimX * N items. The caller passes segments that do not fit to a later
///   `Plan`. `offset` is any number of the caller's. `Place(segment)` returns it.
/// - `Plan(length, offset, count)`: all threads pass the same `count`. The threads from `count` on must pass the length
///   0. The result counts their empty segments, too, so it may exceed `count`. A count of up to 32 takes less time.
/// - Segments with items have the numbers 0 .. `Segments()` - 1. Segment s has the indices `Begin(s)` ..
///   `Begin(s) + Length(s)` - 1 of 0 .. `Items()` - 1.
/// - Stable: two items of a segment keep their order if neither must come before the other.
/// - `compare(a, b)` says whether key a must come before key b: a strict weak ordering. It is called
///   with keys of one segment only. If it is no such ordering, what the segment holds afterwards is
///   unspecified; other segments and other memory are not touched.
/// - N must be odd, or a power of two up to 32.
/// - Bank conflicts: none when the owners of one segment read and write their items, if items have 4, 8 or 16 bytes.
///   For even N, the tile then has a gap after every 128 bytes. Conflicts of searches and merges depend on the keys.
/// - Shared memory: the tile, 18 bytes for each thread, 12 for each warp, and 8 more.
/// - `__syncthreads()` must stand between reading items and the next `Plan`.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int numbers[7] = {5, 3, 9, 2, 1, 8, 0}, begins[4] = {0, 3, 3, 7};
///
/// // Sorts segments of at most 640 numbers, which lie side by side, as many at a time as fit the tile.
/// STRATA_KERNEL void sort_segments(int* items, const int* segments, int count) {
///   using Sort = strata::BlockSegmentedMergeSort<int, 128, 5>;
///   STRATA_SHARED(temp_storage, Sort::TempStorage);
///   Sort sort(temp_storage);
///   const int thread = static_cast<int>(threadIdx.x);
///   for (int first = 0, planned = 0; first < count; first += planned) {
///     const int mine = first + thread;
///     planned = sort.Plan(mine < count ? segments[mine + 1] - segments[mine] : 0);
///     for (int i = thread; i < sort.Items(); i += 128) *sort.Position(i) = items[segments[first] + i];
///     __syncthreads();
///     sort.Sort([](int a, int b) { return a < b; });
///     for (int i = thread; i < sort.Items(); i += 128) items[segments[first] + i] = *sort.Position(i);
///     __syncthreads();
///   }
/// }
///
/// int main() {
///   if (strata::launch({"sort_segments", 1, 128}, sort_segments, numbers, begins, 3) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int number : numbers) std::printf("%d ", number);
/// }
/// // prints: 3 5 9 0 1 2 8
/// @endcode
template <class KeyT, int BlockDimX, int ItemsPerThread, class ValueT = NullType>
class BlockSegmentedMergeSort {
  static_assert(detail::relocatable_requirements<KeyT>::check());
  static_assert(detail::relocatable_requirements<ValueT>::check());
  static_assert(std::is_default_constructible_v<KeyT> && std::is_default_constructible_v<ValueT>,
                "BlockSegmentedMergeSort keeps keys and values in shared memory: both types must be default "
                "constructible");
  static_assert(BlockDimX % warp_threads == 0,
                "BlockSegmentedMergeSort needs whole warps: BlockDimX must be a multiple of 32");
  using shape = detail::block_shape<BlockDimX, 1, 1>;

 public:
  /// A key, or a pair with members `key` and `value`.
  using Item = detail::segment_item<KeyT, ValueT>;

 private:
  using tile_type = detail::segment_tile<Item, ItemsPerThread, BlockDimX * ItemsPerThread>;
  using slots_type = detail::segment_slots<BlockDimX, ItemsPerThread>;
  struct storage {
    tile_type tile;
    typename slots_type::storage slots;
  };

 public:
  static constexpr int tile_items = BlockDimX * ItemsPerThread;  ///< Items of a full tile.
  /// True if items lie without gaps.
  static constexpr bool is_compact = tile_type::is_compact;
  static constexpr int least_origin = tile_type::least_origin;  ///< Lowest position where a tile may begin.
  static constexpr int most_origin = tile_type::most_origin;    ///< Highest position where a tile may begin.
  /// The distance of two positions whose indices differ by BlockDimX.
  static constexpr int block_distance = tile_type::template distance<BlockDimX>;

  struct TempStorage : Uninitialized<storage> {};

  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockSegmentedMergeSort(TempStorage& temp_storage)
      : BlockSegmentedMergeSort(temp_storage, shape::thread_rank("BlockSegmentedMergeSort")) {}
  /// Uses `temp_storage`, with the rank of the calling thread in `thread`: for callers that hide the rank from the
  /// compiler.
  STRATA_D BlockSegmentedMergeSort(TempStorage& temp_storage, int thread)
      : storage_(temp_storage.Alias()), thread_(thread), origin_(least_origin) {}

  /// Takes as many segments into the tile as fit, and returns their number. This thread's segment has `length` items.
  STRATA_D int Plan(int length, long long offset = 0, int count = BlockDimX) {
    STRATA_ASSERT(length >= 0 && length <= tile_items,
                  "BlockSegmentedMergeSort::Plan: a segment has %d items, but a tile has at most %d", length,
                  tile_items);
    return slots_type::plan(storage_.slots, thread_, length, offset, count);
  }
  /// Returns the number of segments in the tile that have items.
  STRATA_D int Segments() const { return slots_type::segments(storage_.slots); }
  /// Returns the number of items in the tile.
  STRATA_D int Items() const { return slots_type::items(storage_.slots); }
  /// Returns the index of the first item of a segment.
  STRATA_D int Begin(int segment) const { return storage_.slots.begins[segment]; }
  /// Returns the number of items of a segment.
  STRATA_D int Length(int segment) const { return storage_.slots.lengths[segment]; }
  /// Returns the `offset` that was passed to `Plan` with a segment.
  STRATA_D long long Place(int segment) const { return storage_.slots.offsets[segment]; }
  /// Sets where the tile begins, from `least_origin` to `most_origin`. Earlier results of `Position` become invalid.
  STRATA_D void Origin(int position) { origin_ = position; }
  /// Returns the address in shared memory of an item of the tile.
  STRATA_D Item* Position(int index) { return storage_.tile.at(origin_ + index); }

  /// Sorts all segments of the tile.
  template <class CompareOp>
  STRATA_D void Sort(CompareOp compare) {
    detail::compare_requirements<CompareOp, KeyT>::check();
    const detail::segment_slot slot = slots_type::slot_of(storage_.slots, thread_, origin_);
    // Up to 4 warps do not wait long for each other, so they always meet at barriers of the block.
    int warp_levels = 0;
    if constexpr (BlockDimX > 4 * warp_threads) warp_levels = slots_type::warp_levels(storage_.slots);
    sort(slot, slots_type::levels(storage_.slots), warp_levels, compare);
  }

  /// Sorts segments of up to ItemsPerThread items without `Plan`. Each thread passes one segment, items `begin` ..
  /// `begin + count - 1` of the tile, or an empty one.
  template <class CompareOp>
  STRATA_D void SortOwn(int begin, int count, CompareOp compare) {
    detail::compare_requirements<CompareOp, KeyT>::check();
    STRATA_ASSERT(
        count <= ItemsPerThread && begin >= 0 && begin + count <= tile_items,
        "BlockSegmentedMergeSort::SortOwn: items %d to %d are too many for a thread, or lie outside of the tile", begin,
        begin + count);
    if (count > 1) {
      thread_items items;
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) items[i] = Item{};
      sort_thread(origin_ + begin, count, items, compare);
      put(origin_ + begin, 1, count, items);
    }
    __syncthreads();
  }

  /// Sorts segments of up to `owners` * ItemsPerThread items without `Plan`. All threads pass the same `owners`, a
  /// power of two up to 32. Threads k * `owners` to (k + 1) * `owners` - 1 pass one segment together, or an empty one.
  template <class CompareOp>
  STRATA_D void SortOwn(int begin, int count, int owners, CompareOp compare) {
    detail::compare_requirements<CompareOp, KeyT>::check();
    STRATA_ASSERT(
        count <= owners * ItemsPerThread && begin >= 0 && begin + count <= tile_items,
        "BlockSegmentedMergeSort::SortOwn: for %d threads, items %d to %d are too many, or lie outside of the tile",
        owners, begin, begin + count);
    detail::segment_slot slot{origin_ + begin, origin_ + begin + count, thread_ & (owners - 1), 0, ItemsPerThread};
    // The number of items is not computed as the rest of the segment, clamped to 0 and ItemsPerThread. ptxas 13.0 makes
    // one instruction of both clamps, and wrongly reuses its predicate for "has ItemsPerThread items" in threads that
    // have fewer.
    const int whole = count / ItemsPerThread;
    slot.items = slot.owner < whole ? ItemsPerThread : slot.owner == whole ? count - whole * ItemsPerThread : 0;
    int levels = 0;
    while (1 << levels < owners) ++levels;
    sort(slot, levels, 0, compare);
  }

  /// Sorts the first `count` items of the tile as one segment, without `Plan`.
  template <class CompareOp>
  STRATA_D void SortAll(int count, CompareOp compare) {
    detail::compare_requirements<CompareOp, KeyT>::check();
    STRATA_ASSERT(count >= 0 && count <= tile_items,
                  "BlockSegmentedMergeSort::SortAll: there are %d items, but a tile has at most %d", count, tile_items);
    detail::segment_slot slot{origin_, origin_ + count, thread_, 0, ItemsPerThread};
    // Computed without clamps, as in SortOwn.
    const int whole = count / ItemsPerThread;
    slot.items = slot.owner < whole ? ItemsPerThread : slot.owner == whole ? count - whole * ItemsPerThread : 0;
    const auto owners = static_cast<unsigned>((count + ItemsPerThread - 1) / ItemsPerThread);
    constexpr int warp_levels = detail::log2_ceiling(warp_threads);
    sort(slot, detail::log2_ceiling(owners), warp_levels, compare);
  }

 private:
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  using thread_items = Item[items_per_thread];

  /// In the first `warp_levels` levels, each warp merges runs of its own threads only.
  template <class Compare>
  STRATA_D void sort(const detail::segment_slot& slot, int levels, int warp_levels, Compare& compare) {
    if (warp_levels > levels) warp_levels = levels;
    thread_items items;
    // If a register were unset on some path, the compiler would keep it occupied throughout a caller's loop.
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) items[i] = Item{};
    if (slot.items > 1) {
      sort_thread(slot.local_begin(), slot.items, items, compare);
      const bool descends = slot.descends(0);
      put(descends ? slot.local_begin() + slot.items - 1 : slot.local_begin(), descends ? -1 : 1, slot.items, items);
    }
    synchronize(warp_levels > 0);
    STRATA_UNROLL_N(1)
    for (int level = 0; level < levels; ++level) {
      merge_runs(slot, level, items, compare, level < warp_levels);
      synchronize(level + 1 < warp_levels);
    }
  }

  /// A barrier of the block, or only of each warp.
  STRATA_D static void synchronize(bool of_warp) {
    if (of_warp) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

  template <class Compare>
  STRATA_D void sort_thread(int first, int count, thread_items& items, Compare& compare) {
    get(first, count, items);
    const auto compare_items = [&compare](const Item& a, const Item& b) {
      return compare(detail::key_of(a), detail::key_of(b));
    };
    if (count < ItemsPerThread) fill_up(count, items, compare_items);
    NullType no_values;
    detail::odd_even_sort<true>(items, no_values, compare_items);
  }

  STRATA_D void get(int first, int count, thread_items& items) {
    if (count == ItemsPerThread) {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) items[i] = storage_.tile.get(first + i);
    } else {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) {
        if (i < count) items[i] = storage_.tile.get(first + i);
      }
    }
  }

  STRATA_D void put(int position, int step, int count, const thread_items& items) {
    if (count == ItemsPerThread) {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i, position += step) {
        storage_.tile.put(position, items[i]);
      }
    } else {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i, position += step) {
        if (i < count) storage_.tile.put(position, items[i]);
      }
    }
  }

  /// Fills up the array with the thread's largest item. The sort is stable, so copies stay behind it. So no key is
  /// needed that is larger than all others.
  template <class Compare>
  STRATA_D static void fill_up(int count, thread_items& items, const Compare& compare) {
    Item largest = items[0];
    STRATA_UNROLL
    for (int i = 1; i < ItemsPerThread; ++i) {
      if (i < count && compare(largest, items[i])) largest = items[i];
    }
    STRATA_UNROLL
    for (int i = 1; i < ItemsPerThread; ++i) {
      if (i >= count) items[i] = largest;
    }
  }

  /// Merges the runs of 2^level owners pair by pair. The first run of a pair ascends, the second descends.
  template <class Compare>
  STRATA_D void merge_runs(const detail::segment_slot& slot, int level, thread_items& items, Compare& compare,
                           bool of_warp) {
    const int group = slot.owner & -(2 << level);
    const int begin1 = slot.begin + group * ItemsPerThread;
    int end1 = begin1 + (ItemsPerThread << level), end2 = begin1 + (2 * ItemsPerThread << level);
    end1 = detail::least(end1, slot.end);
    end2 = detail::least(end2, slot.end);
    const bool merges = slot.items > 0 && end1 < end2;
    const int diagonal = (slot.owner - group) * ItemsPerThread;
    if (merges) {
      detail::merge_in_tile<-1, ItemsPerThread>(storage_.tile, begin1, end1 - begin1, end2 - 1, end2 - end1, diagonal,
                                                items, compare);
    }
    synchronize(of_warp);
    if (merges) {
      const bool descends = slot.descends(level + 1);
      put(descends ? end2 - 1 - diagonal : begin1 + diagonal, descends ? -1 : 1, slot.items, items);
    }
  }

  storage& storage_;
  int thread_;
  int origin_;
};

STRATA_NAMESPACE_END
