// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/device/reduce/tuning.hpp>

STRATA_NAMESPACE_BEGIN

/// Which segments are reduced by a thread, by a few lanes, by a warp, by a block, or by several blocks.
struct segmented_reduce_tuning {
  int block_threads;
  int blocks_per_multiprocessor;
  int thread_items;  ///< longest segment of one thread
  int group_items;   ///< longest segment of `group_threads` lanes; in one launch 31 items
  int group_threads;
  int warp_bytes;   ///< longest segment of a warp
  int chunk_bytes;  ///< largest chunk of a longer segment, unless it would have more than 256 chunks
  /// In one launch, a warp reduces segments of up to this many bytes if there are few segments, and of up to
  /// `warp_bytes` if there are many. A block reduces segments of up to `one_launch_block_bytes`. All blocks share
  /// longer ones.
  int one_launch_warp_bytes;
  int one_launch_block_bytes;
  int min_share_bytes;  ///< a share has about half of this or more
};

/// The rows of DeviceSegmentedReduce for results of type `AccumT`.
template <class AccumT>
struct segmented_reduce_policy_hub {
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    // H200, 2026-11-21, CUDA 13.0, i32, 2^28 items. Segments of 10 / 100 / 1,000 items: 395 / 319 / 249 us. With warps
    // up to 64 KiB instead of 32, segments of 10,000 items take 262 us instead of 273. 5,000 segments of 50,000: 237 us
    // with chunks of 256 KiB. In one launch, the limit of a warp is 16 to 64 KiB, by the number of segments, and the
    // limit of a block is 128 KiB: 2,000 segments of 10,000 items 28.9 -> 17.5 us. Other values of `group_threads`,
    // `thread_items` and `min_share_bytes` were not measured.
    static constexpr segmented_reduce_tuning segmented{/*block_threads=*/256,
                                                       /*blocks_per_multiprocessor=*/4,
                                                       /*thread_items=*/16,
                                                       /*group_items=*/256,
                                                       /*group_threads=*/8,
                                                       /*warp_bytes=*/64 << 10,
                                                       /*chunk_bytes=*/256 << 10,
                                                       /*one_launch_warp_bytes=*/16 << 10,
                                                       /*one_launch_block_bytes=*/128 << 10,
                                                       /*min_share_bytes=*/32 << 10};
    // The blocks of `segmented` in the form that AgentReduce reads. Not measured. Adapted from DeviceReduce's row for
    // large accumulators, with four blocks, as many as `segmented` has. With another row in its place, spilled
    // registers cost up to 8 %.
    static constexpr reduce_tuning tuning{/*block_threads=*/256, /*bytes_in_flight=*/64, /*ordered_bytes=*/64,
                                          /*blocks_per_multiprocessor=*/4};
    // 2,684 segments of 100,000: 244.3 us (384 threads: 247.7; two blocks of 256 threads: 245.3; three: 258, because
    // registers spill).
    static constexpr reduce_tuning one_launch_tuning{/*block_threads=*/512, /*bytes_in_flight=*/128,
                                                     /*ordered_bytes=*/64, /*blocks_per_multiprocessor=*/1};
  };

  using MaxPolicy = Policy750;
};

namespace detail {

/// The largest number of chunks of a segment. Their results are combined by one block.
inline constexpr int max_chunks_per_segment = 256;
/// Capacity of temporary storage for chunks. Segments whose chunks do not fit are reduced by one block.
inline constexpr int max_chunks = 1 << 15;
/// Up to this many segments, every block reads all lengths, and one launch of at most `max_one_launch_blocks` blocks
/// reduces everything. The limit is lower for large accumulators, because they need shared memory that the list of
/// segments would take.
template <class AccumT>
inline constexpr int max_one_launch_segments = sizeof(AccumT) <= 32 ? 3072 : 1024;
inline constexpr int max_one_launch_blocks = 4096;

}  // namespace detail
STRATA_NAMESPACE_END
