// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/radix_partition/agent_count.cuh>
#include <strata/device/join/radix_partition/agent_offsets.cuh>
#include <strata/device/join/radix_partition/agent_partition.cuh>
#include <strata/device/join/radix_partition/plan.hpp>

#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Clears the counters and the marks of overflowing partitions.
template <class Partitions>
STRATA_KERNEL void join_partitions_clear_kernel(Partitions join) {
  begin_join_kernel();
  for (unsigned long long p = join_thread(); p <= join.plan.partitions(); p += join_threads()) {
    join.build.cursors[p] = 0;
    join.probe.cursors[p] = 0;
    join.is_overflowing[p] = 0;
  }
  if (join_thread() != 0) return;
  *join.any_is_overflowing = 0;
  *join.num_deferred = 0;
  *join.next_deferred = 0;
  *join.arrivals = 0;
  *join.counted = 0;
  *join.total = 0;
}

/// Counts the rows of partitions: `build_blocks` blocks those of the build side, the others those of the
/// probe side. The last block then computes the begins of partitions, the work items, which partitions
/// overflow, and the tiles of a second pass.
template <class MaxPolicy, class Keys, class Hash, class Equal>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.partition_threads)
    STRATA_KERNEL void join_partitions_count_kernel(join_partitions<Keys, Hash, Equal> join, unsigned build_blocks,
                                                    unsigned pass_tile) {
  constexpr join_partition_tuning tuning = MaxPolicy::ActivePolicy::partition;
  using Agent = AgentJoinCount<typename MaxPolicy::ActivePolicy, Keys, Hash, Equal>;
  using Offsets = AgentJoinOffsets<join_partitions<Keys, Hash, Equal>, tuning.partition_threads, tuning.offset_items>;
  STRATA_SHARED(storage, Uninitialized<typename Offsets::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel();
  const Agent agent{reinterpret_cast<unsigned*>(shared), join.plan.partitions(), join.plan.bits, join.hash};
  if constexpr (are_counted_keys<Keys>) {
    build_blocks = Agent::blocks_of(detail::rows_of(join.build), detail::rows_of(join.probe), gridDim.x - 1);
  }
  // One call of the side that the block counts is smaller, but 2 to 5 % slower for keys of 8 bytes.
  if (blockIdx.x < build_blocks) {
    agent.run(join.build, blockIdx.x, build_blocks);
  } else {
    agent.run(join.probe, blockIdx.x - build_blocks, gridDim.x - build_blocks);
  }
  if (!detail::is_last_block(join.counted)) return;
  const Offsets offsets{storage.Alias(), join};
  offsets.run();
  if (join.plan.has_two_passes()) offsets.cut_second_pass(pass_tile);
}

/// The numbers of a pass, and its agent. `Extra`: see AgentJoinPartition.
template <class Policy, class Extra>
inline constexpr join_partition_tuning join_pass_tuning = partitions_columns<Extra>
                                                              ? detail::with_columns(Policy::partition)
                                                              : Policy::partition;
template <class Policy, class Keys, class Hash, class Equal, join_pass Pass, bool MovesHashes, class Extra>
using join_mover = AgentJoinPartition<Keys, Hash, Equal, Policy::partition.partition_threads,
                                      join_pass_tuning<Policy, Extra>.items(
                                          Pass, is_join_double_word<iterator_value_t<Keys>, Hash, Equal>),
                                      Pass, MovesHashes>;

/// Writes the rows of both sides to their partitions, by tiles of `tile_rows` rows, at most the agent's
/// `tile_items`.
template <class MaxPolicy, join_pass Pass, bool MovesHashes, class Keys, class Hash, class Equal, class Extra>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.partition_threads)
    STRATA_KERNEL void join_partitions_move_kernel(join_partitions<Keys, Hash, Equal> join, unsigned tile_rows,
                                                   Extra extra) {
  using Agent = join_mover<typename MaxPolicy::ActivePolicy, Keys, Hash, Equal, Pass, MovesHashes, Extra>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel<Agent>();
  // The host has cut tiles for bounds of the numbers of rows.
  if constexpr (are_counted_keys<Keys> && !Agent::is_second && !std::is_same_v<Extra, join_tile_runs>) {
    tile_rows = even_join_tile(0ull + detail::rows_of(join.build) + detail::rows_of(join.probe), gridDim.x, tile_rows);
  }
  const bool has_indices = *join.any_is_overflowing != 0 && (Agent::numbers_rows || partitions_columns<Extra>);
  Agent(storage.Alias(), shared, join.plan, join.pass_tiles, tile_rows, join.hash,
        has_indices ? join.is_overflowing : nullptr)
      .run(join.build, join.probe, extra);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
