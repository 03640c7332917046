// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_radix_sort.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/block_shuffle.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/block/specializations/radix_warp_counters.cuh>
#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>

STRATA_NAMESPACE_BEGIN

/// How BlockHistogram counts.
enum BlockHistogramAlgorithm {
  /// Without atomics: equal samples do not wait for each other. Counters may have any type that can be added.
  /// - Up to 256 bins: the lanes of a warp vote on each bit of their bins, so each lane finds the lanes with the same
  ///   bin. The last of these lanes adds their number to the warp's counter of the bin. One barrier.
  /// - More bins: the block sorts the bins of its samples, and adds the length of each bin's run to the counter. One
  ///   pass of BlockRadixSort for each 4 bits of a bin, then 3 barriers. Such a tile has at most 65,535 samples.
  BLOCK_HISTO_SORT,
  /// An `atomicAdd` for each sample. Fast where the lanes of a warp have different bins; additions to one bin wait for
  /// each other. Counters are integers of 4 or 8 bytes, float, double, half or bfloat16.
  BLOCK_HISTO_ATOMIC,
};

namespace detail {

/// BLOCK_HISTO_SORT of more than 256 bins: the bins of all samples are sorted, and each bin's count is the length of
/// its run. Runs are found by comparing each bin with the one before it. The sort looks only at bits that a bin can
/// have.
template <class Shape, int BlockDimX, int BlockDimY, int BlockDimZ, int ItemsPerThread, int Bins>
class block_histogram_sort {
  static constexpr int threads = Shape::threads;
  static constexpr int tile_items = threads * ItemsPerThread;
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);

  using bin = typename unsigned_of_bytes<(Bins <= 1 << 16 ? 2 : 4)>::type;
  static constexpr int bin_bits = log2_ceiling(Bins);
  // Digits of equal width, up to 4 bits: the counters of narrower digits take less time and memory.
  static constexpr int passes = ceiling_divide(bin_bits, 4);
  static constexpr int digit_bits = ceiling_divide(bin_bits, passes);
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
    Shape::template for_each_index<Bins>(thread, [&](int b) {
      const run r = shared.sorted.runs[b];
      histogram[b] = static_cast<Counter>(histogram[b] + static_cast<Counter>(r.end - r.begin));
    });
  }

 private:
  STRATA_D static void find_runs(runs_by_bin& shared, int thread, const bin (&sorted)[items_per_thread]) {
    // A bin without samples keeps these zeros. The first bin keeps its begin.
    Shape::template for_each_index<Bins>(thread, [&](int b) { shared.runs[b] = run{0, 0}; });
    bin before[items_per_thread];
    before[0] = sorted[0];  // thread 0 keeps it: the first sample ends no run
    // The barrier in `Up` also separates the zeros from what other threads write next.
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

/// BLOCK_HISTO_SORT of up to 256 bins: each warp counts in counters of its own, where the lanes of a row that have the
/// same bin find each other by votes. A sort by bins would begin in the same way; a histogram needs only the counts.
template <class Shape, int BlockDimX, int BlockDimY, int BlockDimZ, int Bins>
class block_histogram_votes {
  static constexpr int threads = Shape::threads;
  static constexpr int bin_bits = most(log2_ceiling(Bins), 1);
  using scan = BlockScan<int, BlockDimX, BLOCK_SCAN_WARP_SCANS, BlockDimY, BlockDimZ>;
  using counters = radix_warp_counters<threads, bin_bits, false, scan>;
  using votes = radix_match_votes<threads, bin_bits>;

 public:
  using storage = typename counters::storage;

  template <class Counter, std::size_t ItemsPerThread>
  STRATA_D static void add(storage& shared, int thread, const unsigned (&bins)[ItemsPerThread], Counter* histogram) {
    typename votes::storage no_words;
    const votes match(no_words);
    counters of_warp(shared, thread);
    of_warp.clear();
    STRATA_UNROLL
    for (const unsigned bin : bins) {
      of_warp.count_row(bin, [&](unsigned lane_bin) { return match.match(of_warp, lane_bin); });
    }
    __syncthreads();
    of_warp.for_each_count([&](int bin, unsigned count) {
      if (bin < Bins) histogram[bin] = static_cast<Counter>(histogram[bin] + static_cast<Counter>(count));
    });
  }
};

/// BLOCK_HISTO_ATOMIC: an atomic addition for each sample.
class block_histogram_atomic {
 public:
  struct storage {};

  template <class Counter, std::size_t ItemsPerThread>
  STRATA_D static void add(storage&, int, const unsigned (&bins)[ItemsPerThread], Counter* histogram) {
    STRATA_UNROLL
    for (const unsigned bin : bins) count_one(histogram + bin);
  }

 private:
  template <class Counter>
  STRATA_D static void count_one(Counter* counter) {
    constexpr bool is_word = std::is_integral_v<Counter> && (sizeof(Counter) == 4 || sizeof(Counter) == 8);
    static_assert(is_word || is_device_real<Counter>,
                  "BLOCK_HISTO_ATOMIC counts by atomicAdd: counters must be integers of 4 or 8 bytes, float, double, "
                  "half or bfloat16; take BLOCK_HISTO_SORT for others");
    if constexpr (is_word) {
      // CUDA has no atomicAdd for some integer types; the sums of signed and unsigned words have the same bits.
      using word = std::conditional_t<sizeof(Counter) == 4, unsigned, unsigned long long>;
      atomicAdd(reinterpret_cast<word*>(counter), word{1});
    } else {
      atomicAdd(counter, static_cast<Counter>(1));
    }
  }
};

}  // namespace detail

