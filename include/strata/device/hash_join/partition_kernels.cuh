// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/agent_join_partition.cuh>
#include <strata/device/hash_join/agent_partition.cuh>
#include <strata/device/hash_join/kernels.cuh>
#include <strata/device/hash_join/partition_plan.hpp>
#include <strata/device/segmented_scan/segments.cuh>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// No rows have been counted, and no partition is heavy.
template <class Partitions>
STRATA_KERNEL void join_partitions_clear_kernel(Partitions join) {
  begin_join_kernel();
  for (unsigned long long p = join_thread(); p <= join.plan.partitions(); p += join_threads()) {
    join.build.cursors[p] = 0;
    join.probe.cursors[p] = 0;
    join.is_heavy[p] = 0;
  }
  if (join_thread() == 0) *join.any_is_heavy = 0;
}

template <class MaxPolicy, class Key, class Hash, class Equal>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.partition_threads)
    STRATA_KERNEL void join_partitions_count_kernel(join_partitions<Key, Hash, Equal> join) {
  constexpr join_partition_tuning tuning = MaxPolicy::ActivePolicy::partition;
  using Agent =
      AgentJoinPartition<Key, Hash, Equal, tuning.partition_threads, tuning.partition_items>;
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel();
  auto* const counts = reinterpret_cast<unsigned*>(shared);
  Agent::count(join.build, counts, join.plan.bits, join.hash);
  Agent::count(join.probe, counts, join.plan.bits, join.hash);
}

/// By one block: where partitions begin, how many units of work they have, and which have too many
/// rows for a table in shared memory.
template <int BlockThreads, class Partitions>
__launch_bounds__(BlockThreads) STRATA_KERNEL void join_partitions_scan_kernel(Partitions join) {
  using Scan = BlockScan<unsigned long long, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  STRATA_SHARED(build_storage, typename Scan::TempStorage);
  STRATA_SHARED(probe_storage, typename Scan::TempStorage);
  STRATA_SHARED(unit_storage, typename Scan::TempStorage);
  begin_join_kernel();
  const unsigned partitions = join.plan.partitions();
  unsigned long long sums[3] = {0, 0, 0};
  // Behind the partitions come the rows without a key, then where those end.
  for (unsigned first = 0; first <= partitions + 1; first += BlockThreads) {
    const unsigned p = first + threadIdx.x;
    const unsigned build_rows = p <= partitions ? join.build.cursors[p] : 0;
    const unsigned probe_rows = p <= partitions ? join.probe.cursors[p] : 0;
    unsigned long long units = 0;
    if (build_rows != 0 || probe_rows != 0) {
      const bool is_full = join.kind == JoinKind::full;
      const bool is_heavy = p == partitions || build_rows > join.plan.table_rows ||
                            (is_full && probe_rows / 16 > join.plan.unit_rows);
      if (is_heavy) {
        join.is_heavy[p] = 1;
        platform::store_relaxed(join.any_is_heavy, 1u);
      } else if (is_full) {
        // One block sees who is found.
        units = 1;
      } else if (build_rows != 0 || join.kind == JoinKind::left || join.kind == JoinKind::anti) {
        units = ceiling_divide(probe_rows, join.plan.unit_rows);
      }
    }
    unsigned long long build_begin = 0;
    unsigned long long probe_begin = 0;
    unsigned long long unit_end = 0;
    unsigned long long all[3];
    Scan(build_storage).ExclusiveSum(build_rows, build_begin, all[0]);
    Scan(probe_storage).ExclusiveSum(probe_rows, probe_begin, all[1]);
    Scan(unit_storage).InclusiveSum(units, unit_end, all[2]);
    if (p <= partitions + 1) {
      join.build.begins[p] = static_cast<unsigned>(sums[0] + build_begin);
      join.probe.begins[p] = static_cast<unsigned>(sums[1] + probe_begin);
    }
    if (p <= partitions) {
      join.build.cursors[p] = static_cast<unsigned>(sums[0] + build_begin);
      join.probe.cursors[p] = static_cast<unsigned>(sums[1] + probe_begin);
    }
    if (p < partitions) join.unit_ends[p] = sums[2] + unit_end;
    STRATA_UNROLL
    for (int i = 0; i < 3; ++i) sums[i] += all[i];
    __syncthreads();
  }
}

/// Takes the rows of both sides to their partitions.
template <class MaxPolicy, class Key, class Hash, class Equal>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.partition_threads)
    STRATA_KERNEL void join_partitions_move_kernel(join_partitions<Key, Hash, Equal> join) {
  constexpr join_partition_tuning tuning = MaxPolicy::ActivePolicy::partition;
  using Agent =
      AgentJoinPartition<Key, Hash, Equal, tuning.partition_threads, tuning.partition_items>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel();
  Agent(storage.Alias(), shared, join.plan.bits, join.hash).run(join.build, join.probe);
}

/// Joins the partitions that fit, unit by unit.
template <class MaxPolicy, class Index, class Key, class Hash, class Equal, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.join_threads, 1)
    STRATA_KERNEL void join_partitions_join_kernel(join_partitions<Key, Hash, Equal> join,
                                                   Sink sink) {
  constexpr join_partition_tuning tuning = MaxPolicy::ActivePolicy::partition;
  using Agent =
      AgentJoinTables<Key, Hash, Equal, Index, Sink, tuning.join_threads, tuning.join_items>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel();
  Agent agent(storage.Alias(), shared, join, sink);
  const unsigned long long partitions = join.plan.partitions();
  const unsigned long long all = join.unit_ends[partitions - 1];
  for (unsigned long long unit = blockIdx.x; unit < all; unit += gridDim.x) {
    const unsigned long long p = find_segment(join.unit_ends, partitions, unit);
    const unsigned long long first = p > 0 ? join.unit_ends[p - 1] : 0;
    agent.run(static_cast<unsigned>(p), static_cast<unsigned>(unit - first),
              static_cast<unsigned>(join.unit_ends[p] - first));
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END
