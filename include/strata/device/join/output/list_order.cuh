// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/look_back.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/output/chunks.cuh>
#include <strata/device/join/output/offsets.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/output/probe_order.cuh>
#include <strata/warp/specializations/warp_sum_butterfly.cuh>
#include <strata/warp/warp_scan.cuh>

#include <cstddef>
#include <cstdint>

/// \file
/// Inner and left joins whose results are in the order of the probe rows, if a probe row may have several results. The
/// selection writes the tiles in which no row has more than one, and lists the other tiles. A second kernel writes
/// these in output chunks.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Data of tiles with lists of partners: partners by row, and the number of results of each group of 32 rows.
struct join_listed_rows {
  const join_list_element* lists = nullptr;
  unsigned* by_row = nullptr;
  unsigned long long* group_results = nullptr;
  JoinKind kind = JoinKind::inner;
  unsigned rows = 0;
  unsigned tile_rows = 0;

  STRATA_D unsigned results_of(unsigned partner) const {
    return detail::number_of_results(partner, lists, kind == JoinKind::left);
  }
};

/// AgentJoinSelect for probe rows that may have several partners. In a tile with lists, it writes the partners by row,
/// counts the results, and lists the tile for AgentJoinWriteLists. `Tuning` is the policy.
template <class Tuning>
class AgentJoinSelectLists : AgentJoinSelect<Tuning::output.select_threads> {
  using Base = AgentJoinSelect<Tuning::output.select_threads>;
  using Base::of_tile_;
  using Base::offsets_;
  using Base::threads;
  using typename Base::Count;

 public:
  using Base::Base;
  using Base::shared_bytes;
  using typename Base::TempStorage;

  template <class Index, class Sink>
  STRATA_D void run(std::int64_t capacity, const join_listed_rows& listed, const join_tile_list& tiles,
                    const Sink& sink) {
    const Count tile = offsets_.take_ticket();
    bool has_list = false;
    const Count first = tile * listed.tile_rows;
    const unsigned here = this->rows_from(first);
    this->load(tile, first, here, [&](unsigned partner) { has_list |= is_join_list(partner); });
    if (__syncthreads_or(has_list ? 1 : 0) == 0) {
      this->template select<Index>(tile, first, here, static_cast<Count>(capacity), sink);
      return;
    }
    Count sum = 0;
    // A thread has several loads in flight.
    constexpr unsigned ahead = Tuning::output.partner_items;
    for (unsigned base = threadIdx.x; base - platform::lane_id() < here; base += ahead * threads) {
      unsigned counts[ahead];
      STRATA_UNROLL
      for (unsigned k = 0; k < ahead; ++k) {
        const unsigned i = base + k * threads;
        counts[k] = i < here ? listed.results_of(of_tile_[i]) : 0;
      }
      STRATA_UNROLL
      for (unsigned k = 0; k < ahead; ++k) {
        const unsigned i = base + k * threads;
        if (i - platform::lane_id() >= here) continue;
        if (i < here) listed.by_row[first + i] = of_tile_[i];
        const Count results = detail::sum_of_warp(Count{counts[k]});
        if (platform::lane_id() == 0) listed.group_results[(first + i) / warp_threads] = results;
        sum += results;
      }
    }
    Count before = 0;
    const Count all = offsets_.sum_of_block(sum, before);
    const Count offset = offsets_.reserve(tile, all);
    if (threadIdx.x == 0) tiles.add<Tuning::output.chunk_rows>(tile, offset, all, capacity);
  }
};

/// Writes results of listed tiles for `write_join_chunks`. The warps of a block share the block's results of a tile
/// evenly, even if all are of one row. A warp goes through groups of 32 rows, in which each lane has a row.
template <int BlockThreads, int PartnerItems>
class AgentJoinWriteLists {
  using Count = unsigned long long;
  using Scan = BlockScan<Count, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  using GroupScan = WarpScan<Count>;
  static constexpr unsigned threads = BlockThreads;
  static constexpr unsigned warps = threads / warp_threads;
  static constexpr unsigned none = no_join_row<unsigned>;

