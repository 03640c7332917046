// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/specializations/exchange_storage.hpp>
#include <strata/thread/thread_load_direct.cuh>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/logical_warp.cuh>
#include <strata/warp/warp_exchange.cuh>

STRATA_NAMESPACE_BEGIN

/// How WarpLoad reads memory, and which items a lane gets.
enum WarpLoadAlgorithm {
  /// Blocked arrangement, item by item: neighbouring lanes are ItemsPerThread items apart. Efficient only
  /// for a small number of items per lane.
  WARP_LOAD_DIRECT,
  /// Striped arrangement: every access is to consecutive items.
  WARP_LOAD_STRIPED,
  /// Blocked arrangement, in words of up to 16 bytes, for pointers to T that are aligned to such words. Other pointers
  /// and iterators are loaded as by WARP_LOAD_DIRECT.
  WARP_LOAD_VECTORIZE,
  /// Blocked arrangement: memory is read as by WARP_LOAD_STRIPED, then items change lanes through
  /// shared memory. For any iterator and any number of items.
  WARP_LOAD_TRANSPOSE,
};

/// Loads a tile of `LogicalWarpThreads * ItemsPerThread` items, `ItemsPerThread` of them into each lane of a
/// logical warp, from any random-access iterator whose values convert to `T`. Logical warps are as in
/// WarpReduce. Each loads one tile: its iterator points to the first item of the tile.
///
/// - `valid_items`: only the first `valid_items` items of the tile are read (none if it is not positive).
///   With every algorithm, the other items keep their value or become `oob_default`.
/// - WARP_LOAD_DIRECT, _STRIPED and _VECTORIZE: lanes do not wait for each other, and a lane may load alone.
///   These algorithms use no shared memory: `TempStorage` makes the interface uniform, and may be omitted.
/// - WARP_LOAD_TRANSPOSE: all lanes of a logical warp must call together, with the same `valid_items`; those
///   of other logical warps need not. `T` must be trivially relocatable. Each logical warp needs its own
///   `TempStorage`, that of WarpExchange: about the size of the tile. Its lanes must call `__syncwarp()`
///   between two calls that use the same storage, and before the storage is used for anything else.
/// - Bank conflicts are those of WarpExchange.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int matrix[8][48], sums[8][16];
///
/// // Each of 8 logical warps has a row: its lanes add up 3 neighbouring items each, but read memory in order.
/// STRATA_KERNEL void sums_of_3(const int* in, int* out) {
///   using Load = strata::WarpLoad<int, 3, strata::WARP_LOAD_TRANSPOSE, 16>;
///   STRATA_SHARED(temp_storage, Load::TempStorage[128 / 16]);
///   const unsigned row = threadIdx.x / 16;
///   int items[3];
///   Load(temp_storage[row]).Load(in + row * 48, items);
///   out[threadIdx.x] = items[0] + items[1] + items[2];
/// }
///
/// int main() {
///   for (int i = 0; i < 8 * 48; ++i) matrix[i / 48][i % 48] = i;
///   if (strata::launch({"sums_of_3", 1, 128}, sums_of_3, matrix[0], sums[0]) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d %d %d, %d\n", sums[0][0], sums[0][1], sums[0][2], sums[7][15]);
/// }
/// // prints: 3 12 21, 1146
/// @endcode
template <class T, int ItemsPerThread, WarpLoadAlgorithm Algorithm = WARP_LOAD_DIRECT,
          int LogicalWarpThreads = warp_threads>
class WarpLoad {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static constexpr bool transposes = Algorithm == WARP_LOAD_TRANSPOSE;
  using exchange = WarpExchange<T, ItemsPerThread, LogicalWarpThreads>;
  using storage = typename detail::exchange_storage<transposes, exchange>::type;

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Needs no storage. Not for WARP_LOAD_TRANSPOSE.
  STRATA_D WarpLoad() : storage_(nullptr) {
    static_assert(!transposes,
                  "WARP_LOAD_TRANSPOSE needs storage for each logical warp: pass a TempStorage to the"
                  " constructor");
  }
  /// Uses `temp_storage`, which all lanes of the logical warp pass.
  STRATA_D explicit WarpLoad(TempStorage& temp_storage) : storage_(&temp_storage) {}

  /// Loads a full tile.
  template <class Iterator>
  STRATA_D void Load(Iterator src_it, T (&dst_items)[items_per_thread]) {
    load(src_it, dst_items);
    transpose(dst_items);
  }

  /// Loads the first `valid_items` items of the tile. Other items keep their value.
  template <class Iterator>
  STRATA_D void Load(Iterator src_it, T (&dst_items)[items_per_thread], int valid_items) {
    if constexpr (transposes) {
      // An item that keeps its value must not be exchanged with another lane's.
      T loaded[items_per_thread] = {};
      load(src_it, loaded, valid_items);
      transpose(loaded);
      detail::take_blocked(warp_.lane(), loaded, dst_items, valid_items);
    } else {
      load(src_it, dst_items, valid_items);
    }
  }

  /// Loads the first `valid_items` items of the tile. Other items become `oob_default`.
  template <class Iterator, class Default>
  STRATA_D void Load(Iterator src_it, T (&dst_items)[items_per_thread], int valid_items, Default oob_default) {
    detail::fill_items(dst_items, oob_default);
    load(src_it, dst_items, valid_items);
    transpose(dst_items);
  }

 private:
  // Loads items in the arrangement in which memory is read. `end` is empty or the number of valid items.
  template <class Iterator, class... End>
  STRATA_D void load(Iterator from, T (&items)[items_per_thread], End... end) {
    if constexpr (Algorithm == WARP_LOAD_DIRECT) {
      strata::LoadDirectBlocked(warp_.lane(), from, items, end...);
    } else if constexpr (Algorithm == WARP_LOAD_VECTORIZE) {
      detail::load_blocked_in_words(warp_.lane(), from, items, end...);
    } else {
      strata::LoadDirectStriped<LogicalWarpThreads>(warp_.lane(), from, items, end...);
    }
  }

  // Moves items from the arrangement in which memory is read to the arrangement of the algorithm.
  STRATA_D void transpose([[maybe_unused]] T (&items)[items_per_thread]) {
    if constexpr (transposes) exchange(storage_->Alias()).StripedToBlocked(items, items);
  }

  TempStorage* storage_;
  detail::logical_warp<LogicalWarpThreads> warp_;
};

STRATA_NAMESPACE_END
