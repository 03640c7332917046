// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/top_k/tuning.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN

/// Tuning for segments that a logical warp holds in registers.
struct top_k_warp_tuning {
  int block_threads;
  int lanes;  // of a logical warp
  int items_per_lane;
  /// Blocks that are resident on a multiprocessor: registers must suffice for them.
  int blocks_per_multiprocessor;
};

/// Tuning for segments that a block holds in registers.
struct top_k_block_tuning {
  int block_threads;
  int items_per_thread;
  /// Blocks that are resident on a multiprocessor: registers must suffice for them.
  int blocks_per_multiprocessor;
};

/// The tuning rows of DeviceSegmentedTopK for keys of type `Key`. A thread keeps up to 32 keys of 4 bytes in registers.
/// No other rows were tried.
template <class Key>
struct segmented_top_k_policy_hub {
  struct rows {
    /// Returns the number of items of a thread, which is `items` for keys of up to 4 bytes.
    static constexpr int items_of(int items) {
      return sizeof(Key) <= 4 ? items : detail::most(items * 4 / static_cast<int>(sizeof(Key)), 1);
    }
    // H200, 2026-11-29, CUDA 13.0, f32, k = 8: 2^20 segments of 64 take 103 us; one read takes 62 us.
    static constexpr top_k_warp_tuning narrow{/*block_threads=*/128, /*lanes=*/2, /*items_per_lane=*/items_of(32),
                                              /*blocks_per_multiprocessor=*/8};
    // H200, 2026-11-29, CUDA 13.0, f32, k = 8: 2^18 segments of 256 take 100 us; one read takes 62 us.
    static constexpr top_k_warp_tuning middle{128, 8, items_of(32), 8};
    // H200, 2026-11-29, CUDA 13.0, f32, k = 32: 2^16 segments of 1,024 take 113 us; one read takes 62 us.
    static constexpr top_k_warp_tuning wide{64, 32, items_of(32), 16};
    // H200, 2026-11-29, CUDA 13.0, f32, k = 1,000: 4,096 segments of 4,096 take 77 us; one read takes 16 us.
    static constexpr top_k_block_tuning small_block{/*block_threads=*/256, /*items_per_thread=*/items_of(16),
                                                    /*blocks_per_multiprocessor=*/4};
    // H200, 2026-11-29, CUDA 13.0, f32, k = 2,048: 64 segments of 32,768 take 23 us, 256 of 131,072 take 79 us, 64 of
    // 2^20 take 104 us.
    static constexpr top_k_block_tuning block{512, items_of(16), 2};
    // H200, 2026-11-29, CUDA 13.0, f32, k = 2,048: 64 segments of 32,768 would take 30 us by this row (23 us by
    // `block`).
    static constexpr top_k_block_tuning large_block{1024, items_of(32), 1};
    // The next three rows are for few results of each segment: a thread keeps one of eight neighbouring items.
    // H200, 2026-11-29, CUDA 13.0, f32, k = 64: 4,096 segments of 4,096 take 30 us; one read takes 16 us.
    static constexpr top_k_block_tuning small_groups{64, items_of(64), 14};
    // H200, 2026-11-29, CUDA 13.0, f32, k = 128: 1,024 segments of 8,192 take 17 us; one read takes 8 us.
    static constexpr top_k_block_tuning groups{128, items_of(64), 8};
    // H200, 2026-11-29, CUDA 13.0, f32, k = 128: 512 segments of 32,768 take 30 us; one read takes 16 us.
    static constexpr top_k_block_tuning large_groups{256, items_of(128), 4};
    /// For segments that are longer than a block holds. If the sample of such a segment was misleading, or no sample
    /// suffices, one block reads the segment several times. It has as many threads as `block` says.
    // H200, 2026-11-29, CUDA 13.0, u64, k = 2,000: a segment of 2^18 takes 361 us, one of 2^20 takes 1,511 us.
    static constexpr top_k_tuning select{512, 2};
  };
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750>, rows {};
  using MaxPolicy = Policy750;
};

namespace detail {

/// The largest numbers of results of a segment that are sorted where they are selected.
inline constexpr int max_top_k_sorted_by_warp = 64;
inline constexpr int max_top_k_sorted_by_block = 2048;
/// The largest number of blocks of a long segment.
inline constexpr unsigned max_top_k_parts = 128;
/// Capacity for the candidates of each part of a long segment. All parts together may have at most as many candidates
/// as one block holds in registers, up to this number. One part may have all of them.
inline constexpr unsigned top_k_candidates_of_part = 8192;

}  // namespace detail
STRATA_NAMESPACE_END
