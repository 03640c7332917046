// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/hash_join/agent_join_set.cuh>
#include <strata/device/hash_join/kernels.cuh>
#include <strata/device/hash_join/partition_plan.hpp>
#include <strata/device/hash_join/set_plan.hpp>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The same as join_partitions_join_kernel, by sets, for semi and anti joins without build row ids. Work
/// items for which there is no set are deferred.
template <class MaxPolicy, bool IsLarge, class Index, class Key, class Hash, class Equal, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.threads_of_join(IsLarge),
                  MaxPolicy::ActivePolicy::partition.blocks_of_join(IsLarge))
    STRATA_KERNEL void join_partitions_set_kernel(join_partitions<Key, Hash, Equal> join, join_set_plan plan,
                                                  Sink sink) {
  constexpr join_partition_tuning tuning = MaxPolicy::ActivePolicy::partition;
  using Agent = AgentJoinSets<Key, Hash, Equal, Index, Sink, tuning.threads_of_join(IsLarge), tuning.join_items>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel();
  unsigned at = 0;
  if (!join.find_work_item(at)) return;
  const bool is_done = Agent(storage.Alias(), shared, plan, join, sink).run(join.work_items[at]);
  if (!is_done && threadIdx.x == 0) join.defer(at);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
