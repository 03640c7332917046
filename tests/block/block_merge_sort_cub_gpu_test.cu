// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// BlockMergeSort, WarpMergeSort and the functions below them must give the same results as CUB's.
#include <strata/block/block_merge_sort.cuh>
#include <strata/core/launcher.cuh>
#include <strata/thread/thread_merge.cuh>
#include <strata/thread/thread_sort.cuh>
#include <strata/warp/warp_merge_sort.cuh>

#include <gtest/gtest.h>

#include <cub/block/block_merge_sort.cuh>
#include <cub/thread/thread_sort.cuh>
#include <cub/warp/warp_merge_sort.cuh>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <vector>

#include "block/merge_sort_cases.cuh"
#include "support/test_support.cuh"

namespace {

using namespace merge_sort_cases;

template <class Sort, class Key, int Items>
STRATA_KERNEL void sort_tile(const Key* in, int form, int valid_items, Key* keys_out, int* values_out) {
  STRATA_SHARED(temp_storage, typename Sort::TempStorage);
  const int first = static_cast<int>(threadIdx.x) * Items;
  Key keys[Items];
  int values[Items];
  for (int i = 0; i < Items; ++i) {
    keys[i] = in[first + i];
    values[i] = first + i;
  }
  Sort sort(temp_storage);
  const ascending compare;
  const Key last = ranked<Key>::make(127, 0);  // greater than all keys, as CUB requires
  switch (form) {
    case 0:
      sort.Sort(keys, compare);
      break;
    case 1:
      sort.StableSort(keys, compare);
      break;
    case 2:
      sort.Sort(keys, values, compare);
      break;
    case 3:
      sort.StableSort(keys, values, compare);
      break;
    case 4:
      sort.Sort(keys, compare, valid_items, last);
      break;
    case 5:
      sort.StableSort(keys, compare, valid_items, last);
      break;
    case 6:
      sort.Sort(keys, values, compare, valid_items, last);
      break;
    default:
      sort.StableSort(keys, values, compare, valid_items, last);
  }
  for (int i = 0; i < Items; ++i) {
    keys_out[first + i] = keys[i];
    values_out[first + i] = values[i];
  }
}

template <class Ours, class Theirs, class Key, int Threads, int Items>
void test_forms() {
  constexpr int tile = Threads * Items;
  for (const int different : {3, 64}) {
    const device_vector<Key> in(keys_of<Key>(tile, 1, different, INT_MAX));
    for (int form = 0; form < 8; ++form) {
      for (const int valid : {1, tile / 2, tile - 1, tile}) {
        device_vector<Key> our_keys(tile), their_keys(tile);
        device_vector<int> our_values(tile), their_values(tile);
        ASSERT_CUDA_SUCCESS(strata::launch({"ours", 1, Threads}, sort_tile<Ours, Key, Items>, in.data(), form, valid,
                                           our_keys.data(), our_values.data()));
        ASSERT_CUDA_SUCCESS(strata::launch({"theirs", 1, Threads}, sort_tile<Theirs, Key, Items>, in.data(), form,
                                           valid, their_keys.data(), their_values.data()));
        const std::vector<Key> ours = our_keys.to_host(), theirs = their_keys.to_host();
        const std::vector<int> values = our_values.to_host(), their = their_values.to_host();
        // CUB does not specify the results for items that are not valid.
        const int sorted = form < 4 ? tile : valid;
        for (std::size_t i = 0; i < static_cast<std::size_t>(sorted); ++i) {
          ASSERT_TRUE(same_bits(ours[i], theirs[i])) << "key " << i << " of form " << form;
          ASSERT_EQ(values[i], their[i]) << "value " << i << " of form " << form;
        }
      }
    }
  }
}

TEST(block_merge_sort_cub, sorts_the_same) {
  test_forms<strata::BlockMergeSort<int, 128, 7, int>, cub::BlockMergeSort<int, 128, 7, int>, int, 128, 7>();
  test_forms<strata::BlockMergeSort<words<4>, 64, 4, int>, cub::BlockMergeSort<words<4>, 64, 4, int>, words<4>, 64,
             4>();
}

TEST(warp_merge_sort_cub, sorts_the_same) {
  test_forms<strata::WarpMergeSort<int, 5, 32, int>, cub::WarpMergeSort<int, 5, 32, int>, int, 32, 5>();
  test_forms<strata::WarpMergeSort<std::int64_t, 4, 16, int>, cub::WarpMergeSort<std::int64_t, 4, 16, int>,
             std::int64_t, 16, 4>();
}

// ---------------------------------------------------------------------------- the functions below
STRATA_KERNEL void merge_and_sort(const int* in, int* out, bool by_cub) {
  constexpr int count = 40, half = count / 2;
  const ascending compare;
  const int diag = static_cast<int>(threadIdx.x) * 4;
  int merged[4], indices[4];
  if (by_cub) {
    const int split = cub::MergePath(in, in + half, half, half, diag, compare);
    cub::SerialMerge(in, split, half + diag - split, half - split, half - (diag - split), merged, indices, compare);
    cub::StableOddEvenSort(merged, indices, descending{});
  } else {
    const int split = strata::MergePath(in, in + half, half, half, diag, compare);
    strata::SerialMerge(in, split, half + diag - split, half - split, half - (diag - split), merged, indices, compare);
    strata::StableOddEvenSort(merged, indices, descending{});
  }
  for (int i = 0; i < 4; ++i) {
    out[diag + i] = merged[i];
    out[count + diag + i] = indices[i];
  }
}

TEST(thread_merge_cub, merges_the_same) {
  std::vector<int> keys = keys_of<int>(40, 1, 7, INT_MAX);
  std::stable_sort(keys.begin(), keys.begin() + 20, ascending{});
  std::stable_sort(keys.begin() + 20, keys.end(), ascending{});
  const device_vector<int> in(keys);
  device_vector<int> ours(80), theirs(80);
  ASSERT_CUDA_SUCCESS(strata::launch({"ours", 1, 10}, merge_and_sort, in.data(), ours.data(), false));
  ASSERT_CUDA_SUCCESS(strata::launch({"theirs", 1, 10}, merge_and_sort, in.data(), theirs.data(), true));
  EXPECT_EQ(ours.to_host(), theirs.to_host());
}

}  // namespace
