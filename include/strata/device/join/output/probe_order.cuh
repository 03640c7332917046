// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/look_back.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/output/agent_select.cuh>
#include <strata/device/join/output/chunks.cuh>
#include <strata/device/join/output/partners.cuh>

#include <cstddef>
#include <cstdint>

/// \file
/// Results in the order of the probe rows, of a join that has at most one for each: a join in any order writes the
/// partner of each probe row (`partners.cuh`), then one kernel selects the probe rows that have a result.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class MaxPolicy, class Index, class Sink, class Rows>
__launch_bounds__(MaxPolicy::ActivePolicy::output.select_threads,
                  MaxPolicy::ActivePolicy::output.select_blocks_per_multiprocessor)
    STRATA_KERNEL void join_select_kernel(join_partners partners, JoinKind kind, Rows rows, std::int64_t capacity,
                                          unsigned long long* total, warp_look_back order, Sink sink) {
  using Agent = AgentJoinSelect<MaxPolicy::ActivePolicy::output.select_threads>;
  STRATA_SHARED(storage, typename Agent::TempStorage);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel();
  Agent(storage, reinterpret_cast<unsigned*>(shared), partners, kind, number_of_items<unsigned>(rows), order, total)
      .template run<Index>(static_cast<unsigned long long>(capacity), sink);
}

/// The launches of the selection, and its part of temporary storage.
template <class MaxPolicy, class ActivePolicy>
class join_probe_order_launches {
 protected:
  static constexpr join_output_tuning tuning = ActivePolicy::output;

 public:
  static constexpr int slots = 3;

  explicit join_probe_order_launches(unsigned rows) : rows_(rows) { order_.tiles = tiles_of(tuning.select_rows); }

  template <class Layout>
  void reserve(Layout& storage, int first) const {
    storage.template reserve<unsigned>(first + by_row, rows_);
    storage.template reserve<unsigned long long>(first + words,
                                                 counters + ceiling_divide<std::size_t>(order_.tiles, 2));
    storage.template reserve<unsigned long long>(first + sums, 2 * order_.tiles);
  }

  /// The output of the join.
  template <class Layout>
  join_partner_sink map(const Layout& storage, int first) {
    order_.ticket = storage.template get<unsigned long long>(first + words);
    order_.states = reinterpret_cast<unsigned*>(order_.ticket + counters);
    order_.sums = storage.template get<unsigned long long>(first + sums);
    order_.ends = order_.sums + order_.tiles;
    return {storage.template get<unsigned>(first + by_row), nullptr};
  }

  /// To be called before the join.
  cudaError_t clear(JoinKind kind, const join_partner_sink& sink, cudaStream_t stream) const {
    const cudaError_t status = cudaMemsetAsync(
        order_.ticket, 0, counters * sizeof(*order_.ticket) + order_.tiles * sizeof(*order_.states), stream);
    if (status != cudaSuccess || has_pairs(kind) || rows_ == 0) return status;
    return cudaMemsetAsync(sink.by_row, 0, rows_ * sizeof(*sink.by_row), stream);
  }

  template <class Index, class Rows, class Sink>
  cudaError_t run(join_partners partners, JoinKind kind, const Rows& rows, std::int64_t capacity,
                  unsigned long long* total, const launch_configuration& base, const device_properties& device,
                  const Sink& sink) {
    const launch_configuration configuration = cut_tiles(partners, base);
    constexpr auto kernel = join_select_kernel<MaxPolicy, Index, Sink, Rows>;
    return detail::launch_join_kernel(configuration, device, kernel, partners, kind, rows, capacity, total, order_,
                                      sink);
  }

 protected:
  // The launch of a selection.
  launch_configuration cut_tiles(join_partners& partners, const launch_configuration& base) {
    if (partners.sink.by_position == nullptr) partners.runs.tile_rows = tuning.select_rows;
    order_.tiles = tiles_of(partners.runs.tile_rows);
    launch_configuration configuration = join_launch(base, order_.tiles, tuning.select_threads);
    configuration.dynamic_shared_bytes = AgentJoinSelect<tuning.select_threads>::shared_bytes(partners.runs);
    return configuration;
  }

  enum slot { by_row, words, sums };
  // The ticket, and the number of listed tiles (`list_order.cuh`).
  static constexpr std::size_t counters = 2;

  // One at least, which writes the total.
  unsigned tiles_of(unsigned tile_rows) const { return rows_ > 0 ? ceiling_divide(rows_, tile_rows) : 1; }

  unsigned rows_;
  warp_look_back order_{};
};

/// Carries out `call`, a DispatchHashJoin: `AnyOrder`, the same with join_partner_sink, finds the partners.
template <class AnyOrder, class ActivePolicy, class Index, class Call>
cudaError_t join_in_probe_order(const Call& call) {
  join_partner_sink partner_sink{};
  std::size_t join_bytes = 0;
  AnyOrder join{nullptr,     join_bytes,        has_pairs(call.kind) ? JoinKind::left : JoinKind::anti,
                call.build,  call.probe,        partner_sink,
                nullptr,     max_join_capacity, call.options,
                call.stream, call.device};
  cudaError_t status = join.template Invoke<ActivePolicy>();
  if (status != cudaSuccess) return status;
  using Selection = join_probe_order_launches<typename Call::MaxPolicy, ActivePolicy>;
  constexpr int join_slot = Selection::slots;
  constexpr int total_slot = join_slot + 1;
  Selection selection(static_cast<unsigned>(call.probe.rows));
  temporary_storage::layout<total_slot + 1> layout;
  selection.reserve(layout, 0);
  layout.template reserve<unsigned char>(join_slot, join_bytes);
  layout.template reserve<unsigned long long>(total_slot, 1);
  if (call.d_temp_storage == nullptr) return answer_size_query(layout, call.temp_storage_bytes);
  if (detail::refuses_storage(layout, call.d_temp_storage, call.temp_storage_bytes)) return cudaErrorInvalidValue;

  partner_sink = selection.map(layout, 0);
  status = selection.clear(call.kind, partner_sink, call.stream);
  if (status != cudaSuccess) return status;
  join.d_temp_storage = layout.template get<unsigned char>(join_slot);
  join.total = layout.template get<unsigned long long>(total_slot);
  join.partners.sink = partner_sink;
  status = join.template Invoke<ActivePolicy>();
  if (status != cudaSuccess) return status;
  return selection.template run<Index>(
      join.partners, call.kind, detail::kernel_rows_of<unsigned>(call.probe), call.capacity, call.total,
      base_join_launch("strata::DeviceHashJoin", call.device, call.stream), call.device, call.sink);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
