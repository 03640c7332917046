// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/thread/specializations/tile_positions.cuh>
#include <strata/thread/specializations/vector_access.cuh>

/// \file
/// Loads the items of thread `linear_tid` of a block, or of lane `linear_tid` of a warp, from the tile that starts at
/// `block_src_it`. With `block_items_end`, items from that position on are not read. Their array elements keep their
/// values or, with `oob_default`, get that value.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int numbers[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, blocked[4], striped[4];
///
/// // Four threads load three items each. The last two of the twelve items are missing and count as 0.
/// STRATA_KERNEL void add_up(const int* in, int count, int* blocked_sums, int* striped_sums) {
///   const int thread = static_cast<int>(threadIdx.x);
///   int items[3];
///   strata::LoadDirectBlocked(thread, in, items, count, 0);
///   blocked_sums[thread] = items[0] + items[1] + items[2];
///   strata::LoadDirectStriped<4>(thread, in, items, count, 0);
///   striped_sums[thread] = items[0] + items[1] + items[2];
/// }
///
/// int main() {
///   if (strata::launch({"add_up", 1, 4}, add_up, numbers, 10, blocked, striped) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < 4; ++i) std::printf("%d %d\n", blocked[i], striped[i]);
/// }
/// // prints: 6 15
/// // prints: 15 18
/// // prints: 24 10
/// // prints: 10 12
/// @endcode

STRATA_NAMESPACE_BEGIN
namespace detail {

template <int Stride, class T, std::size_t Items, class Iterator>
STRATA_D void load_items(tile_positions<Stride> position, Iterator from, T (&items)[Items]) {
  STRATA_UNROLL
  for (int i = 0; i < static_cast<int>(Items); ++i) {
    items[i] = static_cast<T>(from[position(i)]);
  }
}

template <int Stride, class T, std::size_t Items, class Iterator>
STRATA_D void load_items(tile_positions<Stride> position, Iterator from, T (&items)[Items], int end) {
  STRATA_UNROLL
  for (int i = 0; i < static_cast<int>(Items); ++i) {
    if (position(i) < end) items[i] = static_cast<T>(from[position(i)]);
  }
}

template <class T, std::size_t Items, class Default>
STRATA_D void fill_items(T (&items)[Items], const Default& value) {
  STRATA_UNROLL
  for (T& item : items) item = static_cast<T>(value);
}

}  // namespace detail

/// Thread t loads items t * N .. t * N + N - 1 of the tile.
template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectBlocked(int linear_tid, Iterator block_src_it, T (&dst_items)[ItemsPerThread]) {
  detail::load_items(detail::blocked_positions<ItemsPerThread>(linear_tid), block_src_it, dst_items);
}

/// Thread t loads items t * N .. t * N + N - 1 of the tile. From `block_items_end` on, items keep their value.
template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectBlocked(int linear_tid, Iterator block_src_it, T (&dst_items)[ItemsPerThread],
                                int block_items_end) {
  detail::load_items(detail::blocked_positions<ItemsPerThread>(linear_tid), block_src_it, dst_items, block_items_end);
}

/// Thread t loads items t * N .. t * N + N - 1 of the tile. From `block_items_end` on, items become `oob_default`.
template <class T, class Default, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectBlocked(int linear_tid, Iterator block_src_it, T (&dst_items)[ItemsPerThread],
                                int block_items_end, Default oob_default) {
  detail::fill_items(dst_items, oob_default);
  strata::LoadDirectBlocked(linear_tid, block_src_it, dst_items, block_items_end);
}

/// Thread t loads items t * N .. t * N + N - 1 of the tile, in words of up to 16 bytes. Items are loaded one by one if
/// `block_src_ptr` is not aligned to words, if words would be no wider than the alignment of `T`, or if `T` is not
/// trivially relocatable.
template <class T, std::size_t ItemsPerThread>
STRATA_D void LoadDirectBlockedVectorized(int linear_tid, const T* block_src_ptr, T (&dst_items)[ItemsPerThread]) {
  using vector = detail::vector_access<T, ItemsPerThread>;
  if constexpr (vector::worthwhile) {
    if (vector::aligned(block_src_ptr)) {
      vector::load(block_src_ptr + linear_tid * static_cast<int>(ItemsPerThread), dst_items);
      return;
    }
  }
  strata::LoadDirectBlocked(linear_tid, block_src_ptr, dst_items);
}

