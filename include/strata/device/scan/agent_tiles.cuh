// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_load.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/block_store.cuh>
#include <strata/block/specializations/block_scan_warp_scans.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/tuning.hpp>
#include <strata/device/scan/wave_sums.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Scans tiles, of which each thread holds some items in registers, of any input into any output.
/// `IsOneWave`: each block has one tile, and the blocks need not be resident together.
template <class TileTuning, bool IsOneWave, class AccumT, class InputIterator, class OutputIterator,
          class ScanOp, bool IsInclusive, class InitT>
class AgentScanTiles {
  static constexpr scan_tile_tuning tuning = TileTuning::value;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int items_per_thread = tuning.items_per_thread;
  using BlockLoadT = BlockLoad<AccumT, block_threads, items_per_thread, tuning.load>;
  using BlockStoreT = BlockStore<AccumT, block_threads, items_per_thread, tuning.store>;
  using BlockScanT = BlockScan<AccumT, block_threads, BLOCK_SCAN_WARP_SCANS>;
  using Sums = wave_sums<AccumT>;
  static constexpr bool has_initial_value = !std::is_same_v<InitT, NullType>;
  // not for users: DeviceScan sees to it
  static_assert(IsInclusive || has_initial_value, "an exclusive scan begins with something");
  static_assert(block_threads % warp_threads == 0,
                "scan_tile_tuning::block_threads must be a multiple of 32");

 public:
  static constexpr int tile_items = block_threads * items_per_thread;

  union TempStorage {
    typename BlockLoadT::TempStorage load;
    typename BlockScanT::TempStorage scan;
    typename BlockStoreT::TempStorage store;
  };

  STRATA_D AgentScanTiles(TempStorage& storage, InputIterator d_in, OutputIterator d_out,
                          std::size_t num_items, bool may_overwrite_input, ScanOp scan_op,
                          const InitT& init, const wave_sums_arguments& exchange)
      : storage_(storage),
        d_in_(d_in),
        d_out_(d_out),
        num_items_(num_items),
        may_overwrite_input_(IsOneWave && may_overwrite_input),
        scan_op_(scan_op),
        init_(init),
        sums_(exchange, blockIdx.x, gridDim.x) {}

  /// Scans all tiles of the block.
  STRATA_D void scan() {
    const std::size_t tiles = ceiling_divide<std::size_t>(num_items_, tile_items);
    const auto rounds = static_cast<unsigned>(ceiling_divide<std::size_t>(tiles, gridDim.x));
    const bool must_be_erased = sums_.must_be_erased(rounds);

    running_prefix prefix{*this, AccumT(), 0, has_initial_value, true};
    if constexpr (has_initial_value) prefix.value = detail::initial_value<AccumT>(init_);
    unsigned long long departures = 0;  // in thread 0
    std::size_t tile = blockIdx.x;
    for (; tile < tiles; tile += gridDim.x) {
      if (tile != blockIdx.x) __syncthreads();  // The last tile's store has left shared memory.
      const bool is_last_tile = tile + gridDim.x >= tiles;  // of the block
      prefix.is_read = tile + 1 < tiles;
      const auto leave = [&] {
        if (must_be_erased && is_last_tile && threadIdx.x == 0) departures = sums_.leave();
        // In blocks of one warp, ptxas leaves out __syncthreads(), and the wait for this thread.
        __syncwarp();
      };
      const std::size_t first = tile * tile_items;
      const std::size_t left = num_items_ - first;
      if (left >= tile_items) {
        scan_tile<true>(first, tile_items, prefix, leave);
      } else {
        scan_tile<false>(first, static_cast<int>(left), prefix, leave);
      }
    }
    if (must_be_erased && __syncthreads_or(departures == gridDim.x) != 0) {
      // With the claims of the input, if there are any.
      sums_.erase(threadIdx.x, block_threads, may_overwrite_input_ ? rounds + 1 : rounds);
    }
  }

 private:
  // What comes before the block's next tile: in the first warp. Called with the sum of the tile,
  // which it publishes before it waits for the sums of others.
  struct running_prefix {
    AgentScanTiles& agent;
    AccumT value;  // in thread 0
    unsigned round;
    bool has_value;
    // Nobody reads the sum of the last tile, so it must not lie about when the tags are taken away.
    bool is_read;
    bool is_input_claimed = false;  // by another block, which publishes the sum; in thread 0

