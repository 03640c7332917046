// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/engine/launch.cuh>
#include <strata/device/join/common/keys.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/tuning.hpp>
#include <strata/device/join/fallback/agent_sort_lists.cuh>
#include <strata/device/join/global_table/dispatch.cuh>
#include <strata/device/join/global_table/kernels.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/radix_partition/partitions.cuh>
#include <strata/device/join/shared_table/agent_duplicates.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The shared memory of a join by a table in global memory.
template <class Tuning, class Table, class Keys>
union join_fallback_storage {
  static constexpr int threads = Tuning::table.fallback_threads;
  using Probe = AgentJoinProbe<Tuning, Table, Keys, threads, Tuning::table.probe_items>;
  using Lists = join_lists_agent<Tuning, threads, Table>;
  using Reduce = BlockReduce<unsigned long long, threads>;

  typename Probe::TempStorage probe;
  typename Lists::TempStorage lists;
  typename Reduce::TempStorage reduce;
};

/// Joins what the tables in shared memory leave, in one launch. First come the work items that were deferred to
/// AgentJoinDuplicates. Then all steps of a join by a table in global memory join the overflowing partitions. The
/// kernel ends at once if nothing is left.
template <class MaxPolicy, class Index, class Table, class Keys, class Row, class Sink, class Hash, class Equal>
__launch_bounds__(MaxPolicy::ActivePolicy::table.fallback_threads,
                  MaxPolicy::ActivePolicy::table.fallback_blocks_per_multiprocessor)
    STRATA_KERNEL void join_fallback_kernel(join_partitions<Keys, Hash, Equal> partitions, Table table,
                                            join_probe<Keys, Row> probe, join_tile_list list, Sink sink,
                                            unsigned long long matched_words) {
  constexpr bool has_rows = !std::is_same_v<Sink, NullType>;
  using Tuning = typename MaxPolicy::ActivePolicy;
  using Storage = join_fallback_storage<Tuning, Table, Keys>;
  using Agent = typename Storage::Probe;
  using Lists = typename Storage::Lists;
  using Reduce = typename Storage::Reduce;
  using RecordSink = record_sink_t<Sink>;
  using Duplicates = AgentJoinDuplicates<Keys, Hash, Equal, Index, typename chosen_sink<RecordSink>::type,
                                         Storage::threads, Tuning::output.group_threads>;
  // not for users: the storage stays within this limit for every number of threads
  static_assert(sizeof(typename Duplicates::TempStorage) <= join_static_shared_bytes,
                "join_static_shared_bytes must not be less than what kernels have");
  STRATA_SHARED(duplicates_storage, Uninitialized<typename Duplicates::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel();
  // This load and the load of `num_deferred` below are in flight together.
  const unsigned any_is_overflowing = *partitions.any_is_overflowing;
  if constexpr (join_partitions<Keys, Hash, Equal>::hash_is_key) {
    if (partitions.num_deferred != nullptr && *partitions.num_deferred != 0) {
      chosen_sink<RecordSink>::use(detail::record_sink_of(sink), [&](const auto& output) {
        typename Duplicates::template with_sink<std::decay_t<decltype(output)>>(duplicates_storage.Alias(), shared,
                                                                                partitions, output)
            .run();
      });
    }
  }
  if (any_is_overflowing == 0) return;
  Storage& storage = *reinterpret_cast<Storage*>(shared);
  grid_counter_barrier barrier{partitions.arrivals};

  detail::clear_join_table(table);
  for (unsigned long long i = join_thread(); i < matched_words; i += join_threads()) {
    table.matched[i] = 0;
  }
  if (has_rows && join_thread() == 0) *list.counter = 0;
  barrier.synchronize();
  detail::insert_join_rows(table, 0);
  barrier.synchronize();
  if (table.lists != nullptr) {
    detail::assign_join_list_offsets<Lists>(storage.lists, table);
    barrier.synchronize();
    detail::fill_join_lists(table);
    barrier.synchronize();
  }
  // Build rows come after all probe rows, which mark the build rows that they find. A loop is half the code of two
  // calls.
  unsigned long long first = 0;
  unsigned long long tiles = probe.probe_tiles;
  STRATA_UNROLL_N(1)
  for (int side = 0; side < 2; ++side) {
    if constexpr (has_rows) {
      Agent agent(storage.probe, table, probe);
      for (unsigned long long tile = first + blockIdx.x; tile < first + tiles; tile += gridDim.x) {
        agent.template join<Index>(tile, list, sink);
      }
    } else {
      detail::count_join_tiles<Agent, Reduce>(storage.reduce, table, probe, first, tiles, nullptr);
    }
    if (probe.build_tiles == 0) break;
    first = probe.probe_tiles;
    tiles = probe.build_tiles;
    if (side == 0) barrier.synchronize();
  }
  if constexpr (has_rows) {
    barrier.synchronize();
    Agent agent(storage.probe, table, probe);
    detail::write_join_chunks<Tuning::output.chunk_rows, Index>(agent, list, 0, sink);
  }
}

/// join_fallback_kernel for joins that list the partners of a probe row in ascending order. It writes partners by row.
/// The list elements of the table have indices from `first_element` on.
template <class MaxPolicy, class Table, class Keys, class Hash, class Equal>
__launch_bounds__(MaxPolicy::ActivePolicy::table.fallback_threads,
                  MaxPolicy::ActivePolicy::table.fallback_blocks_per_multiprocessor)
    STRATA_KERNEL void join_list_fallback_kernel(join_partitions<Keys, Hash, Equal> partitions, Table table,
                                                 join_probe<Keys, unsigned> probe, join_list_sort sort,
                                                 unsigned first_element, join_partner_sink sink) {
  constexpr join_table_tuning tuning = MaxPolicy::ActivePolicy::table;
  using Agent =
      AgentJoinProbe<typename MaxPolicy::ActivePolicy, Table, Keys, tuning.fallback_threads, tuning.probe_items>;
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
      detail::ceiling_divide<unsigned long long>(detail::rows_of(probe), unsigned{Agent::tile_items});
  for (unsigned long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    Agent::for_each_row(table, probe, tile, [&](unsigned row, unsigned long long count, unsigned partner) {
      sink.by_row[row] = count > 1 ? join_list_bit | (first_element + partner) : partner;
    });
  }
}

/// Gives a table in global memory, and its probe, the list of the rows that they join: the rows of overflowing
/// partitions, and the rows without a key.
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

/// Makes `base` the launch of a kernel that joins what partitions leave: cooperative if it has several blocks. `rows`
/// is the number of rows of both sides.
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