/// Counts how many samples of a block, `ItemsPerThread` in each thread, are in each of `Bins` bins. A sample is the
/// number of its bin, 0 to Bins - 1.
///
/// | call | effect |
/// |---|---|
/// | `InitHistogram(histogram)` | `histogram[b] = 0` for all bins |
/// | `Composite(items, histogram)` | `histogram[b] += ` the number of samples that equal b |
/// | `Histogram(items, histogram)` | both: the histogram of this tile |
///
/// - `histogram` is an array of `Bins` counters in shared or device memory, the same in all threads. Samples are not
///   changed.
/// - Every thread of the block must call, in uniform control flow. The order of the samples has no effect.
/// - `InitHistogram` ends with a barrier. The others end without one: the block must call `__syncthreads()` before a
///   thread reads counters that others may have added to, and before the next `InitHistogram` or `Histogram` on the
///   same counters.
/// - With BLOCK_HISTO_SORT, each counter is read and written by one thread, without atomics. With BLOCK_HISTO_ATOMIC,
///   several blocks may add to one histogram in device memory.
/// - The block must call `__syncthreads()` between two calls of BLOCK_HISTO_SORT that use the same storage, and before
///   the storage is used for anything else. Objects of one type constructed without storage use the same storage.
///   BLOCK_HISTO_ATOMIC does not access its storage.
/// - Shared memory of BLOCK_HISTO_SORT: up to 256 bins, 4 bytes for each warp and bin. The number of bins is rounded up
///   to a power of two. If the result is more than the threads, it is rounded up again, to a multiple of the threads.
///   The storage of BlockScan comes on top, and so do gaps between the counters. With more bins, BlockRadixSort's
///   storage, or, if larger, 4 bytes for each bin and 2 or 4 for each thread.
/// - Bank conflicts depend on the samples. Up to 256 bins, accesses to counters have conflicts. With more bins,
///   accesses of BlockRadixSort and the writes of where the runs of bins begin and end have conflicts.
/// - `T` is an integer, an unscoped enumeration or any type that converts to integers implicitly. Debug builds assert
///   that samples are bins; in others, the behaviour is undefined if they are not.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ unsigned char text[1024];
/// __managed__ int counts[256];
///
/// // How often each byte occurs, in tiles of 512 bytes.
/// STRATA_KERNEL void count_bytes(const unsigned char* bytes, int* out) {
///   using Histogram = strata::BlockHistogram<unsigned char, 128, 4, 256>;
///   STRATA_SHARED(temp_storage, Histogram::TempStorage);
///   STRATA_SHARED(histogram, int[256]);
///   Histogram(temp_storage).InitHistogram(histogram);
///   for (unsigned tile = 0; tile < 2; ++tile) {
///     unsigned char samples[4];
///     for (unsigned i = 0; i < 4; ++i) samples[i] = bytes[tile * 512 + i * 128 + threadIdx.x];
///     Histogram(temp_storage).Composite(samples, histogram);
///     __syncthreads();
///   }
///   for (unsigned bin = threadIdx.x; bin < 256; bin += 128) out[bin] = histogram[bin];
/// }
///
/// int main() {
///   for (int i = 0; i < 1024; ++i) text[i] = static_cast<unsigned char>("abac"[i % 4]);
///   if (strata::launch({"count_bytes", 1, 128}, count_bytes, text, counts) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("a: %d, b: %d, c: %d, d: %d\n", counts['a'], counts['b'], counts['c'], counts['d']);
/// }
/// // prints: a: 512, b: 256, c: 256, d: 0
/// @endcode
template <class T, int BlockDimX, int ItemsPerThread, int Bins, BlockHistogramAlgorithm Algorithm = BLOCK_HISTO_SORT,
          int BlockDimY = 1, int BlockDimZ = 1>
