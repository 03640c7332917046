// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares functions of single threads with CUB's: ThreadReduce, StableOddEvenSort, MergePath with SerialMerge,
// UpperBound, loads and stores with cache modifiers. CUB has no public scan of a thread. A case 1x16 has about 16 items
// per thread.

#include <cub/thread/thread_load.cuh>
#include <cub/thread/thread_reduce.cuh>
#include <cub/thread/thread_search.cuh>
#include <cub/thread/thread_sort.cuh>
#include <cub/thread/thread_store.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <strata/thread/thread_load.cuh>
#include <strata/thread/thread_merge.cuh>
#include <strata/thread/thread_reduce.cuh>
#include <strata/thread/thread_search.cuh>
#include <strata/thread/thread_sort.cuh>
#include <strata/thread/thread_store.cuh>

#include <cstdint>

#include "harness/collectives.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace thread_benchmark {

using bench::item_kind;
using bench::thread_work;

template <class Library>
struct functions;

#define BENCH_FUNCTIONS(library)                                                                                      \
  template <>                                                                                                         \
  struct functions<bench::on_##library> {                                                                             \
    template <class Items, class Operator>                                                                            \
    static __device__ auto reduce(const Items& items, Operator op) {                                                  \
      return library::ThreadReduce(items, op);                                                                        \
    }                                                                                                                 \
    template <class T, int Count>                                                                                     \
    static __device__ void sort(T (&keys)[Count]) {                                                                   \
      library::NullType none[Count];                                                                                  \
      library::StableOddEvenSort(keys, none, cuda::std::less<>{});                                                    \
    }                                                                                                                 \
    template <class T, int Count>                                                                                     \
    static __device__ void sort(T (&keys)[Count], unsigned (&values)[Count]) {                                        \
      library::StableOddEvenSort(keys, values, cuda::std::less<>{});                                                  \
    }                                                                                                                 \
    static __device__ int merge_path(const int* a, const int* b, int counts, int diagonal) {                          \
      return library::MergePath(a, b, counts, counts, diagonal, cuda::std::less<>{});                                 \
    }                                                                                                                 \
    template <int Count>                                                                                              \
    static __device__ void merge(const int* keys, int begin, int counts, int diagonal, int (&merged)[Count],          \
                                 int (&indices)[Count]) {                                                             \
      library::SerialMerge(keys, begin, counts + diagonal - begin, counts - begin, counts - diagonal + begin, merged, \
                           indices, cuda::std::less<>{});                                                             \
    }                                                                                                                 \
    static __device__ int upper_bound(const int* sorted, int count, int value) {                                      \
      return library::UpperBound(sorted, count, value);                                                               \
    }                                                                                                                 \
    template <class T>                                                                                                \
    static __device__ T load(const T* from) {                                                                         \
      return library::ThreadLoad<library::LOAD_CG>(from);                                                             \
    }                                                                                                                 \
    template <class T>                                                                                                \
    static __device__ void store(T* to, const T& value) {                                                             \
      library::ThreadStore<library::STORE_CG>(to, value);                                                             \
    }                                                                                                                 \
  }
BENCH_FUNCTIONS(strata);
BENCH_FUNCTIONS(cub);
#undef BENCH_FUNCTIONS

template <class Library, class T, int Threads, int Items>
struct sum : thread_work<T, Items, item_kind::numbers> {
  static constexpr const char* algorithm = "ThreadReduce sum";
  static __device__ void run(bench::no_storage&, T (&items)[Items], int) {
    items[0] = static_cast<T>(functions<Library>::reduce(items, cuda::std::plus<>{}));
  }
};

template <class Library, class T, int Threads, int Items>
struct maximum : thread_work<T, Items> {
  static constexpr const char* algorithm = "ThreadReduce max";
  static __device__ void run(bench::no_storage&, T (&items)[Items], int) {
    items[0] = static_cast<T>(functions<Library>::reduce(items, cuda::maximum<>{}));
  }
};

template <class Library, class T, int Threads, int Items>
struct sort_keys : thread_work<T, Items> {
  static constexpr const char* algorithm = "StableOddEvenSort";
  static __device__ void run(bench::no_storage&, T (&items)[Items], int) { functions<Library>::sort(items); }
};

template <class Library, class T, int Threads, int Items>
struct sort_pairs : thread_work<T, Items> {
  static constexpr const char* algorithm = "StableOddEvenSort pairs";
  static __device__ void run(bench::no_storage&, T (&items)[Items], int) {
    unsigned values[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) values[i] = static_cast<unsigned>(i);
    functions<Library>::sort(items, values);
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) items[i] = bench::marked(items[i], values[i]);
  }
};

