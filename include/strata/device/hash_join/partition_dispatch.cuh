// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/partition_kernels.cuh>
#include <strata/device/hash_join/partition_plan.hpp>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// What a join by partitions needs of a device: bytes of shared memory that a block may have.
inline cudaError_t shared_bytes_of_block(std::size_t& bytes) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  int value = 0;
  if (status == cudaSuccess) {
    status = cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  }
  bytes = static_cast<std::size_t>(value);
  return status;
}

/// The launches that partition both sides and join what fits; the table in global memory then does
/// what does not.
template <class MaxPolicy, class Index, class Key, class Sink, class Hash, class Equal>
class join_partition_launches {
 public:
  using Partitions = join_partitions<Key, Hash, Equal>;
  static constexpr join_partition_tuning tuning = MaxPolicy::partition;
  using Mover =
      AgentJoinPartition<Key, Hash, Equal, tuning.partition_threads, tuning.partition_items>;

  static constexpr int slots = 3;

  join_partition_launches(std::uint64_t build_rows, std::uint64_t probe_rows)
      : plan_(plan_join_partitions(build_rows, probe_rows, tuning)) {}

  bool fits(std::size_t shared_bytes) const {
    // What kernels have besides.
    constexpr std::size_t others = 2048;
    return plan_.is_possible && plan_.table_bytes() + others <= shared_bytes &&
           Mover::tile_bytes(plan_.bits) + others <= shared_bytes;
  }

  template <class Layout>
  void reserve(Layout& storage, int first, std::size_t build_rows, std::size_t probe_rows) const {
    storage.template reserve<join_record>(first + records, build_rows + probe_rows);
    storage.template reserve<unsigned>(first + words, 5 * words_each() + 1);
    storage.template reserve<unsigned long long>(first + unit_ends, plan_.partitions());
  }

  template <class Layout>
  Partitions map(const Layout& storage, int first, Partitions join) const {
    join.plan = plan_;
    join.build.records = storage.template get<join_record>(first + records);
    join.probe.records = join.build.records + join.build.rows;
    auto* word = storage.template get<unsigned>(first + words);
    for (unsigned** part : {&join.build.cursors, &join.build.begins, &join.probe.cursors,
                            &join.probe.begins, &join.is_heavy}) {
      *part = word;
      word += words_each();
    }
    join.any_is_heavy = word;
    join.unit_ends = storage.template get<unsigned long long>(first + unit_ends);
    return join;
  }

  cudaError_t run(const Partitions& join, launch_configuration like,
                  const device_properties& device, const Sink& sink) const {
    const auto multiprocessors = static_cast<unsigned>(device.multiprocessors);
    const auto configure = [&](unsigned long long blocks, int threads, std::size_t bytes) {
      like.grid = dim3(static_cast<unsigned>(blocks > 0 ? blocks : 1));
      like.block = dim3(static_cast<unsigned>(threads));
      like.dynamic_shared_bytes = bytes;
    };
    configure(plan_.partitions() / 256 + 1, 256, 0);
    cudaError_t status = launch(like, join_partitions_clear_kernel<Partitions>, join);
    if (status != cudaSuccess) return status;

    const unsigned long long rows =
        join.build.rows + static_cast<unsigned long long>(join.probe.rows);
    const unsigned long long tiles = rows / Mover::tile_items + 2;
    const auto at_most = [&](unsigned blocks_each) {
      const unsigned long long most =
          static_cast<unsigned long long>(multiprocessors) * blocks_each;
      return tiles < most ? tiles : most;
    };
    constexpr auto count_kernel = join_partitions_count_kernel<MaxPolicy, Key, Hash, Equal>;
    configure(at_most(2), tuning.partition_threads, Mover::count_bytes(plan_.bits));
    status = start(like, count_kernel, join);
    if (status != cudaSuccess) return status;

    constexpr int scan_threads = 512;
    configure(1, scan_threads, 0);
    status = launch(like, join_partitions_scan_kernel<scan_threads, Partitions>, join);
    if (status != cudaSuccess) return status;

    constexpr auto move_kernel = join_partitions_move_kernel<MaxPolicy, Key, Hash, Equal>;
    configure(at_most(1), tuning.partition_threads, Mover::tile_bytes(plan_.bits));
    status = start(like, move_kernel, join);
    if (status != cudaSuccess) return status;

    constexpr auto join_kernel =
        join_partitions_join_kernel<MaxPolicy, Index, Key, Hash, Equal, Sink>;
    // Units are taken in turn by about as many blocks as there is room for.
    const auto by_memory = static_cast<unsigned>((std::size_t{224} << 10) / plan_.table_bytes());
    constexpr unsigned by_threads = 2048 / tuning.join_threads;
    const unsigned each = by_memory < by_threads ? by_memory : by_threads;
    const unsigned long long most_units =
        plan_.partitions() + static_cast<unsigned long long>(join.probe.rows) / plan_.unit_rows;
    const unsigned long long resident =
        static_cast<unsigned long long>(multiprocessors) * (each > 0 ? each : 1);
    configure(most_units < resident ? most_units : resident, tuning.join_threads,
              plan_.table_bytes());
    return start(like, join_kernel, join, sink);
  }

 private:
  enum slot { records, words, unit_ends };

  // Counts of the partitions, of the rows without a key, and one more.
  std::size_t words_each() const { return static_cast<std::size_t>(plan_.partitions()) + 2; }

  template <class... Parameters, class... Arguments>
  static cudaError_t start(const launch_configuration& configuration, void (*kernel)(Parameters...),
                           const Arguments&... arguments) {
    constexpr std::size_t always_allowed = 48u << 10;
    // With what a kernel has of static shared memory.
    if (configuration.dynamic_shared_bytes + 2048 > always_allowed) {
      const cudaError_t status =
          allow_dynamic_shared_memory(kernel, configuration.dynamic_shared_bytes);
      if (status != cudaSuccess) return status;
    }
    return launch(configuration, kernel, arguments...);
  }

  join_partition_plan plan_;
};

STRATA_ARCH_DETAIL_NAMESPACE_END
