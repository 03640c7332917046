// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares searches, and loads and stores with cache modifiers, with CUB's.
// CUB deprecates MergePathSearch.
#define CCCL_IGNORE_DEPRECATED_API
#include <strata/core/launcher.cuh>
#include <strata/thread/thread_load.cuh>
#include <strata/thread/thread_search.cuh>
#include <strata/thread/thread_store.cuh>

#include <gtest/gtest.h>

#include <cub/thread/thread_load.cuh>
#include <cub/thread/thread_search.cuh>
#include <cub/thread/thread_store.cuh>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace thread_search_cub_test {

using strata_test::device_vector;
using strata_test::words;

// Unsorted keys and NaNs must give CUB's results too, which depend on the steps of the search.
template <class T>
STRATA_KERNEL void search(const T* a, const T* b, int count, int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int2 ours, cubs;
  strata::MergePathSearch(2 * i, a, b, count, count, ours);
  cub::MergePathSearch(2 * i, a, b, count, count, cubs);
  out[6 * i] = ours.x - cubs.x;
  out[6 * i + 1] = ours.y - cubs.y;
  out[6 * i + 2] = strata::LowerBound(a, count, b[i]) - cub::LowerBound(a, count, b[i]);
  out[6 * i + 3] = strata::UpperBound(a, count, b[i]) - cub::UpperBound(a, count, b[i]);
  out[6 * i + 4] = strata::LowerBound(a, i, b[0]) - cub::LowerBound(a, i, b[0]);
  out[6 * i + 5] = strata::UpperBound(a, i, b[0]) - cub::UpperBound(a, i, b[0]);
}

template <class T>
void expect_same_results(const std::vector<T>& a, const std::vector<T>& b) {
  const device_vector<T> in_a(a), in_b(b);
  device_vector<int> differences(6 * a.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"search", 1, static_cast<unsigned>(a.size())}, search<T>, in_a.data(),
                                     in_b.data(), static_cast<int>(a.size()), differences.data()));
  EXPECT_EQ(differences.to_host(), std::vector<int>(6 * a.size(), 0));
}

TEST(thread_search_cub, same_results_for_sorted_items) {
  for (const int different : {1, 5, 1000}) {
    std::vector<int> a = strata_test::random_integers(500, 0, different, 1);
    std::vector<int> b = strata_test::random_integers(500, 0, different, 2);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    expect_same_results(a, b);
    expect_same_results(std::vector<double>(a.begin(), a.end()), std::vector<double>(b.begin(), b.end()));
  }
}

TEST(thread_search_cub, bounds_are_the_same_among_nans) {
  std::vector<float> a;
  for (const int value : strata_test::random_integers(500, 0, 20)) a.push_back(static_cast<float>(value));
  std::sort(a.begin(), a.end());
  std::fill(a.end() - 100, a.end(), std::numeric_limits<float>::quiet_NaN());
  expect_same_results(a, a);
}

// ---------------------------------------------------------------------------- loads and stores
template <strata::CacheLoadModifier Load, cub::CacheLoadModifier CubLoad, strata::CacheStoreModifier Store,
          cub::CacheStoreModifier CubStore, class T>
STRATA_KERNEL void copy(const T* in, T* ours, T* cubs) {
  strata::ThreadStore<Store>(ours + threadIdx.x, strata::ThreadLoad<Load>(in + threadIdx.x));
  cub::ThreadStore<CubStore>(cubs + threadIdx.x, cub::ThreadLoad<CubLoad>(in + threadIdx.x));
}

template <strata::CacheLoadModifier Load, cub::CacheLoadModifier CubLoad, strata::CacheStoreModifier Store,
          cub::CacheStoreModifier CubStore, class T>
void expect_same_copies() {
  static_assert(
      static_cast<int>(Load) == static_cast<int>(CubLoad) && static_cast<int>(Store) == static_cast<int>(CubStore),
      "the modifiers have CUB's numbers");
  const std::vector<T> items = strata_test::random_items<T>(100);
  const device_vector<T> in(items);
  device_vector<T> ours(100), cubs(100);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"copy", 1, 100}, copy<Load, CubLoad, Store, CubStore, T>, in.data(), ours.data(), cubs.data()));
  const std::vector<T> got = ours.to_host(), expected = cubs.to_host();
  for (std::size_t i = 0; i < 100; ++i) EXPECT_TRUE(strata_test::same_bits(got[i], expected[i])) << i;
}

template <class T>
void expect_same_copies_with_each_modifier() {
  expect_same_copies<strata::LOAD_DEFAULT, cub::LOAD_DEFAULT, strata::STORE_DEFAULT, cub::STORE_DEFAULT, T>();
  expect_same_copies<strata::LOAD_CA, cub::LOAD_CA, strata::STORE_WB, cub::STORE_WB, T>();
  expect_same_copies<strata::LOAD_CG, cub::LOAD_CG, strata::STORE_CG, cub::STORE_CG, T>();
  expect_same_copies<strata::LOAD_CS, cub::LOAD_CS, strata::STORE_CS, cub::STORE_CS, T>();
  expect_same_copies<strata::LOAD_CV, cub::LOAD_CV, strata::STORE_WT, cub::STORE_WT, T>();
  expect_same_copies<strata::LOAD_LDG, cub::LOAD_LDG, strata::STORE_WT, cub::STORE_WT, T>();
  expect_same_copies<strata::LOAD_VOLATILE, cub::LOAD_VOLATILE, strata::STORE_VOLATILE, cub::STORE_VOLATILE, T>();
}

TEST(thread_load_cub, same_items_with_each_modifier) {
  expect_same_copies_with_each_modifier<std::int8_t>();
  expect_same_copies_with_each_modifier<std::int16_t>();
  expect_same_copies_with_each_modifier<double>();
  expect_same_copies_with_each_modifier<words<3, std::uint8_t>>();
  expect_same_copies_with_each_modifier<words<3>>();
}

}  // namespace thread_search_cub_test
