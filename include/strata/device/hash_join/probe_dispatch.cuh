// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/join_options.hpp>
#include <strata/device/hash_join/join_output.cuh>
#include <strata/device/hash_join/kernels.cuh>
#include <strata/device/hash_join/rest_kernel.cuh>
#include <strata/device/hash_join/tuning.hpp>
#include <strata/device/resident_grid.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Blocks of a kernel, at most.
inline constexpr unsigned most_join_blocks = 0x7fffffff;

/// Lets a kernel have as much dynamic shared memory as the device has: always the same, because
/// another thread may be about to launch it with more than this one needs.
template <class... Parameters>
cudaError_t allow_join_tables(const launch_configuration& configuration,
                              const device_properties& device, void (*kernel)(Parameters...)) {
  constexpr std::size_t always_allowed = (48u << 10) - join_static_shared_bytes;
  if (configuration.dynamic_shared_bytes <= always_allowed) return cudaSuccess;
  return strata::allow_dynamic_shared_memory(
      kernel, static_cast<std::size_t>(device.shared_bytes_of_block) - join_static_shared_bytes);
}

/// The launches that ask a table. `Sink` is NullType where rows are only counted.
template <class MaxPolicy, class Index, class Row, class Key, class Sink, class Hash, class Equal>
struct join_prober {
  using Table = join_table<Key, Row, Hash, Equal>;
  using Probe = join_probe<Key, Row>;

  static constexpr bool has_rows = !std::is_same_v<Sink, NullType>;
  static constexpr int slots = 5;

  JoinKind kind;
  JoinOrder order;
  /// As many as the storage is for.
  Row build_rows;
  Row probe_rows;
  /// Of the table.
  Row num_slots;

  template <class Layout>
  void reserve(Layout& storage, int first) const {
    storage.template reserve<unsigned long long>(first + counters, 1);
    if (kind == JoinKind::full) {
      storage.template reserve<unsigned>(first + matched, matched_words(num_slots));
    }
    if (!has_rows) return;
    const std::size_t most_tiles = ceiling_divide<std::size_t>(probe_rows, least_join_tile) +
                                   ceiling_divide<std::size_t>(build_rows, least_join_tile);
    storage.template reserve<unsigned long long>(first + begins, most_tiles);
    storage.template reserve<unsigned long long>(first + unit_ends, most_tiles);
    if (order == JoinOrder::any) {
      storage.template reserve<unsigned long long>(first + tiles, most_tiles);
    }
  }

  /// Nothing has been found or written: to be called before anything is.
  template <class Layout>
  cudaError_t reset(const Layout& storage, int first, unsigned long long* total,
                    const launch_configuration& like, const device_properties& device) const {
    const bool marks = kind == JoinKind::full;
    const std::size_t words = marks ? matched_words(num_slots) : 0;
    constexpr int threads = 256;
    const std::size_t blocks = words / (4 * threads) + 1;
    const auto most = static_cast<std::size_t>(device.multiprocessors) * 8;
    return strata::launch(with_grid(like, blocks < most ? blocks : most, threads),
                          join_reset_kernel<Row>, total, list_in(storage, first).taken,
                          marks ? storage.template get<unsigned>(first + matched) : nullptr,
                          static_cast<unsigned long long>(words));
  }

