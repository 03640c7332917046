// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/future_count.cuh>
#include <strata/device/join/bloom_filter.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/keys.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/method.hpp>
#include <strata/device/join/common/strategy.hpp>
#include <strata/device/join/fallback/dispatch.cuh>
#include <strata/device/join/global_table/table_storage.cuh>
#include <strata/device/join/output/chunks.cuh>
#include <strata/device/join/output/list_order.cuh>
#include <strata/device/join/output/outputs.hpp>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/output/probe_order.cuh>
#include <strata/device/join/partition_dispatch.cuh>
#include <strata/device/join/radix_partition/partitioned_columns.cuh>
#include <strata/device/join/table_join.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// What a call does around a join by tables: each function carries out `call`, a join_call, by another join. The other
/// join's storage is a part of the call's temporary storage.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// A Bloom filter of the build keys selects probe rows; these are joined.
template <class MaxPolicy, class ActivePolicy, class Index, class Row, class Call>
cudaError_t join_filtered(void* d_temp_storage, std::size_t& temp_storage_bytes, const Call& call,
                          join_description description) {
  using Keys = typename Call::Keys;
  using Key = iterator_value_t<Keys>;
  using Hash = typename Call::Hash;
  using Equal = typename Call::Equal;
  using Agent = join_filter_agent<ActivePolicy, Keys, Hash, Equal>;
  constexpr bool has_numbers = !std::is_same_v<typename Call::Sink, NullType>;
  enum slot { filter_slot, keys_slot, numbers_slot, join_slot, slots };
  const auto probe_rows = static_cast<std::size_t>(call.probe.rows);
  const std::size_t words = join_bloom_filter::words_for(static_cast<std::size_t>(call.build.rows));

  auto sink = detail::selected_sink_of(call.sink);
  JoinSide<join_counted_keys_t<Keys>> selected_side;
  selected_side.rows = call.probe.rows;
  auto inner = call.with(detail::counted_side(call.build), selected_side, sink);
  // Selected rows have no null keys. Only the device knows their number, so neither a merge nor an array by key is
  // used.
  description.has_nulls = call.build.valid_mask != nullptr;
  description.may_merge = false;
  description.may_address = false;
  table_join<MaxPolicy, ActivePolicy, Index, Row, decltype(inner), false, join_methods<0>> join(
      inner, detail::choose_join_method(description));
  temporary_storage::layout<slots> layout;
  // The last word counts the selected rows.
  layout.template reserve<unsigned>(filter_slot, words + 1);
  layout.template reserve<Key>(keys_slot, probe_rows);
  layout.template reserve<unsigned>(numbers_slot, has_numbers ? probe_rows : 0);
  cudaError_t status = join.reserve_in(layout, join_slot);
  if (status != cudaSuccess) return status;
  if (d_temp_storage == nullptr) return detail::answer_size_query(layout, temp_storage_bytes);
  if (detail::refuses_storage(layout, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;

  const join_bloom_filter filter{layout.template get<unsigned>(filter_slot), static_cast<unsigned>(words - 1)};
  const join_selected_rows<Key> selected{layout.template get<Key>(keys_slot),
                                         has_numbers ? layout.template get<unsigned>(numbers_slot) : nullptr,
                                         filter.words + words};
  status = cudaMemsetAsync(filter.words, 0, (words + 1) * sizeof(*filter.words), call.stream);
  if (status != cudaSuccess) return status;
  const launch_configuration base = detail::base_join_launch("strata::DeviceHashJoin", call.device, call.stream);
  status = strata::launch(
      detail::join_launch(base, static_cast<unsigned long long>(call.build.rows) / Agent::threads + 1, Agent::threads),
      join_filter_insert_kernel<Keys, Hash, Equal>, call.build, call.options.hash, call.options.equal, filter);
  if (status != cudaSuccess) return status;
  status = strata::launch(detail::join_launch(base, probe_rows / Agent::tile_items + 1, Agent::threads),
                          join_filter_select_kernel<MaxPolicy, Keys, Hash, Equal>, call.probe, call.options.hash,
                          call.options.equal, filter, selected);
  if (status != cudaSuccess) return status;
  if constexpr (has_numbers) sink.numbers = selected.numbers;
  inner.probe.keys = {selected.keys, join_row_count::of(FutureCount<unsigned>(selected.count, probe_rows))};
  return join.run_in(layout, join_slot);
}

/// The columns are partitioned with the keys. With `takes_sample`, they are not if a sample finds few results.
template <class MaxPolicy, class ActivePolicy, class Index, class Row, class Call>
cudaError_t join_with_partitioned_columns(void* d_temp_storage, std::size_t& temp_storage_bytes, const Call& call,
                                          join_method method, bool takes_sample) {
  using Sink = typename Call::Sink;
  constexpr int join_slot = number_of_columns<Sink>;
  constexpr int sample_slot = join_slot + 1;
  constexpr std::size_t counters = 2 * join_match_sample::counters;
  using Layout = temporary_storage::layout<sample_slot + 1>;
  Layout layout;
  detail::for_each_column(call.sink, [&](const auto& column, int slot) {
    using Value = typename partitioned_column<std::decay_t<decltype(column)>>::value_type;
    const auto rows = detail::is_build_column(column) ? call.build.rows : call.probe.rows;
    layout.template reserve<Value>(slot, static_cast<std::size_t>(rows));
  });
  // Null pointers, for the size query.
  partitioned_output<Sink> output{call.sink, detail::map_columns(call.sink, Layout{}, 0)};
  const auto inner = call.with(call.build, call.probe, output);
  table_join<MaxPolicy, ActivePolicy, Index, Row, std::decay_t<decltype(inner)>, false, join_methods<0>> join(inner,
                                                                                                              method);
  const cudaError_t status = join.reserve_in(layout, join_slot);
  if (status != cudaSuccess) return status;
  layout.template reserve<unsigned>(sample_slot, takes_sample ? counters + 1 : 0);
  if (d_temp_storage == nullptr) return detail::answer_size_query(layout, temp_storage_bytes);
  if (detail::refuses_storage(layout, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
  output.by_record = detail::map_columns(call.sink, layout, 0);
  if (takes_sample) {
    unsigned* const counts = layout.template get<unsigned>(sample_slot);
    const auto build_rows = static_cast<std::uint64_t>(call.build.rows);
    output.sample = {counts, counts + counters, detail::probe_rows_of_few_results(build_rows),
                     join_match_sample::zero_bits_for(build_rows)};
  }
  return join.run_in(layout, join_slot);
}

/// A join in any order finds the partner of each probe row. Then the rows of the result are selected.
template <class MaxPolicy, class ActivePolicy, class Index, class Methods, class Call>
cudaError_t join_in_probe_order(void* d_temp_storage, std::size_t& temp_storage_bytes, const Call& call,
                                join_method method) {
  join_partner_sink sink{};
  auto any_order = call.with(call.build, call.probe, sink);
  any_order.kind = detail::has_pairs(call.kind) ? JoinKind::left : JoinKind::anti;
  any_order.capacity = max_join_capacity;
  table_join<MaxPolicy, ActivePolicy, unsigned, unsigned, decltype(any_order), false, typename Methods::of_tables> join(
      any_order, method);
  using Selection = join_probe_order_launches<MaxPolicy, ActivePolicy>;
  constexpr int join_slot = Selection::slots;
  constexpr int total_slot = join_slot + 1;
  Selection selection(static_cast<unsigned>(call.probe.rows));
  temporary_storage::layout<total_slot + 1> layout;
  selection.reserve(layout, 0);
  cudaError_t status = join.reserve_in(layout, join_slot);
  if (status != cudaSuccess) return status;
  layout.template reserve<unsigned long long>(total_slot, 1);
  if (d_temp_storage == nullptr) return detail::answer_size_query(layout, temp_storage_bytes);
  if (detail::refuses_storage(layout, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;

  sink = selection.map(layout, 0);
  status = selection.clear(call.kind, sink, call.stream);
  if (status != cudaSuccess) return status;
  any_order.total = layout.template get<unsigned long long>(total_slot);
  join.partners.sink = sink;
  status = join.run_in(layout, join_slot);
  if (status != cudaSuccess) return status;
  return selection.template run<Index>(
      join.partners, call.kind, detail::kernel_rows_of<unsigned>(call.probe), call.capacity, call.total,
      detail::base_join_launch("strata::DeviceHashJoin", call.device, call.stream), call.device, call.sink);
}

/// An inner or left join in the order of the probe rows, in which a probe row may have several partners. Partitions
/// find the partner of each probe row, or its list of partners, as in a left join. A table in global memory finds the
/// partners of the rows that partitions leave. Then the result is written in the order of the probe rows.
template <class MaxPolicy, class ActivePolicy, class Index, class Call>
class join_list_launches {
  using Keys = typename Call::Keys;
  using Hash = typename Call::Hash;
  using Equal = typename Call::Equal;
  using TableStorage = join_table_storage<MaxPolicy, ActivePolicy, Keys, unsigned, Hash, Equal, false>;
  using Partitioner =
      join_partition_launches<MaxPolicy, ActivePolicy, unsigned, Keys, join_list_sink, Hash, Equal, false>;
  using Table = typename TableStorage::Table;
  using Order = join_list_order_launches<MaxPolicy, ActivePolicy>;

  static constexpr int partition_slot = TableStorage::slots;
  static constexpr int order_slot = partition_slot + Partitioner::slots;
  static constexpr int elements_slot = order_slot + Order::slots;
  static constexpr int counts_slot = elements_slot + 1;
  static constexpr int begins_slot = counts_slot + 1;

 public:
  /// `call` is a join_call.
  explicit join_list_launches(const Call& call)
      : call_(call),
        as_left_(call),
        build_rows_(static_cast<std::size_t>(call.build.rows)),
        probe_rows_(static_cast<std::size_t>(call.probe.rows)),
        table_(static_cast<unsigned>(build_rows_), {/*counts=*/true, /*lists=*/false, /*slots_of_rows=*/true}),
        partitioner_(JoinKind::left, build_rows_, probe_rows_, call.options.strategy == JoinStrategy::radix_multi,
                     false),
        order_(static_cast<unsigned>(probe_rows_)) {
    as_left_.kind = JoinKind::left;
  }

  /// False if one table in global memory joins instead.
  bool are_used() const { return partitioner_.are_used(call_); }

  cudaError_t run(void* storage, std::size_t& bytes) {
    temporary_storage::layout<begins_slot + 1> layout;
    cudaError_t status = table_.reserve(layout, 0);
    if (status != cudaSuccess) return status;
    partitioner_.reserve(layout, partition_slot, build_rows_, probe_rows_);
    order_.reserve(layout, order_slot);
    layout.template reserve<join_list_element>(elements_slot, 3 * build_rows_);
    layout.template reserve<unsigned>(counts_slot, std::size_t{join_list_sort::digits} * sorting_blocks());
    layout.template reserve<unsigned>(
        begins_slot, TableStorage::number_of_slots(static_cast<unsigned>(build_rows_)) + std::size_t{1});
    if (storage == nullptr) return detail::answer_size_query(layout, bytes);
    if (detail::refuses_storage(layout, storage, bytes)) return cudaErrorInvalidValue;

    const launch_configuration base = detail::base_join_launch("strata::DeviceHashJoin", call_.device, call_.stream);
    join_list_sink sink{order_.map(layout, order_slot), layout.template get<join_list_element>(elements_slot)};
    status = order_.clear(call_.kind, sink, call_.stream);
    if (status != cudaSuccess) return status;
    const auto join = partitioner_.map(layout, partition_slot, as_left_);
    const join_partners partners = partitioner_.partners_of(join, layout, partition_slot, sink);
    static_cast<join_partner_sink&>(sink) = partners.sink;
    status = partitioner_.run(join, partners.runs, base, call_.device, sink);
    if (status == cudaSuccess) status = join_rest(layout, join, base, sink);
    if (status != cudaSuccess) return status;
    return order_.template run<Index>(partners, sink.lists, call_.kind, detail::kernel_rows_of<unsigned>(call_.probe),
                                      call_.capacity, call_.total, base, call_.device, call_.sink);
  }

 private:
  unsigned sorting_blocks() const {
    constexpr unsigned rows = ActivePolicy::table.sort_rows, most = ActivePolicy::table.max_sort_blocks;
    return build_rows_ / rows < most ? static_cast<unsigned>(build_rows_ / rows) + 1 : most;
  }

  template <class Layout, class Partitions>
  cudaError_t join_rest(const Layout& layout, const Partitions& join, launch_configuration base,
                        const join_list_sink& sink) {
    Table table = table_.map(layout, 0, call_.build, call_.options);
    table.begins = layout.template get<unsigned>(begins_slot);
    // The kernel reads `begins` if `lists` is not null, and does not read `lists`.
    table.lists = table.begins;
    table.list = {nullptr, join.is_overflowing, nullptr, join.plan.bits};
    auto probe = detail::join_probe_of<unsigned>(JoinKind::left, call_.probe, 0, nullptr);
    probe.list = table.list;
    // Elements of partitions come first.
    const join_list_sort sort{{sink.lists + build_rows_, sink.lists + 2 * build_rows_},
                              layout.template get<unsigned>(counts_slot),
                              sorting_blocks()};
    const std::size_t first_element = (1 + join_list_sort::passes(table.num_slots) % 2) * build_rows_;
    constexpr auto kernel = join_list_fallback_kernel<MaxPolicy, Table, Keys, Hash, Equal>;
    const cudaError_t status =
        detail::configure_join_fallback(base, call_.device, kernel, ActivePolicy::table, build_rows_ + probe_rows_);
    if (status != cudaSuccess) return status;
    return strata::launch(base, kernel, join, table, probe, sort, static_cast<unsigned>(first_element),
                          static_cast<const join_partner_sink&>(sink));
  }

  const Call& call_;
  Call as_left_;
  std::size_t build_rows_;
  std::size_t probe_rows_;
  TableStorage table_;
  Partitioner partitioner_;
  Order order_;
};

/// Joins in the order of the probe rows by join_list_launches. If `are_used` returns false, `by_table`, a table_join,
/// joins.
template <class MaxPolicy, class ActivePolicy, class Index, class Call, class TableJoin>
cudaError_t join_by_row_lists(void* d_temp_storage, std::size_t& temp_storage_bytes, const Call& call,
                              TableJoin by_table) {
  join_list_launches<MaxPolicy, ActivePolicy, Index, Call> by_lists(call);
  std::size_t list_bytes = 0;
  cudaError_t status = by_lists.run(nullptr, list_bytes);
  if (status != cudaSuccess) return status;
  // The storage of both is in one slot.
  temporary_storage::layout<1> layout;
  layout.template reserve<unsigned char>(0, list_bytes);
  status = by_table.reserve_in(layout, 0);
  if (status != cudaSuccess) return status;
  if (d_temp_storage == nullptr) return answer_size_query(layout, temp_storage_bytes);
  if (detail::refuses_storage(layout, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
  if (!by_lists.are_used()) return by_table.run_in(layout, 0);
  return by_lists.run(layout.template get<unsigned char>(0), list_bytes);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
