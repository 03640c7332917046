// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/grid/barrier.cuh>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/fallback/agent_sort_lists.cuh>
#include <strata/device/join/global_table/kernels.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/radix_partition/partitions.cuh>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The same as join_fallback_kernel where a probe row may have several partners in ascending order: writes partners by
/// row. The list elements of the table have indices from `first_element` on.
template <class MaxPolicy, class Table, class Keys, class Hash, class Equal>
__launch_bounds__(MaxPolicy::ActivePolicy::table.fallback_threads,
                  MaxPolicy::ActivePolicy::table.fallback_blocks_per_multiprocessor)
    STRATA_KERNEL void join_list_fallback_kernel(join_partitions<Keys, Hash, Equal> partitions, Table table,
                                                 join_probe<Keys, unsigned> probe, join_list_sort sort,
                                                 unsigned first_element, join_partner_sink sink) {
  constexpr join_table_tuning tuning = MaxPolicy::ActivePolicy::table;
  using Agent = AgentJoinProbe<Table, Keys, tuning.fallback_threads, tuning.probe_items>;
  using Sort = AgentJoinSortLists<Table, tuning.fallback_threads>;
  STRATA_SHARED(storage, Uninitialized<typename Sort::TempStorage>);
  begin_join_kernel();
  if (*partitions.any_is_overflowing == 0) return;
  grid_counter_barrier barrier{partitions.arrivals};

  detail::clear_join_table(table);
  barrier.synchronize();
  detail::insert_join_rows(table, 0);
  barrier.synchronize();
  if (*table.has_duplicates != 0) Sort(storage.Alias(), table, sort).run(barrier);
  const unsigned long long tiles =
      ceiling_divide<unsigned long long>(detail::rows_of(probe), unsigned{Agent::tile_items});
  for (unsigned long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    Agent::for_each_row(table, probe, tile, [&](unsigned row, unsigned long long count, unsigned partner) {
      sink.by_row[row] = count > 1 ? join_list_bit | (first_element + partner) : partner;
    });
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END
