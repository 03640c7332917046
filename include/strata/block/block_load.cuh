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
STRATA_D void load_items(tile_positions<Stride> position, Iterator from, T (&items)[Items]) {
  STRATA_UNROLL
  for (int i = 0; i < static_cast<int>(Items); ++i) {
    items[i] = static_cast<T>(from[position(i)]);
  }
}

template <int Stride, class T, std::size_t Items, class Iterator>
STRATA_D void load_items(tile_positions<Stride> position, Iterator from, T (&items)[Items],
                         int end) {
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

// The free functions load the items of thread `linear_tid` of a block from the tile that starts at
// `block_src_it`. With `block_items_end`, items at that position and beyond are not read; what is
// to receive them keeps its value or, with `oob_default`, is set to that.

/// Thread t loads items t * N .. t * N + N - 1 of the tile.
template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectBlocked(int linear_tid, Iterator block_src_it,
                                T (&dst_items)[ItemsPerThread]) {
  detail::load_items(detail::blocked_positions<ItemsPerThread>(linear_tid), block_src_it,
                     dst_items);
}

template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectBlocked(int linear_tid, Iterator block_src_it,
                                T (&dst_items)[ItemsPerThread], int block_items_end) {
  detail::load_items(detail::blocked_positions<ItemsPerThread>(linear_tid), block_src_it, dst_items,
                     block_items_end);
}

template <class T, class Default, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectBlocked(int linear_tid, Iterator block_src_it,
                                T (&dst_items)[ItemsPerThread], int block_items_end,
                                Default oob_default) {
  detail::fill_items(dst_items, oob_default);
  LoadDirectBlocked(linear_tid, block_src_it, dst_items, block_items_end);
}

/// As LoadDirectBlocked, in words of up to 16 bytes if `block_src_ptr` is aligned to them. It need
/// not be: then, and where words would be no wider than `T`, items are loaded one by one.
template <class T, std::size_t ItemsPerThread>
STRATA_D void LoadDirectBlockedVectorized(int linear_tid, const T* block_src_ptr,
                                          T (&dst_items)[ItemsPerThread]) {
  using vector = detail::vector_access<T, ItemsPerThread>;
  if constexpr (vector::worthwhile) {
    if (vector::aligned(block_src_ptr)) {
      vector::load(block_src_ptr + linear_tid * static_cast<int>(ItemsPerThread), dst_items);
      return;
    }
  }
  LoadDirectBlocked(linear_tid, block_src_ptr, dst_items);
}

/// Thread t of `BlockThreads` loads items t, t + BlockThreads, t + 2 * BlockThreads ... of the
/// tile.
template <int BlockThreads, class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectStriped(int linear_tid, Iterator block_src_it,
                                T (&dst_items)[ItemsPerThread]) {
  detail::load_items(detail::striped_positions<BlockThreads>(linear_tid), block_src_it, dst_items);
}

template <int BlockThreads, class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectStriped(int linear_tid, Iterator block_src_it,
                                T (&dst_items)[ItemsPerThread], int block_items_end) {
  detail::load_items(detail::striped_positions<BlockThreads>(linear_tid), block_src_it, dst_items,
                     block_items_end);
}

template <int BlockThreads, class T, class Default, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectStriped(int linear_tid, Iterator block_src_it,
                                T (&dst_items)[ItemsPerThread], int block_items_end,
                                Default oob_default) {
  detail::fill_items(dst_items, oob_default);
  LoadDirectStriped<BlockThreads>(linear_tid, block_src_it, dst_items, block_items_end);
}

/// Lane l of warp w loads items l, l + 32, l + 64 ... of the 32 * N items that start at 32 * N * w.
/// The block's size must be a multiple of 32.
template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectWarpStriped(int linear_tid, Iterator block_src_it,
                                    T (&dst_items)[ItemsPerThread]) {
  detail::load_items(detail::warp_striped_positions<ItemsPerThread>(linear_tid), block_src_it,
                     dst_items);
}

template <class T, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectWarpStriped(int linear_tid, Iterator block_src_it,
                                    T (&dst_items)[ItemsPerThread], int block_items_end) {
  detail::load_items(detail::warp_striped_positions<ItemsPerThread>(linear_tid), block_src_it,
                     dst_items, block_items_end);
}

template <class T, class Default, std::size_t ItemsPerThread, class Iterator>
STRATA_D void LoadDirectWarpStriped(int linear_tid, Iterator block_src_it,
                                    T (&dst_items)[ItemsPerThread], int block_items_end,
                                    Default oob_default) {
  detail::fill_items(dst_items, oob_default);
  LoadDirectWarpStriped(linear_tid, block_src_it, dst_items, block_items_end);
}

/// How BlockLoad reads memory, and which items a thread gets.
enum BlockLoadAlgorithm {
  /// Blocked arrangement, item by item: neighbouring threads are ItemsPerThread items apart, which
  /// is efficient for few items per thread only.
  BLOCK_LOAD_DIRECT,
  /// Striped arrangement: every access of a warp is to consecutive items.
  BLOCK_LOAD_STRIPED,
  /// Blocked arrangement, in words of up to 16 bytes. For pointers to T, aligned or not; other
  /// iterators are loaded as by BLOCK_LOAD_DIRECT.
  BLOCK_LOAD_VECTORIZE,
  /// Names of CUB's that exchange items through shared memory: not supported.
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};

/// Loads a tile of `threads * ItemsPerThread` items, `ItemsPerThread` of them into each thread of a
/// block, from any random-access iterator whose values convert to `T`.
///
/// - `valid_items`: only the first so many items of the tile are read (none if it is not positive);
///   the others keep their value or become `oob_default`.
/// - Threads do not wait for each other: no shared memory, no barrier, and a thread may load alone.
///   `TempStorage` is there for algorithms that need it; pass one where the algorithm is a
///   parameter.
///
/// @code
/// STRATA_KERNEL void clamp_tile(const int* in, int* out, int n) {
///   using Load = strata::BlockLoad<int, 128, 4, strata::BLOCK_LOAD_VECTORIZE>;
///   using Store = strata::BlockStore<int, 128, 4, strata::BLOCK_STORE_VECTORIZE>;
///   const int tile_base = static_cast<int>(blockIdx.x) * 512;
///   int items[4];
///   Load().Load(in + tile_base, items, n - tile_base, 0);
///   for (int& item : items) item = item < 0 ? 0 : item;
///   Store().Store(out + tile_base, items, n - tile_base);
/// }
/// @endcode
template <class T, int BlockDimX, int ItemsPerThread,
          BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int BlockDimY = 1, int BlockDimZ = 1>
class BlockLoad {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static_assert(Algorithm == BLOCK_LOAD_DIRECT || Algorithm == BLOCK_LOAD_STRIPED ||
                    Algorithm == BLOCK_LOAD_VECTORIZE,
                "BlockLoad does not support the BLOCK_LOAD_*TRANSPOSE* algorithms: for the same"
                " arrangement use BLOCK_LOAD_VECTORIZE (pointers) or BLOCK_LOAD_DIRECT");
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;

 public:
  struct TempStorage : Uninitialized<NullType> {};

  STRATA_D BlockLoad() : thread_(shape::thread_rank("BlockLoad")) {}
  STRATA_D explicit BlockLoad(TempStorage&) : BlockLoad() {}

  template <class Iterator>
  STRATA_D void Load(Iterator block_src_it, T (&dst_items)[items_per_thread]) {
    if constexpr (Algorithm == BLOCK_LOAD_STRIPED) {
      LoadDirectStriped<shape::threads>(thread_, block_src_it, dst_items);
    } else if constexpr (vectorizes<Iterator>) {
      LoadDirectBlockedVectorized(thread_, block_src_it, dst_items);
    } else {
      LoadDirectBlocked(thread_, block_src_it, dst_items);
    }
  }

  template <class Iterator>
  STRATA_D void Load(Iterator block_src_it, T (&dst_items)[items_per_thread], int valid_items) {
    if constexpr (Algorithm == BLOCK_LOAD_STRIPED) {
      LoadDirectStriped<shape::threads>(thread_, block_src_it, dst_items, valid_items);
      return;
    } else if constexpr (vectorizes<Iterator>) {
      // All threads but one either have all their items or none.
      if ((thread_ + 1) * ItemsPerThread <= valid_items) {
        LoadDirectBlockedVectorized(thread_, block_src_it, dst_items);
        return;
      }
    }
    LoadDirectBlocked(thread_, block_src_it, dst_items, valid_items);
  }

  template <class Iterator, class Default>
  STRATA_D void Load(Iterator block_src_it, T (&dst_items)[items_per_thread], int valid_items,
                     Default oob_default) {
    detail::fill_items(dst_items, oob_default);
    Load(block_src_it, dst_items, valid_items);
  }

 private:
  template <class Iterator>
  static constexpr bool vectorizes =
      Algorithm == BLOCK_LOAD_VECTORIZE&& detail::is_pointer_to<Iterator, T>;

  int thread_;
};

STRATA_NAMESPACE_END
