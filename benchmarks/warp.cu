// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares collectives of logical warps of 4 to 32 lanes with CUB's: reductions, scans, merge sorts, exchanges, loads
// and stores. A case 16x4 has about 16 lanes with 4 items each.

#if __has_include(<cub/warp/warp_reduce_batched.cuh>)
#include <cub/warp/warp_reduce_batched.cuh>
#define BENCH_HAS_BATCHED 1
#endif
#include <cuda/functional>
#include <cuda/std/functional>
#include <strata/warp/warp_reduce_batched.cuh>

#include <cstdint>
#include <type_traits>

#include "harness/collectives.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace warp_benchmark {

using bench::item_kind;
using bench::struct16;
using bench::warp_work;

// ------------------------------------------------------------------ reductions

/// Writes the result to the first item of lane 0, so that the next round depends on it.
template <class Library, class T, int Lanes, int Items, item_kind Kind>
struct reduction : warp_work<T, Lanes, Items, typename Library::template WarpReduce<T, Lanes>, Kind> {
  static __device__ void keep(const T& result, T (&items)[Items]) {
    if (reduction::lane() == 0) items[0] = result;
  }
};

template <class Library, class T, int Lanes, int Items>
struct sum : reduction<Library, T, Lanes, Items, item_kind::numbers> {
  static constexpr const char* algorithm = "WarpReduce::Sum";
  static __device__ void run(typename sum::storage& memory, T (&items)[Items], int) {
    sum::keep(sum::in(memory).Sum(items[0]), items);
  }
};

template <class Library, class T, int Lanes, int Items>
struct sum_partial : reduction<Library, T, Lanes, Items, item_kind::numbers> {
  static constexpr const char* algorithm = "WarpReduce::Sum partial";
  static constexpr int given = Lanes * 3 / 4 - 1;
  static __device__ void run(typename sum_partial::storage& memory, T (&items)[Items], int given) {
    sum_partial::keep(sum_partial::in(memory).Sum(items[0], given), items);
  }
};

template <class Library, class T, int Lanes, int Items>
struct maximum : reduction<Library, T, Lanes, Items, item_kind::keys> {
  static constexpr const char* algorithm = "WarpReduce::Reduce max";
  static __device__ void run(typename maximum::storage& memory, T (&items)[Items], int) {
    maximum::keep(maximum::in(memory).Reduce(items[0], cuda::maximum<>{}), items);
  }
};

template <class Library, class T, int Lanes, int Items>
struct composition : reduction<Library, T, Lanes, Items, item_kind::keys> {
  static constexpr const char* algorithm = "WarpReduce::Reduce compose";
  static __device__ void run(typename composition::storage& memory, T (&items)[Items], int) {
    composition::keep(composition::in(memory).Reduce(items[0], bench::compose{}), items);
  }
};

/// About one of four lanes begins a segment.
template <class Library, class T, int Lanes, int Items>
struct head_segments : reduction<Library, T, Lanes, Items, item_kind::numbers> {
  static constexpr const char* algorithm = "WarpReduce::HeadSegmentedSum";
  static __device__ void run(typename head_segments::storage& memory, T (&items)[Items], int) {
    const bool is_head = (static_cast<unsigned>(items[0]) & 0x30) == 0;
    head_segments::keep(head_segments::in(memory).HeadSegmentedSum(items[0], is_head), items);
  }
};

template <class Library, class T, int Lanes, int Items>
struct tail_segments : reduction<Library, T, Lanes, Items, item_kind::numbers> {
  static constexpr const char* algorithm = "WarpReduce::TailSegmentedSum";
  static __device__ void run(typename tail_segments::storage& memory, T (&items)[Items], int) {
    const bool is_tail = (static_cast<unsigned>(items[0]) & 0x30) == 0;
    tail_segments::keep(tail_segments::in(memory).TailSegmentedSum(items[0], is_tail), items);
  }
};

#if BENCH_HAS_BATCHED
// CUB has this class since 3.5. Item b of a lane belongs to batch b.
template <class Library, class T, int Batches, int Lanes>
using batched_of =
    std::conditional_t<std::is_same_v<Library, bench::on_strata>, strata::WarpReduceBatched<T, Batches, Lanes>,
                       cub::WarpReduceBatched<T, Batches, Lanes>>;

template <class Library, class T, int Lanes, int Items>
struct batched_sum : warp_work<T, Lanes, Items, batched_of<Library, T, Items, Lanes>, item_kind::numbers> {
  static constexpr const char* algorithm = "WarpReduceBatched::Sum";
  static constexpr int sums = (Items + Lanes - 1) / Lanes;
  static __device__ void run(typename batched_sum::storage& memory, T (&items)[Items], int) {
    T results[sums];
    batched_sum::in(memory).SumToStriped(items, results);
    STRATA_UNROLL
    for (int i = 0; i < sums; ++i) {
      if (batched_sum::lane() + i * Lanes < Items) items[i] = results[i];
    }
  }
};

