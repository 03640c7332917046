// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/join/bloom_filter.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/common/keys.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/method.hpp>
#include <strata/device/join/detours.cuh>
#include <strata/device/join/merge/dispatch.cuh>
#include <strata/device/join/output/chunks.cuh>
#include <strata/device/join/output/outputs.hpp>
#include <strata/device/join/radix_partition/partitioned_columns.cuh>
#include <strata/device/join/table_dispatch.cuh>
#include <strata/device/join/table_join.cuh>
#include <strata/device/join/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Maximum number of build rows that one pass can partition.
template <class Policy, class Key, class Hash, class Equal>
inline constexpr std::uint64_t join_one_pass_rows =
    static_cast<std::uint64_t>(Policy::partition.rows_of_table(is_join_double_word<Key, Hash, Equal>))
    << Policy::partition.one_pass_bits;

/// Carries out one call of a join. `Row` is the type of row numbers in kernels, which may be shorter than `Index`.
/// `Methods`, a join_methods, has what the call may need.
template <class Index, class Keys, class Sink, class Hash, class Equal, class PolicyHub, class Row, class Methods>
struct DispatchHashJoin {
  static_assert(std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8),
                "the row numbers of a hash join are integers of 4 or 8 bytes: choose Index accordingly");

  using MaxPolicy = typename join_policy<PolicyHub>::newest;
  using Key = iterator_value_t<Keys>;
  static_assert(relocatable_requirements<Key>::check());
  using Options = JoinOptions<Hash, Equal>;
  using Call = join_call<Keys, Sink, Hash, Equal>;

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                              const JoinSide<Keys>& build, const JoinSide<Keys>& probe, const Sink& sink,
                              std::int64_t* d_num_out, std::int64_t capacity, const Options& options,
                              cudaStream_t stream) {
    if (detail::refuses_join_rows(detail::join_rows_are_valid<Index, Row>(build.rows), true) ||
        detail::refuses_join_rows(detail::join_rows_are_valid<Index, Row>(probe.rows), false) ||
        detail::refuses_reach(build.keys, build.rows, "the iterator of build keys") ||
        detail::refuses_reach(probe.keys, probe.rows, "the iterator of probe keys") ||
        detail::refuses_join_capacity(capacity) ||
        detail::refuses_join_strategy(options.strategy != JoinStrategy::cpu)) {
      return cudaErrorInvalidValue;
    }
    Call call(kind, build, probe, sink, options);
    call.total = reinterpret_cast<unsigned long long*>(d_num_out);
    call.capacity = detail::least(capacity, max_join_capacity);
    call.stream = stream;
    DispatchHashJoin dispatch{d_temp_storage, temp_storage_bytes, call};
    // A size query does not look at the device: all policies need the same storage.
    if (d_temp_storage == nullptr) return dispatch.template Invoke<MaxPolicy>();
    const cudaError_t status = detail::current_device_properties(call.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(call.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    static_assert(detail::join_policies_need_same_storage<ActivePolicy, MaxPolicy>(sizeof(Key)),
                  "join policies: tuning values that temporary storage depends on must be equal in all policies of a "
                  "chain, because a size query does not know the device");
    const join_description description = describe<ActivePolicy>();
    const join_choice choice = detail::choose_join(description);
    if (d_temp_storage != nullptr) detail::log_join(description, choice);
    // A method that the types do not allow is never chosen, and not compiled.
    if constexpr (may_merge) {
      if (choice.method == join_method::merge) {
        using Merge = DispatchMergeJoin<MaxPolicy, ActivePolicy, Index, Row, Key, Sink, is_ordered>;
        return Merge::Dispatch(d_temp_storage, temp_storage_bytes, call);
      }
    }
    if constexpr (may_filter) {
      if (choice.detour == join_detour::bloom_filter) {
        return detail::join_filtered<MaxPolicy, ActivePolicy, Index, Row>(d_temp_storage, temp_storage_bytes, call,
                                                                          description);
      }
    }
    if constexpr (may_partition_columns) {
      const bool takes_sample = choice.detour == join_detour::sampled_columns;
      if (takes_sample || choice.detour == join_detour::partitioned_columns) {
        return detail::join_with_partitioned_columns<MaxPolicy, ActivePolicy, Index, Row>(
            d_temp_storage, temp_storage_bytes, call, choice.method, takes_sample);
      }
    }
    if constexpr (may_restore_order) {
      if (choice.detour == join_detour::probe_order) {
        return detail::join_in_probe_order<MaxPolicy, ActivePolicy, Index, Methods>(d_temp_storage, temp_storage_bytes,
                                                                                    call, choice.method);
      }
    }
    using Tables = table_join<MaxPolicy, ActivePolicy, Index, Row, Call, is_ordered, typename Methods::of_tables>;
    if constexpr (may_list_rows) {
      if (choice.detour == join_detour::row_lists) {
        return detail::join_by_row_lists<MaxPolicy, ActivePolicy, Index>(d_temp_storage, temp_storage_bytes, call,
                                                                         Tables(call, join_method::global_table));
      }
    }
    return Tables(call, choice.method).run(d_temp_storage, temp_storage_bytes);
  }

  void* d_temp_storage;
  std::size_t& temp_storage_bytes;
  Call& call;

 private:
  /// A count has no order.
  static constexpr bool is_ordered = Methods::ordered && !std::is_same_v<Sink, NullType>;
  static constexpr bool may_merge = Methods::merge && has_sortable_keys<Keys, Equal>;
  static constexpr bool has_word_keys =
      sizeof(Row) == 4 && join_partitions<Keys, Hash, Equal>::hash_is_key && !are_numbered_keys<Keys>;
  using Columns = partitioned_columns<Sink>;
  static constexpr bool may_partition_columns =
      has_word_keys && !is_ordered && !are_counted_keys<Keys> && Columns::are_possible;
  /// Narrow columns that may be partitioned are never gathered in the order of the probe rows. If few rows match, an
  /// inner join does not partition these columns, but gathers them row by row.
  static constexpr bool may_gather_in_order =
      number_of_columns<Sink> >= least_gathered_columns && !(may_partition_columns && Columns::are_narrow);
  static constexpr bool may_restore_order =
      Methods::one_each && sizeof(Row) == 4 && !are_numbered_keys<Keys> && (is_ordered || may_gather_in_order);
  static constexpr bool may_list_rows = has_word_keys && Methods::row_lists && (is_ordered || may_gather_in_order);
  /// Where a set of keys is possible, it is as fast as a filter, so no filter is made.
  static constexpr bool may_filter = Methods::bloom_filter && !is_ordered && sizeof(Row) == 4 &&
                                     may_filter_keys<Keys> && !(Methods::key_sets && is_join_word<Key, Hash, Equal>);

  template <class ActivePolicy>
  join_description describe() const {
    join_description join = detail::describe_join(call.kind, call.build, call.probe, call.options);
    join.is_ordered = is_ordered;
    join.has_short_rows = sizeof(Row) == 4;
    join.may_merge = may_merge;
    join.may_address = may_address_keys<Call, Row, Methods>;
    join.may_filter = may_filter;
    join.may_partition_columns = may_partition_columns;
    join.are_columns_narrow = Columns::are_narrow;
    join.may_restore_order = may_restore_order;
    join.may_list_rows = may_list_rows;
    join.least_partitioned_rows = ActivePolicy::least_partitioned_rows;
    join.one_table_rows =
        static_cast<std::uint64_t>(ActivePolicy::partition.rows_of_table(is_join_double_word<Key, Hash, Equal>));
    join.one_pass_rows = join_one_pass_rows<ActivePolicy, Key, Hash, Equal>;
    return join;
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
    using Methods = join_methods<detail::needs_of_join<Kind::value, BuildPromises, ProbePromises, Order>()>;
    constexpr bool is_counted = BuildPromises::has_future_count || ProbePromises::has_future_count;
    const auto build_side = detail::untyped<is_counted>(build);
    const auto probe_side = detail::untyped<is_counted>(probe);
    const auto dispatch = [&](auto row) {
      using Dispatch =
          DispatchHashJoin<Index, std::decay_t<decltype(build_side.keys)>, std::decay_t<decltype(output.sink)>, Hash,
                           Equal, PolicyHub, decltype(row), Methods>;
      return dispatch_if<can_hash<iterator_value_t<Keys>, Hash, Equal>, Dispatch>::Dispatch(
          d_temp_storage, temp_storage_bytes, kind, build_side, probe_side, output.sink, d_num_out, output.capacity,
          options, stream);
    };
    // Row numbers of 4 bytes take half the memory of row numbers of 8 bytes, which are rarely necessary.
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
