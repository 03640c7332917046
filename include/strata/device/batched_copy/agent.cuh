// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/batched_copy/tuning.hpp>
#include <strata/device/grid/work_queue.cuh>
#include <strata/thread/thread_search.cuh>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_scan.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The long buffers on their way from the first kernel to the second, and the numbers of their first pieces, which
/// ascend: one addition gives a warp places and numbers. 32 bits suffice for pieces. Buffers that overlap nothing
/// would need 2^44 bytes to have more of 4 KiB.
struct buffer_queue {
  unsigned long long* counter;  // upper half: buffers, lower half: pieces
  unsigned* first_pieces;
  std::size_t* indices;

  /// Called by a warp: each lane may add a buffer.
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
      const std::size_t place =
          static_cast<std::size_t>(position >> 32) + static_cast<unsigned>(__popc(pushed & platform::lane_mask_lt()));
      first_pieces[place] = static_cast<unsigned>(position) + first;
      indices[place] = index;
    }
  }
};

/// What one warp copies: in the first kernel the buffers of a batch, in the second a share of the long buffers.
template <class Policy, class Buffers>
class AgentBatchedCopy {
  static constexpr batched_copy_tuning tuning = Policy::batched_copy;
  static constexpr int rows = tuning.rows;
  using buffer = typename Buffers::buffer;
  using location = typename Buffers::location;
  using unit = typename Buffers::unit;
  static constexpr unsigned long long units_in(int bytes) {
    return bytes / Buffers::unit_bytes > warp_threads ? static_cast<unsigned long long>(bytes / Buffers::unit_bytes)
                                                      : warp_threads;
  }
  static constexpr unsigned long long max_warp_units = units_in(tuning.warp_bytes);
  static constexpr unsigned long long min_piece_units = units_in(tuning.piece_bytes);
  static constexpr unsigned long long max_pieces = tuning.max_pieces;

 public:
  /// Of one warp.
  using TempStorage = Uninitialized<location[warp_threads]>;

  STRATA_D AgentBatchedCopy(TempStorage& storage, const Buffers& buffers)
      : locations_(storage.Alias()), buffers_(buffers) {}

  /// Copies `count` buffers (up to one for each lane) but for the bodies of long ones, which it queues.
  STRATA_D void copy_batch(std::size_t first, unsigned count, const buffer_queue& queue) {
    buffer mine;
    if (platform::lane_id() < count) mine = buffers_(first + platform::lane_id());
    const bool is_long = mine.units > max_warp_units;
    queue.push(is_long, first + platform::lane_id(), pieces_of(mine));
    if constexpr (Buffers::has_edges) {
      STRATA_UNROLL_N(1)
      for (int tail = 0; tail < 2; ++tail) {
        copy_by_lanes<typename Buffers::edge_word>(mine.edge_words(tail != 0),
                                                   [&](unsigned begin) { return mine.edge(tail != 0, begin); });
      }
    }
    copy_by_lanes<unit>(is_long ? 0 : static_cast<unsigned>(mine.units),
                        [&](unsigned begin) { return mine.body(begin); });
  }

  /// Copies pieces of the queued buffers: an even, contiguous share.
  STRATA_D void copy_share(unsigned share, unsigned shares, const buffer_queue& queue) {
    const auto num_buffers = static_cast<unsigned>(*queue.counter >> 32);
    const auto num_pieces = static_cast<unsigned>(*queue.counter);
    const auto begin_of = [&](unsigned long long of) { return static_cast<unsigned>(of * num_pieces / shares); };
    unsigned piece = begin_of(share);
    const unsigned end = begin_of(share + 1ull);
    if (piece == end) return;
    for (unsigned place = strata::UpperBound(queue.first_pieces, num_buffers, piece) - 1; piece < end; ++place) {
      const unsigned buffer_begin = queue.first_pieces[place];
      const unsigned buffer_end = place + 1 < num_buffers ? queue.first_pieces[place + 1] : num_pieces;
      const unsigned last = end < buffer_end ? end : buffer_end;
      const buffer mine = buffers_(queue.indices[place]);
      const unsigned long long per_piece = units_per_piece(mine);
      const unsigned long long last_unit = (last - buffer_begin) * per_piece;
      copy_units(mine.body(0), (piece - buffer_begin) * per_piece, last_unit < mine.units ? last_unit : mine.units);
      piece = last;
    }
  }

