// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares BlockScan with CUB's: sums, maxima, an operator that is not commutative, with aggregate, with a prefix
// callback, all algorithms. Floating-point summands are chosen so that their sum is exact in any order.

#include <cuda/functional>

#include <cstdint>

#include "harness/collectives.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace block_scan_benchmark {

using bench::block_work;
using bench::item_kind;
using bench::struct16;

/// The base class of all scans. Without `Algorithm`, both libraries use their default, raking.
template <class Library, class T, int Threads, int Items, item_kind Kind, auto... Algorithm>
struct scan_work : block_work<T, Threads, Items, Kind> {
  using scan = typename Library::template BlockScan<T, Threads, Algorithm...>;
  using storage = typename scan::TempStorage;
};

template <class Library, class T, int Threads, int Items, auto... Algorithm>
struct exclusive_sums : scan_work<Library, T, Threads, Items, item_kind::numbers, Algorithm...> {
  using base = scan_work<Library, T, Threads, Items, item_kind::numbers, Algorithm...>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    if constexpr (Items == 1) {
      typename base::scan(memory).ExclusiveSum(items[0], items[0]);
    } else {
      typename base::scan(memory).ExclusiveSum(items, items);
    }
  }
};
template <class Library, class T, int Threads, int Items>
struct exclusive_sum : exclusive_sums<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockScan::ExclusiveSum";
};
template <class Library, class T, int Threads, int Items>
struct exclusive_sum_warp_scans : exclusive_sums<Library, T, Threads, Items, Library::scan_warp_scans> {
  static constexpr const char* algorithm = "BlockScan::ExclusiveSum warp scans";
};
template <class Library, class T, int Threads, int Items>
struct exclusive_sum_memoize : exclusive_sums<Library, T, Threads, Items, Library::scan_memoize> {
  static constexpr const char* algorithm = "BlockScan::ExclusiveSum raking memoize";
};

template <class Library, class T, int Threads, int Items>
struct inclusive_sum : scan_work<Library, T, Threads, Items, item_kind::numbers> {
  static constexpr const char* algorithm = "BlockScan::InclusiveSum";
  using base = scan_work<Library, T, Threads, Items, item_kind::numbers>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    typename base::scan(memory).InclusiveSum(items, items);
  }
};

template <class Library, class T, int Threads, int Items>
struct with_aggregate : scan_work<Library, T, Threads, Items, item_kind::numbers> {
  static constexpr const char* algorithm = "BlockScan::ExclusiveSum with aggregate";
  using base = scan_work<Library, T, Threads, Items, item_kind::numbers>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    T aggregate;
    typename base::scan(memory).ExclusiveSum(items, items, aggregate);
    items[0] += aggregate;
  }
};

/// A prefix callback, called by the first warp. Lane 0 gets the aggregate of the block and returns the prefix.
template <class T>
struct running_prefix {
  T prefix;
  __device__ T operator()(T aggregate) {
    const T before = prefix;
    prefix += aggregate;
    return before;
  }
};

template <class Library, class T, int Threads, int Items>
struct with_callback : scan_work<Library, T, Threads, Items, item_kind::numbers> {
  static constexpr const char* algorithm = "BlockScan::ExclusiveSum with prefix callback";
  static constexpr int given = 5;
  using base = scan_work<Library, T, Threads, Items, item_kind::numbers>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int given) {
    running_prefix<T> prefix{static_cast<T>(given)};
    typename base::scan(memory).ExclusiveSum(items, items, prefix);
    if (threadIdx.x == 0) items[0] += prefix.prefix;
  }
};

template <class Library, class T, int Threads, int Items>
struct maxima : scan_work<Library, T, Threads, Items, item_kind::keys> {
  static constexpr const char* algorithm = "BlockScan::InclusiveScan max";
  using base = scan_work<Library, T, Threads, Items, item_kind::keys>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    typename base::scan(memory).InclusiveScan(items, items, cuda::maximum<>{});
  }
};

template <class Library, class T, int Threads, int Items>
struct compositions : scan_work<Library, T, Threads, Items, item_kind::keys> {
  static constexpr const char* algorithm = "BlockScan::ExclusiveScan compose";
  using base = scan_work<Library, T, Threads, Items, item_kind::keys>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    typename base::scan(memory).ExclusiveScan(items, items, T{1, 0}, bench::compose{});
  }
};

void add_cases(bench::suite& all) {
  using bench::add_collective;
  add_collective<exclusive_sum, std::int32_t, 128, 1>(all, 24);
  add_collective<exclusive_sum, std::int32_t, 256, 4>(all, 16);
  add_collective<exclusive_sum, std::int32_t, 256, 16>(all, 8);
  add_collective<exclusive_sum, std::int32_t, 1024, 1>(all, 16);
  add_collective<exclusive_sum, std::int32_t, 512, 8>(all, 8);
  add_collective<exclusive_sum, std::int8_t, 256, 23>(all, 8);
  add_collective<exclusive_sum, __half, 128, 8>(all, 12);
  add_collective<exclusive_sum, float, 256, 4>(all, 16);
  add_collective<exclusive_sum, double, 128, 8>(all, 8);
  add_collective<exclusive_sum, std::uint64_t, 64, 15>(all, 8);
  add_collective<exclusive_sum_memoize, std::int32_t, 256, 4>(all, 16);
  add_collective<exclusive_sum_warp_scans, std::int32_t, 256, 4>(all, 16);
  add_collective<inclusive_sum, std::int32_t, 256, 8>(all, 12);
  add_collective<inclusive_sum, float, 256, 8>(all, 12);
  add_collective<with_aggregate, std::int32_t, 256, 4>(all, 16);
  add_collective<with_callback, std::int32_t, 256, 4>(all, 16);
  add_collective<maxima, float, 256, 4>(all, 16);
  add_collective<compositions, struct16, 128, 4>(all, 4);
}

}  // namespace block_scan_benchmark

int main(int argc, char** argv) {
  return bench::run("block_scan", argc, argv, block_scan_benchmark::add_cases, bench::more_columns::kernel);
}
