// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_shape.cuh>
#include <strata/block/specializations/tile_positions.cuh>
#include <strata/block/specializations/vector_access.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

template <int Stride, class T, std::size_t Items, class Iterator>
STRATA_D void store_items(tile_positions<Stride> position, Iterator to, const T (&items)[Items]) {
  STRATA_UNROLL
  for (int i = 0; i < static_cast<int>(Items); ++i) to[position(i)] = items[i];
}

template <int Stride, class T, std::size_t Items, class Iterator>
STRATA_D void store_items(tile_positions<Stride> position, Iterator to, const T (&items)[Items],
                          int end) {
  STRATA_UNROLL
  for (int i = 0; i < static_cast<int>(Items); ++i) {
    if (position(i) < end) to[position(i)] = items[i];
  }
}

}  // namespace detail

// The free functions store the items of thread `linear_tid` of a block into the tile that starts at
// `block_itr`. With `valid_items`, nothing is written at that position and beyond.

/// Thread t stores items t * N .. t * N + N - 1 of the tile.
template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void StoreDirectBlocked(int linear_tid, Iterator block_itr,
                                 const T (&items)[ItemsPerThread]) {
  detail::store_items(detail::blocked_positions<ItemsPerThread>(linear_tid), block_itr, items);
}

template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void StoreDirectBlocked(int linear_tid, Iterator block_itr,
                                 const T (&items)[ItemsPerThread], int valid_items) {
  detail::store_items(detail::blocked_positions<ItemsPerThread>(linear_tid), block_itr, items,
                      valid_items);
}

/// As StoreDirectBlocked, in words of up to 16 bytes if `block_ptr` is aligned to them. It need not
/// be: then, and where words would be no wider than `T`, items are stored one by one.
template <class T, std::size_t ItemsPerThread>
STRATA_D void StoreDirectBlockedVectorized(int linear_tid, T* block_ptr,
                                           const T (&items)[ItemsPerThread]) {
  using vector = detail::vector_access<T, ItemsPerThread>;
  if constexpr (vector::worthwhile) {
    if (vector::aligned(block_ptr)) {
      vector::store(block_ptr + linear_tid * static_cast<int>(ItemsPerThread), items);
      return;
    }
  }
  StoreDirectBlocked(linear_tid, block_ptr, items);
}

/// Thread t of `BlockThreads` stores items t, t + BlockThreads, t + 2 * BlockThreads ... of the
/// tile.
template <int BlockThreads, class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void StoreDirectStriped(int linear_tid, Iterator block_itr,
                                 const T (&items)[ItemsPerThread]) {
  detail::store_items(detail::striped_positions<BlockThreads>(linear_tid), block_itr, items);
}

template <int BlockThreads, class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void StoreDirectStriped(int linear_tid, Iterator block_itr,
                                 const T (&items)[ItemsPerThread], int valid_items) {
  detail::store_items(detail::striped_positions<BlockThreads>(linear_tid), block_itr, items,
                      valid_items);
}

/// Lane l of warp w stores items l, l + 32, l + 64 ... of the 32 * N items that start at 32 * N *
/// w. The block's size must be a multiple of 32.
template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void StoreDirectWarpStriped(int linear_tid, Iterator block_itr,
                                     const T (&items)[ItemsPerThread]) {
  detail::store_items(detail::warp_striped_positions<ItemsPerThread>(linear_tid), block_itr, items);
}

template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void StoreDirectWarpStriped(int linear_tid, Iterator block_itr,
                                     const T (&items)[ItemsPerThread], int valid_items) {
  detail::store_items(detail::warp_striped_positions<ItemsPerThread>(linear_tid), block_itr, items,
                      valid_items);
}

/// How BlockStore writes memory, and where a thread's items belong.
enum BlockStoreAlgorithm {
  /// Blocked arrangement, item by item: neighbouring threads are ItemsPerThread items apart, which
  /// is efficient for few items per thread only.
  BLOCK_STORE_DIRECT,
  /// Striped arrangement: every access of a warp is to consecutive items.
  BLOCK_STORE_STRIPED,
  /// Blocked arrangement, in words of up to 16 bytes. For pointers to T, aligned or not; other
  /// iterators are written as by BLOCK_STORE_DIRECT.
  BLOCK_STORE_VECTORIZE,
  /// Names of CUB's that exchange items through shared memory: not supported.
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

/// Stores a tile of `threads * ItemsPerThread` items, `ItemsPerThread` of them from each thread of
/// a block, to any random-access iterator. The counterpart of BlockLoad, which has an example.
///
/// - `valid_items`: only the first so many items of the tile are written (none if not positive).
/// - Threads do not wait for each other: no shared memory, no barrier, and a thread may store
/// alone.
///   `TempStorage` is there for algorithms that need it; pass one where the algorithm is a
///   parameter.
template <class T, int BlockDimX, int ItemsPerThread,
          BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int BlockDimY = 1, int BlockDimZ = 1>
class BlockStore {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static_assert(Algorithm == BLOCK_STORE_DIRECT || Algorithm == BLOCK_STORE_STRIPED ||
                    Algorithm == BLOCK_STORE_VECTORIZE,
                "BlockStore does not support the BLOCK_STORE_*TRANSPOSE* algorithms: for the same"
                " arrangement use BLOCK_STORE_VECTORIZE (pointers) or BLOCK_STORE_DIRECT");
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;

 public:
  struct TempStorage : Uninitialized<NullType> {};

  STRATA_D BlockStore() : thread_(shape::thread_rank("BlockStore")) {}
  STRATA_D explicit BlockStore(TempStorage&) : BlockStore() {}

  template <class Iterator>
  STRATA_D void Store(Iterator block_itr, const T (&items)[items_per_thread]) {
    if constexpr (Algorithm == BLOCK_STORE_STRIPED) {
      StoreDirectStriped<shape::threads>(thread_, block_itr, items);
    } else if constexpr (vectorizes<Iterator>) {
      StoreDirectBlockedVectorized(thread_, block_itr, items);
    } else {
      StoreDirectBlocked(thread_, block_itr, items);
    }
  }

  template <class Iterator>
  STRATA_D void Store(Iterator block_itr, const T (&items)[items_per_thread], int valid_items) {
    if constexpr (Algorithm == BLOCK_STORE_STRIPED) {
      StoreDirectStriped<shape::threads>(thread_, block_itr, items, valid_items);
      return;
    } else if constexpr (vectorizes<Iterator>) {
      // All threads but one either have all their items or none.
      if ((thread_ + 1) * ItemsPerThread <= valid_items) {
        StoreDirectBlockedVectorized(thread_, block_itr, items);
        return;
      }
    }
    StoreDirectBlocked(thread_, block_itr, items, valid_items);
  }

 private:
  template <class Iterator>
  static constexpr bool vectorizes =
      Algorithm == BLOCK_STORE_VECTORIZE&& detail::is_pointer_to<Iterator, T>;

  int thread_;
};

STRATA_NAMESPACE_END
