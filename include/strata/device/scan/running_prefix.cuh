// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/wave_sums.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What comes before each tile of a block that is one of `blocks` and takes tiles in waves (see
/// wave_sums): a prefix callback of BlockScan, one object for all tiles of the block.
///
///     running_prefix<T, ScanOp> prefix(exchange, blockIdx.x, gridDim.x, scan_op);
///     prefix.for_each_tile(tiles, [&](std::size_t tile) {
///       ... load
///       BlockScan(temp_storage).InclusiveScan(items, items, scan_op, prefix);
///       prefix.leave();
///       ... store
///     });
template <class T, class ScanOp>
class running_prefix {
 public:
  STRATA_D running_prefix(const wave_sums_arguments& exchange, unsigned block, unsigned blocks,
                          ScanOp scan_op)
      : sums_(exchange, block, blocks), scan_op_(scan_op), block_(block), blocks_(blocks) {}

  /// What comes before the first tile of all.
  STRATA_D void begin_with(const T& initial) {
    value_ = initial;
    has_value_ = true;
  }

  /// By all threads: goes through the block's tiles. In each of them, `scan_tile(tile)` scans with
  /// this as prefix callback and then calls `leave()`.
  template <class ScanTile>
  STRATA_D void for_each_tile(std::size_t tiles, const ScanTile& scan_tile) {
    const auto rounds = static_cast<unsigned>(ceiling_divide<std::size_t>(tiles, blocks_));
    const bool must_be_erased = sums_.must_be_erased(rounds);
    for (std::size_t tile = block_; tile < tiles; tile += blocks_) {
      is_leaving_ = must_be_erased && tile + blocks_ >= tiles;
      scan_tile(tile);
    }
    if (must_be_erased && __syncthreads_or(departures_ == blocks_) != 0) {
      sums_.erase(threadIdx.x, blockDim.x, rounds);
    }
  }

  /// By the first warp, with the sum of the tile, which it publishes before it waits for the sums
  /// of others. What comes before the tile, in thread 0.
  STRATA_D T operator()(const T& tile_sum) {
    if (blocks_ == 1) {
      // The block has all tiles: its own sum is all there is to know.
      const T result = value_;
      append(tile_sum);
      return result;
    }
    if (threadIdx.x == 0) sums_.publish(round_, tile_sum);
    if (sums_.tiles_before(round_) > 0) append(sums_.sum_before(round_, scan_op_));
    ++round_;
    return value_;
  }

  STRATA_D void leave() {
    if (is_leaving_ && threadIdx.x == 0) departures_ = sums_.leave();
    // In blocks of one warp, ptxas leaves out __syncthreads(), and with it the wait for this thread.
    __syncwarp();
  }

 private:
  STRATA_D void append(const T& sum) {
    if (threadIdx.x == 0) value_ = has_value_ ? static_cast<T>(scan_op_(value_, sum)) : sum;
    has_value_ = true;
  }

  wave_sums<T> sums_;
  ScanOp scan_op_;
  unsigned block_;
  unsigned blocks_;
  unsigned round_ = 0;
  T value_{};  // in thread 0
  bool has_value_ = false;
  bool is_leaving_ = false;
  unsigned long long departures_ = 0;  // in thread 0
};

}  // namespace detail
STRATA_NAMESPACE_END
