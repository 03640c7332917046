// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/join/bloom_filter.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/method.hpp>
#include <strata/device/join/common/row_numbers.hpp>
#include <strata/device/join/direct_address/dispatch.cuh>
#include <strata/device/join/fallback/dispatch.cuh>
#include <strata/device/join/global_table/dispatch.cuh>
#include <strata/device/join/global_table/table_storage.cuh>
#include <strata/device/join/list_dispatch.cuh>
#include <strata/device/join/merge/dispatch.cuh>
#include <strata/device/join/output/chunks.cuh>
#include <strata/device/join/output/columns.hpp>
#include <strata/device/join/output/partitioned_columns.cuh>
#include <strata/device/join/output/probe_order.cuh>
#include <strata/device/join/partitioned/dispatch.cuh>
#include <strata/device/join/table_dispatch.cuh>
#include <strata/device/join/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// One pass can partition up to so many build rows.
template <class Policy, class Key, class Hash, class Equal>
inline constexpr std::uint64_t join_one_pass_rows =
    static_cast<std::uint64_t>(Policy::partition.rows_of_table(is_join_double_word<Key, Hash, Equal>))
    << Policy::partition.one_pass_bits;

/// Carries out one call of a join. `Row` is the type of row numbers in kernels, which may be shorter than `Index`.
/// `Reachable` has the methods that the call may need.
template <class Index, class Keys, class Sink, class Hash, class Equal, class PolicyHub = default_policy_hub,
          class Row = join_row_t<Index>, class Reachable = join_methods<true, true, true, false>>