  /// What a join by partitions has left, if any: all that `reset`, the build and `run` do. A block
  /// has `repeated_bytes` of shared memory for units with frequent keys.
  template <class Layout>
  cudaError_t run_rest(const Layout& storage, int first, Table table, Probe probe,
                       const join_partitions<Key, Hash, Equal>& partitions,
                       std::size_t repeated_bytes, launch_configuration like,
                       const device_properties& device, const Sink& sink) const {
    constexpr join_table_tuning tuning = MaxPolicy::table;
    cut_tiles(storage, first, tuning.rest_threads, table, probe);
    constexpr auto kernel = join_rest_kernel<MaxPolicy, Index, Table, Key, Row, Sink, Hash, Equal>;
    constexpr std::size_t least_bytes = sizeof(join_rest_storage<MaxPolicy, Table, Key>);
    like.block = dim3(static_cast<unsigned>(tuning.rest_threads));
    like.dynamic_shared_bytes = repeated_bytes > least_bytes ? repeated_bytes : least_bytes;
    cudaError_t status = detail::allow_join_tables(like, device, kernel);
    if (status != cudaSuccess) return status;
    // Another size of shared memory in each call: not worth remembering.
    int per_multiprocessor = 0;
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_multiprocessor, reinterpret_cast<const void*>(kernel), tuning.rest_threads,
        like.dynamic_shared_bytes);
    if (status != cudaSuccess) return status;
    if (per_multiprocessor < 1) return cudaErrorLaunchOutOfResources;
    constexpr int together = tuning.rest_blocks_per_multiprocessor;
    const std::size_t most =
        static_cast<std::size_t>(device.multiprocessors) *
        static_cast<std::size_t>(per_multiprocessor < together ? per_multiprocessor : together);
    // A few rows of either side may have many results.
    constexpr std::size_t least_rows = 64;
    const std::size_t blocks = (static_cast<std::size_t>(probe.rows) + table.rows) / least_rows + 1;
    like.grid = dim3(static_cast<unsigned>(blocks < most ? blocks : most));
    like.cooperative = like.grid.x > 1;
    return strata::launch(
        like, kernel, partitions, table, probe, list_in(storage, first), sink,
        static_cast<unsigned long long>(kind == JoinKind::full ? matched_words(num_slots) : 0));
  }

  template <class Layout>
  cudaError_t run(const Layout& storage, int first, Table table, Probe probe,
                  const launch_configuration& like, const device_properties& device,
                  const Sink& sink) const {
    constexpr join_table_tuning tuning = MaxPolicy::table;
    cut_tiles(storage, first, tuning.probe_threads, table, probe);
    const join_tile_list list = list_in(storage, first);
    if constexpr (!has_rows) {
      return count(table, probe, like, nullptr);
    } else {
      cudaError_t status = cudaSuccess;
      const unsigned long long all = probe.probe_tiles + probe.build_tiles;
      if (order == JoinOrder::probe) {
        status = count(table, probe, like, list.begins);
        if (status == cudaSuccess) {
          constexpr int threads = 512;
          status = strata::launch(with_grid(like, 1, threads), join_scan_kernel<threads, Row>, list,
                                  all, probe.capacity, probe.total);
        }
      } else {
        status = join(table, probe, like, list, sink);
      }
      // A list without lists of rows has tiles of few results only.
      const bool may_be_listed = order == JoinOrder::probe || table.lists != nullptr;
      if (status != cudaSuccess || all == 0 || !may_be_listed || probe.capacity == 0) return status;
      const auto most_units = all + static_cast<unsigned long long>(probe.capacity) / join_unit;
      const unsigned long long resident =
          static_cast<unsigned long long>(device.multiprocessors) *
          static_cast<unsigned>(tuning.probe_blocks_per_multiprocessor);
      return strata::launch(
          with_grid(like, most_units < resident ? most_units : resident, tuning.probe_threads),
          join_write_kernel<MaxPolicy, Index, Table, Key, Row, Sink>, table, probe, list, all,
          sink);
    }
  }

 private:
  enum slot { counters, begins, unit_ends, tiles, matched };

  template <class Layout>
  void cut_tiles(const Layout& storage, int first, int threads, Table& table, Probe& probe) const {
    constexpr join_table_tuning tuning = MaxPolicy::table;
    constexpr auto least_items = static_cast<int>(least_join_tile);
    static_assert(tuning.probe_threads * tuning.probe_items >= least_items &&
                      tuning.rest_threads * tuning.probe_items >= least_items,
                  "join_table_tuning: a tile of probe rows must have at least 256");
    const auto tile = static_cast<unsigned long long>(threads * tuning.probe_items);
    probe.probe_tiles = ceiling_divide<unsigned long long>(probe.rows, tile);
    probe.build_tiles =
        kind == JoinKind::full ? ceiling_divide<unsigned long long>(table.rows, tile) : 0;
    if (kind == JoinKind::full) table.matched = storage.template get<unsigned>(first + matched);
  }

  // A bit for each slot, that of the rows without a key included.
  static std::size_t matched_words(Row slots_of_keys) {
    return static_cast<std::size_t>(slots_of_keys) / 32 + 1;
  }

  static launch_configuration with_grid(launch_configuration like, unsigned long long blocks,
                                        int threads) {
    if (blocks < like.grid.x) like.grid = dim3(static_cast<unsigned>(blocks));
    like.block = dim3(static_cast<unsigned>(threads));
    return like;
  }

  template <class Layout>
  join_tile_list list_in(const Layout& storage, int first) const {
    const auto get = [&](slot what) {
      return storage.template get<unsigned long long>(first + what);
    };
    if (!has_rows) return {};
    return {order == JoinOrder::any ? get(tiles) : nullptr, get(begins), get(unit_ends),
            get(counters)};
  }

  // Build rows after all probe rows: these say which of them are found.
  template <class Launch>
  static cudaError_t in_two_parts(const Probe& probe, const Launch& launch_tiles) {
    cudaError_t status = cudaSuccess;
    if (probe.probe_tiles > 0) status = launch_tiles(0ull, probe.probe_tiles);
    if (status != cudaSuccess || probe.build_tiles == 0) return status;
    return launch_tiles(probe.probe_tiles, probe.build_tiles);
  }

  cudaError_t count(const Table& table, const Probe& probe, const launch_configuration& like,
                    unsigned long long* counts) const {
    return in_two_parts(probe, [&](unsigned long long first, unsigned long long number) {
      return strata::launch(with_grid(like, number, MaxPolicy::table.probe_threads),
                            join_count_kernel<MaxPolicy, Table, Key, Row>, table, probe, first,
                            number, counts);
    });
  }

  cudaError_t join(const Table& table, const Probe& probe, const launch_configuration& like,
                   const join_tile_list& list, const Sink& sink) const {
    return in_two_parts(probe, [&](unsigned long long first, unsigned long long number) {
      return strata::launch(with_grid(like, number, MaxPolicy::table.probe_threads),
                            join_probe_kernel<MaxPolicy, Index, Table, Key, Row, Sink>, table,
                            probe, first, number, list, sink);
    });
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
