// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Misuse of warp/ that must not compile. tests/README.md says how this table is read.

// case: exchange_items
// expect: WarpExchange needs at least one item per thread
#include <strata/warp/warp_exchange.cuh>
namespace exchange_items {
#if defined(STRATA_CASE_exchange_items)
constexpr int count = 0;
#else
constexpr int count = 1;
#endif

STRATA_KERNEL void bytes(int* out) {
  *out = static_cast<int>(sizeof(typename strata::WarpExchange<int, count>::TempStorage));
}
}  // namespace exchange_items

// case: exchange_shuffle_scatter
// expect: WARP_EXCHANGE_SHUFFLE cannot scatter: use WARP_EXCHANGE_SMEM
#include <strata/warp/warp_exchange.cuh>
namespace exchange_shuffle_scatter {
#if defined(STRATA_CASE_exchange_shuffle_scatter)
constexpr auto algorithm = strata::WARP_EXCHANGE_SHUFFLE;
#else
constexpr auto algorithm = strata::WARP_EXCHANGE_SMEM;
#endif

STRATA_KERNEL void reverse(int* out) {
  using exchange = strata::WarpExchange<int, 1, 32, algorithm>;
  STRATA_SHARED(temp_storage, exchange::TempStorage);
  int items[1] = {static_cast<int>(threadIdx.x)};
  const int ranks[1] = {31 - items[0]};
  exchange(temp_storage).ScatterToStriped(items, ranks);
  out[threadIdx.x] = items[0];
}
}  // namespace exchange_shuffle_scatter

// case: exchange_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/warp/warp_exchange.cuh>
namespace exchange_trivially_copyable {
struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_CASE_exchange_trivially_copyable)
  STRATA_HD item(const item& other) : value(other.value) {}
  STRATA_HD item& operator=(const item& other) {
    value = other.value;
    return *this;
  }
#endif
};

STRATA_KERNEL void exchange(int* out) {
  using exchange = strata::WarpExchange<item, 2>;
  STRATA_SHARED(temp_storage, exchange::TempStorage);
  item items[2] = {item(1), item(2)};
  exchange(temp_storage).StripedToBlocked(items);
  *out = items[0].value;
}
}  // namespace exchange_trivially_copyable

// case: load_transpose_storage
// expect: WARP_LOAD_TRANSPOSE needs storage for each logical warp: pass a TempStorage to the constructor
#include <strata/warp/warp_load.cuh>
namespace load_transpose_storage {
STRATA_KERNEL void load(int* data) {
  int items[4] = {1, 2, 3, 4};
  using transposing = strata::WarpLoad<int, 4, strata::WARP_LOAD_TRANSPOSE>;
  STRATA_SHARED(temp_storage, transposing::TempStorage);
  transposing(temp_storage).Load(data, items);
  strata::WarpLoad<int, 4, strata::WARP_LOAD_VECTORIZE>().Load(data, items);
#ifdef STRATA_CASE_load_transpose_storage
  transposing().Load(data, items);
#endif
}
}  // namespace load_transpose_storage

// case: merge_sort_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/warp/warp_merge_sort.cuh>
namespace merge_sort_trivially_copyable {
struct counted {
  int value;
  counted() = default;
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
  counted& operator=(const counted&) = default;
};
struct plain {
  int value;
};
struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

#if defined(STRATA_CASE_merge_sort_trivially_copyable)
using value = counted;
#else
using value = plain;
#endif

STRATA_KERNEL void sort(int* out) {
  int keys[1] = {static_cast<int>(threadIdx.x) % 3};
  value values[1];
  values[0].value = 0;
  using Sort = strata::WarpMergeSort<int, 1, 32, value>;
  STRATA_SHARED(temp_storage, Sort::TempStorage);
  Sort(temp_storage).Sort(keys, values, is_less{});
  out[threadIdx.x] = values[0].value;
}
}  // namespace merge_sort_trivially_copyable

// case: reduce_batched_arrays
// expect: WarpReduceBatched: inputs must have as many items as batches
// expect: WarpReduceBatched: outputs must have Batches / LogicalWarpThreads items, rounded up
// expect: WarpReduceBatched::Reduce and Sum return the result of one batch
#include <strata/warp/warp_reduce_batched.cuh>
namespace reduce_batched_arrays {
#if defined(STRATA_CASE_reduce_batched_arrays)
constexpr int batches = 9;
#else
constexpr int batches = 8;
#endif

STRATA_KERNEL void sums(int* out) {
  using reduce = strata::WarpReduceBatched<int, batches, 8>;
  STRATA_SHARED(temp_storage, reduce::TempStorage);
  const int items[8] = {};
  int results[1];
  reduce(temp_storage).SumToStriped(items, results);
  out[threadIdx.x] = results[0] + reduce(temp_storage).Sum(items);
}
}  // namespace reduce_batched_arrays

// case: reduce_batched_width
// expect: WarpReduceBatched: LogicalWarpThreads must be a power of two from 1 to 32
// expect: WarpReduceBatched: Batches must not be negative
#include <strata/warp/warp_reduce_batched.cuh>
namespace reduce_batched_width {
#if defined(STRATA_CASE_reduce_batched_width)
constexpr int threads = 12, batches = -1;
#else
constexpr int threads = 16, batches = 2;
#endif

STRATA_KERNEL void bytes(int* out) {
  *out = static_cast<int>(sizeof(typename strata::WarpReduceBatched<int, 2, threads>::TempStorage) +
                          sizeof(typename strata::WarpReduceBatched<int, batches, 16>::TempStorage));
}
}  // namespace reduce_batched_width

