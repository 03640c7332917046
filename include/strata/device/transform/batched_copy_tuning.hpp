// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// How buffers are shared out among warps.
struct batched_copy_tuning {
  int block_threads;
  int blocks_per_multiprocessor;  ///< of both kernels, except where `queued_array_blocks` counts
  int warp_bytes;                 ///< the longest body of a buffer that is not queued; never below 32 units
  int piece_bytes;                ///< what queued buffers are cut into
  int max_pieces;                 ///< of one buffer: longer ones have longer pieces
  int batches_per_warp;           ///< least number of batches for each resident warp, if batches have several buffers
  int rows;                       ///< units of 16 bytes that a lane loads before it stores the first
  int edge_rows;                  ///< the same of words at the ends of buffers
  int queued_array_blocks = 2;    ///< `blocks_per_multiprocessor` of the second kernel, if it reads buffers from arrays
  int stride_pieces = 1024;       ///< from so many pieces a queued buffer, on average, each of n warps takes every n-th
};

/// The rows of DeviceCopy::Batched and DeviceMemcpy::Batched.
struct batched_copy_policy_hub {
  template <int Blocks>
  struct rows {
    // H200, 2026-11-24, CUDA 13.0: 2^22 buffers of 1 to 32 bytes 174 us, 2^18 of 4 KB 545 us, 2^10 of 1 MB 563 us; a
    // copy of the last takes 512. Other rows of the queue's kernel:
    // benchmarks/results/h200/experiments/batched_copy.md.
    // `warp_bytes`: what a warp that is alone copies in some microseconds. `piece_bytes`: two rounds of a warp. `rows`:
    // as registers allow. `Blocks` was 4.
    static constexpr batched_copy_tuning batched_copy{/*block_threads=*/256,
                                                      /*blocks_per_multiprocessor=*/Blocks,
                                                      /*warp_bytes=*/8 << 10,
                                                      /*piece_bytes=*/4 << 10,
                                                      /*max_pieces=*/1 << 20,
                                                      /*batches_per_warp=*/4,
                                                      /*rows=*/4,
                                                      /*edge_rows=*/3};
  };

  struct Policy750 : rows<4>, ChainedPolicy<750, Policy750, Policy750> {};
  // Not measured. Derived from Policy750. With four blocks, 40 bytes would be spilled on 10.0, and 96 on 12.0.
  struct Policy1000 : rows<3>, ChainedPolicy<1000, Policy1000, Policy750> {};

  using MaxPolicy = Policy1000;
};

STRATA_NAMESPACE_END