 public:
  /// A tile of the partition pass has fewer than 2^16 rows, and so has a tile of `select_rows` rows.
  static constexpr unsigned max_groups = (1u << 16) / warp_threads;

  struct TempStorage {
    typename Scan::TempStorage scan;
    Count begins[max_groups + 1];
  };

  STRATA_D AgentJoinWriteLists(TempStorage& storage, const join_listed_rows& listed, std::int64_t capacity)
      : storage_(storage), listed_(listed), capacity_(static_cast<Count>(capacity)) {}

  STRATA_D Count prepare(Count tile) {
    const Count first = tile * listed_.tile_rows;
    const Count left = listed_.rows - first;
    groups_ = ceiling_divide(left < listed_.tile_rows ? static_cast<unsigned>(left) : listed_.tile_rows,
                             unsigned{warp_threads});
    Count all = 0;
    for (unsigned base = 0; base < groups_; base += threads) {
      const unsigned group = base + threadIdx.x;
      const Count results = group < groups_ ? listed_.group_results[first / warp_threads + group] : 0;
      Count begin = 0;
      Count sum = 0;
      Scan(storage_.scan).ExclusiveSum(results, begin, sum);
      if (group < groups_) storage_.begins[group] = all + begin;
      all += sum;
      __syncthreads();
    }
    if (threadIdx.x == 0) storage_.begins[groups_] = all;
    __syncthreads();
    return all;
  }

  template <class Index, class Sink>
  STRATA_D void write(Count tile, Count begin, Count first, Count last, const Sink& sink) const {
    const Count limit = begin < capacity_ ? capacity_ - begin : 0;
    if (limit < last) last = limit;
    if (first >= last) return;
    const Count each = ceiling_divide(last - first, Count{threads}) * warp_threads;
    Count at = first + threadIdx.x / warp_threads * each;
    const Count end = detail::least(at + each, last);
    if (at >= end) return;
    unsigned group = group_of(at);
    unsigned partner = partner_in(tile, group);
    for (; at < end; ++group) {
      const Count group_end = storage_.begins[group + 1];
      const Count next = detail::least(group_end, end);
      // In flight while this group is written.
      const unsigned next_partner = next < end ? partner_in(tile, group + 1) : none;
      if (at < next) write_group<Index>(tile, group, partner, begin, at, next, sink);
      at = next;
      partner = next_partner;
    }
  }

 private:
  // The last group that begins at or before a result. If several groups begin there, all but the last have no results.
  STRATA_D unsigned group_of(Count at) const {
    unsigned group = 0;
    for (unsigned end = groups_; end - group > 1;) {
      const unsigned middle = (group + end) / 2;
      if (storage_.begins[middle] <= at) {
        group = middle;
      } else {
        end = middle;
      }
    }
    return group;
  }

  STRATA_D Count first_row_of(Count tile, unsigned group) const {
    return tile * listed_.tile_rows + group * warp_threads;
  }
  STRATA_D unsigned partner_in(Count tile, unsigned group) const {
    const Count row = first_row_of(tile, group) + platform::lane_id();
    return row < listed_.rows ? listed_.by_row[row] : none;
  }

