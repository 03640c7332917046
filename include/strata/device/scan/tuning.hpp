// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_load.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/block_store.cuh>
#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// A tile that a block holds in registers.
struct scan_tile_tuning {
  int block_threads;
  int items_per_thread;
  BlockLoadAlgorithm load;
  BlockStoreAlgorithm store;
  /// Blocks that registers must allow.
  int blocks_per_multiprocessor;
};

/// A pipeline whose stages hold one column of items.
struct scan_pipeline_tuning {
  int scanning_threads;
  int vectors_per_thread;  // of 16 bytes; odd
  int stages;
  /// Rounds from the upsweep of a tile to its downsweep.
  int lag;
  /// Blocks that shared memory must allow.
  int blocks_per_multiprocessor;
  /// Loading warps if inputs cannot be copied in bulk.
  int item_loading_warps = 16;
};

/// A pipeline whose stages hold several columns: keys or flags, and values.
struct columns_pipeline_tuning {
  int scanning_threads;
  int thread_bytes;  // in all columns together, at most
  int stages;
  int lag;
  int blocks_per_multiprocessor;
  int item_loading_warps = 8;
};

/// A policy's `pipeline_above`, if no input takes the pipeline. Otherwise an input takes the pipeline if it has more
/// than one small tile and more than `pipeline_above` large tiles for each multiprocessor. For a selection in place,
/// the first of these bounds is one small tile in all, not one for each multiprocessor.
inline constexpr int no_pipeline = -1;

/// The rows of DeviceScan for items of type `InputT` and sums of type `AccumT`.
template <class InputT, class AccumT>
struct scan_policy_hub {
  static constexpr int item_bytes = static_cast<int>(detail::most(sizeof(InputT), sizeof(AccumT)));

  static constexpr int items_within(int bytes) {
    const int items = bytes / item_bytes;
    return items < 1 ? 1 : detail::least(items, 32);
  }

  // The limit of static shared memory. Transposing a tile takes up to about twice its size. How much depends on the
  // alignment of its items; scanning it takes an item for each thread.
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
  // If items have some hundred bytes, not even one for each thread fits.
  static constexpr bool is_transposed =
      sizeof(typename BlockLoad<AccumT, threads, 1, BLOCK_LOAD_WARP_TRANSPOSE>::TempStorage) <= shared_limit;

  // If two blocks of large tiles share a multiprocessor, they spill registers. Sums of 8-byte numbers are faster
  // nevertheless.
  static constexpr bool is_wide_number =
      item_bytes == 8 && std::is_same_v<InputT, AccumT> && std::is_arithmetic_v<AccumT>;

  // Measured: H200, 2026-11-21 and 22, batches of ExclusiveSum of 4-byte items, in microseconds per call.
  template <int LargeTileBlocks = 1>
  struct rows {
    /// One tile for each multiprocessor. A thread loads 16 bytes: the sooner a block publishes, the better.
    /// 2^18 items: 3.0; with 256 threads 3.7, with 1,024 threads 5.0.
    static constexpr scan_tile_tuning small_tile{/*block_threads=*/threads,
                                                 /*items_per_thread=*/items_within(16), BLOCK_LOAD_VECTORIZE,
                                                 BLOCK_STORE_VECTORIZE, /*blocks_per_multiprocessor=*/1};
    /// More bytes in flight. 2^20 items: 4.3; with 256 threads 5.7, with 384 threads 7.2; with 32 bytes a thread 6.2,
    /// with 48 bytes 7.3, with 80 bytes 5.0. 2^20 i64, 2026-11-29: with two blocks 7.2, cold 13.7; with one block 7.7,
    /// cold 14.5; CUB 3.5 takes 11.5, cold 13.9.
    static constexpr scan_tile_tuning large_tile{/*block_threads=*/threads,
                                                 /*items_per_thread=*/fitting_items<threads, items_within(64)>(),
                                                 is_transposed ? BLOCK_LOAD_WARP_TRANSPOSE : BLOCK_LOAD_DIRECT,
                                                 is_transposed ? BLOCK_STORE_WARP_TRANSPOSE : BLOCK_STORE_DIRECT,
                                                 LargeTileBlocks};
    /// 2^22 / 2^24 / 2^28 items: 9.7 / 40.5 / 544; 384 threads x 7 vectors x 4 stages take 9.8 / 41.6 / 563; 192 x 9 x
    /// 4, two blocks, 11.0 / 40.1 / 536, and 256 x 7 x 4, two blocks, 9 % longer for structs of 16 bytes. 16 loading
    /// warps for inputs that are no arrays: 745 for 2^28; 4, 6, 8 and 12 of them: 1,803, 1,322, 1,077 and 836.
    static constexpr scan_pipeline_tuning of_others{/*scanning_threads=*/320, /*vectors_per_thread=*/9,
                                                    /*stages=*/4, /*lag=*/2, /*blocks_per_multiprocessor=*/1};
    /// 2^24 / 2^26 / 2^28 f64: 73.4 / 272 / 1,061; with the row of all other types 74.7 / 277 / 1,097. For 2^22 to 2^26
    /// i64 that row is 1 % faster.
    static constexpr scan_pipeline_tuning of_doubles{/*scanning_threads=*/320, /*vectors_per_thread=*/11,
                                                     /*stages=*/4, /*lag=*/2, /*blocks_per_multiprocessor=*/1};
    static constexpr scan_pipeline_tuning pipeline =
        std::is_same_v<InputT, double> && std::is_same_v<AccumT, double> ? of_doubles : of_others;
  };

