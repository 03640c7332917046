// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums and scans of logical warps, in wrapper templates.
#include <cub/cub.cuh>

template <typename T, int Lanes>
struct warp_reduce : cub::WarpReduce<T, Lanes> {
  typename cub::WarpReduce<T, Lanes>::TempStorage& storage;
  __device__ explicit warp_reduce(typename cub::WarpReduce<T, Lanes>::TempStorage& s)
      : cub::WarpReduce<T, Lanes>(s), storage(s) {}
};

template <int Lanes>
__global__ void sums(int* items) {
  __shared__ typename cub::WarpReduce<int, Lanes>::TempStorage storage[128 / Lanes];
  __shared__ typename cub::WarpScan<int, Lanes>::TempStorage scan[128 / Lanes];
  const int warp = threadIdx.x / Lanes;
  int item = warp_reduce<int, Lanes>(storage[warp]).Sum(items[threadIdx.x]);
  cub::WarpScan<int, Lanes>(scan[warp]).ExclusiveSum(item, item);
  items[threadIdx.x] = cub::ShuffleIndex<Lanes>(item, 0, cub::WarpMask<Lanes>(0));
}
template __global__ void sums<16>(int*);
