// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// BlockHistogram must give the same counts as CUB's.
#include <strata/block/block_histogram.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cub/block/block_histogram.cuh>

#include <cstddef>
#include <vector>

#include "support/test_support.cuh"

namespace {

using strata_test::device_vector;

template <bool Sorts, class T, class Counter, int X, int Items, int Bins, int Y = 1, int Z = 1>
struct histogram_case {
  using type = T;
  using counter = Counter;
  using by_strata =
      strata::BlockHistogram<T, X, Items, Bins, Sorts ? strata::BLOCK_HISTO_SORT : strata::BLOCK_HISTO_ATOMIC, Y, Z>;
  using by_cub = cub::BlockHistogram<T, X, Items, Bins, Sorts ? cub::BLOCK_HISTO_SORT : cub::BLOCK_HISTO_ATOMIC, Y, Z>;
  static constexpr int items = Items, bins = Bins, threads = X * Y * Z, tile = threads * Items;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }
  STRATA_D static int thread() {
    return static_cast<int>(threadIdx.x) + X * static_cast<int>(threadIdx.y + Y * threadIdx.z);
  }
};

// Writes three histograms to `out`. The second one is added to the counts that are there.
template <class Library, class Case>
STRATA_KERNEL void count(const typename Case::type* in, typename Case::counter* out) {
  using T = typename Case::type;
  STRATA_SHARED(temp_storage, typename Library::TempStorage);
  STRATA_SHARED(shared, typename Case::counter[Case::bins]);
  T items[Case::items];
  for (int i = 0; i < Case::items; ++i) items[i] = in[Case::thread() * Case::items + i];
  Library(temp_storage).Histogram(items, shared);
  __syncthreads();
  Library(temp_storage).Composite(items, out + Case::bins);
  Library().InitHistogram(out);
  __syncthreads();
  Library().Composite(items, out);
  __syncthreads();
  for (int bin = Case::thread(); bin < Case::bins; bin += Case::threads) {
    out[2 * Case::bins + bin] = shared[bin];
  }
}

template <class Case>
class block_histogram_cub : public testing::Test {};
using cases =
    testing::Types<histogram_case<true, unsigned char, unsigned, 128, 4, 256>,
                   histogram_case<true, int, short, 33, 3, 1000>, histogram_case<true, short, double, 8, 3, 30, 4, 3>,
                   histogram_case<true, long long, std::size_t, 64, 5, 2>,
                   histogram_case<false, unsigned char, unsigned, 128, 4, 256>,
                   histogram_case<false, int, int, 33, 3, 1000>, histogram_case<false, short, float, 8, 3, 30, 4, 3>,
                   histogram_case<false, long long, unsigned long long, 64, 5, 2>>;
TYPED_TEST_SUITE(block_histogram_cub, cases);

TYPED_TEST(block_histogram_cub, counts_the_same) {
  using T = typename TypeParam::type;
  using counter = typename TypeParam::counter;
  constexpr std::size_t tile = TypeParam::tile, bins = TypeParam::bins;
  for (const int largest : {0, TypeParam::bins / 3, TypeParam::bins - 1}) {
    std::vector<T> samples;
    for (const int bin : strata_test::random_integers(tile, 0, largest)) samples.push_back(static_cast<T>(bin));
    const device_vector<T> in(samples);
    const std::vector<counter> sevens(3 * bins, static_cast<counter>(7));
    device_vector<counter> ours(sevens), theirs(sevens);
    ASSERT_CUDA_SUCCESS(strata::launch({"ours", 1, TypeParam::dimensions()},
                                       count<typename TypeParam::by_strata, TypeParam>, in.data(), ours.data()));
    ASSERT_CUDA_SUCCESS(strata::launch({"theirs", 1, TypeParam::dimensions()},
                                       count<typename TypeParam::by_cub, TypeParam>, in.data(), theirs.data()));
    ASSERT_EQ(ours.to_host(), theirs.to_host());
  }
}

}  // namespace
