// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_exchange.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/scan/sum_of_run.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN

/// A tile of a segmented scan.
struct segmented_scan_tuning {
  int block_threads;
  int items_per_thread;
  /// Registers must allow this many blocks.
  int blocks_per_multiprocessor;
};

/// The rows of DeviceSegmentedScan for sums of type `AccumT`: `contiguous` for offsets in one array, `tuning` for
/// others.
template <class AccumT>
struct segmented_scan_policy_hub {
  using Sum = detail::sum_of_run<AccumT>;

  static constexpr int items_within(int bytes) {
    const int fitting = bytes / static_cast<int>(sizeof(Sum));
    return fitting < 1 ? 1 : detail::least(fitting, 8);
  }

  // The limit of static shared memory, less what a block needs besides exchange and scan.
  static constexpr std::size_t shared_limit = std::size_t{46} << 10;
  template <int Threads, int Items>
  static constexpr bool fits() {
    return sizeof(typename BlockExchange<AccumT, Threads, Items>::TempStorage) <= shared_limit &&
           sizeof(typename BlockScan<Sum, Threads, BLOCK_SCAN_WARP_SCANS>::TempStorage) <= shared_limit;
  }
  template <int Threads, int Items>
  static constexpr int fitting_items() {
    if constexpr (Items == 1 || fits<Threads, Items>()) {
      return Items;
    } else {
      return fitting_items<Threads, Items - 1>();
    }
  }
  template <int Threads>
  static constexpr int fitting_threads() {
    if constexpr (Threads == 32 || fits<Threads, 1>()) {
      return Threads;
    } else {
      return fitting_threads<Threads / 2>();
    }
  }

  static constexpr int threads = fitting_threads<256>();
  static constexpr int items = fitting_items<threads, items_within(96)>();

  // True if a tile of segments that follow each other fits. The exchange and the scan have separate shared memory here.
  // Beside them, each warp has one sum, each item has one bit, and the block has one more sum.
  template <int Threads, int Items>
  static constexpr bool contiguous_fits() {
    using Exchange = BlockExchange<AccumT, Threads, Items>;
    using Scan = BlockScan<Sum, Threads, BLOCK_SCAN_WARP_SCANS>;
    constexpr std::size_t sums = Threads / 32 + 1;
    return sizeof(typename Exchange::TempStorage) + sizeof(typename Scan::TempStorage) + sums * sizeof(Sum) +
               Threads * Items / 8 <=
           shared_limit;
  }
  // Sums of 2^27 ints in segments of 1,000 take 358 us with three blocks of 256 threads, 394 us with two of 384, and
  // 432 us with one of 512 (H200, 2026-11-29). Sums of other sizes were not measured.
  template <int Threads, int Items>
  static constexpr segmented_scan_tuning contiguous_of(int blocks_per_multiprocessor) {
    if constexpr (contiguous_fits<Threads, Items>() || (Threads == 32 && Items == 1)) {
      return {Threads, Items, blocks_per_multiprocessor};
    } else if constexpr (Items > 1) {
      return contiguous_of<Threads, Items - 1>(blocks_per_multiprocessor);
    } else {
      return contiguous_of<Threads / 2, Items>(blocks_per_multiprocessor);
    }
  }
  static constexpr int contiguous_items = sizeof(AccumT) <= 4 ? 16 : sizeof(AccumT) < 64 ? 64 / sizeof(AccumT) : 1;

  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    // Not measured. Adapted from the first version that ran on an H200 (2026-11-21). No other shape of `tuning` was
    // tried.
    static constexpr segmented_scan_tuning tuning{/*block_threads=*/threads, /*items_per_thread=*/items,
                                                  /*blocks_per_multiprocessor=*/sizeof(Sum) <= 8 ? 3 : 2};
    static constexpr segmented_scan_tuning contiguous = contiguous_of<256, contiguous_items>(
        /*blocks_per_multiprocessor=*/sizeof(AccumT) <= 4 ? 3
        : sizeof(AccumT) <= 16                            ? 2
                                                          : 1);
  };
  using MaxPolicy = Policy750;
};

STRATA_NAMESPACE_END
