// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/launch.cuh>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/tuning.hpp>
#include <strata/device/join/fallback/kernels.cuh>
#include <strata/device/join/global_table/dispatch.cuh>
#include <strata/device/join/radix_partition/partitions.cuh>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Lists the rows of overflowing partitions and those without a key for a table in global memory.
template <class Partitions, class Table, class Probe>
void list_overflowing_rows(const Partitions& join, Table& table, Probe& probe) {
  const unsigned nulls = join.plan.partitions();
  const auto list_of = [&](const auto& side) -> join_row_list {
    return {side.has_row_ids ? side.partitioned.records : nullptr, join.is_overflowing, side.begins + nulls,
            join.plan.bits};
  };
  table.list = list_of(join.build);
  probe.list = list_of(join.probe);
}

/// Makes `base` the cooperative launch of a kernel that does what partitions leave. `rows`: of both sides.
template <class... Parameters>
cudaError_t configure_join_fallback(launch_configuration& base, const device_properties& device,
                                    void (*kernel)(Parameters...), const join_table_tuning& tuning, std::size_t rows) {
  base.block = dim3(static_cast<unsigned>(tuning.fallback_threads));
  cudaError_t status = detail::allow_join_tables(base, device, kernel);
  if (status != cudaSuccess) return status;
  int per_multiprocessor = 0;
  status =
      detail::query_resident_blocks(kernel, tuning.fallback_threads, base.dynamic_shared_bytes, per_multiprocessor);
  if (status != cudaSuccess) return status;
  const std::size_t max_blocks =
      detail::resident_blocks_of(device, per_multiprocessor, tuning.fallback_blocks_per_multiprocessor);
  const std::size_t blocks = rows / static_cast<unsigned>(tuning.fallback_rows) + 1;
  base.grid = dim3(static_cast<unsigned>(detail::least(blocks, max_blocks)));
  base.cooperative = base.grid.x > 1;
  return cudaSuccess;
}

/// Joins what a join by partitions leaves: one launch clears the table in global memory, builds it and probes it. It
/// ends at once if nothing is left. A block has `duplicates_bytes` of shared memory for deferred work items.
template <class MaxPolicy, class ActivePolicy, class Index, class Row, class Keys, class Sink, class Hash, class Equal,
          bool IsOrdered, class Layout>
cudaError_t join_fallback(
    const join_prober<MaxPolicy, ActivePolicy, Index, Row, Keys, Sink, Hash, Equal, IsOrdered>& prober,
    const Layout& storage, int first, join_table<Keys, Row, Hash, Equal> table, join_probe<Keys, Row> probe,
    const join_partitions<Keys, Hash, Equal>& partitions, std::size_t duplicates_bytes, launch_configuration base,
    const device_properties& device, const Sink& sink) {
  using Table = join_table<Keys, Row, Hash, Equal>;
  constexpr join_table_tuning tuning = ActivePolicy::table;
  prober.cut_tiles(storage, first, tuning.fallback_threads, table, probe);
  constexpr auto kernel = join_fallback_kernel<MaxPolicy, Index, Table, Keys, Row, Sink, Hash, Equal>;
  constexpr std::size_t min_bytes = sizeof(join_fallback_storage<ActivePolicy, Table, Keys>);
  base.dynamic_shared_bytes = detail::most(duplicates_bytes, min_bytes);
  const cudaError_t status =
      detail::configure_join_fallback(base, device, kernel, tuning, static_cast<std::size_t>(probe.rows) + table.rows);
  if (status != cudaSuccess) return status;
  return strata::launch(base, kernel, partitions, table, probe, prober.list_in(storage, first), sink,
                        static_cast<unsigned long long>(prober.matched_words()));
}

STRATA_ARCH_DETAIL_NAMESPACE_END
