// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/key_set/agent_join.cuh>
#include <strata/device/join/key_set/plan.hpp>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/radix_partition/plan.hpp>
#include <strata/device/join/shared_table/agent_join.cuh>
#include <strata/device/join/shared_table/agent_row_lists.cuh>

#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Joins the work items, one by each block, and defers those whose keys have many build rows. With
/// `IsLarge` the shared memory of a multiprocessor holds one table only.
template <class MaxPolicy, bool IsLarge, class Index, class Keys, class Hash, class Equal, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.threads_of_join(IsLarge),
                  MaxPolicy::ActivePolicy::partition.blocks_of_join(IsLarge))
    STRATA_KERNEL void join_partitions_join_kernel(join_partitions<Keys, Hash, Equal> join, Sink sink) {
  constexpr join_partition_tuning tuning = MaxPolicy::ActivePolicy::partition;
  using Agent = AgentJoinTables<Keys, Hash, Equal, Index, Sink, tuning.threads_of_join(IsLarge),
                                MaxPolicy::ActivePolicy::output.group_threads, tuning.join_items, false>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel<Agent>();
  unsigned at = 0;
  if (!join.find_work_item(at)) return;
  Agent(storage.Alias(), shared, join, sink).run(join.work_items[at], at, tuning.min_deferred_rows);
}

/// The same as join_partitions_join_kernel, where a probe row may have several partners in ascending order. No work
/// item is deferred.
template <class MaxPolicy, bool IsLarge, class Keys, class Hash, class Equal>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.threads_of_join(IsLarge),
                  MaxPolicy::ActivePolicy::partition.blocks_of_join(IsLarge))
    STRATA_KERNEL void join_partitions_list_kernel(join_partitions<Keys, Hash, Equal> join, join_list_sink sink) {
  constexpr join_partition_tuning tuning = MaxPolicy::ActivePolicy::partition;
  using Agent = AgentJoinRowLists<Keys, Hash, Equal, tuning.threads_of_join(IsLarge),
                                  MaxPolicy::ActivePolicy::output.group_threads, tuning.join_items>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel<Agent>();
  unsigned at = 0;
  if (!join.find_work_item(at)) return;
  Agent(storage.Alias(), shared, join, sink).run(join.work_items[at]);
}

/// Joins a build side that fits one table: each block builds that, and joins `work_item_rows` probe rows.
template <class MaxPolicy, class Index, class Keys, class Hash, class Equal, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.join_threads,
                  MaxPolicy::ActivePolicy::partition.join_blocks_per_multiprocessor)
    STRATA_KERNEL void join_one_table_kernel(join_partitions<Keys, Hash, Equal> join, Sink sink) {
  constexpr join_partition_tuning tuning = MaxPolicy::ActivePolicy::partition;
  using Agent = AgentJoinTables<Keys, Hash, Equal, Index, Sink, tuning.join_threads,
                                MaxPolicy::ActivePolicy::output.group_threads, tuning.join_items, true>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel<Agent>();
  const unsigned each = join.plan.work_item_rows;
  const unsigned long long begin = static_cast<unsigned long long>(blockIdx.x) * each;
  if (begin >= detail::rows_of(join.probe)) return;
  const auto first = static_cast<unsigned>(begin);
  const unsigned left = detail::rows_of(join.probe) - first;
  Agent(storage.Alias(), shared, join, sink).run({0, first, detail::least(left, each)}, 0, 0);
}

/// The same by sets, for semi and anti joins without build row ids. Work items for which there is no set are deferred.
template <class MaxPolicy, bool IsLarge, class Index, class Keys, class Hash, class Equal, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.threads_of_join(IsLarge),
                  MaxPolicy::ActivePolicy::partition.blocks_of_join(IsLarge))
    STRATA_KERNEL void join_partitions_set_kernel(join_partitions<Keys, Hash, Equal> join, join_set_plan plan,
                                                  Sink sink) {
  using Policy = typename MaxPolicy::ActivePolicy;
  using Agent = AgentJoinSets<Policy, Keys, Hash, Equal, Index, Sink, Policy::partition.threads_of_join(IsLarge),
                              Policy::partition.join_items>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel();
  unsigned at = 0;
  if (!join.find_work_item(at)) return;
  const bool is_done = Agent(storage.Alias(), shared, plan, join, sink).run(join.work_items[at]);
  if (!is_done && threadIdx.x == 0) join.defer(at);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
