// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/join_options.hpp>
#include <strata/device/hash_join/join_output.cuh>
#include <strata/device/hash_join/kernels.cuh>
#include <strata/device/hash_join/partition_dispatch.cuh>
#include <strata/device/hash_join/rest_kernel.cuh>
#include <strata/device/hash_join/set_dispatch.cuh>
#include <strata/device/hash_join/sorted_dispatch.cuh>
#include <strata/device/hash_join/table_storage.cuh>
#include <strata/device/hash_join/tuning.hpp>
#include <strata/device/resident_grid.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// One side of a join, as the user gives it.
template <class Key>
struct join_input {
  const Key* keys;
  std::int64_t rows;
};

/// Whether all rows of a side can be told by `Index`, and be kept in a slot.
template <class Index, class Row = join_row_t<Index>>
bool join_rows_are_valid(std::int64_t rows) {
  constexpr auto all_bits = static_cast<std::uint64_t>(no_join_row<join_row_t<Index>>);
  constexpr std::uint64_t most_told = std::is_signed_v<Index> ? all_bits / 2 : all_bits;
  constexpr std::uint64_t most_kept = join_slot<Row>::most_rows;
  return rows >= 0 && static_cast<std::uint64_t>(rows) <= most_told &&
         static_cast<std::uint64_t>(rows) <= most_kept;
}

/// Blocks of a kernel, at most.
inline constexpr unsigned most_join_blocks = 0x7fffffff;

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
    return launch(with_grid(like, blocks < most ? blocks : most, threads), join_reset_kernel<Row>,
                  total, list_in(storage, first).taken,
                  marks ? storage.template get<unsigned>(first + matched) : nullptr,
                  static_cast<unsigned long long>(words));
  }

  /// What a join by partitions has left, if any: all that `reset`, the build and `run` do. The
  /// grid waits at a barrier that counts `arrivals`, from 0 on.
  template <class Layout>
  cudaError_t run_rest(const Layout& storage, int first, Table table, Probe probe,
                       launch_configuration like, const device_properties& device,
                       const Sink& sink, const unsigned* any_is_left, unsigned* arrivals) const {
    cut_tiles(storage, first, table, probe);
    constexpr auto kernel = join_rest_kernel<MaxPolicy, Index, Table, Key, Row, Sink>;
    static resident_blocks_cache cache;
    like.block = dim3(static_cast<unsigned>(MaxPolicy::table.probe_threads));
    like.dynamic_shared_bytes = 0;
    // As many blocks as have rows of either side.
    const std::size_t blocks = (static_cast<std::size_t>(probe.rows) + table.rows) /
                                   static_cast<std::size_t>(MaxPolicy::table.probe_threads) +
                               1;
    return launch_resident(
        like, cache, device, blocks, blocks, kernel, table, probe, list_in(storage, first), sink,
        any_is_left, arrivals,
        static_cast<unsigned long long>(kind == JoinKind::full ? matched_words(num_slots) : 0));
  }

  template <class Layout>
  cudaError_t run(const Layout& storage, int first, Table table, Probe probe,
                  const launch_configuration& like, const device_properties& device,
                  const Sink& sink) const {
    constexpr join_table_tuning tuning = MaxPolicy::table;
    cut_tiles(storage, first, table, probe);
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
          status = launch(with_grid(like, 1, threads), join_scan_kernel<threads, Row>, list, all,
                          probe.capacity, probe.total);
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
      return launch(
          with_grid(like, most_units < resident ? most_units : resident, tuning.probe_threads),
          join_write_kernel<MaxPolicy, Index, Table, Key, Row, Sink>, table, probe, list, all,
          sink);
    }
  }

 private:
  enum slot { counters, begins, unit_ends, tiles, matched };

  template <class Layout>
  void cut_tiles(const Layout& storage, int first, Table& table, Probe& probe) const {
    constexpr unsigned long long tile =
        static_cast<unsigned long long>(MaxPolicy::table.probe_threads) *
        MaxPolicy::table.probe_items;
    static_assert(tile >= least_join_tile,
                  "join_table_tuning: a tile of probe rows must have at least 256");
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
      return launch(with_grid(like, number, MaxPolicy::table.probe_threads),
                    join_count_kernel<MaxPolicy, Table, Key, Row>, table, probe, first, number,
                    counts);
    });
  }

  cudaError_t join(const Table& table, const Probe& probe, const launch_configuration& like,
                   const join_tile_list& list, const Sink& sink) const {
    return in_two_parts(probe, [&](unsigned long long first, unsigned long long number) {
      return launch(with_grid(like, number, MaxPolicy::table.probe_threads),
                    join_probe_kernel<MaxPolicy, Index, Table, Key, Row, Sink>, table, probe, first,
                    number, list, sink);
    });
  }
};

