// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/classic/block_tree_reduce.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <vector>

#include "block/tree_cases.cuh"
#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_tree_reduce_test {

using namespace tree_cases;
using strata::BlockTreeReduce;
using strata::PaddedLayout;
using strata::PlainLayout;
using strata::SwizzledLayout;
using strata::TreeLayout;
using strata_test::device_vector;
using strata_test::is_small;
using strata_test::reference_reduce;

// ---------------------------------------------------------------------------- the model
template <class T, class Layout>
constexpr int step(int stride) {
  return strata::detail::tree_reduce_degree<T, Layout>(stride, 1024);
}
// Compares with the table in the header.
constexpr int strides[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
template <class T, class Layout>
constexpr bool has_degrees(const int (&expected)[10]) {
  for (int i = 0; i < 10; ++i) {
    if (step<T, Layout>(strides[i]) != expected[i]) return false;
  }
  return true;
}
static_assert(has_degrees<int, PlainLayout>({2, 4, 8, 16, 32, 16, 8, 4, 2, 1}));
static_assert(has_degrees<double, PlainLayout>({2, 4, 8, 16, 16, 16, 8, 4, 2, 1}));
static_assert(has_degrees<affine, PlainLayout>({2, 4, 8, 8, 8, 8, 8, 4, 2, 1}));
static_assert(has_degrees<int, TreeLayout<int, 1024>>({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
static_assert(has_degrees<double, TreeLayout<double, 1024>>({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
static_assert(has_degrees<affine, TreeLayout<affine, 1024>>({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
static_assert(has_degrees<int, SwizzledLayout<4, 32>>({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
static_assert(std::is_same_v<TreeLayout<int, 1024>, PaddedLayout<32, 1>>);
// Items smaller than a word, items of several accesses, and more items than a block has threads.
static_assert(strata::detail::tree_reduce_degree<char, TreeLayout<char, 16384>>(16384) == 1);
static_assert(strata::detail::tree_reduce_degree<short, TreeLayout<short, 4096>>(4096) == 1);
static_assert(strata::detail::tree_reduce_degree<range, TreeLayout<range, 2048>>(2048) == 1);
static_assert(strata::detail::tree_reduce_degree<int, TreeLayout<int, 2048>>(2048) == 1);
static_assert(strata::detail::tree_reduce_degree<int, PaddedLayout<32, 1>>(2048) == 2);
// Padding adds at most one element to every 31 elements.
static_assert(TreeLayout<int, 65536>::storage_elements(65536) * 31 <= 65536 * 32);

// ---------------------------------------------------------------------------- results
// Block b reduces the items of its first num_valid[b] threads, then those of all threads, with one storage. Then it
// reduces pairs of items, with private storage.
template <class T, int Threads, class Layout, class Operator>
STRATA_KERNEL void reduce_every_way(const T* in, const int* num_valid, T* out) {
  using reducer = BlockTreeReduce<T, Threads, Layout>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  const int valid = num_valid[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x);
  // Items of invalid threads must not be used, so these threads have the last item, which is out of place there.
  const T mine = thread < (valid < 1 ? 1 : valid) ? in[thread] : in[Threads - 1];
  const T pair[2] = {in[2 * thread], in[2 * thread + 1]};

  reducer reduce(temp_storage);
  const T partial = reduce.Reduce(mine, Operator{}, valid);
  __syncthreads();
  const T full = reduce.Reduce(in[thread], Operator{});
  const T of_pairs = reducer().Reduce(pair, Operator{});
  if (thread == 0) {
    out[3 * blockIdx.x] = partial;
    out[3 * blockIdx.x + 1] = full;
    out[3 * blockIdx.x + 2] = of_pairs;
  }
}

template <class T, class Operator, int Threads, class Layout>
void test_layout() {
  std::vector<T> items;
  for (int i = 0; i < 2 * Threads; ++i) items.push_back(item<T, Operator>(i));
  std::vector<int> num_valid{INT_MIN, 0, 1, 2, Threads / 2, Threads - 1, Threads, INT_MAX};
  if (Threads <= 100 && !is_small()) {
    for (int n = 3; n < Threads; ++n) num_valid.push_back(n);
  }
  const device_vector<T> in(items);
  const device_vector<int> counts(num_valid);
  device_vector<T> out(3 * num_valid.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_every_way", static_cast<unsigned>(num_valid.size()), unsigned{Threads}},
                                     reduce_every_way<T, Threads, Layout, Operator>, in.data(), counts.data(),
                                     out.data()));
  const std::vector<T> results = out.to_host();
  for (std::size_t b = 0; b < num_valid.size(); ++b) {
    const int valid = num_valid[b] < 1 ? 1 : num_valid[b] > Threads ? Threads : num_valid[b];
    EXPECT_EQ(results[3 * b], reference_reduce(items, 0, static_cast<std::size_t>(valid), Operator{}))
        << num_valid[b] << " valid of " << Threads;
    EXPECT_EQ(results[3 * b + 1], reference_reduce(items, 0, std::size_t{Threads}, Operator{}));
    EXPECT_EQ(results[3 * b + 2], reference_reduce(items, Operator{}));
  }
}

template <class T, class Operator, int... Threads>
void test_sizes() {
  (test_layout<T, Operator, Threads, TreeLayout<T, Threads>>(), ...);
  (test_layout<T, Operator, Threads, PlainLayout>(), ...);
}

TEST(block_tree_reduce, order_is_kept_in_blocks_of_any_size) {
  test_sizes<range, join_ranges, 1, 2, 3, 31, 32, 33, 64, 100, 1024>();
}
TEST(block_tree_reduce, sums_of_int) { test_sizes<int, strata::Sum, 1, 32, 100, 256, 1024>(); }
TEST(block_tree_reduce, sums_of_float) { test_sizes<float, strata::Sum, 128, 1000>(); }
TEST(block_tree_reduce, sums_of_int64) { test_sizes<std::int64_t, strata::Sum, 64, 512>(); }
TEST(block_tree_reduce, sums_of_double) { test_sizes<double, strata::Sum, 96, 1024>(); }
TEST(block_tree_reduce, largest_byte) { test_sizes<signed char, strata::Max, 256>(); }
TEST(block_tree_reduce, sixteen_bytes_with_an_operator_that_does_not_commute) {
  test_sizes<affine, compose, 32, 200, 1024>();
}
TEST(block_tree_reduce, other_layouts_that_are_free) { test_layout<int, strata::Sum, 1024, SwizzledLayout<4, 32>>(); }

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void largest(const float* in, float* out) {
  using TreeReduce = strata::BlockTreeReduce<float, 256>;
  STRATA_SHARED(temp_storage, TreeReduce::TempStorage);
  const float item = in[blockIdx.x * 256 + threadIdx.x];
  const float result = TreeReduce(temp_storage).Reduce(item, strata::Max{});
  if (threadIdx.x == 0) out[blockIdx.x] = result;
}

TEST(block_tree_reduce, finds_the_maximum_of_each_block) {
  std::vector<float> items;
  for (int i = 0; i < 512; ++i) items.push_back(static_cast<float>(i * 311 % 512));
  const device_vector<float> in(items);
  device_vector<float> out(2);
  ASSERT_CUDA_SUCCESS(strata::launch({"largest", 2, 256}, largest, in.data(), out.data()));
  EXPECT_EQ(out.to_host()[0], *std::max_element(items.begin(), items.begin() + 256));
  EXPECT_EQ(out.to_host()[1], *std::max_element(items.begin() + 256, items.end()));
}

// ---------------------------------------------------------------------------- bank conflicts
template <class T, int Threads, class Layout>
STRATA_KERNEL void only_reduce(T* out) {
  using reducer = BlockTreeReduce<T, Threads, Layout>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  const T result = reducer(temp_storage).Sum(static_cast<T>(threadIdx.x));
  if (threadIdx.x == 0) *out = result;
}

/// Each item is written once. Then each step reads two elements and writes the left one.
template <class T, class Layout>
strata::wavefront_count model(int threads) {
  strata::wavefront_count total = count<T, Layout>(0, 1, threads);
  for (int s = 1; s < threads; s *= 2) {
    total = total + count<T, Layout>(0, 2 * s, threads - s, 2) + count<T, Layout>(s, 2 * s, threads);
  }
  return total;
}

template <class T, int Threads, class Layout>
void test_bank_conflicts() {
  device_vector<T> out(1);
  begin_counting();
  ASSERT_CUDA_SUCCESS(
      strata::launch({"only_reduce", 1, unsigned{Threads}}, only_reduce<T, Threads, Layout>, out.data()));
  expect_counted(model<T, Layout>(Threads));
  if (!std::is_same_v<Layout, PlainLayout>) expect_no_conflicts();
}

template <class T>
void test_bank_conflicts() {
  test_bank_conflicts<T, 1024, TreeLayout<T, 1024>>();
  test_bank_conflicts<T, 1000, TreeLayout<T, 1000>>();
  test_bank_conflicts<T, 1024, PlainLayout>();
  test_bank_conflicts<T, 100, PlainLayout>();
}

TEST(block_tree_reduce, conflicts_counted_are_those_of_the_model) {
  if (!counts_bank_conflicts()) GTEST_SKIP() << "only check mode counts bank conflicts";
  test_bank_conflicts<int>();
  test_bank_conflicts<double>();
  test_bank_conflicts<strata_test::int128>();
  test_bank_conflicts<int, 1024, SwizzledLayout<4, 32>>();
}

}  // namespace block_tree_reduce_test
