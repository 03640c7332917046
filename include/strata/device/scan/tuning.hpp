// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_load.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/block_store.cuh>
#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN

/// How a scan whose blocks hold a tile in registers is cut.
struct scan_tile_tuning {
  int block_threads;
  int items_per_thread;
  BlockLoadAlgorithm load;
  BlockStoreAlgorithm store;
  /// What registers must allow.
  int blocks_per_multiprocessor;
};

/// How a scan of a long input is cut, whose tiles go through a ring of stages in shared memory.
struct scan_ring_tuning {
  int scanning_threads;
  int vectors_per_thread;  // of 16 bytes; odd
  int stages;
  /// Rounds from the sum of a tile to the use of its prefix.
  int lag;
  /// What shared memory must allow.
  int blocks_per_multiprocessor;
  /// Of inputs that bulk copies cannot bring.
  int item_loading_warps = 16;
};

/// The same where stages hold several columns: what keys, values or flags say of an item.
struct ring_columns_tuning {
  int scanning_threads;
  int thread_bytes;  // in all columns together, at most
  int stages;
  int lag;
  int blocks_per_multiprocessor;
  int item_loading_warps = 8;
};

namespace detail {

template <class InputT, class AccumT>
struct scan_policy_hub {
  static constexpr int item_bytes =
      static_cast<int>(sizeof(InputT) > sizeof(AccumT) ? sizeof(InputT) : sizeof(AccumT));

  static constexpr int items_within(int bytes) {
    const int items = bytes / item_bytes;
    return items < 1 ? 1 : items > 32 ? 32 : items;
  }

  // What a block may have of static shared memory. Transposing a tile takes up to twice its size, or
  // so, by the alignment of its items; scanning it, an item for each thread.
  static constexpr std::size_t shared_limit = std::size_t{48} << 10;
  template <int Threads, int Items>
  static constexpr int fitting_items() {
    using Load = BlockLoad<AccumT, Threads, Items, BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = BlockStore<AccumT, Threads, Items, BLOCK_STORE_WARP_TRANSPOSE>;
    if constexpr (Items == 1 || (sizeof(typename Load::TempStorage) <= shared_limit &&
                                 sizeof(typename Store::TempStorage) <= shared_limit)) {
      return Items;
    } else {
      return fitting_items<Threads, Items - 1>();
    }
  }
  template <int Threads>
  static constexpr int fitting_threads() {
    using Load = BlockLoad<AccumT, Threads, 1, BLOCK_LOAD_WARP_TRANSPOSE>;
    using Scan = BlockScan<AccumT, Threads, BLOCK_SCAN_WARP_SCANS>;
    if constexpr (Threads == 128 || (sizeof(typename Load::TempStorage) <= shared_limit &&
                                     sizeof(typename Scan::TempStorage) <= shared_limit)) {
      return Threads;
    } else {
      return fitting_threads<Threads / 2>();
    }
  }
  static constexpr int threads = fitting_threads<512>();
  // Of a few hundred bytes not even one item for each thread fits.
  static constexpr bool is_transposed =
      sizeof(typename BlockLoad<AccumT, threads, 1, BLOCK_LOAD_WARP_TRANSPOSE>::TempStorage) <=
      shared_limit;

  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    /// One tile per multiprocessor: a thread loads 16 bytes, and the sooner a block has published its
    /// sum the better.
    static constexpr scan_tile_tuning small_tile{threads, items_within(16), BLOCK_LOAD_VECTORIZE,
                                                 BLOCK_STORE_VECTORIZE, 1};
    /// Enough bytes on their way.
    static constexpr scan_tile_tuning large_tile{
        threads, fitting_items<threads, items_within(64)>(),
        is_transposed ? BLOCK_LOAD_WARP_TRANSPOSE : BLOCK_LOAD_DIRECT,
        is_transposed ? BLOCK_STORE_WARP_TRANSPOSE : BLOCK_STORE_DIRECT, 1};
    static constexpr scan_ring_tuning ring{320, 9, 4, 2, 1};
    /// Inputs from this size on take the ring.
    static constexpr std::size_t ring_from_bytes = ~std::size_t{0};
  };

  struct Policy900 : ChainedPolicy<900, Policy900, Policy750> {
    static constexpr scan_tile_tuning small_tile = Policy750::small_tile;
    static constexpr scan_tile_tuning large_tile = Policy750::large_tile;
    static constexpr scan_ring_tuning ring = Policy750::ring;
    // Two large tiles for each multiprocessor of an H200: up to there, one tile for each block takes
    // less time than the ring to fill.
    static constexpr std::size_t ring_from_bytes =
        sizeof(InputT) *
        (static_cast<std::size_t>(2 * 132 * large_tile.block_threads * large_tile.items_per_thread) +
         1);
  };

  // Less than half of the shared memory of 9.0 and 10.0: no ring.
  struct Policy1200 : ChainedPolicy<1200, Policy1200, Policy900> {
    static constexpr scan_tile_tuning small_tile = Policy750::small_tile;
    static constexpr scan_tile_tuning large_tile = Policy750::large_tile;
    static constexpr scan_ring_tuning ring = Policy750::ring;
    static constexpr std::size_t ring_from_bytes = Policy750::ring_from_bytes;
  };

  using MaxPolicy = Policy1200;
};

/// For scans whose stages hold columns: as they spare much work on each item, whatever is too long
/// for small tiles goes through the ring.
template <class InputT, class AccumT>
struct columns_policy_hub {
  using tiles = typename scan_policy_hub<InputT, AccumT>::Policy750;

  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr scan_tile_tuning small_tile = tiles::small_tile;
    static constexpr scan_tile_tuning large_tile = tiles::large_tile;
    static constexpr ring_columns_tuning columns{320, 176, 4, 2, 1};
    static constexpr std::size_t ring_from_bytes = ~std::size_t{0};
  };

  struct Policy900 : ChainedPolicy<900, Policy900, Policy750> {
    static constexpr scan_tile_tuning small_tile = Policy750::small_tile;
    static constexpr scan_tile_tuning large_tile = Policy750::large_tile;
    static constexpr ring_columns_tuning columns = Policy750::columns;
    static constexpr std::size_t ring_from_bytes = 1;
  };

  struct Policy1200 : ChainedPolicy<1200, Policy1200, Policy900> {
    static constexpr scan_tile_tuning small_tile = Policy750::small_tile;
    static constexpr scan_tile_tuning large_tile = Policy750::large_tile;
    static constexpr ring_columns_tuning columns = Policy750::columns;
    static constexpr std::size_t ring_from_bytes = Policy750::ring_from_bytes;
  };

  using MaxPolicy = Policy1200;
};

}  // namespace detail
STRATA_NAMESPACE_END