/// Two sorted runs for each warp, in shared memory. Their keys depend on the last items.
template <int Items>
struct sorted_runs {
  int keys[8][32 * Items + 1];  // the merge may read one key behind the runs
  __device__ int* of_warp() { return keys[threadIdx.x / 32]; }
  /// The lanes write `count` ascending keys from `begin` on.
  __device__ void fill(int begin, int count, int step) {
    for (int i = static_cast<int>(threadIdx.x % 32); i < count; i += 32) of_warp()[begin + i] = i * (step % 100 + 100);
  }
};

template <class Library, class T, int Threads, int Items>
struct merge : thread_work<T, Items> {
  static constexpr const char* algorithm = "MergePath and SerialMerge";
  using storage = sorted_runs<Items>;
  static __device__ void separate() { __syncwarp(); }
  static __device__ void run(storage& memory, T (&items)[Items], int) {
    constexpr int half = 16 * Items;
    // Lane 0's first and last item decide how far apart the keys of the two runs lie.
    memory.fill(0, half, __shfl_sync(~0u, items[0], 0));
    memory.fill(half, half, __shfl_sync(~0u, items[Items - 1], 0));
    __syncwarp();
    const int* keys = memory.of_warp();
    const int diagonal = static_cast<int>(threadIdx.x % 32) * Items;
    const int begin = functions<Library>::merge_path(keys, keys + half, half, diagonal);
    int indices[Items];
    functions<Library>::merge(keys, begin, half, diagonal, items, indices);
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) items[i] = bench::marked(items[i], static_cast<unsigned>(indices[i]));
  }
};

template <class Library, class T, int Threads, int Items>
struct search : thread_work<T, Items> {
  static constexpr const char* algorithm = "UpperBound";
  using storage = sorted_runs<Items>;
  static __device__ void separate() { __syncwarp(); }
  static __device__ void run(storage& memory, T (&items)[Items], int) {
    constexpr int count = 32 * Items;
    memory.fill(0, count, 0);
    __syncwarp();
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      const int value = static_cast<int>(static_cast<unsigned>(items[i]) % (count * 100));
      const int found = functions<Library>::upper_bound(memory.of_warp(), count, value);
      items[i] = bench::marked(items[i], static_cast<unsigned>(found));
    }
  }
};

template <class Library, class T, int Threads, int Items>
struct load : thread_work<T, Items> {
  static constexpr const char* algorithm = "ThreadLoad cg";
  static constexpr int tiles = 1024;
  static constexpr bool is_transfer = true;
  static __device__ void run(bench::no_storage&, T (&items)[Items], int, const T* in, T*) {
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      items[i] = bench::mixed(items[i], functions<Library>::load(in + i * 256 + threadIdx.x));
    }
  }
};

template <class Library, class T, int Threads, int Items>
struct store : thread_work<T, Items> {
  static constexpr const char* algorithm = "ThreadStore cg";
  static constexpr int tiles = 1024;
  static constexpr bool is_transfer = true;
  static __device__ void run(bench::no_storage&, T (&items)[Items], int, const T*, T* out) {
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) functions<Library>::store(out + i * 256 + threadIdx.x, items[i]);
  }
};

void add_cases(bench::suite& all) {
  using bench::add_collective;
  add_collective<sum, std::int32_t, 1, 16>(all, 64);
  add_collective<sum, float, 1, 16>(all, 64);
  add_collective<sum, __half, 1, 16>(all, 64);
  add_collective<sum, double, 1, 8>(all, 32);
  add_collective<maximum, std::int32_t, 1, 15>(all, 64);
  add_collective<maximum, float, 1, 23>(all, 32);
  add_collective<maximum, __half, 1, 8>(all, 64);
  add_collective<sort_keys, std::int32_t, 1, 8>(all, 32);
  add_collective<sort_keys, std::int32_t, 1, 16>(all, 12);
  add_collective<sort_keys, std::uint64_t, 1, 8>(all, 16);
  add_collective<sort_keys, float, 1, 8>(all, 32);
  add_collective<sort_pairs, std::int32_t, 1, 8>(all, 16);
  add_collective<merge, std::int32_t, 1, 8>(all, 8);
  add_collective<search, std::int32_t, 1, 4>(all, 12);
  add_collective<load, std::int32_t, 1, 4>(all, 16);
  add_collective<store, std::int32_t, 1, 4>(all, 16);
}

}  // namespace thread_benchmark

int main(int argc, char** argv) {
  return bench::run("thread", argc, argv, thread_benchmark::add_cases, bench::more_columns::kernel);
}
