// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares BlockReduce with CUB's: sums, maxima, an operator that is not commutative, partial tiles, all algorithms.
// Floating-point summands are chosen so that their sum is exact in any order.

#include <cuda/functional>

#include <cstdint>

#include "harness/collectives.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace block_reduce_benchmark {

using bench::block_work;
using bench::item_kind;
using bench::struct16;

// ------------------------------------------------------------------ reductions

/// Writes the result to the first item of thread 0, so that the next round depends on it.
template <class Library, class T, int Threads, int Items, item_kind Kind, auto... Algorithm>
struct reduction : block_work<T, Threads, Items, Kind> {
  using reduce = typename Library::template BlockReduce<T, Threads, Algorithm...>;
  using storage = typename reduce::TempStorage;
  static __device__ void keep(const T& result, T (&items)[Items]) {
    if (threadIdx.x == 0) items[0] = result;
  }
};

template <class Library, class T, int Threads, int Items>
struct sum : reduction<Library, T, Threads, Items, item_kind::numbers> {
  static constexpr const char* algorithm = "BlockReduce::Sum";
  using base = reduction<Library, T, Threads, Items, item_kind::numbers>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    if constexpr (Items == 1) {
      base::keep(typename base::reduce(memory).Sum(items[0]), items);
    } else {
      base::keep(typename base::reduce(memory).Sum(items), items);
    }
  }
};

template <class Library, class T, int Threads, int Items>
struct sum_raking : reduction<Library, T, Threads, Items, item_kind::numbers, Library::reduce_raking> {
  static constexpr const char* algorithm = "BlockReduce::Sum raking";
  using base = reduction<Library, T, Threads, Items, item_kind::numbers, Library::reduce_raking>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    base::keep(typename base::reduce(memory).Sum(items), items);
  }
};

template <class Library, class T, int Threads, int Items>
struct sum_commutative : reduction<Library, T, Threads, Items, item_kind::numbers, Library::reduce_commutative> {
  static constexpr const char* algorithm = "BlockReduce::Sum raking commutative only";
  using base = reduction<Library, T, Threads, Items, item_kind::numbers, Library::reduce_commutative>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    base::keep(typename base::reduce(memory).Sum(items), items);
  }
};

/// Sums the items of the first `given` threads.
template <class Library, class T, int Threads, int Items>
struct sum_partial : reduction<Library, T, Threads, Items, item_kind::numbers> {
  static constexpr const char* algorithm = "BlockReduce::Sum partial tile";
  static constexpr int given = Threads * 7 / 8 - 3;
  using base = reduction<Library, T, Threads, Items, item_kind::numbers>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int given) {
    base::keep(typename base::reduce(memory).Sum(items[0], given), items);
  }
};

template <class Library, class T, int Threads, int Items>
struct maximum : reduction<Library, T, Threads, Items, item_kind::keys> {
  static constexpr const char* algorithm = "BlockReduce::Reduce max";
  using base = reduction<Library, T, Threads, Items, item_kind::keys>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    if constexpr (Items == 1) {
      base::keep(typename base::reduce(memory).Reduce(items[0], cuda::maximum<>{}), items);
    } else {
      base::keep(typename base::reduce(memory).Reduce(items, cuda::maximum<>{}), items);
    }
  }
};

template <class Library, class T, int Threads, int Items>
struct composition : reduction<Library, T, Threads, Items, item_kind::keys> {
  static constexpr const char* algorithm = "BlockReduce::Reduce compose";
  using base = reduction<Library, T, Threads, Items, item_kind::keys>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    base::keep(typename base::reduce(memory).Reduce(items, bench::compose{}), items);
  }
};

void add_cases(bench::suite& all) {
  using bench::add_collective;
  add_collective<sum, std::int32_t, 128, 1>(all, 32);
  add_collective<sum, std::int32_t, 256, 4>(all, 24);
  add_collective<sum, std::int32_t, 1024, 1>(all, 32);
  add_collective<sum, std::int32_t, 64, 16>(all, 16);
  add_collective<sum, std::int8_t, 256, 15>(all, 16);
  add_collective<sum, __half, 256, 8>(all, 16);
  add_collective<sum, float, 256, 1>(all, 32);
  add_collective<sum, float, 1024, 1>(all, 32);
  add_collective<sum, float, 128, 23>(all, 16);
  add_collective<sum, double, 256, 4>(all, 16);
  add_collective<sum, std::uint64_t, 512, 4>(all, 16);
  add_collective<sum_raking, std::int32_t, 256, 4>(all, 24);
  add_collective<sum_commutative, std::int32_t, 256, 4>(all, 24);
  add_collective<sum_partial, std::int32_t, 256, 1>(all, 32);
  add_collective<sum_partial, float, 64, 1>(all, 32);
  add_collective<maximum, std::int32_t, 256, 1>(all, 32);
  add_collective<maximum, float, 512, 1>(all, 32);
  add_collective<maximum, float, 256, 8>(all, 16);
  add_collective<maximum, double, 256, 1>(all, 24);
  add_collective<maximum, __half, 256, 4>(all, 24);
  add_collective<composition, struct16, 128, 4>(all, 8);
}

}  // namespace block_reduce_benchmark

int main(int argc, char** argv) {
  return bench::run("block_reduce", argc, argv, block_reduce_benchmark::add_cases, bench::more_columns::kernel);
}
