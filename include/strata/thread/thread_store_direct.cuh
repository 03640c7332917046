// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/specializations/tile_positions.cuh>
#include <strata/thread/specializations/vector_access.cuh>

/// \file
/// Stores the items of thread `linear_tid` of a block, or of lane `linear_tid` of a warp, into the tile that starts at
/// `block_itr`. With `valid_items`, nothing is written from that position on.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int blocked[10], striped[10];
///
/// // Four threads store three items each. The last two of the twelve items do not fit.
/// STRATA_KERNEL void store(int* blocked_out, int* striped_out, int count) {
///   const int thread = static_cast<int>(threadIdx.x);
///   const int items[3] = {thread, thread, thread};
///   strata::StoreDirectBlocked(thread, blocked_out, items, count);
///   strata::StoreDirectStriped<4>(thread, striped_out, items, count);
/// }
///
/// int main() {
///   if (strata::launch({"store", 1, 4}, store, blocked, striped, 10) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int thread : blocked) std::printf("%d ", thread);
///   std::printf("\n");
///   for (const int thread : striped) std::printf("%d ", thread);
/// }
/// // prints: 0 0 0 1 1 1 2 2 2 3
/// // prints: 0 1 2 3 0 1 2 3 0 1
/// @endcode

STRATA_NAMESPACE_BEGIN
namespace detail {

// Items may be wider than the output: sums of bytes are ints.
template <int Stride, class T, std::size_t Items, class Iterator>
STRATA_D void store_items(tile_positions<Stride> position, Iterator to, const T (&items)[Items]) {
  STRATA_UNROLL
  for (int i = 0; i < static_cast<int>(Items); ++i) {
    to[position(i)] = static_cast<output_value_t<Iterator, T>>(items[i]);
  }
}

template <int Stride, class T, std::size_t Items, class Iterator>
STRATA_D void store_items(tile_positions<Stride> position, Iterator to, const T (&items)[Items], int end) {
  STRATA_UNROLL
  for (int i = 0; i < static_cast<int>(Items); ++i) {
    if (position(i) < end) to[position(i)] = static_cast<output_value_t<Iterator, T>>(items[i]);
  }
}

}  // namespace detail

/// Thread t stores items t * N .. t * N + N - 1 of the tile.
template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void StoreDirectBlocked(int linear_tid, Iterator block_itr, const T (&items)[ItemsPerThread]) {
  detail::store_items(detail::blocked_positions<ItemsPerThread>(linear_tid), block_itr, items);
}

/// Thread t stores items t * N .. t * N + N - 1 of the tile, except items from `valid_items` on.
template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void StoreDirectBlocked(int linear_tid, Iterator block_itr, const T (&items)[ItemsPerThread],
                                 int valid_items) {
  detail::store_items(detail::blocked_positions<ItemsPerThread>(linear_tid), block_itr, items, valid_items);
}

/// Thread t stores items t * N .. t * N + N - 1 of the tile, in words of up to 16 bytes. Items are stored one by one if
/// `block_ptr` is not aligned to words, if words would be no wider than the alignment of `T`, or if `T` is not
/// trivially relocatable.
template <class T, std::size_t ItemsPerThread>
STRATA_D void StoreDirectBlockedVectorized(int linear_tid, T* block_ptr, const T (&items)[ItemsPerThread]) {
  using vector = detail::vector_access<T, ItemsPerThread>;
  if constexpr (vector::worthwhile) {
    if (vector::aligned(block_ptr)) {
      vector::store(block_ptr + linear_tid * static_cast<int>(ItemsPerThread), items);
      return;
    }
  }
  strata::StoreDirectBlocked(linear_tid, block_ptr, items);
}

/// Thread t of `BlockThreads` stores items t, t + BlockThreads, t + 2 * BlockThreads ... of the tile.
template <int BlockThreads, class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void StoreDirectStriped(int linear_tid, Iterator block_itr, const T (&items)[ItemsPerThread]) {
  detail::store_items(detail::striped_positions<BlockThreads>(linear_tid), block_itr, items);
}

/// Thread t stores every `BlockThreads`-th item of the tile from item t on, except items from `valid_items` on.
template <int BlockThreads, class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void StoreDirectStriped(int linear_tid, Iterator block_itr, const T (&items)[ItemsPerThread],
                                 int valid_items) {
  detail::store_items(detail::striped_positions<BlockThreads>(linear_tid), block_itr, items, valid_items);
}

/// Lane l of warp w stores items l, l + 32, l + 64 ... of the 32 * N items that start at 32 * N * w. The
/// block's size must be a multiple of 32.
template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void StoreDirectWarpStriped(int linear_tid, Iterator block_itr, const T (&items)[ItemsPerThread]) {
  detail::store_items(detail::warp_striped_positions<ItemsPerThread>(linear_tid), block_itr, items);
}

/// Lane l of warp w stores every 32nd item from item 32 * N * w + l on, except items from `valid_items` on.
template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void StoreDirectWarpStriped(int linear_tid, Iterator block_itr, const T (&items)[ItemsPerThread],
                                     int valid_items) {
  detail::store_items(detail::warp_striped_positions<ItemsPerThread>(linear_tid), block_itr, items, valid_items);
}

namespace detail {

/// Stores in words if `to` is a pointer to items of type `T`, otherwise item by item.
template <class T, std::size_t Items, class Iterator>
STRATA_D void store_blocked_in_words(int linear_tid, Iterator to, const T (&items)[Items]) {
  if constexpr (is_pointer_to<Iterator, T>) {
    strata::StoreDirectBlockedVectorized(linear_tid, to, items);
  } else {
    strata::StoreDirectBlocked(linear_tid, to, items);
  }
}

template <class T, std::size_t Items, class Iterator>
STRATA_D void store_blocked_in_words(int linear_tid, Iterator to, const T (&items)[Items], int end) {
  // At most one thread has only some of its items before `end`: each of the others has all or none.
  if ((linear_tid + 1) * static_cast<int>(Items) <= end) {
    detail::store_blocked_in_words(linear_tid, to, items);
  } else {
    strata::StoreDirectBlocked(linear_tid, to, items, end);
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
