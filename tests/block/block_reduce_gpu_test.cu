// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares BlockReduce with CUB's: one kernel source, with the library as a parameter.
#include <strata/block/block_reduce.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include <cub/block/block_reduce.cuh>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_reduce_cub_test {

using strata_test::device_vector;

enum class library { ours, cub };

// The library's algorithm with the same value as ours in its enumeration.
template <library Library, class T, int X, int Algorithm, int Y, int Z>
using block_reduce =
    std::conditional_t<Library == library::ours,
                       strata::BlockReduce<T, X, static_cast<strata::BlockReduceAlgorithm>(Algorithm), Y, Z>,
                       cub::BlockReduce<T, X, static_cast<cub::BlockReduceAlgorithm>(Algorithm), Y, Z>>;

static_assert(static_cast<int>(strata::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY) ==
                  static_cast<int>(cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY) &&
              static_cast<int>(strata::BLOCK_REDUCE_RAKING) == static_cast<int>(cub::BLOCK_REDUCE_RAKING) &&
              static_cast<int>(strata::BLOCK_REDUCE_WARP_REDUCTIONS) ==
                  static_cast<int>(cub::BLOCK_REDUCE_WARP_REDUCTIONS));

template <library Library, class T, int X, int Algorithm, int Y, int Z>
STRATA_KERNEL void reduce_in_every_form(const T* in, int num_valid, T* out) {
  using reducer = block_reduce<Library, T, X, Algorithm, Y, Z>;
  __shared__ typename reducer::TempStorage temp_storage;
  const unsigned rank = threadIdx.x + X * (threadIdx.y + Y * threadIdx.z);
  T items[3] = {in[3 * rank], in[3 * rank + 1], in[3 * rank + 2]};
  const strata_test::plain_sum op;

  T results[6];
  results[0] = reducer(temp_storage).Reduce(items[0], op);
  __syncthreads();
  results[1] = reducer(temp_storage).Reduce(items, op);
  __syncthreads();
  results[2] = reducer(temp_storage).Reduce(items[0], op, num_valid);
  __syncthreads();
  results[3] = reducer(temp_storage).Sum(items[0]);
  __syncthreads();
  results[4] = reducer(temp_storage).Sum(items);
  __syncthreads();
  results[5] = reducer().Sum(items[0], num_valid);
  if (rank == 0) {
    for (int i = 0; i < 6; ++i) out[i] = results[i];
  }
}

template <class T, int X, int Algorithm, int Y = 1, int Z = 1>
void compare() {
  constexpr int threads = X * Y * Z;
  // Small integers, whose sums are exact in any association.
  const device_vector<T> in(strata_test::random_items<T>(3 * threads, 0, strata_test::is_narrow_float<T> ? 1 : 100));
  for (const int num_valid : {1, threads / 2, threads}) {
    device_vector<T> ours(6), cubs(6);
    const dim3 block(X, Y, Z);
    ASSERT_CUDA_SUCCESS(strata::launch({"ours", 1, block}, reduce_in_every_form<library::ours, T, X, Algorithm, Y, Z>,
                                       in.data(), num_valid, ours.data()));
    ASSERT_CUDA_SUCCESS(strata::launch({"cub", 1, block}, reduce_in_every_form<library::cub, T, X, Algorithm, Y, Z>,
                                       in.data(), num_valid, cubs.data()));
    const std::vector<T> our_results = ours.to_host(), cub_results = cubs.to_host();
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_TRUE(strata_test::same_bits(our_results[i], cub_results[i]))
          << "form " << i << ", num_valid " << num_valid << ", algorithm " << Algorithm;
    }
  }
}

TEST(block_reduce, results_are_those_of_cub) {
  compare<int, 128, strata::BLOCK_REDUCE_WARP_REDUCTIONS>();
  compare<int, 128, strata::BLOCK_REDUCE_RAKING>();
  compare<int, 128, strata::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>();
  compare<double, 512, strata::BLOCK_REDUCE_WARP_REDUCTIONS>();
  compare<strata_test::struct12, 8, strata::BLOCK_REDUCE_WARP_REDUCTIONS, 4, 2>();
  compare<strata_test::struct16, 96, strata::BLOCK_REDUCE_RAKING>();
  compare<__half, 32, strata::BLOCK_REDUCE_WARP_REDUCTIONS, 2>();
  compare<std::uint8_t, 50, strata::BLOCK_REDUCE_WARP_REDUCTIONS>();
}

}  // namespace block_reduce_cub_test
