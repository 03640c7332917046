// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Derives classes from BlockMergeSortStrategy as programs for CUB do.
#include <strata/block/block_merge_sort.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/platform.cuh>
#include <strata/warp/warp_merge_sort.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <vector>

#include "block/merge_sort_cases.cuh"
#include "support/test_support.cuh"

namespace block_merge_sort_strategy_test {

using namespace merge_sort_cases;
using strata::BlockMergeSortStrategy;

// ---------------------------------------------------------------------------- teams
/// The threads of a block. SyncImplementation is private.
template <class Key, class Value, int Threads, int Items>
class block_sort : public BlockMergeSortStrategy<Key, Value, Threads, Items, block_sort<Key, Value, Threads, Items>> {
  using Strategy = BlockMergeSortStrategy<Key, Value, Threads, Items, block_sort>;

 public:
  STRATA_D block_sort() : Strategy(threadIdx.x) {}
  STRATA_D explicit block_sort(typename Strategy::TempStorage& storage) : Strategy(storage, threadIdx.x) {}

 private:
  STRATA_D void SyncImplementation() const { __syncthreads(); }
  friend Strategy;
};

/// Half of the threads of a block, with a barrier for each half.
template <class Key, class Value, int Threads, int Items>
class half_sort : public BlockMergeSortStrategy<Key, Value, Threads, Items, half_sort<Key, Value, Threads, Items>> {
  using Strategy = BlockMergeSortStrategy<Key, Value, Threads, Items, half_sort>;

 public:
  STRATA_D explicit half_sort(typename Strategy::TempStorage& storage) : Strategy(storage, threadIdx.x % Threads) {}
  STRATA_D void SyncImplementation() const { strata::platform::group_barrier(1 + threadIdx.x / Threads, Threads); }
};

/// Some threads of a warp.
template <class Key, class Value, int Threads, int Items>
class part_sort : public BlockMergeSortStrategy<Key, Value, Threads, Items, part_sort<Key, Value, Threads, Items>> {
  using Strategy = BlockMergeSortStrategy<Key, Value, Threads, Items, part_sort>;

