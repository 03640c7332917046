// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/device/hash_join/agent_join_set.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/kernels.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class Set>
STRATA_KERNEL void join_set_clear_kernel(Set set, unsigned long long* total) {
  begin_join_kernel();
  for (unsigned long long i = join_thread(); i < set.num_slots; i += join_threads()) {
    set.slots[i] = Set::empty;
  }
  if (join_thread() != 0) return;
  *set.has_empty = 0;
  *set.has_null = 0;
  *total = 0;
}

template <class Set, class Key>
STRATA_KERNEL void join_set_insert_kernel(Set set, const Key* keys, const std::uint32_t* valid,
                                          unsigned rows) {
  begin_join_kernel();
  for (unsigned long long row = join_thread(); row < rows; row += join_threads()) {
    if (join_row_is_valid(valid, row)) {
      set.insert(keys[row]);
    } else {
      set.insert_null();
    }
  }
}

template <class MaxPolicy, class Index, class Set, class Key, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::set.probe_threads,
                  MaxPolicy::ActivePolicy::set.probe_blocks_per_multiprocessor)
    STRATA_KERNEL void join_set_probe_kernel(Set set, JoinKind kind, const Key* keys,
                                             const std::uint32_t* valid, unsigned rows,
                                             unsigned long long* total, std::int64_t capacity,
                                             Sink sink) {
  constexpr join_table_tuning tuning = MaxPolicy::ActivePolicy::set;
  using Agent = AgentJoinSet<Set, Key, Index, Sink, tuning.probe_threads, tuning.probe_items>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  begin_join_kernel();
  Agent agent(storage.Alias(), set, total, capacity);
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * Agent::tile_items;
  for (unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * Agent::tile_items;
       first < rows; first += stride) {
    agent.run(kind, keys, valid, rows, static_cast<unsigned>(first), sink);
  }
}

/// A semi or anti join by one set of the build side's keys that stays in L2.
template <class MaxPolicy, class Index, class Key, class Sink, class Hash, class Equal>
class join_set_launches {
 public:
  static constexpr bool is_possible =
      is_join_word<Key, Hash, Equal> || is_join_double_word<Key, Hash, Equal>;

  /// Twice as many slots as rows.
  static constexpr std::uint64_t bytes_of(std::uint64_t build_rows) {
    return (2 * build_rows + 1) * (sizeof(Key) <= 4 ? 4 : 8);
  }

  /// `slots` are that many bytes, `flags` two words.
  template <class Side>
  static cudaError_t run(JoinKind kind, const Side& build, const Side& probe, void* slots,
                         unsigned* flags, bool nulls_equal, unsigned long long* total,
                         std::int64_t capacity, const Hash& hash, launch_configuration like,
                         const device_properties& device, const Sink& sink) {
    using Set = join_set<Key, Hash, Equal>;
    const Set set{static_cast<typename Set::Word*>(slots),
                  2 * build.rows + 1,
                  flags,
                  flags + 1,
                  nulls_equal,
                  hash};
    constexpr join_table_tuning tuning = MaxPolicy::set;
    const auto with_threads = [&](int threads, unsigned long long items) {
      like.block = dim3(static_cast<unsigned>(threads));
      const unsigned long long blocks = items / static_cast<unsigned>(threads) + 1;
      like.grid = dim3(static_cast<unsigned>(blocks));
    };
    const auto resident = static_cast<unsigned long long>(device.multiprocessors) * 2048;
    with_threads(tuning.build_threads, resident < set.num_slots ? resident : set.num_slots);
    cudaError_t status = launch(like, join_set_clear_kernel<Set>, set, total);
    if (status != cudaSuccess) return status;
    with_threads(tuning.build_threads, build.rows);
    status =
        launch(like, join_set_insert_kernel<Set, Key>, set, build.keys, build.valid, build.rows);
    if (status != cudaSuccess) return status;
    with_threads(tuning.probe_threads, probe.rows / static_cast<unsigned>(tuning.probe_items));
    return launch(like, join_set_probe_kernel<MaxPolicy, Index, Set, Key, Sink>, set, kind,
                  probe.keys, probe.valid, probe.rows, total, capacity, sink);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