/// Carries out one call of a join; `PolicyHub` may be replaced to override the tuning. `Row` is what
/// kernels count rows in: it may be shorter than `Index` where that suffices.
template <class Index, class Key, class Sink, class Hash, class Equal,
          class PolicyHub = join_policy_hub, class Row = join_row_t<Index>>
struct DispatchHashJoin {
  static_assert(
      std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8),
      "the rows of a hash join are told by integers of 4 or 8 bytes: choose such an Index");
  static_assert(std::is_trivially_copyable_v<Key>,
                "a hash join copies keys: Key must be trivially copyable");

  using MaxPolicy = typename PolicyHub::MaxPolicy;
  using Options = JoinOptions<Hash, Equal>;
  using Storage = join_table_storage<MaxPolicy, Key, Row, Hash, Equal>;
  using Prober = join_prober<MaxPolicy, Index, Row, Key, Sink, Hash, Equal>;
  using Partitioner = join_partition_launches<MaxPolicy, Index, Key, Sink, Hash, Equal>;
  using Sets = join_set_launches<MaxPolicy, Index, Key, Sink, Hash, Equal>;
  using Layout = temporary_storage::layout<Storage::slots + Prober::slots + Partitioner::slots>;

  JoinKind kind;
  join_input<Key> build;
  join_input<Key> probe;
  const Sink& sink;
  std::int64_t* d_num_out;
  std::int64_t capacity;
  const Options& options;
  cudaStream_t stream;
  device_properties device;

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                              join_input<Key> build, join_input<Key> probe, const Sink& sink,
                              std::int64_t* d_num_out, std::int64_t capacity,
                              const Options& options, cudaStream_t stream) {
    if (!join_rows_are_valid<Index, Row>(build.rows) ||
        !join_rows_are_valid<Index, Row>(probe.rows))
      return cudaErrorInvalidValue;
    if (d_temp_storage != nullptr &&
        (capacity < 0 || d_num_out == nullptr || options.strategy == JoinStrategy::cpu ||
         (build.rows > 0 && build.keys == nullptr) || (probe.rows > 0 && probe.keys == nullptr))) {
      return cudaErrorInvalidValue;
    }
    if (capacity > most_join_capacity) capacity = most_join_capacity;
    auto* const total = reinterpret_cast<unsigned long long*>(d_num_out);
    if constexpr (is_join_sortable<Key, Equal>) {
      using Sorted = DispatchSortedJoin<MaxPolicy, Index, Row, Key, Sink>;
      if (Sorted::may_join(options)) {
        return Sorted::Dispatch(
            d_temp_storage, temp_storage_bytes,
            {kind, options.build_unique, build.keys, static_cast<Row>(build.rows), probe.keys,
             static_cast<Row>(probe.rows), nullptr, 0, capacity, total},
            options.order, sink, stream);
      }
    }
    Storage table_storage(static_cast<Row>(build.rows), features(kind, options));
    const Prober prober{kind, options.order, static_cast<Row>(build.rows),
                        static_cast<Row>(probe.rows),
                        Storage::number_of_slots(static_cast<Row>(build.rows))};
    Layout layout;
    cudaError_t status = table_storage.reserve(layout, 0);
    if (status != cudaSuccess) return status;
    prober.reserve(layout, Storage::slots);
    const bool is_direct = may_be_direct(kind, build.rows, options);
    const Partitioner partitioner(kind, static_cast<std::uint64_t>(build.rows),
                                  static_cast<std::uint64_t>(probe.rows),
                                  options.strategy == JoinStrategy::radix_multi, is_direct);
    const bool may_partition = is_direct || may_be_partitioned(build.rows, options);
    if (may_partition) {
      partitioner.reserve(layout, Storage::slots + Prober::slots,
                          static_cast<std::size_t>(build.rows),
                          static_cast<std::size_t>(probe.rows));
    }
    // That no size is less than one of fewer rows.
    Partitioner::reserve_least(layout, Storage::slots + Prober::slots);
    if (d_temp_storage == nullptr) {
      temp_storage_bytes = layout.bytes();
      return cudaSuccess;
    }
    if (!layout.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    device_properties device;
    status = current_device_properties(device);
    if (status != cudaSuccess) return status;

    launch_configuration like{"strata::DeviceHashJoin", dim3(most_join_blocks), dim3(1)};
    like.stream = stream;
    like.programmatic = device.ptx_version >= 900;
    auto table = table_storage.map(layout, 0, options.hash, options.equal);
    table.keys = build.keys;
    table.valid = options.build_valid;
    table.rows = static_cast<Row>(build.rows);
    table.nulls_equal = options.nulls_equal;
    table.promised_unique = options.build_unique;
    typename Prober::Probe asked{kind,
                                 probe.keys,
                                 options.probe_valid,
                                 static_cast<Row>(probe.rows),
                                 {},
                                 0,
                                 0,
                                 capacity,
                                 total};
    if constexpr (sizeof(Row) == 4) {
      if (may_partition &&
          shall_partition(build.rows, probe.rows, options, device, partitioner)) {
        const auto join = partitioner.map(
            layout, Storage::slots + Prober::slots,
            Partitioner::unmapped(kind, {build.keys, options.build_valid, table.rows},
                                  {probe.keys, options.probe_valid, asked.rows}, total,
                                  asked.capacity, options));
        if constexpr (Sets::is_possible) {
          if (shall_be_set(kind, build.rows, probe.rows, options, device)) {
            return Sets::run(kind, join.build, join.probe, join.build.done.records,
                             join.any_is_heavy, options.nulls_equal, total, asked.capacity,
                             options.hash, like, device, sink);
          }
        }
        status = partitioner.run(join, like, device, sink);
        if (status != cudaSuccess) return status;
        if (!partitioner.is_direct()) leave_heavy_rows(join, table, asked);
        return prober.run_rest(layout, Storage::slots, table, asked, like, device, sink,
                               join.any_is_heavy, join.arrivals);
      }
    }
    status = prober.reset(layout, Storage::slots, total, like, device);
    if (status == cudaSuccess) status = table_storage.clear(table, like, device.multiprocessors);
    if (status == cudaSuccess) status = table_storage.insert(table, like, 0);
    if (status == cudaSuccess) status = table_storage.list(table, like);
    if (status != cudaSuccess) return status;
    return prober.run(layout, Storage::slots, table, asked, like, device, sink);
  }

 private:
  // A table of the whole build side in the shared memory of each block. Nulls are left to others,
  // and so is who of the build side is found.
  static bool may_be_direct(JoinKind kind, std::int64_t build_rows, const Options& options) {
    return sizeof(Row) == 4 && options.order == JoinOrder::any && kind != JoinKind::full &&
           (options.strategy == JoinStrategy::automatic ||
            options.strategy == JoinStrategy::simple) &&
           options.build_valid == nullptr && options.probe_valid == nullptr && build_rows > 0 &&
           build_rows <= Partitioner::most_direct_rows;
  }

  // Not in the order of the probe rows, and not with numbers of rows that a record cannot hold.
  static bool may_be_partitioned(std::int64_t build_rows, const Options& options) {
    if (sizeof(Row) != 4 || options.order != JoinOrder::any) return false;
    if (options.strategy == JoinStrategy::automatic) {
      return static_cast<std::uint64_t>(build_rows) >= MaxPolicy::least_partitioned_rows;
    }
    return options.strategy != JoinStrategy::simple;
  }

  static bool shall_partition(std::int64_t build_rows, std::int64_t probe_rows,
                              const Options& options, const device_properties& device,
                              const Partitioner& partitioner) {
    const auto shared_bytes = static_cast<std::size_t>(device.shared_bytes_of_block);
    if (partitioner.is_direct()) return partitioner.fits(shared_bytes);
    JoinStrategy strategy = options.strategy;
    if (strategy == JoinStrategy::automatic) {
      strategy = choose_join_strategy<typename MaxPolicy::strategy>(
          static_cast<std::uint64_t>(build_rows), static_cast<std::uint64_t>(probe_rows),
          sizeof(Key), static_cast<std::size_t>(device.l2_bytes), shared_bytes);
    }
    const bool has_partitions =
        strategy == JoinStrategy::radix_single || strategy == JoinStrategy::radix_multi;
    return has_partitions && partitioner.fits(shared_bytes);
  }

  // In the memory of the partitions' records, which take 8 bytes for each row of both sides.
  static bool shall_be_set(JoinKind kind, std::int64_t build_rows, std::int64_t probe_rows,
                           const Options& options, const device_properties& device) {
    constexpr std::int64_t least_probes = 4;
    return (kind == JoinKind::semi || kind == JoinKind::anti) &&
           options.strategy == JoinStrategy::automatic && build_rows < probe_rows / least_probes &&
           Sets::bytes_of(static_cast<std::uint64_t>(build_rows)) <=
               static_cast<std::uint64_t>(device.l2_bytes) / 2 &&
           !may_be_direct(kind, build_rows, options);
  }

  template <class Partitions, class Table, class Probe>
  static void leave_heavy_rows(const Partitions& join, Table& table, Probe& probe) {
    const unsigned nulls = join.plan.partitions();
    table.list = {join.build.done.records, join.is_heavy, join.build.begins + nulls, join.plan.bits};
    probe.list = {join.probe.done.records, join.is_heavy, join.probe.begins + nulls, join.plan.bits};
  }

  static join_table_features features(JoinKind kind, const Options& options) {
    const bool counts = has_pairs(kind) && !options.build_unique;
    const bool lists = counts && Prober::has_rows;
    return {counts, lists, lists && options.order == JoinOrder::probe,
            lists || kind == JoinKind::full};
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
