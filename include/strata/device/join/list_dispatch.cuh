// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/method.hpp>
#include <strata/device/join/common/row_count.hpp>
#include <strata/device/join/common/strategy.hpp>
#include <strata/device/join/fallback/dispatch.cuh>
#include <strata/device/join/fallback/kernels.cuh>
#include <strata/device/join/global_table/table_storage.cuh>
#include <strata/device/join/output/list_order.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/partitioned/dispatch.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// An inner or left join in the order of the probe rows, in which a probe row may have several partners. Partitions
/// find the partner of each probe row, or its list of partners, as in a left join. What they leave, a table in global
/// memory finds. Then the result is written in the order of the probe rows.
template <class MaxPolicy, class ActivePolicy, class Index, class Keys, class Hash, class Equal>
class join_list_launches {
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
  join_list_launches(std::size_t build_rows, std::size_t probe_rows, bool two_passes)
      : build_rows_(build_rows),
        probe_rows_(probe_rows),
        table_(static_cast<unsigned>(build_rows), {/*counts=*/true, /*lists=*/false, /*slots_of_rows=*/true}),
        partitioner_(JoinKind::left, build_rows, probe_rows, two_passes, false),
        order_(static_cast<unsigned>(probe_rows)) {}

  const Partitioner& partitioner() const { return partitioner_; }

  /// Carries out `call`, a DispatchHashJoin, in `bytes` bytes of `storage`, or answers a size query.
  template <class Call>
  cudaError_t run(void* storage, std::size_t& bytes, const Call& call) {
    temporary_storage::layout<begins_slot + 1> layout;
    cudaError_t status = table_.reserve(layout, 0);
    if (status != cudaSuccess) return status;
    partitioner_.reserve(layout, partition_slot, build_rows_, probe_rows_);
    order_.reserve(layout, order_slot);
    layout.template reserve<join_list_element>(elements_slot, 3 * build_rows_);
    layout.template reserve<unsigned>(counts_slot, std::size_t{join_list_sort::digits} * sorting_blocks());
    layout.template reserve<unsigned>(
        begins_slot, TableStorage::number_of_slots(static_cast<unsigned>(build_rows_)) + std::size_t{1});
    if (storage == nullptr) return answer_size_query(layout, bytes);
    if (detail::refuses_storage(layout, storage, bytes)) return cudaErrorInvalidValue;

    const launch_configuration base = base_join_launch("strata::DeviceHashJoin", call.device, call.stream);
    join_list_sink sink{order_.map(layout, order_slot), layout.template get<join_list_element>(elements_slot)};
    status = order_.clear(call.kind, sink, call.stream);
    if (status != cudaSuccess) return status;
    const auto join = partitioner_.map(
        layout, partition_slot, static_cast<std::size_t>(call.device.shared_bytes_of_block),
        Partitioner::unmapped(JoinKind::left, {call.build.keys, call.build.valid_mask, rows_of_build()},
                              {call.probe.keys, call.probe.valid_mask, static_cast<unsigned>(probe_rows_)}, call.total,
                              call.capacity, false, call.options));
    const join_partners partners = partitioner_.partners_of(join, layout, partition_slot, sink);
    static_cast<join_partner_sink&>(sink) = partners.sink;
    status = partitioner_.run(join, partners.runs, base, call.device, sink);
    if (status == cudaSuccess) status = join_rest(layout, call, join, base, sink);
    if (status != cudaSuccess) return status;
    return order_.template run<Index>(partners, sink.lists, call.kind, detail::kernel_rows_of<unsigned>(call.probe),
                                      call.capacity, call.total, base, call.device, call.sink);
  }

 private:
  unsigned rows_of_build() const { return static_cast<unsigned>(build_rows_); }

  unsigned sorting_blocks() const {
    constexpr unsigned rows = ActivePolicy::table.sort_rows, most = ActivePolicy::table.max_sort_blocks;
    return build_rows_ / rows < most ? static_cast<unsigned>(build_rows_ / rows) + 1 : most;
  }

  template <class Layout, class Call, class Partitions>
  cudaError_t join_rest(const Layout& layout, const Call& call, const Partitions& join, launch_configuration base,
                        const join_list_sink& sink) {
    Table table = table_.map(layout, 0, call.options.hash, call.options.equal);
    table.keys = call.build.keys;
    table.valid = call.build.valid_mask;
    table.rows = rows_of_build();
    table.nulls_equal = call.options.nulls_equal;
    table.begins = layout.template get<unsigned>(begins_slot);
    // The kernel reads `begins` if `lists` is not null, and does not read `lists`.
    table.lists = table.begins;
    table.list = {nullptr, join.is_overflowing, nullptr, join.plan.bits};
    const join_probe<Keys, unsigned> probe{
        JoinKind::left, call.probe.keys, call.probe.valid_mask, static_cast<unsigned>(probe_rows_), table.list, 0, 0, 0,
        nullptr};
    // Elements of partitions come first.
    const join_list_sort sort{{sink.lists + build_rows_, sink.lists + 2 * build_rows_},
                              layout.template get<unsigned>(counts_slot),
                              sorting_blocks()};
    const std::size_t first_element = (1 + join_list_sort::passes(table.num_slots) % 2) * build_rows_;
    constexpr auto kernel = join_list_fallback_kernel<MaxPolicy, Table, Keys, Hash, Equal>;
    const cudaError_t status =
        detail::configure_join_fallback(base, call.device, kernel, ActivePolicy::table, build_rows_ + probe_rows_);
    if (status != cudaSuccess) return status;
    return strata::launch(base, kernel, join, table, probe, sort, static_cast<unsigned>(first_element),
                          static_cast<const join_partner_sink&>(sink));
  }

  std::size_t build_rows_;
  std::size_t probe_rows_;
  TableStorage table_;
  Partitioner partitioner_;
  Order order_;
};

/// Carries out `call`, a DispatchHashJoin, by `Lists`. A device may have too little shared memory for partitions: then
/// one table in global memory joins.
template <class Lists, class ActivePolicy, class Call>
cudaError_t join_by_row_lists(const Call& call) {
  Lists by_lists(static_cast<std::size_t>(call.build.rows), static_cast<std::size_t>(call.probe.rows),
                 call.options.strategy == JoinStrategy::radix_multi);
  std::size_t list_bytes = 0;
  cudaError_t status = by_lists.run(nullptr, list_bytes, call);
  if (status != cudaSuccess) return status;
  std::size_t table_bytes = 0;
  Call by_table{nullptr,    table_bytes,   call.kind,    call.build,  call.probe, call.sink,
                call.total, call.capacity, call.options, call.stream, call.device};
  status = by_table.template join_by_tables<ActivePolicy>(join_method::global_table);
  if (status != cudaSuccess) return status;
  temporary_storage::layout<1> layout;
  layout.template reserve<unsigned char>(0, detail::most(list_bytes, table_bytes));
  if (call.d_temp_storage == nullptr) return answer_size_query(layout, call.temp_storage_bytes);
  if (detail::refuses_storage(layout, call.d_temp_storage, call.temp_storage_bytes)) return cudaErrorInvalidValue;
  void* const storage = layout.template get<unsigned char>(0);
  if (call.template may_have_partitions<ActivePolicy>(by_lists.partitioner())) {
    return by_lists.run(storage, list_bytes, call);
  }
  by_table.d_temp_storage = storage;
  return by_table.template join_by_tables<ActivePolicy>(join_method::global_table);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