struct DispatchHashJoin {
  static_assert(std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8),
                "the row numbers of a hash join are integers of 4 or 8 bytes: choose such an Index");

  using MaxPolicy = typename join_policy<PolicyHub>::newest;
  using Key = iterator_value_t<Keys>;
  static_assert(relocatable_requirements<Key>::check());
  using Options = JoinOptions<Hash, Equal>;
  /// A count has no order.
  static constexpr bool is_ordered = Reachable::ordered && !std::is_same_v<Sink, NullType>;
  /// Merges and arrays indexed by key read keys of arrays.
  static constexpr bool are_sortable = std::is_pointer_v<Keys> && is_join_sortable<Key, Equal>;
  static constexpr bool may_merge = Reachable::merge && are_sortable;
  static constexpr bool may_address = Reachable::direct_address && are_sortable && sizeof(Key) <= 8 && sizeof(Row) == 4;
  static constexpr bool has_word_keys =
      sizeof(Row) == 4 && join_partitions<Keys, Hash, Equal>::hash_is_key && !are_numbered_keys<Keys>;
  using Columns = partitioned_columns<Sink>;
  static constexpr bool may_partition_columns =
      has_word_keys && !is_ordered && !are_counted_keys<Keys> && Columns::are_possible;
  /// Narrow columns are partitioned wherever the result could be in the order of the probe rows, unless few rows match.
  static constexpr bool may_gather_in_order =
      number_of_columns<Sink> >= least_gathered_columns && !(may_partition_columns && Columns::are_narrow);
  static constexpr bool may_list_rows = has_word_keys && Reachable::row_lists && (is_ordered || may_gather_in_order);
  /// A set of keys is as fast as a filter.
  static constexpr bool may_filter = Reachable::bloom_filter && !is_ordered && sizeof(Row) == 4 &&
                                     may_filter_keys<Keys> && !(Reachable::key_sets && is_join_word<Key, Hash, Equal>);

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
  device_properties device = {};
  /// Where a call with join_partner_sink has written partners.
  join_partners partners = {};

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                              JoinSide<Keys> build, JoinSide<Keys> probe, const Sink& sink, std::int64_t* d_num_out,
                              std::int64_t capacity, const Options& options, cudaStream_t stream) {
    if (detail::refuses_join_rows(detail::join_rows_are_valid<Index, Row>(build.rows), true) ||
        detail::refuses_join_rows(detail::join_rows_are_valid<Index, Row>(probe.rows), false) ||
        detail::refuses_join_capacity(capacity) ||
        detail::refuses_join_strategy(options.strategy != JoinStrategy::cpu)) {
      return cudaErrorInvalidValue;
    }
    if (capacity > max_join_capacity) capacity = max_join_capacity;
    auto* const total = reinterpret_cast<unsigned long long*>(d_num_out);
    DispatchHashJoin call{d_temp_storage, temp_storage_bytes, kind,    build, probe, sink,
                          total,          capacity,           options, stream};
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
    constexpr int one_table_rows = ActivePolicy::partition.rows_of_table(is_join_double_word<Key, Hash, Equal>);
    const join_method method =
        detail::choose_join_method(description(), ActivePolicy::least_partitioned_rows, one_table_rows);
    if constexpr (may_merge) {
      if (method == join_method::merge) {
        using Merge = DispatchMergeJoin<MaxPolicy, ActivePolicy, Index, Row, Key, Sink, is_ordered>;
        return Merge::Dispatch(d_temp_storage, temp_storage_bytes,
                               {kind, build.is_unique, build.keys, static_cast<Row>(build.rows), probe.keys,
                                static_cast<Row>(probe.rows), nullptr, 0, capacity, total},
                               sink, device, stream);
      }
    }
    constexpr std::uint64_t one_pass_rows = join_one_pass_rows<ActivePolicy, Key, Hash, Equal>;
    if constexpr (may_filter) {
      if (detail::filters_probe_rows(description(), method, probe.matching, options.nulls_equal)) {
        using Join = DispatchHashJoin<Index, join_counted_keys_t<Keys>, join_selected_sink_t<Sink>, Hash, Equal,
                                      PolicyHub, Row, join_methods<false, false, false, false>>;
        return detail::join_filtered<Join, ActivePolicy>(*this);
      }
    }
    if constexpr (may_partition_columns) {
      if (detail::has_partitioned_columns(description(), method, one_pass_rows, Columns::are_narrow, probe.matching)) {
        using Join = DispatchHashJoin<Index, Keys, partitioned_output<Sink>, Hash, Equal, PolicyHub, Row,
                                      join_methods<false, false, false, false>>;
        return detail::join_with_partitioned_columns<Join, ActivePolicy>(*this);
      }
    }
    [[maybe_unused]] const bool has_one_each = description().has_at_most_one_each();
    [[maybe_unused]] const bool restores_order = detail::restores_probe_order(description(), method, one_pass_rows);
    if constexpr (may_list_rows) {
      if (restores_order && !has_one_each) {
        using Lists = join_list_launches<MaxPolicy, ActivePolicy, Index, Keys, Hash, Equal>;
        return detail::join_by_row_lists<Lists, ActivePolicy>(*this);
      }
    }
    if constexpr (Reachable::one_each && sizeof(Row) == 4 && !are_numbered_keys<Keys> &&
                  (is_ordered || may_gather_in_order)) {
      if (restores_order && has_one_each) {
        using AnyOrder = DispatchHashJoin<unsigned, Keys, join_partner_sink, Hash, Equal, PolicyHub, unsigned,
                                          join_methods<false, Reachable::direct_address, Reachable::key_sets, false>>;
        return detail::join_in_probe_order<AnyOrder, ActivePolicy, Index>(*this);
      }
    }
    return join_by_tables<ActivePolicy>(method);
  }

  template <class ActivePolicy>
  cudaError_t join_by_tables(join_method method) {
    using Storage = join_table_storage<MaxPolicy, ActivePolicy, Keys, Row, Hash, Equal, is_ordered>;
    using Prober = join_prober<MaxPolicy, ActivePolicy, Index, Row, Keys, Sink, Hash, Equal, is_ordered>;
    using Partitioner =
        join_partition_launches<MaxPolicy, ActivePolicy, Index, Keys, Sink, Hash, Equal, Reachable::key_sets>;
    using DirectAddress = direct_address_launches<MaxPolicy, ActivePolicy, Index, Key, Sink>;
    constexpr int prober_slot = Storage::slots;
    constexpr int partition_slot = prober_slot + Prober::slots;
    constexpr int array_slot = partition_slot + Partitioner::slots;
    Storage table_storage(static_cast<Row>(build.rows), features());
    const Prober prober{kind, static_cast<Row>(build.rows), static_cast<Row>(probe.rows),
                        Storage::number_of_slots(static_cast<Row>(build.rows))};
    temporary_storage::layout<array_slot + DirectAddress::slots> layout;
    cudaError_t status = table_storage.reserve(layout, 0);
    if (status != cudaSuccess) return status;
    prober.reserve(layout, prober_slot);
    const Partitioner partitioner(kind, static_cast<std::uint64_t>(build.rows), static_cast<std::uint64_t>(probe.rows),
                                  options.strategy == JoinStrategy::radix_multi, method == join_method::one_table);
    // Reserved for an array too: with one, more rows never need less.
    if (method != join_method::global_table) {
      partitioner.reserve(layout, partition_slot, static_cast<std::size_t>(build.rows),
                          static_cast<std::size_t>(probe.rows));
    }
    const DirectAddress direct_address(build.range);
    if (method == join_method::direct_address) direct_address.reserve(layout, array_slot);
    Partitioner::reserve_min(layout, partition_slot);
    if (d_temp_storage == nullptr) return answer_size_query(layout, temp_storage_bytes);
    if (detail::refuses_storage(layout, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;

    const launch_configuration base = base_join_launch("strata::DeviceHashJoin", device, stream);
    auto table = table_storage.map(layout, 0, options.hash, options.equal);
    table.keys = build.keys;
    table.valid = build.valid_mask;
    table.rows = static_cast<Row>(build.rows);
    table.nulls_equal = options.nulls_equal;
    table.promised_unique = build.is_unique;
    typename Prober::Probe probe_side{kind,     probe.keys, probe.valid_mask, static_cast<Row>(probe.rows), {}, 0, 0,
                                      capacity, total};
    if constexpr (may_address && !is_ordered) {
      if (method == join_method::direct_address) {
        const direct_address_table array = direct_address.map(layout, array_slot);
        status = direct_address.run(array, build.keys, table.rows, probe_side, base, device.multiprocessors, sink);
        if (status != cudaSuccess) return status;
        auto rest = Partitioner::unmapped(kind, {}, {}, total, capacity, build.is_unique, options);
        rest.any_is_overflowing = array.has_outliers;
        rest.arrivals = array.arrivals;
        return detail::join_fallback(prober, layout, prober_slot, table, probe_side, rest, 0, base, device, sink);
      }
    }
    if constexpr (sizeof(Row) == 4 && !is_ordered) {
      if (method != join_method::global_table && may_have_partitions<ActivePolicy>(partitioner)) {
        const auto join =
            partitioner.map(layout, partition_slot, static_cast<std::size_t>(device.shared_bytes_of_block),
                            Partitioner::unmapped(kind, {build.keys, build.valid_mask, table.rows},
                                                  {probe.keys, probe.valid_mask, probe_side.rows}, total, capacity,
                                                  build.is_unique, options));
        const auto join_all = [&](const typename Partitioner::Extra& extra, const Sink& output) {
          const cudaError_t joined = partitioner.run(join, extra, base, device, output);
          if (joined != cudaSuccess) return joined;
          if (!partitioner.is_one_table()) detail::list_overflowing_rows(join, table, probe_side);
          return detail::join_fallback(prober, layout, prober_slot, table, probe_side, join,
                                       partitioner.duplicates_bytes(), base, device, output);
        };
        if constexpr (Partitioner::writes_partners) {
          partners = partitioner.partners_of(join, layout, partition_slot, sink);
          return join_all(partners.runs, partners.sink);
        } else if constexpr (partitions_columns<Sink>) {
          return join_all(sink, sink);
        } else {
          return join_all({}, sink);
        }
      }
    }
    status = prober.reset(layout, prober_slot, total, base, device);
    if (status == cudaSuccess) status = table_storage.clear(table, base, device.multiprocessors);
    if (status == cudaSuccess) status = table_storage.insert(table, base, 0);
    if (status == cudaSuccess) status = table_storage.list(table, base);
    if (status != cudaSuccess) return status;
    return prober.run(layout, prober_slot, table, probe_side, base, device, sink);
  }

  template <class ActivePolicy, class Partitioner>
  bool may_have_partitions(const Partitioner& partitioner) const {
    const auto shared_bytes = static_cast<std::size_t>(device.shared_bytes_of_block);
    if (!partitioner.fits(shared_bytes)) return false;
    if (partitioner.is_one_table() || options.strategy != JoinStrategy::automatic) return true;
    const JoinStrategy strategy = strata::choose_join_strategy<typename ActivePolicy::strategy>(
        static_cast<std::uint64_t>(build.rows), static_cast<std::uint64_t>(probe.rows), sizeof(Key), shared_bytes);
    return strategy == JoinStrategy::radix_single || strategy == JoinStrategy::radix_multi;
  }

 private:
  join_description description() const {
    return detail::describe_join(kind, options.strategy, is_ordered, build, probe, sizeof(Row) == 4, may_merge,
                                 may_address, may_list_rows);
  }

  join_table_features features() const {
    const bool counts = has_pairs(kind) && !build.is_unique;
    const bool lists = counts && !std::is_same_v<Sink, NullType>;
    return {counts, lists, lists || kind == JoinKind::full};
  }
};

/// The back end of DeviceHashJoin for GPUs.
template <class PolicyHub>
struct tuned_join_on_cuda {
  using stream_type = cudaStream_t;
  template <class Key, class Index, class Hash, class Equal, JoinOrder Order>
  using table_type = DispatchJoinTable<Key, Index, Hash, Equal, Order, PolicyHub>;

  template <class Kind, class Keys, class BuildPromises, class ProbePromises, class Output, class Hash, class Equal,
            JoinOrder Order>
  static cudaError_t join(void* d_temp_storage, std::size_t& temp_storage_bytes, Kind kind,
                          const JoinSide<Keys, BuildPromises>& build, const JoinSide<Keys, ProbePromises>& probe,
                          const Output& output, std::int64_t* d_num_out, const JoinOptions<Hash, Equal, Order>& options,
                          cudaStream_t stream) {
    using Index = typename Output::index_type;
    using Reachable = reachable_methods<Kind::value, BuildPromises, ProbePromises, Order>;
    constexpr bool is_counted = BuildPromises::has_future_count || ProbePromises::has_future_count;
    const auto build_side = detail::untyped<is_counted>(build);
    const auto probe_side = detail::untyped<is_counted>(probe);
    const auto dispatch = [&](auto row) {
      using Dispatch =
          DispatchHashJoin<Index, std::decay_t<decltype(build_side.keys)>, std::decay_t<decltype(output.sink)>, Hash,
                           Equal, PolicyHub, decltype(row), Reachable>;
      return dispatch_if<can_hash<iterator_value_t<Keys>, Hash, Equal>, Dispatch>::Dispatch(
          d_temp_storage, temp_storage_bytes, kind, build_side, probe_side, output.sink, d_num_out, output.capacity,
          options, stream);
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

  template <class Where, class Call, class... Arguments>
  static cudaError_t with_storage(const Where& where, Call call, const Arguments&... arguments) {
    return detail::with_storage(call, arguments..., where);
  }
};
using join_on_cuda = tuned_join_on_cuda<default_policy_hub>;

STRATA_ARCH_DETAIL_NAMESPACE_END
