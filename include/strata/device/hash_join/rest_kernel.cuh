// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/agent_join_repeated.cuh>
#include <strata/device/hash_join/join_partitions.cuh>
#include <strata/device/hash_join/kernels.cuh>

#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Barrier of all blocks of a grid, which are resident together. The counter was 0 before the first
/// one.
struct join_grid_barrier {
  unsigned* arrivals;
  unsigned target;

  /// By all threads. What they have written is seen by all who have waited.
  STRATA_D void wait() {
    target += gridDim.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      platform::fence_acq_rel();
      atomicAdd(arrivals, 1u);
      // Pairs with the fences of the blocks that have arrived.
      while (platform::load_acquire(arrivals) < target) STRATA_SPIN();
      platform::fence_acq_rel();
    }
    __syncthreads();
  }
};

/// What a join by a table in global memory needs of shared memory.
template <class Tuning, class Table, class Key>
union join_rest_storage {
  static constexpr int threads = Tuning::table.rest_threads;
  using Probe = AgentJoinProbe<Table, Key, threads, Tuning::table.probe_items>;
  using Lists = join_lists_agent<threads, Table>;
  using Reduce = BlockReduce<unsigned long long, threads>;

  typename Probe::TempStorage probe;
  typename Lists::TempStorage lists;
  typename Reduce::TempStorage reduce;
};

/// What partitions in shared memory have left: units with frequent keys, then all steps of a join by
/// the table in global memory, in one launch, which ends at once where nothing is left.
template <class MaxPolicy, class Index, class Table, class Key, class Row, class Sink, class Hash,
          class Equal>
__launch_bounds__(MaxPolicy::ActivePolicy::table.rest_threads,
                  MaxPolicy::ActivePolicy::table.rest_blocks_per_multiprocessor)
    STRATA_KERNEL void join_rest_kernel(join_partitions<Key, Hash, Equal> partitions, Table table,
                                        join_probe<Key, Row> probe, join_tile_list list, Sink sink,
                                        unsigned long long matched_words) {
  constexpr bool has_rows = !std::is_same_v<Sink, NullType>;
  using Storage = join_rest_storage<typename MaxPolicy::ActivePolicy, Table, Key>;
  using Agent = typename Storage::Probe;
  using Lists = typename Storage::Lists;
  using Reduce = typename Storage::Reduce;
  using Repeated = AgentJoinRepeated<Key, Hash, Equal, Index, Sink, Storage::threads>;
  // not for users: no number of threads makes it larger
  static_assert(sizeof(typename Repeated::TempStorage) <= join_static_shared_bytes,
                "join_static_shared_bytes must be what kernels have");
  STRATA_SHARED(repeated_storage, Uninitialized<typename Repeated::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel();
  // Both are on their way together.
  const unsigned any_is_heavy = *partitions.any_is_heavy;
  if constexpr (join_partitions<Key, Hash, Equal>::hash_is_key) {
    if (partitions.num_repeated != nullptr && *partitions.num_repeated != 0) {
      Repeated(repeated_storage.Alias(), shared, partitions, sink).run();
    }
  }
  if (any_is_heavy == 0) return;
  Storage& storage = *reinterpret_cast<Storage*>(shared);
  join_grid_barrier barrier{partitions.arrivals, 0};

  detail::clear_join_table(table);
  for (unsigned long long i = join_thread(); i < matched_words; i += join_threads()) {
    table.matched[i] = 0;
  }
  if (has_rows && join_thread() == 0) *list.taken = 0;
  barrier.wait();
  detail::insert_join_rows(table, 0);
  barrier.wait();
  if (table.lists != nullptr) {
    detail::place_join_lists<Lists>(storage.lists, table);
    barrier.wait();
    detail::fill_join_lists(table);
    barrier.wait();
  }
  // Build rows after all probe rows: these say which of them are found.
  if constexpr (has_rows) {
    Agent agent(storage.probe, table, probe);
    const auto join = [&](unsigned long long first, unsigned long long last) {
      for (unsigned long long tile = first + blockIdx.x; tile < last; tile += gridDim.x) {
        agent.template join<Index>(tile, list, sink);
      }
    };
    join(0, probe.probe_tiles);
    if (probe.build_tiles != 0) barrier.wait();
    join(probe.probe_tiles, probe.probe_tiles + probe.build_tiles);
    barrier.wait();
    detail::write_join_units<Index>(agent, list, 0, sink);
  } else {
    detail::count_join_tiles<Agent, Reduce>(storage.reduce, table, probe, 0, probe.probe_tiles,
                                            nullptr);
    if (probe.build_tiles != 0) barrier.wait();
    detail::count_join_tiles<Agent, Reduce>(storage.reduce, table, probe, probe.probe_tiles,
                                            probe.build_tiles, nullptr);
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END