  // Not measured. Adapted from Policy900, without a pipeline, because there are no bulk copies before 9.0.
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750>, rows<> {
    static constexpr int pipeline_above = no_pipeline;
  };
  // Measured. The bound of 2 lies between two measured sizes: 2^20 items, which are one large tile for each
  // multiprocessor, take 4.3 in registers. 2^22 items, which are four tiles, take 9.7 in the pipeline, which takes
  // longer to fill.
  struct Policy900 : ChainedPolicy<900, Policy900, Policy750>, rows<is_wide_number ? 2 : 1> {
    static constexpr int pipeline_above = 2;
  };
  // Not measured. Adapted from Policy900, but with one block of large tiles, which spills nothing.
  struct Policy1000 : ChainedPolicy<1000, Policy1000, Policy900>, rows<> {
    static constexpr int pipeline_above = 2;
  };
  // Not measured. Adapted from Policy900, without a pipeline, because 12.0 has less than half of the shared memory of
  // 9.0 and 10.0.
  struct Policy1200 : ChainedPolicy<1200, Policy1200, Policy1000>, rows<> {
    static constexpr int pipeline_above = no_pipeline;
  };
  using MaxPolicy = Policy1200;
};

/// The rows of what is built on scans, whose stages hold columns: scans by key, DeviceSelect, DevicePartition,
/// DeviceRunLengthEncode and DeviceReduce::ReduceByKey. Tiles in registers read keys and apply operators twice for each
/// item, so inputs of more than one small tile for each multiprocessor take the pipeline.
template <class InputT, class AccumT, int ScanningThreads = 320, int ThreadBytes = 176>
struct columns_policy_hub {
  struct rows {
    // Not measured. Adapted from scan_policy_hub.
    static constexpr scan_tile_tuning small_tile = scan_policy_hub<InputT, AccumT>::template rows<>::small_tile;
    static constexpr scan_tile_tuning large_tile = scan_policy_hub<InputT, AccumT>::template rows<>::large_tile;
    /// H200, 2026-11-21 and 22, 2^24 / 2^28 items of 4 bytes in runs of 16, in microseconds per call:
    /// ExclusiveSumByKey 65.3 / 888, ReduceByKey 52.2 / 673, If 33.0 / 398, run lengths 35.1 / 411. Shapes were
    /// compared by ReduceByKey of an earlier version, 54.6 / 710: 512 threads x 96 bytes x 4 stages took 54.3 / 700,
    /// but run lengths of 2^28 items 528 instead of 437; 256 x 176 x 5 took 58.3 / 779.
    static constexpr columns_pipeline_tuning columns{ScanningThreads, ThreadBytes, /*stages=*/4, /*lag=*/2,
                                                     /*blocks_per_multiprocessor=*/1};
  };

  // Not measured. Adapted from Policy900, without a pipeline, because there are no bulk copies before 9.0.
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750>, rows {
    static constexpr int pipeline_above = no_pipeline;
  };
  struct Policy900 : ChainedPolicy<900, Policy900, Policy750>, rows {
    static constexpr int pipeline_above = 0;
  };
  // Not measured. Adapted from Policy900, without a pipeline, because 12.0 has less than half of the shared memory of
  // 9.0 and 10.0.
  struct Policy1200 : ChainedPolicy<1200, Policy1200, Policy900>, rows {
    static constexpr int pipeline_above = no_pipeline;
  };
  using MaxPolicy = Policy1200;
};

STRATA_NAMESPACE_END
