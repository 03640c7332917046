// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/device/reduce/tuning.hpp>

STRATA_NAMESPACE_BEGIN

/// Which segments are reduced by whom.
struct segmented_reduce_tuning {
  int block_threads;
  int blocks_per_multiprocessor;
  int thread_items;  // up to here by one thread
  int group_items;   // up to here by `group_threads` lanes
  int group_threads;
  int warp_bytes;   // up to here by a warp
  int chunk_bytes;  // longer ones by blocks, in chunks of at least about this size
  // In one launch, a warp has this much when segments are few, and up to `warp_bytes` when they are
  // many; a block has this much; all blocks share what is longer, in shares of at least this size.
  int one_launch_warp_bytes;
  int one_launch_block_bytes;
  int min_share_bytes;
};

namespace detail {

template <class AccumT>
struct segmented_reduce_policy_hub {
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr segmented_reduce_tuning segmented{
        256, 4, 16, 256, 8, 64 << 10, 256 << 10, 16 << 10, 128 << 10, 32 << 10};
    // For blocks, as AgentReduce reads it. A spilled register costs as much as 8 % of the speed: where
    // the threads have more to remember, there are fewer of them.
    static constexpr reduce_tuning tuning{256, 64, 64, 4, 8 << 10, 32 << 10, 64 << 10};
    static constexpr reduce_tuning one_launch_tuning{512, 128, 64, 1, 8 << 10, 32 << 10, 64 << 10};
  };

  using MaxPolicy = Policy750;
};

/// A segment has at most so many chunks: their results are reduced by one block, one per thread.
inline constexpr int max_chunks_per_segment = 256;
/// Room for chunks in temporary storage. Segments that find none are reduced by one block.
inline constexpr int max_chunks = 1 << 15;
/// Up to so many segments, every block looks at all lengths, and one launch does all, of at most so
/// many blocks. Large accumulators need the shared memory for themselves.
template <class AccumT>
inline constexpr int max_one_launch_segments = sizeof(AccumT) <= 32 ? 3072 : 1024;
inline constexpr int max_one_launch_blocks = 4096;

}  // namespace detail
STRATA_NAMESPACE_END