class BlockHistogram {
  static_assert(ItemsPerThread > 0 && Bins > 0, "BlockHistogram needs at least one item per thread and one bin");
  // 64 bits, so that no sample of up to 64 bits becomes a bin by losing bits.
  using number =
      typename detail::unsigned_of_bytes<detail::is_radix_integer<T>::value && sizeof(T) == 16 ? 16 : 8>::type;
  static_assert(std::is_convertible_v<const T&, number> && detail::radix_mantissa_bits<T> == 0,
                "BlockHistogram takes the index of a bin as a sample: T must convert implicitly to an integer and "
                "must not be a floating-point type. Compute the bin of other samples first");
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);

  // With more bins, counters for each warp would take much memory.
  using without_atomics = typename std::conditional_t<
      Bins <= 256, detail::block_histogram_votes<shape, BlockDimX, BlockDimY, BlockDimZ, Bins>,
      detail::block_histogram_sort<shape, BlockDimX, BlockDimY, BlockDimZ, ItemsPerThread, Bins>>;
  using algorithm = std::conditional_t<Algorithm == BLOCK_HISTO_SORT, without_atomics, detail::block_histogram_atomic>;

 public:
  struct TempStorage : Uninitialized<typename algorithm::storage> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockHistogram() : BlockHistogram(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockHistogram(TempStorage& temp_storage)
      : storage_(temp_storage.Alias()), thread_(shape::thread_rank("BlockHistogram")) {}

  /// Sets all counters to 0, and ends with a barrier.
  template <class CounterT>
  STRATA_D void InitHistogram(CounterT* histogram) {
    shape::template for_each_index<Bins>(thread_, [&](int bin) { histogram[bin] = static_cast<CounterT>(0); });
    __syncthreads();
  }

  /// Sets all counters to 0, then counts the samples of the block.
  template <class CounterT>
  STRATA_D void Histogram(const T (&items)[items_per_thread], CounterT* histogram) {
    InitHistogram(histogram);
    Composite(items, histogram);
  }

  /// Adds the counts of the block's samples to the counters.
  template <class CounterT>
  STRATA_D void Composite(const T (&items)[items_per_thread], CounterT* histogram) {
    unsigned bins[items_per_thread];
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      // A negative sample becomes a large number.
      const number bin = static_cast<number>(items[i]);
      STRATA_ASSERT(bin < number{Bins}, "BlockHistogram: sample %lld of item %d is not in 0 .. %d",
                    static_cast<long long>(bin), i, Bins - 1);
      bins[i] = static_cast<unsigned>(bin);
    }
    algorithm::add(storage_, thread_, bins, histogram);
  }

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  typename algorithm::storage& storage_;
  int thread_;
};

STRATA_NAMESPACE_END
