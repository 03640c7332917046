// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares all algorithms of BlockLoad and BlockStore with CUB's, on whole and on guarded tiles. The tiles lie in the
// L2 cache.

#include <cstdint>

#include "harness/collectives.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace block_load_store_benchmark {

using bench::struct16;
using bench::transfer_work;

/// Mixes the loaded items into the kept ones, so that the loads are not removed as unused.
template <class T, int Items>
__device__ void take(T (&items)[Items], const T (&loaded)[Items]) {
  STRATA_UNROLL
  for (int i = 0; i < Items; ++i) items[i] = bench::mixed(items[i], loaded[i]);
}

template <class Library, class T, int Threads, int Items, auto Algorithm>
struct load_work : transfer_work<T, Threads, Items> {
  using load = typename Library::template BlockLoad<T, Threads, Items, Algorithm>;
  using storage = typename load::TempStorage;
  static __device__ void run(storage& memory, T (&items)[Items], int, const T* in, T*) {
    T loaded[Items];
    load(memory).Load(in, loaded);
    take(items, loaded);
  }
};

template <class Library, class T, int Threads, int Items, auto Algorithm>
struct guarded_load_work : transfer_work<T, Threads, Items> {
  static constexpr int given = Threads * Items * 7 / 8 - 3;
  using load = typename Library::template BlockLoad<T, Threads, Items, Algorithm>;
  using storage = typename load::TempStorage;
  static __device__ void run(storage& memory, T (&items)[Items], int given, const T* in, T*) {
    T loaded[Items];
    load(memory).Load(in, loaded, given, T{});
    take(items, loaded);
  }
};

template <class Library, class T, int Threads, int Items, auto Algorithm>
struct store_work : transfer_work<T, Threads, Items> {
  using store = typename Library::template BlockStore<T, Threads, Items, Algorithm>;
  using storage = typename store::TempStorage;
  static __device__ void run(storage& memory, T (&items)[Items], int, const T*, T* out) {
    T stored[Items];
    bench::copy_items(items, stored);
    store(memory).Store(out, stored);
  }
};

template <class Library, class T, int Threads, int Items, auto Algorithm>
struct guarded_store_work : transfer_work<T, Threads, Items> {
  static constexpr int given = Threads * Items * 7 / 8 - 3;
  using store = typename Library::template BlockStore<T, Threads, Items, Algorithm>;
  using storage = typename store::TempStorage;
  static __device__ void run(storage& memory, T (&items)[Items], int given, const T*, T* out) {
    T stored[Items];
    bench::copy_items(items, stored);
    store(memory).Store(out, stored, given);
  }
};

#define BENCH_TRANSFER(name, base, kind, text)                    \
  template <class Library, class T, int Threads, int Items>       \
  struct name : base<Library, T, Threads, Items, Library::kind> { \
    static constexpr const char* algorithm = text;                \
  }
BENCH_TRANSFER(load_direct, load_work, load_direct, "BlockLoad::Load direct");
BENCH_TRANSFER(load_striped, load_work, load_striped, "BlockLoad::Load striped");
BENCH_TRANSFER(load_vectorize, load_work, load_vectorize, "BlockLoad::Load vectorize");
BENCH_TRANSFER(load_transpose, load_work, load_transpose, "BlockLoad::Load transpose");
BENCH_TRANSFER(load_warp, load_work, load_warp_transpose, "BlockLoad::Load warp transpose");
BENCH_TRANSFER(load_timesliced, load_work, load_warp_transpose_timesliced, "BlockLoad::Load warp transpose timesliced");
BENCH_TRANSFER(guarded_load_direct, guarded_load_work, load_direct, "BlockLoad::Load direct guarded");
BENCH_TRANSFER(guarded_load_transpose, guarded_load_work, load_transpose, "BlockLoad::Load transpose guarded");
BENCH_TRANSFER(guarded_load_warp, guarded_load_work, load_warp_transpose, "BlockLoad::Load warp transpose guarded");
BENCH_TRANSFER(store_direct, store_work, store_direct, "BlockStore::Store direct");
BENCH_TRANSFER(store_striped, store_work, store_striped, "BlockStore::Store striped");
BENCH_TRANSFER(store_vectorize, store_work, store_vectorize, "BlockStore::Store vectorize");
BENCH_TRANSFER(store_transpose, store_work, store_transpose, "BlockStore::Store transpose");
BENCH_TRANSFER(store_warp, store_work, store_warp_transpose, "BlockStore::Store warp transpose");
BENCH_TRANSFER(store_timesliced, store_work, store_warp_transpose_timesliced,
               "BlockStore::Store warp transpose timesliced");
BENCH_TRANSFER(guarded_store_direct, guarded_store_work, store_direct, "BlockStore::Store direct guarded");
BENCH_TRANSFER(guarded_store_transpose, guarded_store_work, store_transpose, "BlockStore::Store transpose guarded");
#undef BENCH_TRANSFER

void add_cases(bench::suite& all) {
  using bench::add_collective;
  add_collective<load_direct, std::int32_t, 256, 8>(all, 8);
  add_collective<load_striped, std::int32_t, 256, 8>(all, 8);
  add_collective<load_vectorize, std::int32_t, 256, 8>(all, 8);
  add_collective<load_transpose, std::int32_t, 256, 8>(all, 8);
  add_collective<load_warp, std::int32_t, 256, 8>(all, 8);
  add_collective<load_timesliced, std::int32_t, 256, 8>(all, 8);
  add_collective<load_transpose, std::int8_t, 256, 16>(all, 8);
  add_collective<load_warp, double, 128, 15>(all, 4);
  add_collective<load_direct, struct16, 64, 4>(all, 4);
  add_collective<guarded_load_direct, std::int32_t, 256, 8>(all, 8);
  add_collective<guarded_load_transpose, std::int32_t, 256, 8>(all, 8);
  add_collective<guarded_load_warp, __half, 128, 15>(all, 8);
  add_collective<store_direct, std::int32_t, 256, 8>(all, 8);
  add_collective<store_striped, std::int32_t, 256, 8>(all, 8);
  add_collective<store_vectorize, std::int32_t, 256, 8>(all, 8);
  add_collective<store_transpose, std::int32_t, 256, 8>(all, 8);
  add_collective<store_warp, std::int32_t, 256, 8>(all, 8);
  add_collective<store_timesliced, std::int32_t, 256, 8>(all, 8);
  add_collective<store_transpose, std::uint64_t, 64, 23>(all, 2);
  add_collective<guarded_store_direct, std::int32_t, 256, 8>(all, 8);
  add_collective<guarded_store_transpose, float, 512, 4>(all, 8);
}

}  // namespace block_load_store_benchmark

int main(int argc, char** argv) {
  return bench::run("block_load_store", argc, argv, block_load_store_benchmark::add_cases, bench::more_columns::kernel);
}
