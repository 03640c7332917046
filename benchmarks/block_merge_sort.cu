// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares BlockMergeSort with CUB's: keys, pairs, a comparator of structs, partial tiles.

#include <cuda/std/functional>

#include <cstdint>
#include <type_traits>

#include "harness/collectives.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace block_merge_sort_benchmark {

using bench::struct16;

template <class T>
using less = std::conditional_t<std::is_same_v<T, struct16>, bench::has_lower_key, cuda::std::less<>>;

template <class Library, class T, int Threads, int Items>
struct sort_keys : bench::block_work<T, Threads, Items> {
  static constexpr const char* algorithm = "BlockMergeSort::Sort";
  using sorter = typename Library::template BlockMergeSort<T, Threads, Items>;
  using storage = typename sorter::TempStorage;
  static __device__ void run(storage& memory, T (&keys)[Items], int) { sorter(memory).Sort(keys, less<T>{}); }
};

/// A user's comparator, which neither library recognises as an ascending order of numbers.
struct is_before {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

template <class Library, class T, int Threads, int Items>
struct sort_by_functor : bench::block_work<T, Threads, Items> {
  static constexpr const char* algorithm = "BlockMergeSort::Sort by a functor";
  using sorter = typename Library::template BlockMergeSort<T, Threads, Items>;
  using storage = typename sorter::TempStorage;
  static __device__ void run(storage& memory, T (&keys)[Items], int) { sorter(memory).Sort(keys, is_before{}); }
};

/// Sorts a partial tile: all keys but about an eighth at the end.
template <class Library, class T, int Threads, int Items, class Compare>
struct sort_first : bench::block_work<T, Threads, Items> {
  static constexpr int given = Threads * Items * 7 / 8 - 3;
  using sorter = typename Library::template BlockMergeSort<T, Threads, Items>;
  using storage = typename sorter::TempStorage;
  static __device__ void run(storage& memory, T (&keys)[Items], int given) {
    const T last = static_cast<T>(0x7fffffff);
    sorter(memory).Sort(keys, Compare{}, given, last);
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      if (static_cast<int>(threadIdx.x) * Items + i >= given) keys[i] = static_cast<T>(i);  // the sort left any value
    }
  }
};

template <class Library, class T, int Threads, int Items>
struct sort_partial : sort_first<Library, T, Threads, Items, less<T>> {
  static constexpr const char* algorithm = "BlockMergeSort::Sort partial tile";
};
template <class Library, class T, int Threads, int Items>
struct sort_partial_by_functor : sort_first<Library, T, Threads, Items, is_before> {
  static constexpr const char* algorithm = "BlockMergeSort::Sort partial tile by a functor";
};

template <class Library, class T, int Threads, int Items>
struct sort_pairs : bench::block_work<T, Threads, Items> {
  static constexpr const char* algorithm = "BlockMergeSort::Sort pairs";
  using sorter = typename Library::template BlockMergeSort<T, Threads, Items, std::uint32_t>;
  using storage = typename sorter::TempStorage;
  static __device__ void run(storage& memory, T (&keys)[Items], int) {
    std::uint32_t values[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) values[i] = threadIdx.x * Items + static_cast<unsigned>(i);
    sorter(memory).StableSort(keys, values, less<T>{});
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) keys[i] = bench::marked(keys[i], values[i]);
  }
};

void add_cases(bench::suite& all) {
  using bench::add_collective;
  add_collective<sort_keys, std::int32_t, 64, 1>(all, 16);
  add_collective<sort_keys, std::int32_t, 128, 4>(all, 6);
  add_collective<sort_keys, std::int32_t, 256, 8>(all, 4);
  add_collective<sort_keys, std::int32_t, 256, 15>(all, 2);
  add_collective<sort_keys, std::int32_t, 128, 23>(all, 2);
  add_collective<sort_keys, std::int32_t, 512, 4>(all, 4);
  add_collective<sort_keys, std::int32_t, 1024, 4>(all, 4);
  add_collective<sort_keys, std::int8_t, 256, 16>(all, 2);
  add_collective<sort_keys, __half, 256, 8>(all, 4);
  add_collective<sort_keys, float, 256, 8>(all, 4);
  add_collective<sort_keys, double, 256, 8>(all, 4);
  add_collective<sort_keys, std::uint64_t, 128, 15>(all, 2);
  add_collective<sort_keys, struct16, 128, 4>(all, 6);
  add_collective<sort_by_functor, std::int32_t, 128, 4>(all, 6);
  add_collective<sort_by_functor, std::int32_t, 256, 8>(all, 4);
  add_collective<sort_by_functor, std::int32_t, 512, 4>(all, 4);
  add_collective<sort_partial, std::int32_t, 256, 8>(all, 4);
  add_collective<sort_partial_by_functor, std::int32_t, 256, 8>(all, 4);
  add_collective<sort_pairs, std::int32_t, 128, 4>(all, 6);
  add_collective<sort_pairs, std::int32_t, 256, 8>(all, 4);
  add_collective<sort_pairs, float, 256, 16>(all, 2);
}

}  // namespace block_merge_sort_benchmark

int main(int argc, char** argv) {
  return bench::run("block_merge_sort", argc, argv, block_merge_sort_benchmark::add_cases, bench::more_columns::kernel);
}
