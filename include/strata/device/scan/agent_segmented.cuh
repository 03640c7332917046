// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_exchange.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/find_segments.cuh>
#include <strata/device/engine/tile_prefix.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/segmented_tuning.hpp>
#include <strata/device/scan/sum_of_run.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Scans tiles of the logical sequence of all segments' items (see find_segments.cuh). All tiles have the same number
/// of items, whatever the lengths of the segments; the blocks take them in rounds.
template <class Policy, class AccumT, class InputIterator, class OutputIterator, class Begins, class Index,
          class ScanOp, bool IsInclusive, class InitT>
class AgentSegmentedScan {
  static constexpr segmented_scan_tuning tuning = Policy::tuning;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int items_per_thread = tuning.items_per_thread;
  static constexpr int tile_items = block_threads * items_per_thread;
  using Sum = sum_of_run<AccumT>;
  using CombineSums = combine_runs<AccumT, ScanOp>;
  using Prefix = running_prefix<Sum, CombineSums>;
  using Exchange = BlockExchange<AccumT, block_threads, items_per_thread>;
  using BlockScanT = BlockScan<Sum, block_threads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr bool has_initial_value = !std::is_same_v<InitT, NullType>;
  // not for users: DeviceSegmentedScan ensures it
  static_assert(IsInclusive || has_initial_value, "an exclusive scan needs an initial value");
  static_assert(block_threads % warp_threads == 0, "segmented_scan_tuning::block_threads must be a multiple of 32");
  static_assert(items_per_thread <= 32,
                "segmented_scan_tuning::items_per_thread must be at most 32, because a thread keeps one bit for each "
                "item");

 public:
  struct TempStorage {
    union {
      typename Exchange::TempStorage exchange;
      typename BlockScanT::TempStorage scan;
    };
    // The segments of the tile's first and last item.
    Index segments[2];
    // A bit for each item: whether a segment begins with it.
    unsigned begins[tile_items / warp_threads];
  };

  STRATA_D AgentSegmentedScan(TempStorage& storage, InputIterator d_in, OutputIterator d_out, const Begins& begins,
                              const unsigned long long* ends, Index num_segments, ScanOp scan_op, const InitT& init)
      : storage_(storage),
        d_in_(d_in),
        d_out_(d_out),
        begins_(begins),
        ends_(ends),
        num_segments_(num_segments),
        scan_op_(scan_op),
        init_(init) {}

  /// Scans all tiles of the block.
  STRATA_D void scan(const tile_aggregates_arguments& exchange) {
    num_items_ = ends_[num_segments_ - 1];
    const std::size_t tiles = ceiling_divide<std::size_t>(num_items_, tile_items);
    // Blocks without a tile exchange no aggregates.
    const unsigned blocks = tiles < gridDim.x ? static_cast<unsigned>(tiles) : gridDim.x;
    if (blockIdx.x >= blocks) return;
    Prefix prefix(exchange, blockIdx.x, blocks, CombineSums{scan_op_});
    // The first item of all begins a segment: what is before it is never used.
    prefix.begin_with(Sum{});
    prefix.for_each_tile(tiles, [&](std::size_t tile) { scan_tile(tile * tile_items, prefix); });
  }