// case: reduce_operator
// expect first: the operator cannot be called with two values of these types
#include <strata/warp/warp_reduce.cuh>
namespace reduce_operator {
struct add {
#if defined(STRATA_CASE_reduce_operator)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

STRATA_KERNEL void kernel(const int* in, int* out) {
  using WarpReduce = strata::WarpReduce<int>;
  STRATA_SHARED(temp_storage, WarpReduce::TempStorage);
  out[threadIdx.x] = WarpReduce(temp_storage).Reduce(in[threadIdx.x], add{});
}
}  // namespace reduce_operator

// case: reduce_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/warp/warp_reduce.cuh>
namespace reduce_trivially_copyable {
struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_CASE_reduce_trivially_copyable)
  STRATA_HD item(const item& other) : value(other.value) {}
#endif
};

struct larger {
  STRATA_HD item operator()(const item& a, const item& b) const { return item(a.value < b.value ? b.value : a.value); }
};

STRATA_KERNEL void largest_of_a_warp(const int* in, int* out) {
  using reducer = strata::WarpReduce<item>;
  STRATA_SHARED(temp_storage, reducer::TempStorage);
  const item largest = reducer(temp_storage).Reduce(item(in[threadIdx.x]), larger{});
  if (threadIdx.x == 0) *out = largest.value;
}
}  // namespace reduce_trivially_copyable

// case: reduce_width
// expect: a logical warp has 1 to 32 threads: choose LogicalWarpThreads in that range
#include <strata/warp/warp_reduce.cuh>
namespace reduce_width {
#if defined(STRATA_CASE_reduce_width)
constexpr int width = 33;
#else
constexpr int width = 31;
#endif

STRATA_KERNEL void sum_of_a_warp(const int* in, int* out) {
  using reducer = strata::WarpReduce<int, width>;
  STRATA_SHARED(temp_storage, reducer::TempStorage);
  const int sum = reducer(temp_storage).Sum(in[threadIdx.x]);
  if (threadIdx.x == 0) *out = sum;
}
}  // namespace reduce_width

// case: scan_operator
// expect first: the operator cannot be called with two values of these types
#include <strata/warp/warp_scan.cuh>
namespace scan_operator {
struct add {
#if defined(STRATA_CASE_scan_operator)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

STRATA_KERNEL void kernel(const int* in, int* out) {
  using WarpScan = strata::WarpScan<int>;
  STRATA_SHARED(temp_storage, WarpScan::TempStorage);
  int sum;
  WarpScan(temp_storage).InclusiveScan(in[threadIdx.x], sum, add{});
  out[threadIdx.x] = sum;
}
}  // namespace scan_operator

// case: scan_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/warp/warp_scan.cuh>
namespace scan_trivially_copyable {
struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_CASE_scan_trivially_copyable)
  STRATA_HD item(const item& other) : value(other.value) {}
#endif
};

struct larger {
  STRATA_HD item operator()(const item& a, const item& b) const { return item(a.value < b.value ? b.value : a.value); }
};

STRATA_KERNEL void running_maximum(const int* in, int* out) {
  using scanner = strata::WarpScan<item>;
  STRATA_SHARED(temp_storage, scanner::TempStorage);
  item largest(in[threadIdx.x]);
  scanner(temp_storage).InclusiveScan(largest, largest, larger{});
  out[threadIdx.x] = largest.value;
}
}  // namespace scan_trivially_copyable

// case: store_transpose_storage
// expect: WARP_STORE_TRANSPOSE needs storage for each logical warp: pass a TempStorage to the constructor
#include <strata/warp/warp_store.cuh>
namespace store_transpose_storage {
STRATA_KERNEL void store(int* data) {
  int items[4] = {1, 2, 3, 4};
  using transposing = strata::WarpStore<int, 4, strata::WARP_STORE_TRANSPOSE>;
  STRATA_SHARED(temp_storage, transposing::TempStorage);
  transposing(temp_storage).Store(data, items);
  strata::WarpStore<int, 4, strata::WARP_STORE_VECTORIZE>().Store(data, items);
#ifdef STRATA_CASE_store_transpose_storage
  transposing().Store(data, items);
#endif
}
}  // namespace store_transpose_storage

// case: top_k_items
// expect: WarpTopK: a logical warp has at most 32,768 items
#include <strata/warp/warp_top_k.cuh>
namespace top_k_items {
#if defined(STRATA_CASE_top_k_items)
constexpr int items = 1025;
#else
constexpr int items = 1024;
#endif
using storage = strata::WarpTopK<int, items>::TempStorage;
}  // namespace top_k_items

// case: top_k_lanes
// expect: WarpTopK: LogicalWarpThreads must be a power of two from 1 to 32
#include <strata/warp/warp_top_k.cuh>
namespace top_k_lanes {
#if defined(STRATA_CASE_top_k_lanes)
using instantiated = strata::WarpTopK<float, 4, 12>::TempStorage;
#else
using instantiated = strata::WarpTopK<float, 4, 16>::TempStorage;
#endif
}  // namespace top_k_lanes
