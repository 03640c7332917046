// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/method.hpp>
#include <strata/device/join/direct_address.cuh>
#include <strata/device/join/fallback/dispatch.cuh>
#include <strata/device/join/global_table/dispatch.cuh>
#include <strata/device/join/global_table/table_storage.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/partition_dispatch.cuh>
#include <strata/device/join/radix_partition/partitioned_columns.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// True if keys may be merged or used as indices of an array. Both read the keys from arrays.
template <class Keys, class Equal>
inline constexpr bool has_sortable_keys = std::is_pointer_v<Keys>&& is_join_sortable<iterator_value_t<Keys>, Equal>;

template <class Call, class Row, class Methods>
inline constexpr bool may_address_keys =
    Methods::direct_address&& has_sortable_keys<typename Call::Keys, typename Call::Equal> && sizeof(Row) == 4 &&
    sizeof(iterator_value_t<typename Call::Keys>) <= 8;

/// A join by tables of the build rows: an array indexed by key, tables in shared memory, or one table in global memory.
/// Only the last one can write the result in the order of the probe rows (`IsOrdered`), and it joins what the others
/// leave. `Call` is a join_call, `Row` the type of row numbers in kernels, `Methods` a join_methods.
template <class MaxPolicy, class ActivePolicy, class Index, class Row, class Call, bool IsOrdered, class Methods>
class table_join {
  using Keys = typename Call::Keys;
  using Key = iterator_value_t<Keys>;
  using Sink = typename Call::Sink;
  using Hash = typename Call::Hash;
  using Equal = typename Call::Equal;
  using Storage = join_table_storage<MaxPolicy, ActivePolicy, Keys, Row, Hash, Equal, IsOrdered>;
  using Table = typename Storage::Table;
  using Prober = join_prober<MaxPolicy, ActivePolicy, Index, Row, Keys, Sink, Hash, Equal, IsOrdered>;
  using Probe = typename Prober::Probe;
  using Partitioner =
      join_partition_launches<MaxPolicy, ActivePolicy, Index, Keys, Sink, Hash, Equal, Methods::key_sets>;
  using Array = direct_address_launches<MaxPolicy, ActivePolicy, Index, Key, Sink>;

  static constexpr int prober_slot = Storage::slots;
  static constexpr int partition_slot = prober_slot + Prober::slots;
  static constexpr int array_slot = partition_slot + Partitioner::slots;
  using Layout = temporary_storage::layout<array_slot + Array::slots>;

 public:
  table_join(const Call& call, join_method method)
      : call_(call),
        method_(method),
        storage_(static_cast<Row>(call.build.rows), features_of(call)),
        prober_{call.kind, static_cast<Row>(call.build.rows), static_cast<Row>(call.probe.rows),
                Storage::number_of_slots(static_cast<Row>(call.build.rows))},
        partitioner_(call.kind, static_cast<std::uint64_t>(call.build.rows),
                     static_cast<std::uint64_t>(call.probe.rows), call.options.strategy == JoinStrategy::radix_multi,
                     method == join_method::one_table),
        array_(call.build.range) {}

  /// Where a join with join_partner_sink has written partners.
  join_partners partners = {};

