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
#include <strata/device/join/common/rows.cuh>
#include <strata/device/join/output/offsets.cuh>
#include <strata/device/join/output/partners.cuh>

#include <cstddef>
#include <cstdint>

/// \file
/// Joins that have at most one result for each probe row, in the order of the probe rows. A join in any order writes
/// the partner of each probe row (`partners.cuh`). Then one kernel selects the probe rows that have a result.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Selects the rows of a tile. All member functions are called by the whole block.
template <int BlockThreads>
class AgentJoinSelect {
 protected:
  static constexpr unsigned threads = BlockThreads;
  static constexpr unsigned warps = threads / warp_threads;
  static constexpr unsigned none = no_join_row<unsigned>;
  using Count = unsigned long long;
  using Offsets = join_output_offsets<BlockThreads>;
  using TileOffsets = join_tile_offsets<BlockThreads>;
  using Scan = BlockScan<unsigned, BlockThreads, BLOCK_SCAN_WARP_SCANS>;

 public:
  struct TempStorage {
    typename TileOffsets::TempStorage offsets;
    typename Scan::TempStorage scan;
  };

  /// Bytes of dynamic shared memory.
  static std::size_t shared_bytes(const join_tile_runs& runs) {
    return (std::size_t{runs.tile_rows} + 2 * words_of(runs.tile_rows) + 2 * std::size_t{runs.partitions}) *
           sizeof(unsigned);
  }

  STRATA_D AgentJoinSelect(TempStorage& storage, unsigned* shared, const join_partners& partners, JoinKind kind,
                           unsigned rows, const warp_look_back& order, Count* total)
      : storage_(storage),
        offsets_(storage.offsets, order, total),
        of_tile_(shared),
        begin_bits_(of_tile_ + partners.runs.tile_rows),
        run_at_(begin_bits_ + words_of(partners.runs.tile_rows)),
        deltas_(run_at_ + words_of(partners.runs.tile_rows)),
        are_by_row_(deltas_ + partners.runs.partitions),
        partners_(partners),
        kind_(kind),
        rows_(rows) {}

  template <class Index, class Sink>
  STRATA_D void run(Count capacity, const Sink& sink) {
    const Count tile = offsets_.take_ticket();
    const Count first = tile * partners_.runs.tile_rows;
    const unsigned here = rows_from(first);
    load(tile, first, here, [](unsigned) {});
    __syncthreads();
    select<Index>(tile, first, here, capacity, sink);
  }

 protected:
  STRATA_HD static constexpr unsigned words_of(unsigned rows) { return rows / warp_threads; }

  // The number of rows of the tile whose first row is `first`.
  STRATA_D unsigned rows_from(Count first) const {
    const unsigned left = first < rows_ ? rows_ - static_cast<unsigned>(first) : 0;
    return detail::least(left, partners_.runs.tile_rows);
  }

  // Loads the partners of `here` rows of a tile, and calls `see` with each.
  template <class See>
  STRATA_D void load(Count tile, Count first, unsigned here, const See& see) {
    if (partners_.sink.by_position == nullptr) {
      STRATA_UNROLL_N(4)
      for (unsigned i = threadIdx.x; i < here; i += threads) {
        of_tile_[i] = partners_.sink.by_row[first + i];
        see(of_tile_[i]);
      }
    } else if (here > 0) {
      gather(tile, static_cast<unsigned>(first), here, see);
    }
  }

  // Writes the results of a tile whose rows have one partner at most.
  template <class Index, class Sink>
  STRATA_D void select(Count tile, Count first, unsigned here, Count capacity, const Sink& sink) {
    // A warp has neighbouring rows.
    const unsigned each = ceiling_divide(words_of(partners_.runs.tile_rows), warps) * warp_threads;
    const unsigned begin = threadIdx.x / warp_threads * each + platform::lane_id();
    const unsigned end = begin + each;
    unsigned sum = 0;
    STRATA_UNROLL_N(4)
    for (unsigned i = begin; i < end; i += warp_threads) {
      Offsets::scan_flag(i < here && is_selected(of_tile_[i]), sum);
    }
    Count before = 0;
    const Count all = offsets_.sum_of_block(sum, before);
    const Count offset = offsets_.reserve_and_broadcast(tile, all) + before;
    sum = 0;
    STRATA_UNROLL_N(4)
    for (unsigned i = begin; i < end; i += warp_threads) {
      const unsigned partner = i < here ? of_tile_[i] : none;
      const bool is_mine = i < here && is_selected(partner);
      const Count position = offset + Offsets::scan_flag(is_mine, sum);
      if (!is_mine || position >= capacity) continue;
      const bool has_build_row = has_pairs(kind_) && partner != none;
      sink(static_cast<std::int64_t>(position), has_build_row ? static_cast<Index>(partner) : no_row<Index>,
           static_cast<Index>(first + i));
    }
  }

