// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_radix_sort.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/block_shuffle.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// BLOCK_HISTO_SORT: the bins of all samples are sorted, and each bin's count is the length of its run. Runs are
/// found by comparing each bin with the one before it. Only the bits that a bin can have are sorted by.
template <class Shape, int BlockDimX, int BlockDimY, int BlockDimZ, int ItemsPerThread, int Bins>
class block_histogram_sort {
  static constexpr int threads = Shape::threads;
  static constexpr int tile_items = threads * ItemsPerThread;
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);

  using bin = typename unsigned_of_bytes<(Bins <= 1 << 8 ? 1 : Bins <= 1 << 16 ? 2 : 4)>::type;
  static constexpr int bin_bits = log2_ceiling(Bins);
  // Digits of equal width, up to 4 bits: the counters of narrower digits take less time and memory.
  static constexpr int passes = ceiling_divide(bin_bits, 4);
  static constexpr int digit_bits = passes == 0 ? 1 : ceiling_divide(bin_bits, passes);
  using sort = BlockRadixSort<bin, BlockDimX, ItemsPerThread, NullType, digit_bits, true, BLOCK_SCAN_WARP_SCANS,
                              cudaSharedMemBankSizeFourByte, BlockDimY, BlockDimZ>;
  using shuffle = BlockShuffle<bin, BlockDimX, BlockDimY, BlockDimZ>;

  // 16 bits: BlockRadixSort takes at most 65,535 items.
  struct alignas(4) run {
    std::uint16_t begin;
    std::uint16_t end;
  };
  // not for users: neighbouring threads access neighbouring runs
  static_assert(strata::conflict_degree(PlainLayout{}, striped_access<sizeof(run), 1>{}) == 1,
                "runs of neighbouring bins must lie in different banks");
  struct runs_by_bin {
    typename shuffle::TempStorage shuffle_storage;
    run runs[static_cast<std::size_t>(Bins)];
  };

 public:
  union storage {
    typename sort::TempStorage sort_storage;
    runs_by_bin sorted;
  };

  template <class Counter>
  STRATA_D static void add(storage& shared, int thread, const unsigned (&bins)[items_per_thread], Counter* histogram) {
    bin sorted[items_per_thread];
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) sorted[i] = static_cast<bin>(bins[i]);
    sort(shared.sort_storage).Sort(sorted, 0, bin_bits);
    __syncthreads();
    find_runs(shared.sorted, thread, sorted);
    __syncthreads();
    for (int b = thread; b < Bins; b += threads) {
      const run r = shared.sorted.runs[b];
      histogram[b] = static_cast<Counter>(histogram[b] + static_cast<Counter>(r.end - r.begin));
    }
  }

 private:
  STRATA_D static void find_runs(runs_by_bin& shared, int thread, const bin (&sorted)[items_per_thread]) {
    // A bin without samples keeps this, and the first bin its begin.
    for (int b = thread; b < Bins; b += threads) shared.runs[b] = run{0, 0};
    bin before[items_per_thread];
    before[0] = sorted[0];  // thread 0 keeps it: the first sample ends no run
    // The barrier in it also separates these zeros from what other threads write next.
    shuffle(shared.shuffle_storage).Up(sorted, before);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (sorted[i] == before[i]) continue;
      const auto position = static_cast<std::uint16_t>(thread * ItemsPerThread + i);
      shared.runs[before[i]].end = position;
      shared.runs[sorted[i]].begin = position;
    }
    if (thread == threads - 1) {
      shared.runs[sorted[items_per_thread - 1]].end = static_cast<std::uint16_t>(tile_items);
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
