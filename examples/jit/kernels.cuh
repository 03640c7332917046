// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// NVRTC compiles this file when the program runs, after a text that the program makes of its options: the type
// `number`, and the functors `of_each` (the operator of each number) and `of_two` (the operator of the reduction).
#include <strata/block/block_load.cuh>
#include <strata/block/block_reduce.cuh>
#include <strata/core/macros.hpp>

constexpr int threads = 256;
constexpr int items_per_thread = 8;
constexpr int tile_items = threads * items_per_thread;

using Load = strata::BlockLoad<number, threads, items_per_thread, strata::BLOCK_LOAD_VECTORIZE>;
using Reduce = strata::BlockReduce<number, threads>;
union storage {
  Load::TempStorage load;
  Reduce::TempStorage reduce;
};

/// Reduces the first `valid` numbers (1 or more) by `of_two`, after `change`. Keeps the order of operands. Thread 0
/// gets the result.
template <class Change>
STRATA_D number reduce_tile(storage& shared, const number* in, int valid, Change change) {
  number items[items_per_thread];
  Load(shared.load).Load(in, items, valid);
  const int valid_here = valid - static_cast<int>(threadIdx.x) * items_per_thread;
  number sum = valid_here > 0 ? change(items[0]) : number{};
  STRATA_UNROLL
  for (int i = 1; i < items_per_thread; ++i) {
    if (i < valid_here) sum = of_two{}(sum, change(items[i]));
  }
  __syncthreads();
  return Reduce(shared.reduce).Reduce(sum, of_two{}, (valid + items_per_thread - 1) / items_per_thread);
}

/// Each block reduces a contiguous share of the tiles, at least one, to sums[block].
template <class Change>
STRATA_D void reduce_share(const number* in, long long count, number* sums, Change change) {
  STRATA_SHARED(shared, storage);
  const long long tiles = (count + tile_items - 1) / tile_items;
  const long long first = tiles * blockIdx.x / gridDim.x;
  const long long last = tiles * (blockIdx.x + 1) / gridDim.x;
  number sum{};
  for (long long tile = first; tile < last; ++tile) {
    const long long left = count - tile * tile_items;
    const int valid = left < tile_items ? static_cast<int>(left) : tile_items;
    const number of_tile = reduce_tile(shared, in + tile * tile_items, valid, change);
    sum = tile == first ? of_tile : of_two{}(sum, of_tile);
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// The operator and the reduction in one pass over the numbers.
extern "C" STRATA_KERNEL void change_and_reduce(const number* in, long long count, number* sums) {
  reduce_share(in, count, sums, of_each{});
}

struct unchanged {
  STRATA_D number operator()(number a) const { return a; }
};
/// Reduces the sums of the blocks.
extern "C" STRATA_KERNEL void reduce_sums(const number* in, long long count, number* sums) {
  reduce_share(in, count, sums, unchanged{});
}
