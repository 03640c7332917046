// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/hash_join/join_options.hpp>
#include <strata/device/hash_join/join_output.cuh>
#include <strata/device/hash_join/key_array_dispatch.cuh>
#include <strata/device/hash_join/partition_dispatch.cuh>
#include <strata/device/hash_join/probe_dispatch.cuh>
#include <strata/device/hash_join/sorted_dispatch.cuh>
#include <strata/device/hash_join/table_storage.cuh>
#include <strata/device/hash_join/tuning.hpp>

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

/// Carries out one call of a join; `PolicyHub` may be replaced to override the tuning. `Row` is what
/// kernels count rows in: it may be shorter than `Index` where that suffices.
template <class Index, class Key, class Sink, class Hash, class Equal,
          class PolicyHub = join_policy_hub, class Row = join_row_t<Index>>
struct DispatchHashJoin {
  static_assert(
      std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8),
      "the rows of a hash join are told by integers of 4 or 8 bytes: choose such an Index");
  static_assert(is_trivially_relocatable_v<Key>,
                "a hash join copies keys: Key must be trivially relocatable");

  using MaxPolicy = typename PolicyHub::MaxPolicy;
  using Options = JoinOptions<Hash, Equal>;
  using Storage = join_table_storage<MaxPolicy, Key, Row, Hash, Equal>;
  using Prober = join_prober<MaxPolicy, Index, Row, Key, Sink, Hash, Equal>;
  using Partitioner = join_partition_launches<MaxPolicy, Index, Key, Sink, Hash, Equal>;
  using KeyArray = join_key_array_launches<Index, Key, Sink, Hash, Equal>;
  static constexpr int array_slot = Storage::slots + Prober::slots + Partitioner::slots;
  using Layout = temporary_storage::layout<array_slot + KeyArray::slots>;

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                              join_input<Key> build, join_input<Key> probe, const Sink& sink,
                              std::int64_t* d_num_out, std::int64_t capacity,
                              const Options& options, cudaStream_t stream) {
    hash_requirements<Hash, Key>::check();
    equality_requirements<Equal, const Key>::check();
    if (!detail::join_rows_are_valid<Index, Row>(build.rows) ||
        !detail::join_rows_are_valid<Index, Row>(probe.rows) || capacity < 0 ||
        options.strategy == JoinStrategy::cpu)
      return cudaErrorInvalidValue;
    if (d_temp_storage != nullptr &&
        (d_num_out == nullptr || (build.rows > 0 && build.keys == nullptr) ||
         (probe.rows > 0 && probe.keys == nullptr))) {
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
    const KeyArray key_array(kind, build.rows, probe.rows, options);
    if (sizeof(Row) == 4) key_array.reserve(layout, array_slot);
    // That no size is less than one of fewer rows.
    Partitioner::reserve_least(layout, Storage::slots + Prober::slots);
    if (d_temp_storage == nullptr) return answer_size_query(layout, temp_storage_bytes);
    if (!layout.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    device_properties device;
    status = current_device_properties(device, stream);
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
    typename Prober::Probe asked{
        kind,     probe.keys, options.probe_valid, static_cast<Row>(probe.rows), {}, 0, 0,
        capacity, total};
    if constexpr (sizeof(Row) == 4 && is_join_sortable<Key, Equal>) {
      if (key_array.is_chosen()) {
        const join_key_array array = key_array.map(layout, array_slot);
        status =
            key_array.run(array, build.keys, table.rows, asked, like, device.multiprocessors, sink);
        if (status != cudaSuccess) return status;
        auto left = Partitioner::unmapped(kind, {}, {}, total, asked.capacity, options);
        left.any_is_heavy = array.is_left;
        left.arrivals = array.arrivals;
        return prober.run_rest(layout, Storage::slots, table, asked, left, 0, like, device, sink);
      }
    }
    if constexpr (sizeof(Row) == 4) {
      if (may_partition && shall_partition(build.rows, probe.rows, options, device, partitioner)) {
        const auto join = partitioner.map(
            layout, Storage::slots + Prober::slots,
            static_cast<std::size_t>(device.shared_bytes_of_block),
            Partitioner::unmapped(kind, {build.keys, options.build_valid, table.rows},
                                  {probe.keys, options.probe_valid, asked.rows}, total,
                                  asked.capacity, options));
        status = partitioner.run(join, like, device, sink);
        if (status != cudaSuccess) return status;
        if (!partitioner.is_direct()) leave_heavy_rows(join, table, asked);
        return prober.run_rest(layout, Storage::slots, table, asked, join,
                               partitioner.repeated_bytes(), like, device, sink);
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
      strategy = strata::choose_join_strategy<typename MaxPolicy::strategy>(
          static_cast<std::uint64_t>(build_rows), static_cast<std::uint64_t>(probe_rows),
          sizeof(Key), static_cast<std::size_t>(device.l2_bytes), shared_bytes);
    }
    const bool has_partitions =
        strategy == JoinStrategy::radix_single || strategy == JoinStrategy::radix_multi;
    return has_partitions && partitioner.fits(shared_bytes);
  }

  template <class Partitions, class Table, class Probe>
  static void leave_heavy_rows(const Partitions& join, Table& table, Probe& probe) {
    const unsigned nulls = join.plan.partitions();
    const auto list_of = [&](const auto& side) -> join_row_list {
      return {side.tells_rows ? side.done.records : nullptr, join.is_heavy, side.begins + nulls,
              join.plan.bits};
    };
    table.list = list_of(join.build);
    probe.list = list_of(join.probe);
  }

  static join_table_features features(JoinKind kind, const Options& options) {
    const bool counts = has_pairs(kind) && !options.build_unique;
    const bool lists = counts && Prober::has_rows;
    return {counts, lists, lists && options.order == JoinOrder::probe,
            lists || kind == JoinKind::full};
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
