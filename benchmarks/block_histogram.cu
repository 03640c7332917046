// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares BlockHistogram, BlockDiscontinuity, BlockAdjacentDifference and BlockRunLengthDecode with CUB's.

#include <cuda/std/functional>

#include <cstdint>

#include "harness/collectives.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace block_histogram_benchmark {

using bench::block_work;
using bench::marked;
using bench::struct16;

// ------------------------------------------------------------------ histograms

template <class Library, class T, int Threads, int Items, int Bins, auto Algorithm>
struct histogram_work : block_work<T, Threads, Items> {
  using histogram = typename Library::template BlockHistogram<T, Threads, Items, Bins, Algorithm>;
  struct storage {
    typename histogram::TempStorage temporary;
    unsigned bins[Bins];
  };
  static __device__ void run(storage& memory, T (&items)[Items], int) {
    T samples[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) samples[i] = static_cast<T>(items[i] % static_cast<unsigned>(Bins));
    histogram(memory.temporary).Histogram(samples, memory.bins);
    __syncthreads();
    items[0] = marked(items[0], memory.bins[threadIdx.x % Bins]);
  }
};
template <class Library, class T, int Threads, int Items>
struct histogram_sort : histogram_work<Library, T, Threads, Items, 256, Library::histogram_sort> {
  static constexpr const char* algorithm = "BlockHistogram::Histogram sort 256 bins";
};
template <class Library, class T, int Threads, int Items>
struct histogram_atomic : histogram_work<Library, T, Threads, Items, 256, Library::histogram_atomic> {
  static constexpr const char* algorithm = "BlockHistogram::Histogram atomic 256 bins";
};
template <class Library, class T, int Threads, int Items>
struct histogram_atomic_few : histogram_work<Library, T, Threads, Items, 16, Library::histogram_atomic> {
  static constexpr const char* algorithm = "BlockHistogram::Histogram atomic 16 bins";
};

// ------------------------------------------------------------------ flags of neighbours

/// True for about three of four pairs of random items.
struct differs {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) const {
    if constexpr (sizeof(T) == 16) {
      return ((a.value ^ b.value) & 0x60) != 0;
    } else {
      using word = bench::detail::word_of_bytes<sizeof(T)>;
      return ((bench::detail::bits_as<word>(a) ^ bench::detail::bits_as<word>(b)) & 0x60) != 0;
    }
  }
};

template <class Library, class T, int Threads, int Items>
struct discontinuity_work : block_work<T, Threads, Items> {
  using discontinuity = typename Library::template BlockDiscontinuity<T, Threads>;
  using storage = typename discontinuity::TempStorage;
  static __device__ void keep(T (&items)[Items], const int (&flags)[Items]) {
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) items[i] = marked(items[i], static_cast<unsigned>(flags[i]));
  }
};

template <class Library, class T, int Threads, int Items>
struct heads : discontinuity_work<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockDiscontinuity::FlagHeads";
  using base = discontinuity_work<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    int flags[Items];
    typename base::discontinuity(memory).FlagHeads(flags, items, differs{});
    base::keep(items, flags);
  }
};

template <class Library, class T, int Threads, int Items>
struct tails : discontinuity_work<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockDiscontinuity::FlagTails";
  using base = discontinuity_work<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    int flags[Items];
    typename base::discontinuity(memory).FlagTails(flags, items, differs{});
    base::keep(items, flags);
  }
};

template <class Library, class T, int Threads, int Items>
struct heads_and_tails : discontinuity_work<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockDiscontinuity::FlagHeadsAndTails";
  using base = discontinuity_work<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    int head_flags[Items], tail_flags[Items];
    typename base::discontinuity(memory).FlagHeadsAndTails(head_flags, tail_flags, items, differs{});
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) head_flags[i] += 2 * tail_flags[i];
    base::keep(items, head_flags);
  }
};

// ------------------------------------------------------------------ differences of neighbours