  STRATA_D bool is_selected(unsigned partner) const {
    if (kind_ == JoinKind::left) return true;
    return (partner != none) == (kind_ != JoinKind::anti);
  }

  // The rows of a tile in one partition are contiguous there: they form a run. The rows of all runs are numbered, one
  // run after another. Row i has position `deltas_[run] + i`. `run_at_[w]` is the run of row 32 w. `begin_bits_` has a
  // bit set for each row with which a run begins, except the rows 32 w.
  template <class See>
  STRATA_D void gather(Count tile, unsigned first_row, unsigned rows, const See& see) {
    const join_tile_runs& runs = partners_.runs;
    for (unsigned w = threadIdx.x; w < words_of(runs.tile_rows); w += threads) begin_bits_[w] = 0;
    bool any_is_by_row = false;
    unsigned number = 0;
    for (unsigned base = 0; base < runs.partitions; base += threads) {
      const unsigned p = base + threadIdx.x;
      const Count at = tile * runs.partitions + p;
      const unsigned count = p < runs.partitions ? runs.counts[at] : 0;
      // Rows in the lower half, runs that are not empty in the upper one.
      unsigned before = 0;
      unsigned all = 0;
      __syncthreads();
      Scan(storage_.scan).ExclusiveSum(count != 0 ? count | 1u << 16 : 0u, before, all);
      before += number;
      number += all;
      if (count == 0) continue;
      const unsigned run = before >> 16;
      const unsigned begin = before & 0xffffu;
      const bool is_by_row = partners_.is_overflowing[p] != 0;
      any_is_by_row |= is_by_row;
      deltas_[run] = runs.begins[at] - begin;
      are_by_row_[run] = is_by_row ? 1 : 0;
      if (begin % warp_threads != 0) atomicOr(begin_bits_ + begin / warp_threads, 1u << (begin % warp_threads));
      for (unsigned w = (begin + warp_threads - 1) / warp_threads; w * warp_threads < begin + count; ++w) {
        run_at_[w] = run;
      }
    }
    any_is_by_row = __syncthreads_or(any_is_by_row ? 1 : 0) != 0;
    const unsigned up_to_lane = ~0u >> (warp_threads - 1 - platform::lane_id());
    STRATA_UNROLL_N(4)
    for (unsigned i = threadIdx.x; i < rows; i += threads) {
      const unsigned w = i / warp_threads;
      const unsigned run = run_at_[w] + static_cast<unsigned>(__popc(begin_bits_[w] & up_to_lane));
      const unsigned at = deltas_[run] + i;
      if (any_is_by_row && are_by_row_[run] != 0) {
        const unsigned row = partners_.records[at].row;
        const unsigned partner = partners_.sink.by_row[row];
        of_tile_[row - first_row] = partner;
        see(partner);
      } else {
        const join_partner found = partners_.sink.by_position[at];
        STRATA_ASSERT(found.probe_row - first_row < rows, "the partner of probe row %u is not written",
                      found.probe_row);
        of_tile_[found.probe_row - first_row] = found.build_row;
        see(found.build_row);
      }
    }
  }

  TempStorage& storage_;
  TileOffsets offsets_;
  unsigned* of_tile_;
  unsigned* begin_bits_;
  unsigned* run_at_;
  unsigned* deltas_;
  unsigned* are_by_row_;
  const join_partners& partners_;
  JoinKind kind_;
  unsigned rows_;
};

}  // namespace detail
STRATA_NAMESPACE_END

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
  Agent(storage, reinterpret_cast<unsigned*>(shared), partners, kind, detail::number_of_items<unsigned>(rows), order,
        total)
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

  /// Clears the counters and the states of tiles, and in semi and anti joins the partners by row. Call this before the
  /// join.
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
  // Determines the rows of a tile and the number of tiles, and returns the launch of a selection.
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

  // There is at least one tile, because it writes the total.
  unsigned tiles_of(unsigned tile_rows) const { return rows_ > 0 ? ceiling_divide(rows_, tile_rows) : 1; }

  unsigned rows_;
  warp_look_back order_{};
};

STRATA_ARCH_DETAIL_NAMESPACE_END
