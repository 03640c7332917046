// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of the warp layer that were added in CUB 3.1 to 3.5. See calls.cuh.

struct larger_of {
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

inline void warp_reduce_batched(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<64>("WarpReduceBatched::Sum: three batches", [] __device__(const int* in, int* out) {
    using WarpReduce = lib::WarpReduceBatched<int, 3>;
    __shared__ typename WarpReduce::TempStorage temp_storage[2];
    const int items[3] = {in[thread()], in[64 + thread()], in[128 + thread()]};
    const int sum = WarpReduce(temp_storage[thread() / 32]).Sum(items);
    if (thread() % 32 < 3) out[thread()] = sum;
  });
  all.block<32>("WarpReduceBatched::Reduce: logical warps of 8, an operator of the user",
                [] __device__(const int* in, int* out) {
                  using WarpReduce = lib::WarpReduceBatched<int, 2, 8>;
                  __shared__ typename WarpReduce::TempStorage temp_storage[4];
                  const int items[2] = {in[thread()], in[32 + thread()]};
                  const int most = WarpReduce(temp_storage[thread() / 8]).Reduce(items, larger_of{});
                  if (thread() % 8 < 2) out[thread()] = most;
                });
  all.block<32>("WarpReduceBatched::SumToStriped: more batches than lanes", [] __device__(const int* in, int* out) {
    using WarpReduce = lib::WarpReduceBatched<int, 8, 4>;
    __shared__ typename WarpReduce::TempStorage temp_storage[8];
    int items[8], sums[2];
    for (int i = 0; i < 8; ++i) items[i] = in[32 * i + thread()];
    WarpReduce(temp_storage[thread() / 4]).SumToStriped(items, sums);
    for (int i = 0; i < 2; ++i) out[2 * thread() + i] = sums[i];
  });
  all.block<32>("WarpReduceBatched::SumToBlocked: more batches than lanes", [] __device__(const int* in, int* out) {
    using WarpReduce = lib::WarpReduceBatched<int, 8, 4>;
    __shared__ typename WarpReduce::TempStorage temp_storage[8];
    int items[8], sums[2];
    for (int i = 0; i < 8; ++i) items[i] = in[32 * i + thread()];
    WarpReduce(temp_storage[thread() / 4]).SumToBlocked(items, sums);
    for (int i = 0; i < 2; ++i) out[2 * thread() + i] = sums[i];
  });
  all.block<32>("WarpReduceBatched::ReduceToStriped: an operator of the user", [] __device__(const int* in, int* out) {
    using WarpReduce = lib::WarpReduceBatched<int, 4, 4>;
    __shared__ typename WarpReduce::TempStorage temp_storage[8];
    int items[4], most[1];
    for (int i = 0; i < 4; ++i) items[i] = in[32 * i + thread()];
    WarpReduce(temp_storage[thread() / 4]).ReduceToStriped(items, most, larger_of{});
    out[thread()] = most[0];
  });
  all.block<32>("WarpReduceBatched::ReduceToBlocked: an operator of the user", [] __device__(const int* in, int* out) {
    using WarpReduce = lib::WarpReduceBatched<int, 4, 4>;
    __shared__ typename WarpReduce::TempStorage temp_storage[8];
    int items[4], most[1];
    for (int i = 0; i < 4; ++i) items[i] = in[32 * i + thread()];
    WarpReduce(temp_storage[thread() / 4]).ReduceToBlocked(items, most, larger_of{});
    out[thread()] = most[0];
  });
}

inline void warp_reduce_extremes(cub_calls::recorder& all) {
  using namespace cub_calls;
#define STRATA_REDUCE(name, ...)                                            \
  all.block<64>(name, [] __device__(const int* in, int* out) {              \
    using WarpReduce = lib::WarpReduce<int, 16>;                            \
    __shared__ typename WarpReduce::TempStorage temp_storage[4];            \
    const int item = in[thread()];                                          \
    const int two[2] = {item, in[64 + thread()]};                           \
    const cuda::std::array<int, 2> array{item, in[64 + thread()]};          \
    const cuda::std::span<const int, 2> span(array.data(), 2);              \
    static_cast<void>(two), static_cast<void>(span);                        \
    const int result = WarpReduce(temp_storage[thread() / 16]).__VA_ARGS__; \
    if (thread() % 16 == 0) out[thread()] = result;                         \
  })
  STRATA_REDUCE("WarpReduce::Min: logical warps", Min(item));
  STRATA_REDUCE("WarpReduce::Min: some lanes", Min(item, 11));
  STRATA_REDUCE("WarpReduce::Min: items of each lane", Min(two));
  STRATA_REDUCE("WarpReduce::Max: logical warps", Max(item));
  STRATA_REDUCE("WarpReduce::Max: some lanes", Max(item, 11));
  STRATA_REDUCE("WarpReduce::Max: items of each lane", Max(two));
  STRATA_REDUCE("WarpReduce::Max: cuda::std::array", Max(array));
  STRATA_REDUCE("WarpReduce::Min: cuda::std::span", Min(span));
  STRATA_REDUCE("WarpReduce::Sum: cuda::std::array", Sum(array));
  STRATA_REDUCE("WarpReduce::Sum: items of each lane", Sum(two));
  STRATA_REDUCE("WarpReduce::Reduce: cuda::std::array", Reduce(array, larger_of{}));
  STRATA_REDUCE("WarpReduce::Reduce: items of each lane", Reduce(two, larger_of{}));
#undef STRATA_REDUCE
}

inline void warp_scan_partial(cub_calls::recorder& all) {
  using namespace cub_calls;
#define STRATA_SCAN(name, ...)                                 \
  all.block<64>(name, [] __device__(const int* in, int* out) { \
    using WarpScan = lib::WarpScan<int, 16>;                   \
    __shared__ typename WarpScan::TempStorage temp_storage[4]; \
    const int item = in[thread()];                             \
    int result = 0, other = 0, aggregate = 0;                  \
    static_cast<void>(aggregate);                              \
    WarpScan(temp_storage[thread() / 16]).__VA_ARGS__;         \
    if (thread() % 16 > 0 && thread() % 16 < 11) {             \
      out[thread()] = result;                                  \
      out[1024 + thread()] = other;                            \
      out[2048 + thread()] = aggregate;                        \
    }                                                          \
  })
  STRATA_SCAN("WarpScan::InclusiveScanPartial: some lanes", InclusiveScanPartial(item, result, larger_of{}, 11));
  STRATA_SCAN("WarpScan::InclusiveScanPartial: and the aggregate",
              InclusiveScanPartial(item, result, larger_of{}, 11, aggregate));
  STRATA_SCAN("WarpScan::InclusiveScanPartial: an initial value",
              InclusiveScanPartial(item, result, 500, larger_of{}, 11));
  STRATA_SCAN("WarpScan::InclusiveScanPartial: an initial value, and the aggregate",
              InclusiveScanPartial(item, result, 500, larger_of{}, 11, aggregate));
  STRATA_SCAN("WarpScan::ExclusiveScanPartial: some lanes", ExclusiveScanPartial(item, result, larger_of{}, 11));
  STRATA_SCAN("WarpScan::ExclusiveScanPartial: and the aggregate",
              ExclusiveScanPartial(item, result, larger_of{}, 11, aggregate));
  STRATA_SCAN("WarpScan::ExclusiveScanPartial: an initial value",
              ExclusiveScanPartial(item, result, 500, larger_of{}, 11));
  STRATA_SCAN("WarpScan::ExclusiveScanPartial: an initial value, and the aggregate",
              ExclusiveScanPartial(item, result, 500, larger_of{}, 11, aggregate));
  STRATA_SCAN("WarpScan::ScanPartial: inclusive and exclusive", ScanPartial(item, result, other, larger_of{}, 11));
  STRATA_SCAN("WarpScan::ScanPartial: an initial value", ScanPartial(item, result, other, 500, larger_of{}, 11));
#undef STRATA_SCAN
}

inline void warp_exchange_in_place(cub_calls::recorder& all) {
  using namespace cub_calls;
  all.block<32>("WarpExchange::ScatterToStriped: in place", [] __device__(const int* in, int* out) {
    using WarpExchange = lib::WarpExchange<int, 4, 16>;
    __shared__ typename WarpExchange::TempStorage temp_storage[2];
    int items[4], ranks[4];
    take(in, items);
    for (int i = 0; i < 4; ++i) ranks[i] = (thread() % 16 * 4 + i) * 5 % 64;
    WarpExchange(temp_storage[thread() / 16]).ScatterToStriped(items, ranks);
    keep(out, items);
  });
}
