// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/transform/batched_copy_tuning.hpp>
#include <strata/thread/thread_search.cuh>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_scan.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The long buffers that the first kernel queues for the second, and the number of the first piece of each. A warp gets
/// slots and piece numbers by one atomic addition. So the numbers ascend with the slots. For buffers in memory, 32 bits
/// suffice for the number of pieces: more pieces of 4 KiB would be 2^44 bytes of buffers that do not overlap.
struct buffer_queue {
  unsigned long long* counter;  // upper half: buffers, lower half: pieces
  unsigned* first_pieces;
  std::size_t* indices;

  /// Queues the buffers of the lanes that have a long one. A warp calls this.
  STRATA_D void push(bool is_long, std::size_t index, unsigned pieces) const {
    const unsigned pushed = __ballot_sync(full_warp_mask, is_long);
    if (pushed == 0) return;
    unsigned first, total;
    WarpScan<unsigned>::TempStorage unused;
    WarpScan<unsigned>(unused).ExclusiveSum(is_long ? pieces : 0, first, total);
    unsigned long long position = 0;
    if (platform::lane_id() == 0) {
      const auto buffers = static_cast<unsigned long long>(__popc(pushed));
      position = detail::take_tickets(counter, buffers << 32 | total);
    }
    position = __shfl_sync(full_warp_mask, position, 0);
    if (is_long) {
      const std::size_t slot =
          static_cast<std::size_t>(position >> 32) + static_cast<unsigned>(__popc(pushed & platform::lane_mask_lt()));
      first_pieces[slot] = static_cast<unsigned>(position) + first;
      indices[slot] = index;
    }
  }
};

/// The resident blocks of a multiprocessor in the second kernel. Copies of arrays need fewer. Copies of a computed
/// input only write memory, and need more.
template <class Buffers>
constexpr int blocks_of_queue(const batched_copy_tuning& tuning) {
  return Buffers::are_arrays ? tuning.queued_array_blocks : tuning.blocks_per_multiprocessor;
}

/// What one warp copies: in the first kernel the buffers of a batch, in the second a share of the long buffers.
template <class Policy, class Buffers>
class AgentBatchedCopy {
  static constexpr batched_copy_tuning tuning = Policy::batched_copy;
  using buffer = typename Buffers::buffer;
  using location = typename Buffers::location;
  using unit = typename Buffers::unit;
  static constexpr unsigned long long units_in(int bytes) {
    const int units = bytes / Buffers::unit_bytes;
    return static_cast<unsigned long long>(detail::most(units, warp_threads));
  }
  static constexpr unsigned long long max_warp_units = units_in(tuning.warp_bytes);
  static constexpr unsigned long long min_piece_units = units_in(tuning.piece_bytes);
  static constexpr unsigned long long max_pieces = tuning.max_pieces;
  static constexpr unsigned long long stride_pieces = tuning.stride_pieces;

 public:
  /// Storage of one warp.
  using TempStorage = Uninitialized<location[warp_threads]>;

  STRATA_D AgentBatchedCopy(TempStorage& storage, const Buffers& buffers)
      : locations_(storage.Alias()), buffers_(buffers) {}

  /// Handles `count` buffers, up to one for each lane. It copies short buffers whole. Of a long buffer it copies only
  /// the edges, and queues the body between them.
  STRATA_D void copy_batch(std::size_t first, unsigned count, const buffer_queue& queue) {
    buffer mine;
    if (platform::lane_id() < count) mine = buffers_(first + platform::lane_id());
    const bool is_long = mine.units > max_warp_units;
    queue.push(is_long, first + platform::lane_id(), pieces_of(mine));
    if constexpr (Buffers::has_edges) {
      STRATA_UNROLL_N(1)
      for (int tail = 0; tail < 2; ++tail) {
        copy_by_lanes<typename Buffers::edge, tuning.edge_rows>(
            mine.edge_units(tail != 0), [&](unsigned begin) { return mine.edge_from(tail != 0, begin); });
      }
    }
    copy_by_lanes<unit, tuning.rows>(is_long ? 0 : static_cast<unsigned>(mine.units),
                                     [&](unsigned begin) { return mine.body_from(begin); });
  }