 private:
  STRATA_D static unsigned long long units_per_piece(const buffer& cut) {
    return cut.units > min_piece_units * max_pieces ? ceiling_divide(cut.units, max_pieces) : min_piece_units;
  }
  STRATA_D static unsigned pieces_of(const buffer& cut) {
    return static_cast<unsigned>(ceiling_divide(cut.units, units_per_piece(cut)));
  }

  /// Copies `count` units of each lane's buffer, which `locate(b)` finds if its first unit has number b. Neighbouring
  /// lanes take neighbouring units of all lanes' buffers, so that no lane idles however short the buffers are.
  template <class Unit, class Locate>
  STRATA_D void copy_by_lanes(unsigned count, const Locate& locate) {
    unsigned begin, total;
    WarpScan<unsigned>::TempStorage unused;
    WarpScan<unsigned>(unused).ExclusiveSum(count, begin, total);
    if (total == 0) return;
    // Locations of buffers with units, side by side.
    const unsigned with_units = __ballot_sync(full_warp_mask, count > 0);
    if (count > 0) locations_[__popc(with_units & platform::lane_mask_lt())] = locate(begin);
    __syncwarp();
    int buffers_before = -1;
    STRATA_UNROLL_N(1)
    for (unsigned first = 0; first < total; first += rows * warp_threads) {
      Unit units[rows];
      const unsigned number = first + platform::lane_id();
      STRATA_UNROLL
      for (unsigned row = 0; row < rows; ++row) {
        // One bit for each buffer that begins in this row: counted up to a lane, they give the lane's buffer.
        const unsigned offset = begin - (first + row * warp_threads);
        const unsigned begins = in_any_lane(count > 0 && offset < warp_threads ? 1u << offset : 0u);
        const int buffer_of_unit = buffers_before + __popc(begins & platform::lane_mask_le());
        buffers_before += __popc(begins);
        if (number + row * warp_threads < total) {
          units[row].load(buffers_, locations_[buffer_of_unit], number + row * warp_threads);
        }
      }
      STRATA_UNROLL
      for (unsigned row = 0; row < rows; ++row) {
        if (number + row * warp_threads < total) units[row].store(buffers_);
      }
    }
    __syncwarp();
  }

  STRATA_D static unsigned in_any_lane(unsigned bits) {
    WarpReduce<unsigned>::TempStorage unused;
    return WarpReduce<unsigned>(unused).AllReduce(bits, strata::BitOr{});
  }

  STRATA_D void copy_units(const location& where, unsigned long long begin, unsigned long long end) {
    constexpr unsigned long long step = rows * warp_threads;
    for (; begin + step <= end; begin += step) copy_rows(where, begin, [](unsigned) { return true; });
    const auto rest = static_cast<unsigned>(end - begin);
    if (rest > 0) copy_rows(where, begin, [&](unsigned number) { return number < rest; });
  }

  template <class Has>
  STRATA_D void copy_rows(const location& where, unsigned long long first, const Has& has) {
    unit units[rows];
    STRATA_UNROLL
    for (unsigned row = 0; row < rows; ++row) {
      const unsigned number = row * warp_threads + platform::lane_id();
      if (has(number)) units[row].load(buffers_, where, first + number);
    }
    STRATA_UNROLL
    for (unsigned row = 0; row < rows; ++row) {
      if (has(row * warp_threads + platform::lane_id())) units[row].store(buffers_);
    }
  }

  location (&locations_)[warp_threads];
  const Buffers& buffers_;
};

}  // namespace detail
STRATA_NAMESPACE_END
