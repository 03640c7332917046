// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/device/reduce/tuning.hpp>

STRATA_NAMESPACE_BEGIN

/// Which segments are reduced by whom, by their number of items.
struct segmented_reduce_tuning {
  int block_threads;
  int blocks_per_multiprocessor;
  int thread_items;  // up to here by one thread
  int group_items;   // up to here by `group_threads` lanes
  int group_threads;
  int warp_items;   // up to here by a warp
  int block_items;  // up to here by a block; longer ones are cut into chunks
};

namespace detail {

template <class AccumT>
struct segmented_reduce_policy_hub {
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr segmented_reduce_tuning segmented{256, 4, 16, 256, 8, 8 << 10, 64 << 10};
    // For whole blocks and chunks, as AgentReduce reads it.
    static constexpr reduce_tuning tuning{256, 64, 64, 4, 8 << 10, 32 << 10, 64 << 10};
  };

  using MaxPolicy = Policy750;
};

/// A segment has at most so many chunks: their results are reduced by one block, one per thread.
inline constexpr int max_chunks_per_segment = 256;
/// Room for chunks in temporary storage. Segments that find none are reduced by one block.
inline constexpr int max_chunks = 1 << 14;
/// Up to so many segments, several blocks are set on every one of them without asking for its
/// length.
inline constexpr int max_few_segments = 128;
inline constexpr int max_blocks_per_segment = 256;
inline constexpr int min_blocks_per_segment = 32;

}  // namespace detail
STRATA_NAMESPACE_END
