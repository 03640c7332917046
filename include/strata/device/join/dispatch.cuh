// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments/counts.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/direct_address/dispatch.cuh>
#include <strata/device/join/fallback/dispatch.cuh>
#include <strata/device/join/global_table/dispatch.cuh>
#include <strata/device/join/global_table/table_storage.cuh>
#include <strata/device/join/merge/dispatch.cuh>
#include <strata/device/join/output/chunks.cuh>
#include <strata/device/join/partitioned/dispatch.cuh>
#include <strata/device/join/table_dispatch.cuh>
#include <strata/device/join/tuning.hpp>
#include <strata/device/stream_ordered_storage.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a join. Another `PolicyHub` overrides the tuning. `Row` is the type of row
/// numbers in kernels, which may be shorter than `Index`. `Reachable` has the methods that the call may need.
template <class Index, class Keys, class Sink, class Hash, class Equal, class PolicyHub = join_policy_hub,
          class Row = join_row_t<Index>, class Reachable = join_methods<true, true, true, true>>
struct DispatchHashJoin {
  static_assert(std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8),
                "the row numbers of a hash join are integers of 4 or 8 bytes: choose such an Index");

  using MaxPolicy = typename PolicyHub::MaxPolicy;
  using Key = iterator_value_t<Keys>;
  static_assert(is_trivially_relocatable_v<Key>, "a hash join copies keys: Key must be trivially relocatable");
  using Options = OrderedJoinOptions<Hash, Equal>;
  /// Merges and arrays indexed by key read keys of arrays.
  static constexpr bool are_sortable = std::is_pointer_v<Keys> && is_join_sortable<Key, Equal>;

  void* d_temp_storage;
  std::size_t& temp_storage_bytes;
  JoinKind kind;
  JoinSide<Keys> build;
  JoinSide<Keys> probe;
  const Sink& sink;
  unsigned long long* total;
  std::int64_t capacity;
  const Options& options;
  cudaStream_t stream;
  device_properties device;

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                              JoinSide<Keys> build, JoinSide<Keys> probe, const Sink& sink, std::int64_t* d_num_out,
                              std::int64_t capacity, const Options& options, cudaStream_t stream) {
    hash_requirements<Hash, Key>::check();
    equality_requirements<Equal, const Key>::check();
    if (!detail::join_rows_are_valid<Index, Row>(build.rows) || !detail::join_rows_are_valid<Index, Row>(probe.rows) ||
        capacity < 0 || options.strategy == JoinStrategy::cpu)
      return cudaErrorInvalidValue;
    DispatchHashJoin call{d_temp_storage,
                          temp_storage_bytes,
                          kind,
                          build,
                          probe,
                          sink,
                          reinterpret_cast<unsigned long long*>(d_num_out),
                          capacity < max_join_capacity ? capacity : max_join_capacity,
                          options,
                          stream,
                          {}};
    // A size query does not look at the device: all policies need the same storage.
    if (d_temp_storage == nullptr) return call.template Invoke<MaxPolicy>();
    const cudaError_t status = current_device_properties(call.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(call.device.ptx_version, call);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    static_assert(join_policies_need_same_storage<ActivePolicy, MaxPolicy>(sizeof(Key)),
                  "join policies: all policies of a chain must have the same numbers where temporary "
                  "storage depends on them, because a size query does not know the device");
    if constexpr (Reachable::merge && are_sortable) {
      using Sorted = DispatchSortedJoin<MaxPolicy, ActivePolicy, Index, Row, Key, Sink, Reachable::ordered>;
      if (Sorted::may_join(build, probe, options)) {
        return Sorted::Dispatch(d_temp_storage, temp_storage_bytes,
                                {kind, build.is_unique, build.keys, static_cast<Row>(build.rows), probe.keys,
                                 static_cast<Row>(probe.rows), nullptr, 0, capacity, total},
                                options.order, sink, device, stream);
      }
    }
    using Storage = join_table_storage<MaxPolicy, ActivePolicy, Keys, Row, Hash, Equal, Reachable::ordered>;
    using Prober = join_prober<MaxPolicy, ActivePolicy, Index, Row, Keys, Sink, Hash, Equal, Reachable::ordered>;
    using Partitioner =
        join_partition_launches<MaxPolicy, ActivePolicy, Index, Keys, Sink, Hash, Equal, Reachable::key_sets>;
    using KeyArray = join_key_array_launches<Index, Key, Sink, Hash, Equal>;
    constexpr int prober_slot = Storage::slots;
    constexpr int partition_slot = prober_slot + Prober::slots;
    constexpr int array_slot = partition_slot + Partitioner::slots;
    Storage table_storage(static_cast<Row>(build.rows), features());
    const Prober prober{kind, options.order, static_cast<Row>(build.rows), static_cast<Row>(probe.rows),
                        Storage::number_of_slots(static_cast<Row>(build.rows))};
    temporary_storage::layout<array_slot + KeyArray::slots> layout;
    cudaError_t status = table_storage.reserve(layout, 0);
    if (status != cudaSuccess) return status;
    prober.reserve(layout, prober_slot);
    const bool is_direct = may_be_direct(Partitioner::max_direct_rows);
    const Partitioner partitioner(kind, static_cast<std::uint64_t>(build.rows), static_cast<std::uint64_t>(probe.rows),
                                  options.strategy == JoinStrategy::radix_multi, is_direct);
    const bool may_partition = is_direct || may_be_partitioned(ActivePolicy::least_partitioned_rows);
    if (may_partition) {
      partitioner.reserve(layout, partition_slot, static_cast<std::size_t>(build.rows),
                          static_cast<std::size_t>(probe.rows));
    }
    const KeyArray key_array(kind, build, probe, options);
    if (sizeof(Row) == 4) key_array.reserve(layout, array_slot);
    // So that no size is less than that for fewer rows.
    Partitioner::reserve_min(layout, partition_slot);
    if (d_temp_storage == nullptr) return answer_size_query(layout, temp_storage_bytes);
    if (!layout.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;

    launch_configuration base{"strata::DeviceHashJoin", dim3(max_join_blocks), dim3(1)};
    base.stream = stream;
    base.programmatic = device.ptx_version >= 900;
    auto table = table_storage.map(layout, 0, options.hash, options.equal);
    table.keys = build.keys;
    table.valid = build.valid_mask;
    table.rows = static_cast<Row>(build.rows);
    table.nulls_equal = options.nulls_equal;
    table.promised_unique = build.is_unique;
    typename Prober::Probe probe_side{kind,     probe.keys, probe.valid_mask, static_cast<Row>(probe.rows), {}, 0, 0,
                                      capacity, total};
    if constexpr (Reachable::direct_address && sizeof(Row) == 4 && are_sortable) {
      if (key_array.is_chosen()) {
        const join_key_array array = key_array.map(layout, array_slot);
        status = key_array.run(array, build.keys, table.rows, probe_side, base, device.multiprocessors, sink);
        if (status != cudaSuccess) return status;
        auto rest = Partitioner::unmapped(kind, {}, {}, total, capacity, build.is_unique, options);
        rest.any_is_overflowing = array.has_outliers;
        rest.arrivals = array.arrivals;
        return detail::join_rest(prober, layout, prober_slot, table, probe_side, rest, 0, base, device, sink);
      }
    }
    if constexpr (sizeof(Row) == 4) {
      if (may_partition && shall_partition<ActivePolicy>(partitioner)) {
        const auto join =
            partitioner.map(layout, partition_slot, static_cast<std::size_t>(device.shared_bytes_of_block),
                            Partitioner::unmapped(kind, {build.keys, build.valid_mask, table.rows},
                                                  {probe.keys, probe.valid_mask, probe_side.rows}, total, capacity,
                                                  build.is_unique, options));
        status = partitioner.run(join, base, device, sink);
        if (status != cudaSuccess) return status;
        if (!partitioner.is_direct()) select_overflowing_rows(join, table, probe_side);
        return detail::join_rest(prober, layout, prober_slot, table, probe_side, join, partitioner.duplicates_bytes(),
                                 base, device, sink);
      }
    }
    status = prober.reset(layout, prober_slot, total, base, device);
    if (status == cudaSuccess) status = table_storage.clear(table, base, device.multiprocessors);
    if (status == cudaSuccess) status = table_storage.insert(table, base, 0);
    if (status == cudaSuccess) status = table_storage.list(table, base);
    if (status != cudaSuccess) return status;
    return prober.run(layout, prober_slot, table, probe_side, base, device, sink);
  }

 private:
  // Whether each block may have a table of the whole build side in its shared memory. It handles neither
  // nulls nor unmatched build rows.
  bool may_be_direct(std::int64_t max_rows) const {
    return sizeof(Row) == 4 && options.order == JoinOrder::any && kind != JoinKind::full &&
           (options.strategy == JoinStrategy::automatic || options.strategy == JoinStrategy::simple) &&
           build.valid_mask == nullptr && probe.valid_mask == nullptr && build.rows > 0 && build.rows <= max_rows;
  }

  // Whether the sides may be partitioned. Results are then in any order, and row numbers have 4 bytes.
  bool may_be_partitioned(std::uint64_t min_rows) const {
    if (sizeof(Row) != 4 || options.order != JoinOrder::any) return false;
    if (options.strategy == JoinStrategy::automatic) {
      return static_cast<std::uint64_t>(build.rows) >= min_rows;
    }
    return options.strategy != JoinStrategy::simple;
  }

  template <class ActivePolicy, class Partitioner>
  bool shall_partition(const Partitioner& partitioner) const {
    const auto shared_bytes = static_cast<std::size_t>(device.shared_bytes_of_block);
    if (partitioner.is_direct()) return partitioner.fits(shared_bytes);
    JoinStrategy strategy = options.strategy;
    if (strategy == JoinStrategy::automatic) {
      strategy = strata::choose_join_strategy<typename ActivePolicy::strategy>(
          static_cast<std::uint64_t>(build.rows), static_cast<std::uint64_t>(probe.rows), sizeof(Key), shared_bytes);
    }
    const bool has_partitions = strategy == JoinStrategy::radix_single || strategy == JoinStrategy::radix_multi;
    return has_partitions && partitioner.fits(shared_bytes);
  }

  template <class Partitions, class Table, class Probe>
  static void select_overflowing_rows(const Partitions& join, Table& table, Probe& probe) {
    const unsigned nulls = join.plan.partitions();
    const auto list_of = [&](const auto& side) -> join_row_list {
      return {side.has_row_ids ? side.partitioned.records : nullptr, join.is_overflowing, side.begins + nulls,
              join.plan.bits};
    };
    table.list = list_of(join.build);
    probe.list = list_of(join.probe);
  }

  join_table_features features() const {
    const bool counts = has_pairs(kind) && !build.is_unique;
    const bool lists = counts && !std::is_same_v<Sink, NullType>;
    return {counts, lists, lists && options.order == JoinOrder::probe, lists || kind == JoinKind::full};
  }
};

/// The back end of DeviceHashJoin for GPUs.
struct join_on_cuda {
  using stream_type = cudaStream_t;
  template <class Key, class Index, class Hash, class Equal, JoinOrder Order>
  using table_type = DispatchJoinTable<Key, Index, Hash, Equal, Order>;

  template <class Kind, class Keys, class BuildPromises, class ProbePromises, class Output, class Hash, class Equal,
            JoinOrder Order>
  static cudaError_t join(void* d_temp_storage, std::size_t& temp_storage_bytes, Kind kind,
                          const JoinSide<Keys, BuildPromises>& build, const JoinSide<Keys, ProbePromises>& probe,
                          const Output& output, std::int64_t* d_num_out, const JoinOptions<Hash, Equal, Order>& options,
                          cudaStream_t stream) {
    using Index = typename Output::index_type;
    using Reachable = join_methods</*Merge=*/BuildPromises::may_be_sorted && ProbePromises::may_be_sorted,
                                   /*DirectAddress=*/BuildPromises::may_have_range && has_pairs(Kind::value),
                                   /*KeySets=*/!has_pairs(Kind::value), /*Ordered=*/Order == JoinOrder::probe>;
    const auto dispatch = [&](auto row) {
      using Dispatch = DispatchHashJoin<Index, Keys, std::decay_t<decltype(output.sink)>, Hash, Equal, join_policy_hub,
                                        decltype(row), Reachable>;
      return Dispatch::Dispatch(d_temp_storage, temp_storage_bytes, kind, detail::untyped(build),
                                detail::untyped(probe), output.sink, d_num_out, output.capacity,
                                detail::untyped(options), stream);
    };
    // Numbers of rows of 4 bytes take half the memory. Larger ones are rare.
    if constexpr (sizeof(Index) == 8 && !(BuildPromises::has_few_rows && ProbePromises::has_few_rows)) {
      if (!detail::join_rows_are_valid<Index, unsigned>(build.rows) ||
          !detail::join_rows_are_valid<Index, unsigned>(probe.rows)) {
        return dispatch(0ull);
      }
    }
    return dispatch(0u);
  }

  template <class Call, class... Arguments>
  static cudaError_t with_storage(cudaStream_t stream, Call call, const Arguments&... arguments) {
    return detail::with_stream_ordered_storage(stream, call, arguments...);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
