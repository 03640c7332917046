// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_exchange.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/by_key.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/running_prefix.cuh>
#include <strata/device/segmented_scan/segments.cuh>
#include <strata/device/segmented_scan/tuning.hpp>

#include <cstddef>
#include <iterator>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Scans tiles of the logical sequence of all segments' items (see segments.cuh). Tiles are alike,
/// however long the segments in them are; the blocks take them in waves.
template <class Policy, class AccumT, class InputIterator, class OutputIterator, class Places,
          class ScanOp, bool IsInclusive, class InitT>
class AgentSegmentedScan {
  static constexpr segmented_scan_tuning tuning = Policy::tuning;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int items_per_thread = tuning.items_per_thread;
  static constexpr int tile_items = block_threads * items_per_thread;
  using Sum = sum_of_run<AccumT>;
  using CombineSums = combine_runs<AccumT, ScanOp>;
  using Prefix = running_prefix<Sum, CombineSums>;
  using ExchangeIn = BlockExchange<Sum, block_threads, items_per_thread>;
  using ExchangeOut = BlockExchange<AccumT, block_threads, items_per_thread>;
  using BlockScanT = BlockScan<Sum, block_threads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr bool has_initial_value = !std::is_same_v<InitT, NullType>;
  // not for users: DeviceSegmentedScan sees to it
  static_assert(IsInclusive || has_initial_value, "an exclusive scan begins with something");
  static_assert(block_threads % warp_threads == 0,
                "segmented_scan_tuning::block_threads must be a multiple of 32");
  static_assert(items_per_thread <= 32,
                "segmented_scan_tuning::items_per_thread must be at most 32: a thread keeps a bit"
                " for each");

 public:
  struct TempStorage {
    union {
      typename ExchangeIn::TempStorage in;
      typename BlockScanT::TempStorage scan;
      typename ExchangeOut::TempStorage out;
    };
    // Of the tile's first and last item.
    std::size_t segments[2];
  };

  STRATA_D AgentSegmentedScan(TempStorage& storage, InputIterator d_in, OutputIterator d_out,
                              const Places& places, const unsigned long long* ends,
                              std::size_t num_segments, ScanOp scan_op, const InitT& init)
      : storage_(storage),
        d_in_(d_in),
        d_out_(d_out),
        places_(places),
        ends_(ends),
        num_segments_(num_segments),
        scan_op_(scan_op),
        init_(init) {}

  /// Scans all tiles of the block.
  STRATA_D void scan(const wave_sums_arguments& exchange) {
    num_items_ = ends_[num_segments_ - 1];
    const std::size_t tiles = ceiling_divide<std::size_t>(num_items_, tile_items);
    // Blocks that have no tile are none of those that exchange sums.
    const unsigned blocks = tiles < gridDim.x ? static_cast<unsigned>(tiles) : gridDim.x;
    if (blockIdx.x >= blocks) return;
    Prefix prefix(exchange, blockIdx.x, blocks, CombineSums{scan_op_});
    // The first item of all begins a segment: what is before it is never looked at.
    prefix.begin_with(Sum{});
    prefix.for_each_tile(tiles, [&](std::size_t tile) { scan_tile(tile * tile_items, prefix); });
  }

 private:
  STRATA_D void scan_tile(unsigned long long first, Prefix& prefix) {
    const unsigned long long left = num_items_ - first;
    const int valid_items = left < tile_items ? static_cast<int>(left) : tile_items;

    Sum sums[items_per_thread];
    long long places[items_per_thread];
    load_striped(first, valid_items, sums, places);
    ExchangeIn(storage_.in).StripedToBlocked(sums);
    unsigned begins = 0;
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) begins |= sums[i].has_begin << i;
    __syncthreads();

    scan_blocked(valid_items, sums, prefix);
    prefix.leave();
    AccumT results[items_per_thread];
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      results[i] = sums[i].value;
      if constexpr (!IsInclusive) {
        if ((begins >> i & 1u) != 0) results[i] = initial_value<AccumT>(init_);
      }
    }
    __syncthreads();

    ExchangeOut(storage_.out).BlockedToStriped(results);
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      if (tile_item(i) < valid_items) {
        d_out_[static_cast<difference_of<OutputIterator>>(places[i])] =
            static_cast<output_value_t<OutputIterator, AccumT>>(results[i]);
      }
    }
  }

  // Item i of a thread is `tile_item(i)` of the tile, so that neighbouring threads load and store side
  // by side.
  STRATA_D static int tile_item(int i) {
    return i * block_threads + static_cast<int>(threadIdx.x);
  }

  STRATA_D void load_striped(unsigned long long first, int valid_items,
                             Sum (&sums)[items_per_thread], long long (&places)[items_per_thread]) {
    find_end_segments(first, first + static_cast<unsigned>(valid_items - 1));
    const std::size_t first_segment = storage_.segments[0];
    std::size_t segments[items_per_thread];
    find_segments(ends_, first_segment, storage_.segments[1] - first_segment, first + threadIdx.x,
                  unsigned{block_threads}, segments);
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      sums[i] = Sum{};
      if (tile_item(i) >= valid_items) continue;
      const std::size_t segment = segments[i];
      const unsigned long long begin = segment > 0 ? ends_[segment - 1] : 0;
      const auto index =
          static_cast<long long>(first + static_cast<unsigned>(tile_item(i)) - begin);
      places[i] = places_.out_begin(segment) + index;
      const long long from = places_.begin(segment) + index;
      sums[i] = {static_cast<AccumT>(d_in_[static_cast<difference_of<InputIterator>>(from)]),
                 index == 0 ? 1u : 0u};
      if constexpr (has_initial_value) {
        if (index == 0) {
          sums[i].value =
              static_cast<AccumT>(scan_op_(initial_value<AccumT>(init_), sums[i].value));
        }
      }
    }
  }

  // Finds the segments of the tile's first and last item, by a warp each.
  STRATA_D void find_end_segments(unsigned long long first, unsigned long long last) {
    constexpr unsigned warps = block_threads / warp_threads;
    for (unsigned end = threadIdx.x / warp_threads; end < 2; end += warps) {
      const std::size_t found = find_segment(ends_, num_segments_, end == 0 ? first : last);
      if (platform::lane_id() == 0) storage_.segments[end] = found;
    }
    __syncthreads();
  }

  STRATA_D void scan_blocked(int valid_items, Sum (&sums)[items_per_thread], Prefix& prefix) {
    BlockScanT scan(storage_.scan);
    const CombineSums combine{scan_op_};
    if (valid_items == tile_items) {
      if constexpr (IsInclusive) {
        scan.InclusiveScan(sums, sums, combine, prefix);
      } else {
        scan.ExclusiveScan(sums, sums, combine, prefix);
      }
    } else {
      if constexpr (IsInclusive) {
        scan.InclusiveScanPartialTile(sums, sums, combine, valid_items, prefix);
      } else {
        scan.ExclusiveScanPartialTile(sums, sums, combine, valid_items, prefix);
      }
    }
  }

  template <class Iterator>
  using difference_of = typename std::iterator_traits<Iterator>::difference_type;

  TempStorage& storage_;
  InputIterator d_in_;
  OutputIterator d_out_;
  const Places& places_;
  const unsigned long long* ends_;
  std::size_t num_segments_;
  ScanOp scan_op_;
  const InitT& init_;
  unsigned long long num_items_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
