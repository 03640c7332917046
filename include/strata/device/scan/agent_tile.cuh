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
#include <strata/device/engine/tile_prefix.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Scans tiles that a block holds in registers. `IsOneRound`: each block has one tile, and the blocks need not be
/// resident together (see tile_prefix.cuh). `Tile::tuning` is the tuning of a tile.
template <class Tile, bool IsOneRound, class Problem>
class AgentScanTile {
  static constexpr scan_tile_tuning tuning = Tile::tuning;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int items_per_thread = tuning.items_per_thread;
  static constexpr bool is_inclusive = Problem::is_inclusive;
  using Accum = typename Problem::Accum;
  using Input = typename Problem::TileInput;
  using Output = typename Problem::TileOutput;
  using ScanOp = typename Problem::TileOp;
  using Init = typename Problem::TileInit;
  using BlockLoadT = BlockLoad<Accum, block_threads, items_per_thread, tuning.load>;
  using BlockStoreT = BlockStore<Accum, block_threads, items_per_thread, tuning.store>;
  using BlockScanT = BlockScan<Accum, block_threads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr bool has_initial_value = !std::is_same_v<Init, NullType>;
  // Full and partial tiles of few items share their code: half of the instructions, the same time.
  static constexpr bool has_code_for_full_tiles = items_per_thread * sizeof(Accum) > 16;
  // not for users: DeviceScan ensures it
  static_assert(is_inclusive || has_initial_value, "an exclusive scan needs an initial value");
  static_assert(block_threads % warp_threads == 0, "scan_tile_tuning::block_threads must be a multiple of 32");

  // Returns the aggregate of a whole tile, bit for bit as its block makes it. All lanes of a warp call this.
  struct tile_reducer {
    const AgentScanTile& agent;
    STRATA_D Accum operator()(unsigned tile) const {
      ScanOp scan_op = agent.scan_op_;
      const std::size_t first = static_cast<std::size_t>(tile) * tile_items;
      const auto aggregate_of_thread = [&](int thread) {
        const auto in = detail::advanced(agent.d_in_, first + static_cast<std::size_t>(thread * items_per_thread));
        Accum aggregate = static_cast<Accum>(in[0]);
        STRATA_UNROLL_N(1)
        for (int i = 1; i < items_per_thread; ++i) {
          aggregate = static_cast<Accum>(scan_op(aggregate, static_cast<Accum>(in[i])));
        }
        return aggregate;
      };
      return block_scan_warp_scans<Accum, block_threads>::sum_by_one_warp(aggregate_of_thread, scan_op);
    }
  };
  using Prefix = running_prefix<Accum, ScanOp, std::conditional_t<IsOneRound, tile_reducer, NullType>>;

 public:
  static constexpr int tile_items = block_threads * items_per_thread;

  union TempStorage {
    typename BlockLoadT::TempStorage load;
    typename BlockScanT::TempStorage scan;
    typename BlockStoreT::TempStorage store;
  };

  STRATA_D AgentScanTile(TempStorage& storage, Input d_in, Output d_out, std::size_t num_items,
                         bool may_overwrite_input, ScanOp scan_op, const Init& init)
      : storage_(storage),
        d_in_(d_in),
        d_out_(d_out),
        num_items_(num_items),
        may_overwrite_input_(IsOneRound && may_overwrite_input),
        scan_op_(scan_op),
        init_(init) {}

  /// Scans all tiles of the block, one of `blocks`.
  STRATA_D void scan(const tile_aggregates_arguments& exchange, unsigned blocks) {
    Prefix prefix = make_prefix(exchange, blocks);
    if constexpr (has_initial_value) prefix.begin_with(detail::initial_value<Accum>(init_));
    prefix.for_each_tile(ceiling_divide<std::size_t>(num_items_, tile_items), [&](std::size_t tile) {
      if (tile != blockIdx.x) __syncthreads();  // The store of the previous tile no longer reads shared memory.
      const std::size_t first = tile * tile_items;
      const std::size_t left = num_items_ - first;
      const int valid_items = left < tile_items ? static_cast<int>(left) : tile_items;
      if (has_code_for_full_tiles && valid_items == tile_items) {
        scan_tile<true>(first, tile_items, prefix);
      } else {
        scan_tile<false>(first, valid_items, prefix);
      }
    });
  }

  /// Scans the only tile of a call.
  STRATA_D void scan_single_tile() {
    const auto valid_items = static_cast<int>(num_items_);
    Accum items[items_per_thread];
    BlockLoadT(storage_.load).Load(d_in_, items, valid_items);
    if (tuning.load != BLOCK_LOAD_VECTORIZE) __syncthreads();

    BlockScanT scan(storage_.scan);
    if constexpr (!is_inclusive) {
      scan.ExclusiveScanPartialTile(items, items, detail::initial_value<Accum>(init_), scan_op_, valid_items);
    } else if constexpr (has_initial_value) {
      scan.InclusiveScanPartialTile(items, items, detail::initial_value<Accum>(init_), scan_op_, valid_items);
    } else {
      scan.InclusiveScanPartialTile(items, items, scan_op_, valid_items);
    }

    if (tuning.store != BLOCK_STORE_VECTORIZE) __syncthreads();
    BlockStoreT(storage_.store).Store(d_out_, items, valid_items);
  }

 private:
  STRATA_D Prefix make_prefix(const tile_aggregates_arguments& exchange, unsigned blocks) const {
    if constexpr (IsOneRound) {
      return Prefix(exchange, blockIdx.x, blocks, scan_op_, tile_reducer{*this}, may_overwrite_input_);
    } else {
      return Prefix(exchange, blockIdx.x, blocks, scan_op_);
    }
  }

  template <bool IsFull>
  STRATA_D void scan_tile(std::size_t first, int valid_items, Prefix& prefix) {
    prefix.acquire_input();
    Accum items[items_per_thread];
    const auto in = detail::advanced(d_in_, first);
    const bool is_full = IsFull || (!has_code_for_full_tiles && valid_items == tile_items);
    if (is_full) {
      BlockLoadT(storage_.load).Load(in, items);
    } else {
      BlockLoadT(storage_.load).Load(in, items, valid_items);
    }
    if (tuning.load != BLOCK_LOAD_VECTORIZE) __syncthreads();

    BlockScanT scan(storage_.scan);
    if (!has_initial_value && first == 0) {
      // The first tile: no items come before it.
      Accum aggregate;
      if constexpr (is_inclusive) {
        if constexpr (IsFull) {
          scan.InclusiveScan(items, items, scan_op_, aggregate);
        } else {
          scan.InclusiveScanPartialTile(items, items, scan_op_, valid_items, aggregate);
        }
      }
      if (threadIdx.x < warp_threads) prefix(aggregate);
      // Another block may still read the input until `prefix` has returned in the first warp.
      if (may_overwrite_input_) __syncthreads();
    } else if constexpr (is_inclusive) {
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
    prefix.leave();

    if (tuning.store != BLOCK_STORE_VECTORIZE) __syncthreads();
    const auto out = detail::advanced(d_out_, first);
    if (is_full) {
      BlockStoreT(storage_.store).Store(out, items);
    } else {
      BlockStoreT(storage_.store).Store(out, items, valid_items);
    }
  }

  TempStorage& storage_;
  Input d_in_;
  Output d_out_;
  std::size_t num_items_;
  bool may_overwrite_input_;
  ScanOp scan_op_;
  const Init& init_;
};

}  // namespace detail
STRATA_NAMESPACE_END