  cudaError_t run(void* d_temp_storage, std::size_t& temp_storage_bytes) {
    Layout layout;
    const cudaError_t status = reserve(layout);
    if (status != cudaSuccess) return status;
    if (d_temp_storage == nullptr) return detail::answer_size_query(layout, temp_storage_bytes);
    if (detail::refuses_storage(layout, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    const launch_configuration base = detail::base_join_launch("strata::DeviceHashJoin", call_.device, call_.stream);
    Table table = storage_.map(layout, 0, call_.build, call_.options);
    Probe probe = detail::join_probe_of<Row>(call_.kind, call_.probe, call_.capacity, call_.total);
    if constexpr (may_address_keys<Call, Row, Methods> && !IsOrdered) {
      if (method_ == join_method::direct_address) return by_array(layout, table, probe, base);
    }
    if constexpr (sizeof(Row) == 4 && !IsOrdered) {
      if (method_ != join_method::global_table && partitioner_.are_used(call_)) {
        return by_partitions(layout, table, probe, base);
      }
    }
    return by_global_table(layout, table, probe, base);
  }

  /// Reserves a slot of another join's temporary storage for this join.
  template <class OuterLayout>
  cudaError_t reserve_in(OuterLayout& outer, int slot) {
    bytes_in_slot_ = 0;
    const cudaError_t status = run(nullptr, bytes_in_slot_);
    if (status == cudaSuccess) outer.template reserve<unsigned char>(slot, bytes_in_slot_);
    return status;
  }
  template <class OuterLayout>
  cudaError_t run_in(const OuterLayout& outer, int slot) {
    return run(outer.template get<unsigned char>(slot), bytes_in_slot_);
  }

 private:
  static join_table_features features_of(const Call& call) {
    const bool counts = detail::has_pairs(call.kind) && !call.build.is_unique;
    const bool lists = counts && !std::is_same_v<Sink, NullType>;
    return {counts, lists, lists || call.kind == JoinKind::full};
  }

  cudaError_t reserve(Layout& layout) {
    const cudaError_t status = storage_.reserve(layout, 0);
    if (status != cudaSuccess) return status;
    prober_.reserve(layout, prober_slot);
    // This storage is also reserved if an array joins the rows, so that a join of more rows never needs less storage.
    if (method_ != join_method::global_table) {
      partitioner_.reserve(layout, partition_slot, static_cast<std::size_t>(call_.build.rows),
                           static_cast<std::size_t>(call_.probe.rows));
    }
    if (method_ == join_method::direct_address) array_.reserve(layout, array_slot);
    Partitioner::reserve_min(layout, partition_slot);
    return cudaSuccess;
  }

  cudaError_t by_array(const Layout& layout, const Table& table, const Probe& probe, const launch_configuration& base) {
    const direct_address_table array = array_.map(layout, array_slot);
    const cudaError_t status =
        array_.run(array, call_.build.keys, table.rows, probe, base, call_.device.multiprocessors, call_.sink);
    if (status != cudaSuccess) return status;
    auto rest = Partitioner::arguments(call_);
    rest.any_is_overflowing = array.has_outliers;
    rest.arrivals = array.arrivals;
    return detail::join_fallback(prober_, layout, prober_slot, table, probe, rest, 0, base, call_.device, call_.sink);
  }

  cudaError_t by_partitions(const Layout& layout, Table& table, Probe& probe, const launch_configuration& base) {
    const auto join = partitioner_.map(layout, partition_slot, call_);
    const auto join_all = [&](const typename Partitioner::PassOutput& pass_output, const Sink& sink) {
      const cudaError_t status = partitioner_.run(join, pass_output, base, call_.device, sink);
      if (status != cudaSuccess) return status;
      if (!partitioner_.is_one_table()) detail::list_overflowing_rows(join, table, probe);
      return detail::join_fallback(prober_, layout, prober_slot, table, probe, join, partitioner_.duplicates_bytes(),
                                   base, call_.device, sink);
    };
    if constexpr (Partitioner::writes_partners) {
      partners = partitioner_.partners_of(join, layout, partition_slot, call_.sink);
      return join_all(partners.runs, partners.sink);
    } else if constexpr (partitions_columns<Sink>) {
      return join_all(call_.sink, call_.sink);
    } else {
      return join_all({}, call_.sink);
    }
  }

  cudaError_t by_global_table(const Layout& layout, const Table& table, const Probe& probe,
                              const launch_configuration& base) {
    cudaError_t status = prober_.reset(layout, prober_slot, call_.total, base, call_.device);
    if (status == cudaSuccess) status = storage_.clear(table, base, call_.device.multiprocessors);
    if (status == cudaSuccess) status = storage_.insert(table, base, 0);
    if (status == cudaSuccess) status = storage_.list(table, base);
    if (status != cudaSuccess) return status;
    return prober_.run(layout, prober_slot, table, probe, base, call_.device, call_.sink);
  }

  const Call& call_;
  join_method method_;
  Storage storage_;
  Prober prober_;
  Partitioner partitioner_;
  Array array_;
  std::size_t bytes_in_slot_ = 0;
};

STRATA_ARCH_DETAIL_NAMESPACE_END