template <class Library, class T, int Lanes, int Items>
struct batched_maximum : warp_work<T, Lanes, Items, batched_of<Library, T, Items, Lanes>> {
  static constexpr const char* algorithm = "WarpReduceBatched::Reduce max";
  static constexpr int maxima = (Items + Lanes - 1) / Lanes;
  static __device__ void run(typename batched_maximum::storage& memory, T (&items)[Items], int) {
    T results[maxima];
    batched_maximum::in(memory).ReduceToBlocked(items, results, cuda::maximum<>{});
    STRATA_UNROLL
    for (int i = 0; i < maxima; ++i) {
      if (batched_maximum::lane() * maxima + i < Items) items[i] = results[i];
    }
  }
};
#endif

// ------------------------------------------------------------------ scans

template <class Library, class T, int Lanes, int Items, item_kind Kind>
using scan_work = warp_work<T, Lanes, Items, typename Library::template WarpScan<T, Lanes>, Kind>;

template <class Library, class T, int Lanes, int Items>
struct exclusive_sum : scan_work<Library, T, Lanes, Items, item_kind::numbers> {
  static constexpr const char* algorithm = "WarpScan::ExclusiveSum";
  static __device__ void run(typename exclusive_sum::storage& memory, T (&items)[Items], int) {
    exclusive_sum::in(memory).ExclusiveSum(items[0], items[0]);
  }
};

template <class Library, class T, int Lanes, int Items>
struct inclusive_sum : scan_work<Library, T, Lanes, Items, item_kind::numbers> {
  static constexpr const char* algorithm = "WarpScan::InclusiveSum with aggregate";
  static __device__ void run(typename inclusive_sum::storage& memory, T (&items)[Items], int) {
    T aggregate;
    inclusive_sum::in(memory).InclusiveSum(items[0], items[0], aggregate);
    items[0] += aggregate;
  }
};

template <class Library, class T, int Lanes, int Items>
struct both_scans : scan_work<Library, T, Lanes, Items, item_kind::keys> {
  static constexpr const char* algorithm = "WarpScan::Scan max";
  static __device__ void run(typename both_scans::storage& memory, T (&items)[Items], int) {
    T inclusive, exclusive;
    both_scans::in(memory).Scan(items[0], inclusive, exclusive, T{}, cuda::maximum<>{});
    items[0] = bench::mixed(inclusive, exclusive);
  }
};

template <class Library, class T, int Lanes, int Items>
struct compositions : scan_work<Library, T, Lanes, Items, item_kind::keys> {
  static constexpr const char* algorithm = "WarpScan::InclusiveScan compose";
  static __device__ void run(typename compositions::storage& memory, T (&items)[Items], int) {
    compositions::in(memory).InclusiveScan(items[0], items[0], bench::compose{});
  }
};

template <class Library, class T, int Lanes, int Items>
struct broadcast : scan_work<Library, T, Lanes, Items, item_kind::keys> {
  static constexpr const char* algorithm = "WarpScan::Broadcast";
  static constexpr int given = 2;
  static __device__ void run(typename broadcast::storage& memory, T (&items)[Items], int given) {
    items[0] = bench::mixed(items[0], broadcast::in(memory).Broadcast(items[0], static_cast<unsigned>(given)));
  }
};

// ------------------------------------------------------------------ sorts

template <class T>
using less = std::conditional_t<std::is_same_v<T, struct16>, bench::has_lower_key, cuda::std::less<>>;

template <class Library, class T, int Lanes, int Items>
struct sort_keys : warp_work<T, Lanes, Items, typename Library::template WarpMergeSort<T, Lanes, Items>> {
  static constexpr const char* algorithm = "WarpMergeSort::Sort";
  static __device__ void run(typename sort_keys::storage& memory, T (&keys)[Items], int) {
    sort_keys::in(memory).Sort(keys, less<T>{});
  }
};

template <class Library, class T, int Lanes, int Items>
struct sort_pairs : warp_work<T, Lanes, Items, typename Library::template WarpMergeSort<T, Lanes, Items, unsigned>> {
  static constexpr const char* algorithm = "WarpMergeSort::Sort pairs";
  static __device__ void run(typename sort_pairs::storage& memory, T (&keys)[Items], int) {
    unsigned values[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) values[i] = static_cast<unsigned>(sort_pairs::lane() * Items + i);
    sort_pairs::in(memory).StableSort(keys, values, less<T>{});
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) keys[i] = bench::marked(keys[i], values[i]);
  }
};

// ------------------------------------------------------------------ exchanges

template <class Library, class T, int Lanes, int Items, auto Algorithm>
using exchange_work = warp_work<T, Lanes, Items, typename Library::template WarpExchange<T, Lanes, Items, Algorithm>>;