/// Thread t of `BlockThreads` loads items t, t + BlockThreads, t + 2 * BlockThreads ... of the tile.
template <int BlockThreads, class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectStriped(int linear_tid, Iterator block_src_it, T (&dst_items)[ItemsPerThread]) {
  detail::load_items(detail::striped_positions<BlockThreads>(linear_tid), block_src_it, dst_items);
}

/// Thread t loads every `BlockThreads`-th item of the tile from item t on. From `block_items_end` on, items keep their
/// value.
template <int BlockThreads, class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectStriped(int linear_tid, Iterator block_src_it, T (&dst_items)[ItemsPerThread],
                                int block_items_end) {
  detail::load_items(detail::striped_positions<BlockThreads>(linear_tid), block_src_it, dst_items, block_items_end);
}

/// Thread t loads every `BlockThreads`-th item of the tile from item t on. From `block_items_end` on, items become
/// `oob_default`.
template <int BlockThreads, class T, class Default, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectStriped(int linear_tid, Iterator block_src_it, T (&dst_items)[ItemsPerThread],
                                int block_items_end, Default oob_default) {
  detail::fill_items(dst_items, oob_default);
  strata::LoadDirectStriped<BlockThreads>(linear_tid, block_src_it, dst_items, block_items_end);
}

/// Lane l of warp w loads items l, l + 32, l + 64 ... of the 32 * N items that start at 32 * N * w.
/// The block's size must be a multiple of 32.
template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectWarpStriped(int linear_tid, Iterator block_src_it, T (&dst_items)[ItemsPerThread]) {
  detail::load_items(detail::warp_striped_positions<ItemsPerThread>(linear_tid), block_src_it, dst_items);
}

/// Lane l of warp w loads every 32nd item from item 32 * N * w + l on. From `block_items_end` on, items keep their
/// value.
template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectWarpStriped(int linear_tid, Iterator block_src_it, T (&dst_items)[ItemsPerThread],
                                    int block_items_end) {
  detail::load_items(detail::warp_striped_positions<ItemsPerThread>(linear_tid), block_src_it, dst_items,
                     block_items_end);
}

/// Lane l of warp w loads every 32nd item from item 32 * N * w + l on. From `block_items_end` on, items become
/// `oob_default`.
template <class T, class Default, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectWarpStriped(int linear_tid, Iterator block_src_it, T (&dst_items)[ItemsPerThread],
                                    int block_items_end, Default oob_default) {
  detail::fill_items(dst_items, oob_default);
  strata::LoadDirectWarpStriped(linear_tid, block_src_it, dst_items, block_items_end);
}

namespace detail {

/// Loads in words if `from` is a pointer to items of type `T`, otherwise item by item.
template <class T, std::size_t Items, class Iterator>
STRATA_D void load_blocked_in_words(int linear_tid, Iterator from, T (&items)[Items]) {
  if constexpr (is_pointer_to<Iterator, T>) {
    strata::LoadDirectBlockedVectorized(linear_tid, from, items);
  } else {
    strata::LoadDirectBlocked(linear_tid, from, items);
  }
}

template <class T, std::size_t Items, class Iterator>
STRATA_D void load_blocked_in_words(int linear_tid, Iterator from, T (&items)[Items], int end) {
  // At most one thread has only some of its items before `end`: each of the others has all or none.
  if ((linear_tid + 1) * static_cast<int>(Items) <= end) {
    detail::load_blocked_in_words(linear_tid, from, items);
  } else {
    strata::LoadDirectBlocked(linear_tid, from, items, end);
  }
}

/// Copies those items of a thread, in blocked arrangement, whose positions are before `end`.
template <class T, std::size_t Items>
STRATA_D void take_blocked(int linear_tid, const T (&from)[Items], T (&items)[Items], int end) {
  const tile_positions<1> position = detail::blocked_positions<Items>(linear_tid);
  STRATA_UNROLL
  for (int i = 0; i < static_cast<int>(Items); ++i) {
    if (position(i) < end) items[i] = from[i];
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
