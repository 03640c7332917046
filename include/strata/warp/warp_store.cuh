// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/specializations/exchange_storage.hpp>
#include <strata/thread/thread_store_direct.cuh>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/logical_warp.cuh>
#include <strata/warp/warp_exchange.cuh>

STRATA_NAMESPACE_BEGIN

/// How WarpStore writes memory, and where a lane's items belong.
enum WarpStoreAlgorithm {
  /// Blocked arrangement, item by item: neighbouring lanes are ItemsPerThread items apart. Efficient only
  /// for a small number of items per lane.
  WARP_STORE_DIRECT,
  /// Striped arrangement: every access is to consecutive items.
  WARP_STORE_STRIPED,
  /// Blocked arrangement, in words of up to 16 bytes, for pointers to T that are aligned to such words. Other pointers
  /// and iterators are written as by WARP_STORE_DIRECT.
  WARP_STORE_VECTORIZE,
  /// Blocked arrangement: items change lanes through shared memory, then memory is written as by
  /// WARP_STORE_STRIPED. For any iterator and any number of items.
  WARP_STORE_TRANSPOSE,
};

/// Stores a tile of `LogicalWarpThreads * ItemsPerThread` items, `ItemsPerThread` of them from each
/// lane of a logical warp, to any random-access iterator. The counterpart of WarpLoad.
///
/// - `valid_items`: only the first `valid_items` items of the tile are written (none if it is not positive).
/// - WARP_STORE_DIRECT, _STRIPED and _VECTORIZE: lanes do not wait for each other, and a lane may store alone.
///   They use no shared memory: `TempStorage` makes the interface uniform, and may be omitted.
/// - WARP_STORE_TRANSPOSE: calling lanes, barriers and shared memory as for WarpLoad. `T` must be trivially
///   relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int squares[40];
///
/// // Each lane computes 3 neighbouring squares. They go to memory in order, up to the 40th.
/// STRATA_KERNEL void write_squares(int* out, int count) {
///   using Store = strata::WarpStore<int, 3, strata::WARP_STORE_TRANSPOSE, 16>;
///   STRATA_SHARED(temp_storage, Store::TempStorage);
///   int items[3];
///   for (int i = 0, n = static_cast<int>(threadIdx.x) * 3; i < 3; ++i, ++n) items[i] = n * n;
///   Store(temp_storage).Store(out, items, count);
/// }
///
/// int main() {
///   if (strata::launch({"write_squares", 1, 16}, write_squares, squares, 40) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d %d %d %d ... %d\n", squares[0], squares[1], squares[2], squares[3], squares[39]);
/// }
/// // prints: 0 1 4 9 ... 1521
/// @endcode
template <class T, int ItemsPerThread, WarpStoreAlgorithm Algorithm = WARP_STORE_DIRECT,
          int LogicalWarpThreads = warp_threads>
class WarpStore {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static constexpr bool transposes = Algorithm == WARP_STORE_TRANSPOSE;
  using exchange = WarpExchange<T, ItemsPerThread, LogicalWarpThreads>;
  using storage = typename detail::exchange_storage<transposes, exchange>::type;

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Needs no storage. Not for WARP_STORE_TRANSPOSE.
  STRATA_D WarpStore() : storage_(nullptr) {
    static_assert(!transposes,
                  "WARP_STORE_TRANSPOSE needs storage for each logical warp: pass a TempStorage to"
                  " the constructor");
  }
  /// Uses `temp_storage`, which all lanes of the logical warp pass.
  STRATA_D explicit WarpStore(TempStorage& temp_storage) : storage_(&temp_storage) {}

  /// Stores a full tile.
  template <class Iterator>
  STRATA_D void Store(Iterator dst_it, const T (&items)[items_per_thread]) {
    store(dst_it, items);
  }

  /// Stores the first `valid_items` items of the tile.
  template <class Iterator>
  STRATA_D void Store(Iterator dst_it, const T (&items)[items_per_thread], int valid_items) {
    store(dst_it, items, valid_items);
  }

 private:
  // `end` is empty or the number of valid items.
  template <class Iterator, class... End>
  STRATA_D void store(Iterator to, const T (&items)[items_per_thread], End... end) {
    if constexpr (Algorithm == WARP_STORE_DIRECT) {
      strata::StoreDirectBlocked(warp_.lane(), to, items, end...);
    } else if constexpr (Algorithm == WARP_STORE_VECTORIZE) {
      detail::store_blocked_in_words(warp_.lane(), to, items, end...);
    } else if constexpr (Algorithm == WARP_STORE_STRIPED) {
      strata::StoreDirectStriped<LogicalWarpThreads>(warp_.lane(), to, items, end...);
    } else {
      T exchanged[items_per_thread];
      exchange(storage_->Alias()).BlockedToStriped(items, exchanged);
      strata::StoreDirectStriped<LogicalWarpThreads>(warp_.lane(), to, exchanged, end...);
    }
  }

  TempStorage* storage_;
  detail::logical_warp<LogicalWarpThreads> warp_;
};

STRATA_NAMESPACE_END