template <class Library, class T, int Lanes, int Items>
struct striped_to_blocked : exchange_work<Library, T, Lanes, Items, Library::warp_exchange_smem> {
  static constexpr const char* algorithm = "WarpExchange::StripedToBlocked";
  static __device__ void run(typename striped_to_blocked::storage& memory, T (&items)[Items], int) {
    striped_to_blocked::in(memory).StripedToBlocked(items, items);
  }
};

template <class Library, class T, int Lanes, int Items>
struct blocked_to_striped : exchange_work<Library, T, Lanes, Items, Library::warp_exchange_smem> {
  static constexpr const char* algorithm = "WarpExchange::BlockedToStriped";
  static __device__ void run(typename blocked_to_striped::storage& memory, T (&items)[Items], int) {
    blocked_to_striped::in(memory).BlockedToStriped(items, items);
  }
};

template <class Library, class T, int Lanes, int Items>
struct by_shuffles : exchange_work<Library, T, Lanes, Items, Library::warp_exchange_shuffle> {
  static constexpr const char* algorithm = "WarpExchange::StripedToBlocked shuffle";
  static __device__ void run(typename by_shuffles::storage& memory, T (&items)[Items], int) {
    by_shuffles::in(memory).StripedToBlocked(items, items);
  }
};

template <class Library, class T, int Lanes, int Items>
struct scatter : exchange_work<Library, T, Lanes, Items, Library::warp_exchange_smem> {
  static constexpr const char* algorithm = "WarpExchange::ScatterToStriped";
  static constexpr int given = 77;
  static __device__ void run(typename scatter::storage& memory, T (&items)[Items], int given) {
    int ranks[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) ranks[i] = (scatter::lane() * Items + i) * given % (Lanes * Items);
    scatter::in(memory).ScatterToStriped(items, ranks);
  }
};

// ------------------------------------------------------------------ loads and stores

template <class Library, class T, int Lanes, int Items, auto Algorithm>
struct load_work : warp_work<T, Lanes, Items, typename Library::template WarpLoad<T, Lanes, Items, Algorithm>> {
  static constexpr int tiles = 1024;
  static constexpr bool is_transfer = true;
  static __device__ void run(typename load_work::storage& memory, T (&items)[Items], int, const T* in, T*) {
    T loaded[Items];
    load_work::in(memory).Load(in + load_work::warp() * (Lanes * Items), loaded);
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) items[i] = bench::mixed(items[i], loaded[i]);
  }
};

template <class Library, class T, int Lanes, int Items, auto Algorithm>
struct store_work : warp_work<T, Lanes, Items, typename Library::template WarpStore<T, Lanes, Items, Algorithm>> {
  static constexpr int tiles = 1024;
  static constexpr bool is_transfer = true;
  static __device__ void run(typename store_work::storage& memory, T (&items)[Items], int, const T*, T* out) {
    T stored[Items];
    bench::copy_items(items, stored);
    store_work::in(memory).Store(out + store_work::warp() * (Lanes * Items), stored);
  }
};

#define BENCH_TRANSFER(name, base, kind, text)                  \
  template <class Library, class T, int Lanes, int Items>       \
  struct name : base<Library, T, Lanes, Items, Library::kind> { \
    static constexpr const char* algorithm = text;              \
  }
BENCH_TRANSFER(load_direct, load_work, warp_load_direct, "WarpLoad::Load direct");
BENCH_TRANSFER(load_striped, load_work, warp_load_striped, "WarpLoad::Load striped");
BENCH_TRANSFER(load_vectorize, load_work, warp_load_vectorize, "WarpLoad::Load vectorize");
BENCH_TRANSFER(load_transpose, load_work, warp_load_transpose, "WarpLoad::Load transpose");
BENCH_TRANSFER(store_direct, store_work, warp_store_direct, "WarpStore::Store direct");
BENCH_TRANSFER(store_striped, store_work, warp_store_striped, "WarpStore::Store striped");
BENCH_TRANSFER(store_vectorize, store_work, warp_store_vectorize, "WarpStore::Store vectorize");
BENCH_TRANSFER(store_transpose, store_work, warp_store_transpose, "WarpStore::Store transpose");
#undef BENCH_TRANSFER

