// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares BlockLoad and BlockStore with CUB's: one kernel source, with the library as a parameter.
#include <strata/block/block_load.cuh>
#include <strata/block/block_store.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_load_cub_test {

using strata_test::device_vector;

enum class library { ours, cub };

template <library Library, class T, int Threads, int Items, int Algorithm>
using block_load =
    std::conditional_t<Library == library::ours,
                       strata::BlockLoad<T, Threads, Items, static_cast<strata::BlockLoadAlgorithm>(Algorithm)>,
                       cub::BlockLoad<T, Threads, Items, static_cast<cub::BlockLoadAlgorithm>(Algorithm)>>;
template <library Library, class T, int Threads, int Items, int Algorithm>
using block_store =
    std::conditional_t<Library == library::ours,
                       strata::BlockStore<T, Threads, Items, static_cast<strata::BlockStoreAlgorithm>(Algorithm)>,
                       cub::BlockStore<T, Threads, Items, static_cast<cub::BlockStoreAlgorithm>(Algorithm)>>;

#define SAME_PLACE(name) (static_cast<int>(strata::name) == static_cast<int>(cub::name))
static_assert(SAME_PLACE(BLOCK_LOAD_DIRECT) && SAME_PLACE(BLOCK_LOAD_STRIPED) && SAME_PLACE(BLOCK_LOAD_VECTORIZE) &&
              SAME_PLACE(BLOCK_LOAD_TRANSPOSE) && SAME_PLACE(BLOCK_LOAD_WARP_TRANSPOSE) &&
              SAME_PLACE(BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED));
static_assert(SAME_PLACE(BLOCK_STORE_DIRECT) && SAME_PLACE(BLOCK_STORE_STRIPED) && SAME_PLACE(BLOCK_STORE_VECTORIZE) &&
              SAME_PLACE(BLOCK_STORE_TRANSPOSE) && SAME_PLACE(BLOCK_STORE_WARP_TRANSPOSE) &&
              SAME_PLACE(BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED));
#undef SAME_PLACE

// Loads by one algorithm and stores by another, so that a wrong arrangement of either shows.
template <library Library, class T, int Threads, int Items, int LoadAlgorithm, int StoreAlgorithm>
STRATA_KERNEL void rearrange(const T* in, int num_valid, T* out, T* partial_out) {
  using loader = block_load<Library, T, Threads, Items, LoadAlgorithm>;
  using storer = block_store<Library, T, Threads, Items, StoreAlgorithm>;
  __shared__ typename loader::TempStorage load_storage;
  __shared__ typename storer::TempStorage store_storage;
  T items[Items];
  loader(load_storage).Load(in, items);
  storer(store_storage).Store(out, items);
  __syncthreads();
  loader(load_storage).Load(in, items, num_valid, T{});
  storer(store_storage).Store(partial_out, items, num_valid);
}

template <class T, int Threads, int Items, int LoadAlgorithm, int StoreAlgorithm>
void compare() {
  constexpr int tile = Threads * Items;
  const device_vector<T> in(strata_test::random_items<T>(tile));
  for (const int num_valid : {-1, 0, 1, tile - Items - 1, tile}) {
    device_vector<T> ours(tile), cubs(tile), our_part(tile), cub_part(tile);
    ASSERT_CUDA_SUCCESS(strata::launch({"ours", 1, Threads},
                                       rearrange<library::ours, T, Threads, Items, LoadAlgorithm, StoreAlgorithm>,
                                       in.data(), num_valid, ours.data(), our_part.data()));
    ASSERT_CUDA_SUCCESS(strata::launch({"cub", 1, Threads},
                                       rearrange<library::cub, T, Threads, Items, LoadAlgorithm, StoreAlgorithm>,
                                       in.data(), num_valid, cubs.data(), cub_part.data()));
    const std::vector<T> our_items = ours.to_host(), cub_items = cubs.to_host();
    const std::vector<T> our_partial = our_part.to_host(), cub_partial = cub_part.to_host();
    for (std::size_t i = 0; i < tile; ++i) {
      ASSERT_TRUE(strata_test::same_bits(our_items[i], cub_items[i])) << "item " << i;
      ASSERT_TRUE(strata_test::same_bits(our_partial[i], cub_partial[i]))
          << "item " << i << ", num_valid " << num_valid;
    }
  }
}

TEST(block_load, and_store_do_what_those_of_cub_do) {
  compare<int, 64, 4, strata::BLOCK_LOAD_DIRECT, strata::BLOCK_STORE_STRIPED>();
  compare<int, 64, 4, strata::BLOCK_LOAD_STRIPED, strata::BLOCK_STORE_VECTORIZE>();
  compare<int, 50, 3, strata::BLOCK_LOAD_VECTORIZE, strata::BLOCK_STORE_STRIPED>();
  compare<double, 128, 2, strata::BLOCK_LOAD_VECTORIZE, strata::BLOCK_STORE_DIRECT>();
  compare<strata_test::struct12, 32, 5, strata::BLOCK_LOAD_STRIPED, strata::BLOCK_STORE_DIRECT>();
  compare<int, 128, 24, strata::BLOCK_LOAD_TRANSPOSE, strata::BLOCK_STORE_STRIPED>();
  compare<int, 50, 4, strata::BLOCK_LOAD_STRIPED, strata::BLOCK_STORE_TRANSPOSE>();
  compare<double, 96, 12, strata::BLOCK_LOAD_WARP_TRANSPOSE, strata::BLOCK_STORE_STRIPED>();
  compare<signed char, 128, 9, strata::BLOCK_LOAD_STRIPED, strata::BLOCK_STORE_WARP_TRANSPOSE>();
  compare<strata_test::struct12, 64, 5, strata::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
          strata::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>();
}

}  // namespace block_load_cub_test
