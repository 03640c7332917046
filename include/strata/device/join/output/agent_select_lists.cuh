// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/output/agent_select.cuh>
#include <strata/device/join/output/chunks.cuh>
#include <strata/device/join/output/offsets.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/warp/specializations/warp_sum_butterfly.cuh>
#include <strata/warp/warp_scan.cuh>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What is kept of tiles with lists of partners: partners by row, and the number of results of each group of 32 rows.
struct join_listed_rows {
  const join_list_element* lists;
  unsigned* by_row;
  unsigned long long* group_results;
  JoinKind kind;
  unsigned rows;
  unsigned tile_rows;

  STRATA_D unsigned results_of(unsigned partner) const {
    return detail::number_of_results(partner, lists, kind == JoinKind::left);
  }
};

/// The same as AgentJoinSelect where probe rows may have several partners. Of a tile with lists, it only counts the
/// results, and lists the tile for AgentJoinWriteLists. `Tuning` is the policy.
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

/// Writes results of listed tiles for `write_join_chunks`. A result belongs to a group of 32 rows, and there to a lane:
/// all warps share the results of a row, however many it has.
template <int BlockThreads, int PartnerItems>
class AgentJoinWriteLists {
  using Count = unsigned long long;
  using Scan = BlockScan<Count, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  using GroupScan = WarpScan<Count>;
  static constexpr unsigned threads = BlockThreads;
  static constexpr unsigned warps = threads / warp_threads;
  static constexpr unsigned none = no_join_row<unsigned>;

 public:
  /// A tile of the partition pass has fewer than 2^16 rows.
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

  // By a warp: results [first, last) of the tile, which are of one group.
  template <class Index, class Sink>
  STRATA_D void write_group(Count tile, unsigned group, unsigned partner, Count tile_begin, Count first, Count last,
                            const Sink& sink) const {
    const Count first_row = first_row_of(tile, group);
    const Count results = first_row + platform::lane_id() < listed_.rows ? listed_.results_of(partner) : 0;
    typename GroupScan::TempStorage unused;
    Count begin = 0;
    GroupScan(unused).ExclusiveSum(results, begin);
    begin += storage_.begins[group];
    // So many results at a time are numbered by 32 bits.
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
          if (at < number && is_join_list(found[k])) found[k] = listed_.lists[found[k] - join_list_bit + rank].row;
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