template <class Library, class T, int Threads, int Items>
struct difference_work : block_work<T, Threads, Items> {
  using differences = typename Library::template BlockAdjacentDifference<T, Threads>;
  using storage = typename differences::TempStorage;
};

template <class Library, class T, int Threads, int Items>
struct subtract_left : difference_work<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockAdjacentDifference::SubtractLeft";
  using base = difference_work<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    typename base::differences(memory).SubtractLeft(items, items, cuda::std::minus<>{});
  }
};

template <class Library, class T, int Threads, int Items>
struct subtract_left_partial : difference_work<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockAdjacentDifference::SubtractLeftPartialTile";
  static constexpr int given = Threads * Items * 7 / 8 - 3;
  using base = difference_work<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int given) {
    typename base::differences(memory).SubtractLeftPartialTile(items, items, cuda::std::minus<>{}, given);
  }
};

template <class Library, class T, int Threads, int Items>
struct subtract_right : difference_work<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockAdjacentDifference::SubtractRight";
  using base = difference_work<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    typename base::differences(memory).SubtractRight(items, items, cuda::std::minus<>{});
  }
};

// ------------------------------------------------------------------ runs

/// Each item is the value of a run of 1 to 8. The runs are decoded in windows of four items per thread.
template <class Library, class T, int Threads, int Items>
struct decode_runs : block_work<T, Threads, Items> {
  static constexpr const char* algorithm = "BlockRunLengthDecode::RunLengthDecode";
  using decoder = typename Library::template BlockRunLengthDecode<T, Threads, Items, 4>;
  using storage = typename decoder::TempStorage;
  static __device__ void run(storage& memory, T (&items)[Items], int) {
    unsigned lengths[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) lengths[i] = (static_cast<unsigned>(items[i]) >> 8) % 8 + 1;
    unsigned total = 0;
    decoder runs(memory, items, lengths, total);
    for (unsigned from = 0; from < total; from += Threads * 4) {
      T window[4];
      runs.RunLengthDecode(window, from);
      STRATA_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        if (from + threadIdx.x * 4 + i < total) items[0] ^= window[i];
      }
    }
  }
};

void add_cases(bench::suite& all) {
  using bench::add_collective;
  add_collective<histogram_sort, std::uint8_t, 256, 8>(all, 4);
  add_collective<histogram_sort, std::uint8_t, 128, 15>(all, 2);
  add_collective<histogram_atomic, std::uint8_t, 256, 8>(all, 8);
  add_collective<histogram_atomic, std::uint32_t, 512, 4>(all, 8);
  add_collective<histogram_atomic_few, std::uint32_t, 256, 8>(all, 4);
  add_collective<heads, std::int32_t, 256, 8>(all, 16);
  add_collective<heads, struct16, 128, 4>(all, 16);
  add_collective<heads, std::uint64_t, 64, 15>(all, 8);
  add_collective<tails, std::int32_t, 256, 8>(all, 16);
  add_collective<tails, float, 1024, 1>(all, 24);
  add_collective<heads_and_tails, std::int32_t, 256, 8>(all, 16);
  add_collective<subtract_left, std::int32_t, 256, 8>(all, 16);
  add_collective<subtract_left, std::int8_t, 128, 16>(all, 16);
  add_collective<subtract_left_partial, std::int32_t, 256, 8>(all, 16);
  add_collective<subtract_right, std::int32_t, 256, 8>(all, 16);
  add_collective<subtract_right, std::uint64_t, 512, 4>(all, 16);
  add_collective<decode_runs, std::uint32_t, 256, 1>(all, 8);
  add_collective<decode_runs, std::uint32_t, 128, 4>(all, 4);
}

}  // namespace block_histogram_benchmark

int main(int argc, char** argv) {
  return bench::run("block_histogram", argc, argv, block_histogram_benchmark::add_cases, bench::more_columns::kernel);
}
