// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Block classes, through an alias of the namespace.
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
namespace other_cub = cub;

template <int Threads, int Items>
__global__ void quantize(const float* in, float* largest, unsigned char* out, int count) {
  using LoadFloat = other_cub::BlockLoad<float, Threads, Items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using StoreChar = cub::BlockStore<unsigned char, Threads, Items, other_cub::BLOCK_STORE_WARP_TRANSPOSE>;
  typedef ::cub::BlockReduce<float, Threads> BlockReduce;
  __shared__ typename LoadFloat::TempStorage load;
  __shared__ typename StoreChar::TempStorage store;
  __shared__ typename BlockReduce::TempStorage reduce;
  float items[Items];
  unsigned char codes[Items];
  LoadFloat(load).Load(in, items, count, 0.0f);
  float max = 0;
  for (float item : items) max = fmaxf(max, fabsf(item));
  max = BlockReduce(reduce).Reduce(max, [] __device__(float a, float b) { return fmaxf(a, b); });
  if (threadIdx.x == 0) *largest = max;
  for (int i = 0; i < Items; ++i) codes[i] = static_cast<unsigned char>(items[i]);
  StoreChar(store).Store(out, codes, count);
}
template __global__ void quantize<128, 4>(const float*, float*, unsigned char*, int);