 private:
  STRATA_D void scan_tile(unsigned long long first, Prefix& prefix) {
    const unsigned long long left = num_items_ - first;
    const int valid_items = left < tile_items ? static_cast<int>(left) : tile_items;

    AccumT items[items_per_thread];
    long long out_indices[items_per_thread];
    load_striped(first, valid_items, items, out_indices);
    Exchange(storage_.exchange).StripedToBlocked(items);
    __syncthreads();

    const unsigned begins = begins_of_thread();
    Sum sums[items_per_thread];
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const unsigned is_begin = begins >> i & 1u;
      if constexpr (has_initial_value) {
        if (is_begin != 0 && static_cast<int>(threadIdx.x) * items_per_thread + i < valid_items) {
          items[i] = static_cast<AccumT>(scan_op_(detail::initial_value<AccumT>(init_), items[i]));
        }
      }
      sums[i] = {items[i], is_begin};
    }
    BlockScanT scan(storage_.scan);
    if constexpr (IsInclusive) {
      scan.InclusiveScan(sums, sums, CombineSums{scan_op_}, prefix);
    } else {
      scan.ExclusiveScan(sums, sums, CombineSums{scan_op_}, prefix);
    }
    prefix.leave();
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      items[i] = sums[i].value;
      if constexpr (!IsInclusive) {
        if ((begins >> i & 1u) != 0) items[i] = detail::initial_value<AccumT>(init_);
      }
    }
    __syncthreads();

    Exchange(storage_.exchange).BlockedToStriped(items);
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      if (tile_item(i) < valid_items) {
        d_out_[static_cast<difference_of<OutputIterator>>(out_indices[i])] =
            static_cast<output_value_t<OutputIterator, AccumT>>(items[i]);
      }
    }
  }

  // Item i of a thread is `tile_item(i)` of the tile, so that neighbouring threads load and store neighbouring
  // items.
  STRATA_D static int tile_item(int i) { return i * block_threads + static_cast<int>(threadIdx.x); }

  // Loads items, and finds where their results go and where segments begin. The last tile is filled up with copies of
  // the last item, and each copy begins a segment. So no load needs a branch, and no operator is called for a copy.
  STRATA_D void load_striped(unsigned long long first, int valid_items, AccumT (&items)[items_per_thread],
                             long long (&out_indices)[items_per_thread]) {
    const auto last = static_cast<unsigned>(valid_items - 1);
    find_end_segments(first, first + last);
    const Index first_segment = storage_.segments[0];
    unsigned positions[items_per_thread];
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const auto position = static_cast<unsigned>(tile_item(i));
      positions[i] = detail::least(position, last);
    }
    Index segments[items_per_thread];
    detail::find_segments(ends_, first_segment, storage_.segments[1] - first_segment, first, positions, segments);
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const Index segment = segments[i];
      const unsigned long long begin = segment > 0 ? ends_[segment - 1] : 0;
      const auto index = static_cast<long long>(first + positions[i] - begin);
      const long long from = begins_.begin(segment) + index;
      items[i] = static_cast<AccumT>(d_in_[static_cast<difference_of<InputIterator>>(from)]);
      out_indices[i] = begins_.has_out_begins ? begins_.out_begin(segment) + index : from;
      const unsigned begins = __ballot_sync(full_warp_mask, index == 0 || tile_item(i) >= valid_items ? 1 : 0);
      if (platform::lane_id() == 0) storage_.begins[tile_item(i) / warp_threads] = begins;
    }
  }

  // A bit for each of the thread's items in blocked arrangement: whether a segment begins with it.
  STRATA_D unsigned begins_of_thread() const {
    const unsigned bit = threadIdx.x * unsigned{items_per_thread};
    const unsigned word = bit / warp_threads;
    const unsigned shift = bit % warp_threads;
    unsigned begins = storage_.begins[word] >> shift;
    if constexpr (warp_threads % items_per_thread != 0) {
      const unsigned here = warp_threads - shift;
      if (here < items_per_thread) begins |= storage_.begins[word + 1] << here;
    }
    return begins;
  }

  // Finds the segments of the tile's first and last item, by a warp each.
  STRATA_D void find_end_segments(unsigned long long first, unsigned long long last) {
    constexpr unsigned warps = block_threads / warp_threads;
    for (unsigned end = threadIdx.x / warp_threads; end < 2; end += warps) {
      const Index found = detail::find_segment(ends_, num_segments_, end == 0 ? first : last);
      if (platform::lane_id() == 0) storage_.segments[end] = found;
    }
    __syncthreads();
  }

  template <class Iterator>
  using difference_of = typename std::iterator_traits<Iterator>::difference_type;

  TempStorage& storage_;
  InputIterator d_in_;
  OutputIterator d_out_;
  const Begins& begins_;
  const unsigned long long* ends_;
  Index num_segments_;
  ScanOp scan_op_;
  const InitT& init_;
  unsigned long long num_items_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