  // Writes results [first, last) of the tile, which are of one group. A warp calls this.
  template <class Index, class Sink>
  STRATA_D void write_group(Count tile, unsigned group, unsigned partner, Count tile_begin, Count first, Count last,
                            const Sink& sink) const {
    const Count first_row = first_row_of(tile, group);
    const Count results = first_row + platform::lane_id() < listed_.rows ? listed_.results_of(partner) : 0;
    typename GroupScan::TempStorage unused;
    Count begin = 0;
    GroupScan(unused).ExclusiveSum(results, begin);
    begin += storage_.begins[group];
    // The number of results that are written at a time, so that 32 bits can number them.
    constexpr Count some = 1u << 30;
    for (; first < last; first += some) {
      const auto number = static_cast<unsigned>(detail::least(last - first, some));
      const unsigned in_some = begin <= first           ? 0
                               : begin - first < number ? static_cast<unsigned>(begin - first)
                                                        : number;
      // Modulo 2^32, as the rank below.
      const auto skipped = static_cast<unsigned>(first - begin);
      constexpr unsigned ahead = PartnerItems;
      for (unsigned base = 0; base < number; base += ahead * warp_threads) {
        unsigned found[ahead];
        int owners[ahead];
        STRATA_UNROLL
        for (unsigned k = 0; k < ahead; ++k) {
          if (base + k * warp_threads >= number) continue;
          const unsigned at = base + k * warp_threads + platform::lane_id();
          owners[k] = static_cast<int>(join_output_offsets<BlockThreads>::owner_of(at, in_some));
          const unsigned rank = at + __shfl_sync(full_warp_mask, skipped, owners[k]);
          found[k] = __shfl_sync(full_warp_mask, partner, owners[k]);
          if (at < number && detail::is_join_list(found[k]))
            found[k] = listed_.lists[found[k] - join_list_bit + rank].row;
        }
        STRATA_UNROLL
        for (unsigned k = 0; k < ahead; ++k) {
          const unsigned at = base + k * warp_threads + platform::lane_id();
          if (at >= number) continue;
          sink(static_cast<std::int64_t>(tile_begin + first + at),
               found[k] == none ? no_row<Index> : static_cast<Index>(found[k]),
               static_cast<Index>(first_row + static_cast<unsigned>(owners[k])));
        }
      }
    }
  }

  TempStorage& storage_;
  const join_listed_rows& listed_;
  Count capacity_;
  unsigned groups_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END

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
  Agent(storage, reinterpret_cast<unsigned*>(shared), partners, listed.kind, detail::number_of_items<unsigned>(rows),
        order, total)
      .template run<Index>(capacity, listed, tiles, sink);
}

// The only shape that was tried: H200, 2026-11-26, 1M x 10M u32 with 8 rows of each key take 677 us.
template <class MaxPolicy, class Index, class Sink, class Rows>
__launch_bounds__(MaxPolicy::ActivePolicy::output.write_threads,
                  MaxPolicy::ActivePolicy::output.write_blocks_per_multiprocessor)
    STRATA_KERNEL void join_write_lists_kernel(join_listed_rows listed, Rows rows, std::int64_t capacity,
                                               join_tile_list tiles, Sink sink) {
  constexpr join_output_tuning tuning = MaxPolicy::ActivePolicy::output;
  using Agent = AgentJoinWriteLists<tuning.write_threads, tuning.partner_items>;
  STRATA_SHARED(storage, typename Agent::TempStorage);
  begin_join_kernel();
  listed.rows = detail::number_of_items<unsigned>(rows);
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
    storage.template reserve<unsigned long long>(first + groups, detail::ceiling_divide(rows_, unsigned{warp_threads}));
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
    join_listed_rows listed;
    listed.lists = lists;
    listed.by_row = partners.sink.by_row;
    listed.group_results = group_results_;
    listed.kind = kind;
    listed.rows = rows_;
    listed.tile_rows = partners.runs.tile_rows;
    constexpr auto kernel = join_select_lists_kernel<MaxPolicy, Index, Sink, Rows>;
    const cudaError_t status = detail::launch_join_kernel(configuration, device, kernel, partners, listed, rows,
                                                          capacity, total, order_, tiles_, sink);
    if (status != cudaSuccess || rows_ == 0 || capacity == 0) return status;
    const auto max_chunks = order_.tiles + static_cast<unsigned long long>(capacity) / tuning.chunk_rows;
    const unsigned long long resident = static_cast<unsigned long long>(device.multiprocessors) *
                                        static_cast<unsigned>(tuning.write_blocks_per_multiprocessor);
    return strata::launch(detail::join_launch(base, detail::least(max_chunks, resident), tuning.write_threads),
                          join_write_lists_kernel<MaxPolicy, Index, Sink, Rows>, listed, rows, capacity, tiles_, sink);
  }

 private:
  enum slot { listed_tiles = Base::slots, groups };

  join_tile_list tiles_{};
  unsigned long long* group_results_ = nullptr;
};

STRATA_ARCH_DETAIL_NAMESPACE_END