 public:
  STRATA_D explicit part_sort(typename Strategy::TempStorage& storage) : Strategy(storage, threadIdx.x % Threads) {}
  STRATA_D void SyncImplementation() const {
    __syncwarp(((1u << Threads) - 1) << (threadIdx.x % strata::warp_threads / Threads * Threads));
  }
};

template <template <class, class, int, int> class Sort_, class Key, class Value, int Items_, int Threads, int Teams>
struct sort_case {
  using type = Key;
  using value = Value;
  static constexpr int items = Items_, threads = Threads, tile = threads * items, teams = Teams;
  using Sort = Sort_<Key, Value, Threads, Items_>;
  static dim3 dimensions() { return {unsigned{Threads * Teams}, 1u, 1u}; }
  STRATA_D static int team() { return static_cast<int>(threadIdx.x) / Threads; }
  STRATA_D static bool is_member() { return true; }
  STRATA_D static int thread() { return static_cast<int>(threadIdx.x) % Threads; }
};

template <class Case>
class block_merge_sort_strategy : public testing::Test {};
using cases = testing::Types<
    sort_case<block_sort, int, std::int8_t, 7, 96, 1>, sort_case<block_sort, words<10>, std::int64_t, 2, 64, 1>,
    sort_case<half_sort, std::int16_t, words<3>, 5, 64, 2>, sort_case<part_sort, std::int8_t, int, 4, 8, 12>>;
TYPED_TEST_SUITE(block_merge_sort_strategy, cases);

TYPED_TEST(block_merge_sort_strategy, sorts_stably) {
  for (const int different : {1, 5, 64}) {
    tile_sorter<TypeParam, with_values>(different).test(ascending{}, ascending{});
    tile_sorter<TypeParam, keys_only>(different).test(descending{}, descending{});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(block_merge_sort_strategy, leaves_items_that_are_not_valid) {
  constexpr int tile = TypeParam::tile;
  for (const int valid : {-1, 0, 1, tile / 2 + 1, tile - 1, tile}) {
    tile_sorter<TypeParam, with_values>(5, valid).test(ascending{}, ascending{});
    if (this->HasFatalFailure()) return;
  }
}

// ---------------------------------------------------------------------------- every form of CUB's
/// Sorts 128 keys and values by a form. Writes keys, values, and the thread numbers that the class reports.
template <class Sort>
STRATA_KERNEL void sort_by_form(const int* in, int form, int* out) {
  constexpr int some = 77, other = -5;
  STRATA_SHARED(storage, typename Sort::TempStorage);
  const int thread = static_cast<int>(threadIdx.x);
  int keys[2] = {in[2 * thread], in[2 * thread + 1]};
  float values[2] = {static_cast<float>(2 * thread), static_cast<float>(2 * thread + 1)};
  const ascending compare;
  Sort sort(storage);
  switch (form) {
    case 0:
      sort.Sort(keys, compare);
      break;
    case 1:
      sort.StableSort(keys, compare);
      break;
    case 2:
      sort.Sort(keys, compare, some, other);
      break;
    case 3:
      sort.StableSort(keys, compare, some, other);
      break;
    case 4:
      sort.Sort(keys, values, compare);
      break;
    case 5:
      sort.StableSort(keys, values, compare);
      break;
    case 6:
      sort.Sort(keys, values, compare, some, other);
      break;
    case 7:
      sort.StableSort(keys, values, compare, some, other);
      break;
    case 8:
      sort.template Sort<ascending, false>(keys, values, compare, 128, other);
      break;
    default:
      sort.template StableSort<ascending, false>(keys, values, compare, 128, other);
  }
  for (int i = 0; i < 2; ++i) {
    out[2 * thread + i] = keys[i];
    out[128 + 2 * thread + i] = static_cast<int>(values[i]);
  }
  out[256 + thread] = static_cast<int>(sort.get_linear_tid());
}

template <class Sort>
void test_forms(int tile) {
  const std::vector<int> keys = keys_of<int>(128, 1, 20, INT_MAX);
  const device_vector<int> in(keys);
  for (int form = 0; form < 10; ++form) {
    device_vector<int> out(256 + 64);
    ASSERT_CUDA_SUCCESS(strata::launch({"sort_by_form", 1, static_cast<unsigned>(tile / 2)}, sort_by_form<Sort>,
                                       in.data(), form, out.data()));
    const std::vector<int> results = out.to_host();
    const bool is_partial = form / 2 == 1 || form / 2 == 3, has_values = form >= 4;
    const int valid = is_partial && tile > 77 ? 77 : tile;
    std::vector<int> order(static_cast<std::size_t>(tile));
    for (int i = 0; i < tile; ++i) order[static_cast<std::size_t>(i)] = i;
    std::stable_sort(order.begin(), order.begin() + valid, [&](int a, int b) {
      return ascending{}(keys[static_cast<std::size_t>(a)], keys[static_cast<std::size_t>(b)]);
    });
    for (int i = 0; i < tile; ++i) {
      const auto place = static_cast<std::size_t>(i);
      ASSERT_EQ(results[place], i >= valid ? -5 : keys[static_cast<std::size_t>(order[place])])
          << "key " << i << " of form " << form;
      ASSERT_EQ(results[128 + place], has_values ? order[place] : i) << "value " << i << " of form " << form;
    }
    for (int thread = 0; thread < tile / 2; ++thread) {
      ASSERT_EQ(results[256 + static_cast<std::size_t>(thread)], thread);
    }
  }
}

TEST(block_merge_sort_strategy_forms, are_those_of_all_merge_sorts) {
  test_forms<block_sort<int, float, 64, 2>>(128);
  test_forms<strata::BlockMergeSort<int, 64, 2, float>>(128);
  test_forms<strata::WarpMergeSort<int, 2, 32, float>>(64);
}

STRATA_KERNEL void sort_in_private_storage(int* keys) {
  int key[1] = {keys[threadIdx.x]};
  block_sort<int, strata::NullType, 32, 1>().Sort(key, ascending{});
  keys[threadIdx.x] = key[0];
}

TEST(block_merge_sort_strategy_forms, storage_need_not_be_given) {
  std::vector<int> keys = keys_of<int>(32, 1, 20, INT_MAX);
  device_vector<int> in_out(keys);
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_in_private_storage", 1, 32}, sort_in_private_storage, in_out.data()));
  std::stable_sort(keys.begin(), keys.end(), ascending{});
  EXPECT_EQ(keys, in_out.to_host());
}

// With a comparator that is no strict weak ordering, the order is unspecified. The call must still end, and must not
// access other memory.
TEST(block_merge_sort_strategy_forms, calls_end_whatever_the_comparator_says) {
  const std::vector<int> keys = keys_of<int>(128, 1, 64, INT_MAX);
  const device_vector<int> in(keys);
  device_vector<unsigned> state(std::vector<unsigned>{12345});
  using one_case = sort_case<block_sort, int, int, 2, 64, 1>;
  device_vector<int> keys_out(128), values_out(128);
  for (unsigned* const calls : {state.data(), static_cast<unsigned*>(nullptr)}) {
    ASSERT_CUDA_SUCCESS(strata::launch({"sort_tiles", 1, 64}, sort_tiles<one_case, with_values, nonsense>, in.data(),
                                       INT_MAX, keys_out.data(), values_out.data(), nonsense{calls}));
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
  }
}

}  // namespace block_merge_sort_strategy_test
