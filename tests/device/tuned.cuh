// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Policy hubs for tests, with which small inputs take the paths of large ones.
#pragma once

#include <strata/device/device_reduce.cuh>
#include <strata/device/device_segmented_reduce.cuh>

#include <cstddef>

namespace device_test {

/// Blocks of `Threads` threads, one block for every `MinBytes` bytes. Each thread has `BytesInFlight` bytes of loads in
/// flight.
template <class AccumT, int Threads, int MinBytes, int BytesInFlight = 128>
struct eager_hub {
  static constexpr strata::reduce_tuning make() {
    auto tuning = strata::reduce_policy_hub<AccumT>::MaxPolicy::tuning;
    tuning.block_threads = Threads;
    tuning.min_bytes_per_block = MinBytes;
    tuning.bytes_in_flight = BytesInFlight;
    tuning.single_block_bytes = 0;
    return tuning;
  }
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::reduce_tuning tuning = make();
  };
  using MaxPolicy = Policy;
};

/// Groups of `GroupThreads` lanes reduce short segments. Segments of more than `ChunkItems` items of type `AccumT` are
/// cut into chunks.
template <class AccumT, int GroupThreads, int ChunkItems>
struct short_segment_hub {
  using usual = typename strata::segmented_reduce_policy_hub<AccumT>::MaxPolicy;
  static constexpr strata::segmented_reduce_tuning make() {
    auto tuning = usual::segmented;
    tuning.thread_items = GroupThreads;
    tuning.group_items = 40;
    tuning.group_threads = GroupThreads;
    tuning.warp_bytes = ChunkItems / 3 * static_cast<int>(sizeof(AccumT));
    tuning.chunk_bytes = ChunkItems * static_cast<int>(sizeof(AccumT));
    tuning.one_launch_warp_bytes = tuning.warp_bytes;
    tuning.one_launch_block_bytes = tuning.chunk_bytes;
    tuning.min_share_bytes = tuning.chunk_bytes;
    return tuning;
  }
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::segmented_reduce_tuning segmented = make();
    static constexpr strata::reduce_tuning tuning = usual::tuning;
    static constexpr strata::reduce_tuning one_launch_tuning = usual::one_launch_tuning;
  };
  using MaxPolicy = Policy;
};

}  // namespace device_test