void add_cases(bench::suite& all) {
  using bench::add_collective;
  add_collective<sum, std::int32_t, 32, 1>(all, 64);
  add_collective<sum, std::int32_t, 16, 1>(all, 64);
  add_collective<sum, std::int32_t, 8, 1>(all, 64);
  add_collective<sum, std::int32_t, 4, 1>(all, 64);
  add_collective<sum, float, 32, 1>(all, 64);
  add_collective<sum, double, 32, 1>(all, 32);
  add_collective<sum, std::uint64_t, 32, 1>(all, 32);
  add_collective<sum, __half, 32, 1>(all, 48);
  add_collective<sum_partial, std::int32_t, 32, 1>(all, 48);
  add_collective<maximum, std::int32_t, 32, 1>(all, 64);
  add_collective<maximum, float, 32, 1>(all, 64);
  add_collective<composition, struct16, 32, 1>(all, 12);
  add_collective<head_segments, std::int32_t, 32, 1>(all, 48);
  add_collective<tail_segments, std::int32_t, 16, 1>(all, 48);
#if BENCH_HAS_BATCHED
  add_collective<batched_sum, std::int32_t, 32, 2>(all, 32);
  add_collective<batched_sum, std::int32_t, 32, 8>(all, 16);
  add_collective<batched_sum, std::int32_t, 32, 32>(all, 4);
  add_collective<batched_sum, std::int32_t, 16, 16>(all, 8);
  add_collective<batched_sum, std::int32_t, 8, 13>(all, 8);
  add_collective<batched_sum, float, 32, 3>(all, 32);
  add_collective<batched_sum, float, 32, 16>(all, 8);
  add_collective<batched_sum, double, 32, 8>(all, 8);
  add_collective<batched_sum, __half, 32, 16>(all, 8);
  add_collective<batched_maximum, float, 32, 8>(all, 16);
  add_collective<batched_maximum, std::int32_t, 32, 64>(all, 2);
  add_collective<batched_maximum, std::int32_t, 4, 8>(all, 16);
#endif
  add_collective<exclusive_sum, std::int32_t, 32, 1>(all, 48);
  add_collective<exclusive_sum, std::int32_t, 16, 1>(all, 48);
  add_collective<exclusive_sum, std::int32_t, 8, 1>(all, 48);
  add_collective<exclusive_sum, std::int32_t, 4, 1>(all, 48);
  add_collective<exclusive_sum, float, 32, 1>(all, 48);
  add_collective<exclusive_sum, double, 32, 1>(all, 24);
  add_collective<inclusive_sum, std::int32_t, 32, 1>(all, 48);
  add_collective<inclusive_sum, std::uint64_t, 32, 1>(all, 24);
  add_collective<both_scans, std::int32_t, 32, 1>(all, 48);
  add_collective<compositions, struct16, 32, 1>(all, 8);
  add_collective<broadcast, std::int32_t, 16, 1>(all, 64);
  add_collective<sort_keys, std::int32_t, 32, 1>(all, 16);
  add_collective<sort_keys, std::int32_t, 32, 4>(all, 8);
  add_collective<sort_keys, std::int32_t, 32, 8>(all, 4);
  add_collective<sort_keys, std::int32_t, 16, 4>(all, 8);
  add_collective<sort_keys, std::int32_t, 8, 4>(all, 8);
  add_collective<sort_keys, float, 4, 8>(all, 8);
  add_collective<sort_keys, double, 32, 4>(all, 4);
  add_collective<sort_keys, struct16, 16, 4>(all, 4);
  add_collective<sort_pairs, std::int32_t, 32, 4>(all, 8);
  add_collective<sort_pairs, __half, 32, 8>(all, 4);
  add_collective<striped_to_blocked, std::int32_t, 32, 4>(all, 32);
  add_collective<striped_to_blocked, std::int8_t, 32, 16>(all, 16);
  add_collective<striped_to_blocked, std::int32_t, 8, 8>(all, 16);
  add_collective<blocked_to_striped, std::uint64_t, 32, 4>(all, 16);
  add_collective<blocked_to_striped, std::int32_t, 16, 15>(all, 8);
  add_collective<by_shuffles, std::int32_t, 8, 8>(all, 16);
  add_collective<by_shuffles, std::int32_t, 16, 16>(all, 8);
  add_collective<scatter, std::int32_t, 32, 4>(all, 24);
  add_collective<load_direct, std::int32_t, 32, 4>(all, 16);
  add_collective<load_striped, std::int32_t, 32, 4>(all, 16);
  add_collective<load_vectorize, std::int32_t, 32, 4>(all, 16);
  add_collective<load_transpose, std::int32_t, 32, 4>(all, 16);
  add_collective<load_transpose, double, 8, 4>(all, 8);
  add_collective<store_direct, std::int32_t, 32, 4>(all, 16);
  add_collective<store_striped, std::int32_t, 32, 4>(all, 16);
  add_collective<store_vectorize, std::int32_t, 32, 4>(all, 16);
  add_collective<store_transpose, std::int32_t, 32, 4>(all, 16);
  add_collective<store_transpose, double, 8, 4>(all, 8);
}

}  // namespace warp_benchmark

int main(int argc, char** argv) {
  return bench::run("warp", argc, argv, warp_benchmark::add_cases, bench::more_columns::kernel);
}