    STRATA_D AccumT operator()(const AccumT& tile_sum) {
      if (gridDim.x == 1) {
        // The block has all tiles: its own sum is all there is to know.
        const AccumT result = value;
        append(tile_sum);
        ++round;
        return result;
      }
      if (is_read && threadIdx.x == 0) {
        if (is_input_claimed) {
          agent.sums_.wait_for_sum();
        } else {
          agent.sums_.publish(round, tile_sum);
        }
      }
      if (agent.sums_.tiles_before(round) > 0) append(sum_before());
      ++round;
      return value;
    }

   private:
    STRATA_D AccumT sum_before() {
      if constexpr (IsOneWave) {
        return agent.sums_.sum_before(
            round, agent.scan_op_, [this](unsigned tile) { return agent.reduce_tile(tile); },
            agent.may_overwrite_input_);
      } else {
        return agent.sums_.sum_before(round, agent.scan_op_);
      }
    }
    STRATA_D void append(const AccumT& sum) {
      if (threadIdx.x == 0) {
        value = has_value ? static_cast<AccumT>(agent.scan_op_(value, sum)) : sum;
      }
      has_value = true;
    }
  };

  template <bool IsFull, class Leave>
  STRATA_D void scan_tile(std::size_t first, int valid_items, running_prefix& prefix,
                          const Leave& leave) {
    if (may_overwrite_input_ && prefix.is_read && gridDim.x > 1 && threadIdx.x == 0) {
      prefix.is_input_claimed = sums_.claim_own_input();
    }
    AccumT items[items_per_thread];
    const auto in = d_in_ + static_cast<difference_of<InputIterator>>(first);
    if constexpr (IsFull) {
      BlockLoadT(storage_.load).Load(in, items);
    } else {
      BlockLoadT(storage_.load).Load(in, items, valid_items);
    }
    if (tuning.load != BLOCK_LOAD_VECTORIZE) __syncthreads();

    BlockScanT scan(storage_.scan);
    if (!has_initial_value && first == 0) {
      // The one tile that nothing comes before.
      AccumT sum;
      if constexpr (IsInclusive) {
        if constexpr (IsFull) {
          scan.InclusiveScan(items, items, scan_op_, sum);
        } else {
          scan.InclusiveScanPartialTile(items, items, scan_op_, valid_items, sum);
        }
      }
      if (threadIdx.x < warp_threads) prefix(sum);
      // Another block may still read the input until the first thread is there.
      if (may_overwrite_input_) __syncthreads();
    } else if constexpr (IsInclusive) {
      if constexpr (IsFull) {
        scan.InclusiveScan(items, items, scan_op_, prefix);
      } else {
        scan.InclusiveScanPartialTile(items, items, scan_op_, valid_items, prefix);
      }
    } else {
      if constexpr (IsFull) {
        scan.ExclusiveScan(items, items, scan_op_, prefix);
      } else {
        scan.ExclusiveScanPartialTile(items, items, scan_op_, valid_items, prefix);
      }
    }
    leave();

    if (tuning.store != BLOCK_STORE_VECTORIZE) __syncthreads();
    const auto out = d_out_ + static_cast<difference_of<OutputIterator>>(first);
    if constexpr (IsFull) {
      BlockStoreT(storage_.store).Store(out, items);
    } else {
      BlockStoreT(storage_.store).Store(out, items, valid_items);
    }
  }

  // By all lanes of a warp, in all of them: the sum of a whole tile, bit for bit as its block makes it.
  STRATA_D AccumT reduce_tile(unsigned tile) {
    const std::size_t first = static_cast<std::size_t>(tile) * tile_items;
    const auto sum_of_thread = [&](int thread) {
      const auto in = d_in_ + static_cast<difference_of<InputIterator>>(
                                  first + static_cast<std::size_t>(thread * items_per_thread));
      AccumT sum = static_cast<AccumT>(in[0]);
      STRATA_UNROLL_N(1)
      for (int i = 1; i < items_per_thread; ++i) {
        sum = static_cast<AccumT>(scan_op_(sum, static_cast<AccumT>(in[i])));
      }
      return sum;
    };
    return block_scan_warp_scans<AccumT, block_threads>::sum_by_one_warp(sum_of_thread, scan_op_);
  }

  template <class Iterator>
  using difference_of = typename std::iterator_traits<Iterator>::difference_type;

  TempStorage& storage_;
  InputIterator d_in_;
  OutputIterator d_out_;
  std::size_t num_items_;
  bool may_overwrite_input_;
  ScanOp scan_op_;
  const InitT& init_;
  Sums sums_;
};

}  // namespace detail
STRATA_NAMESPACE_END