  /// Copies pieces of the queued buffers: an even, contiguous share of them, or, if buffers have many pieces, every
  /// `shares`-th piece. In the second case, neighbouring warps read and write neighbouring memory, but a warp searches
  /// for each buffer from which it has a piece.
  STRATA_D void copy_share(unsigned share, unsigned shares, const buffer_queue& queue) {
    const auto num_buffers = static_cast<unsigned>(*queue.counter >> 32);
    const auto num_pieces = static_cast<unsigned>(*queue.counter);
    const bool is_strided = num_pieces >= num_buffers * stride_pieces;
    const auto begin_of = [&](unsigned long long of) { return static_cast<unsigned>(of * num_pieces / shares); };
    unsigned long long piece = is_strided ? share : begin_of(share);
    const unsigned end = is_strided ? num_pieces : begin_of(share + 1ull);
    for (unsigned slot = 0; piece < end; ++slot) {
      if (slot == 0 || is_strided) {
        slot += strata::UpperBound(queue.first_pieces + slot, num_buffers - slot, static_cast<unsigned>(piece)) - 1;
      }
      const unsigned buffer_begin = queue.first_pieces[slot];
      const unsigned buffer_end = slot + 1 < num_buffers ? queue.first_pieces[slot + 1] : num_pieces;
      const unsigned last = detail::least(end, buffer_end);
      const buffer mine = buffers_(queue.indices[slot]);
      const unsigned long long per_piece = units_per_piece(mine);
      const location body = mine.body_from(0);
      do {
        const unsigned long long next_piece = is_strided ? piece + 1 : last;
        const unsigned long long last_unit = (next_piece - buffer_begin) * per_piece;
        const unsigned long long units_end = detail::least(last_unit, mine.units);
        for (unsigned long long next = (piece - buffer_begin) * per_piece; next < units_end;
             next += tuning.rows * warp_threads) {
          copy_rows<unit, tuning.rows>(next, units_end, [&](int) { return body; });
        }
        piece = is_strided ? piece + shares : last;
      } while (piece < last);
    }
  }

 private:
  STRATA_D static unsigned long long units_per_piece(const buffer& cut) {
    return cut.units > min_piece_units * max_pieces ? detail::ceiling_divide(cut.units, max_pieces) : min_piece_units;
  }
  STRATA_D static unsigned pieces_of(const buffer& cut) {
    return static_cast<unsigned>(detail::ceiling_divide(cut.units, units_per_piece(cut)));
  }

  /// Copies `count` units of each lane's buffer; `locate(b)` is its location if its first unit has number b.
  /// Neighbouring lanes take neighbouring units of all buffers, so that no lane idles however short the buffers are.
  template <class Unit, int Rows, class Locate>
  STRATA_D void copy_by_lanes(unsigned count, const Locate& locate) {
    const unsigned with_units = __ballot_sync(full_warp_mask, count > 0);
    if (with_units == 0) return;
    unsigned begin, total;
    WarpScan<unsigned>::TempStorage unused;
    WarpScan<unsigned>(unused).ExclusiveSum(count, begin, total);
    if (count > 0) locations_[__popc(with_units & platform::lane_mask_lt())] = locate(begin);
    __syncwarp();
    unsigned buffers_before = 0;
    STRATA_UNROLL_N(1)
    for (unsigned next = 0; next < total; next += Rows * warp_threads) {
      copy_rows<Unit, Rows>(next, total, [&](int row) -> const location& {
        // One bit for each buffer that begins in this row. The number of bits up to a lane gives the lane's buffer.
        const unsigned offset = begin - (next + static_cast<unsigned>(row) * warp_threads);
        WarpReduce<unsigned>::TempStorage none;
        const unsigned begins = WarpReduce<unsigned>(none).AllReduce(
            count > 0 && offset < warp_threads ? 1u << offset : 0u, strata::BitOr{});
        const unsigned buffers_until =
            buffers_before + static_cast<unsigned>(__popc(begins & platform::lane_mask_le()));
        buffers_before += static_cast<unsigned>(__popc(begins));
        return locations_[buffers_until - 1];
      });
    }
  }

  /// Copies units `next` to `next` + 32 `Rows`, of `total`; `find(row)` is the location of a lane's unit. Loads are in
  /// flight together: lanes without a unit load the last one, and the barrier keeps the compiler from moving loads
  /// behind the branches of the stores. Behind it no lane reads `locations_`.
  template <class Unit, int Rows, class Number, class Find>
  STRATA_D void copy_rows(Number next, Number total, const Find& find) {
    Unit units[Rows];
    next += platform::lane_id();
    STRATA_UNROLL
    for (int row = 0; row < Rows; ++row) {
      const Number number = next + static_cast<unsigned>(row * warp_threads);
      units[row].load(buffers_, find(row), number < total ? number : total - 1);
    }
    __syncwarp();
    STRATA_UNROLL
    for (int row = 0; row < Rows; ++row) {
      if (next + static_cast<unsigned>(row * warp_threads) < total) units[row].store(buffers_);
    }
  }

  location (&locations_)[warp_threads];
  const Buffers& buffers_;
};

}  // namespace detail
STRATA_NAMESPACE_END
