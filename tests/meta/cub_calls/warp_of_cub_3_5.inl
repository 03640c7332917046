// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What CUB's warp layer has since 3.4. See calls.cuh.

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
