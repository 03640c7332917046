// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/look_back.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/output/agent_select_lists.cuh>
#include <strata/device/join/output/chunks.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/output/probe_order.cuh>

#include <cstddef>
#include <cstdint>

/// \file
/// Results in the order of the probe rows, of an inner or left join in which a probe row may have several: the
/// selection writes tiles of rows that have one each at most, and lists the others. A second kernel writes those in
/// output chunks.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class MaxPolicy, class Index, class Sink, class Rows>
__launch_bounds__(MaxPolicy::ActivePolicy::output.select_threads,
                  MaxPolicy::ActivePolicy::output.select_blocks_per_multiprocessor)
    STRATA_KERNEL void join_select_lists_kernel(join_partners partners, join_listed_rows listed, Rows rows,
                                                std::int64_t capacity, unsigned long long* total, warp_look_back order,
                                                join_tile_list tiles, Sink sink) {
  using Agent = AgentJoinSelectLists<typename MaxPolicy::ActivePolicy>;
  STRATA_SHARED(storage, typename Agent::TempStorage);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel();
  Agent(storage, reinterpret_cast<unsigned*>(shared), partners, listed.kind, number_of_items<unsigned>(rows), order,
        total)
      .template run<Index>(capacity, listed, tiles, sink);
}

// The only shape that was tried: H200, 2026-11-26, 1M x 10M u32 with 8 rows of each key 677 us.
template <class MaxPolicy, class Index, class Sink, class Rows>
__launch_bounds__(MaxPolicy::ActivePolicy::output.write_threads,
                  MaxPolicy::ActivePolicy::output.write_blocks_per_multiprocessor)
    STRATA_KERNEL void join_write_lists_kernel(join_listed_rows listed, Rows rows, std::int64_t capacity,
                                               join_tile_list tiles, Sink sink) {
  constexpr join_output_tuning tuning = MaxPolicy::ActivePolicy::output;
  using Agent = AgentJoinWriteLists<tuning.write_threads, tuning.partner_items>;
  STRATA_SHARED(storage, typename Agent::TempStorage);
  begin_join_kernel();
  listed.rows = number_of_items<unsigned>(rows);
  Agent agent(storage, listed, capacity);
  detail::write_join_chunks<tuning.chunk_rows, Index>(agent, tiles, 0, sink);
}

/// The launches of the selection and of what it lists, and their part of temporary storage.
template <class MaxPolicy, class ActivePolicy>
class join_list_order_launches : public join_probe_order_launches<MaxPolicy, ActivePolicy> {
  using Base = join_probe_order_launches<MaxPolicy, ActivePolicy>;
  using Base::order_;
  using Base::rows_;
  using Base::tuning;

 public:
  static constexpr int slots = Base::slots + 2;

  using Base::Base;

  template <class Layout>
  void reserve(Layout& storage, int first) const {
    Base::reserve(storage, first);
    storage.template reserve<unsigned long long>(first + listed_tiles, 3 * order_.tiles);
    storage.template reserve<unsigned long long>(first + groups, ceiling_divide(rows_, unsigned{warp_threads}));
  }

  template <class Layout>
  join_partner_sink map(const Layout& storage, int first) {
    auto* const tile_words = storage.template get<unsigned long long>(first + listed_tiles);
    group_results_ = storage.template get<unsigned long long>(first + groups);
    const join_partner_sink sink = Base::map(storage, first);
    tiles_ = {tile_words, tile_words + order_.tiles, tile_words + 2 * order_.tiles, order_.ticket + 1};
    return sink;
  }

  template <class Index, class Rows, class Sink>
  cudaError_t run(join_partners partners, const join_list_element* lists, JoinKind kind, const Rows& rows,
                  std::int64_t capacity, unsigned long long* total, const launch_configuration& base,
                  const device_properties& device, const Sink& sink) {
    launch_configuration configuration = this->cut_tiles(partners, base);
    const join_listed_rows listed{lists, partners.sink.by_row, group_results_, kind, rows_, partners.runs.tile_rows};
    constexpr auto kernel = join_select_lists_kernel<MaxPolicy, Index, Sink, Rows>;
    const cudaError_t status = detail::launch_join_kernel(configuration, device, kernel, partners, listed, rows,
                                                          capacity, total, order_, tiles_, sink);
    if (status != cudaSuccess || rows_ == 0 || capacity == 0) return status;
    const auto max_chunks = order_.tiles + static_cast<unsigned long long>(capacity) / tuning.chunk_rows;
    const unsigned long long resident = static_cast<unsigned long long>(device.multiprocessors) *
                                        static_cast<unsigned>(tuning.write_blocks_per_multiprocessor);
    return strata::launch(join_launch(base, detail::least(max_chunks, resident), tuning.write_threads),
                          join_write_lists_kernel<MaxPolicy, Index, Sink, Rows>, listed, rows, capacity, tiles_, sink);
  }

 private:
  enum slot { listed_tiles = Base::slots, groups };

  join_tile_list tiles_{};
  unsigned long long* group_results_ = nullptr;
};

STRATA_ARCH_DETAIL_NAMESPACE_END
