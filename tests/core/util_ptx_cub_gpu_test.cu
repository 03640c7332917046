// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares shuffles, masks and numbers of threads with CUB's.
#include <strata/core/launcher.cuh>
#include <strata/core/util_device.cuh>
#include <strata/core/util_ptx.cuh>

#include <gtest/gtest.h>

#include <cub/util_device.cuh>
#include <cub/util_ptx.cuh>

#include <cstdint>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace util_ptx_cub_test {

using strata_test::device_vector;

template <class T, int Width>
STRATA_KERNEL void shuffle(const T* in, T* ours, T* cubs, int offset, int bound) {
  const unsigned mask = strata::full_warp_mask;
  const T item = in[threadIdx.x];
  const unsigned to = 3 * threadIdx.x;
  ours[to] = strata::ShuffleUp<Width>(item, offset, bound, mask);
  cubs[to] = cub::ShuffleUp<Width>(item, offset, bound, mask);
  ours[to + 1] = strata::ShuffleDown<Width>(item, offset, bound, mask);
  cubs[to + 1] = cub::ShuffleDown<Width>(item, offset, bound, mask);
  ours[to + 2] = strata::ShuffleIndex<Width>(item, offset, mask);
  cubs[to + 2] = cub::ShuffleIndex<Width>(item, offset, mask);
}

template <class T, int Width>
void expect_same_shuffles() {
  const std::vector<T> items = strata_test::random_items<T>(64);
  const device_vector<T> in(items);
  device_vector<T> ours(192), cubs(192);
  // Includes distances that no lane is away, and bounds in another logical warp.
  for (int offset = 0; offset < 40; ++offset) {
    for (int bound = 0; bound < 32; ++bound) {
      ASSERT_CUDA_SUCCESS(
          strata::launch({"shuffle", 1, 64}, shuffle<T, Width>, in.data(), ours.data(), cubs.data(), offset, bound));
      const std::vector<T> got = ours.to_host(), expected = cubs.to_host();
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_TRUE(strata_test::same_bits(got[i], expected[i])) << i << ", offset " << offset << ", bound " << bound;
      }
    }
  }
}

TEST(util_ptx_cub, same_shuffles) {
  expect_same_shuffles<int, 32>();
  expect_same_shuffles<double, 8>();
  expect_same_shuffles<std::int8_t, 1>();
  expect_same_shuffles<strata_test::words<5>, 16>();
}

STRATA_KERNEL void number(int* out) {
  const int x = static_cast<int>(blockDim.x), y = static_cast<int>(blockDim.y), z = static_cast<int>(blockDim.z);
  const int rank = strata::RowMajorTid(x, y, z);
  out[rank] = rank - cub::RowMajorTid(x, y, z);
}

TEST(util_ptx_cub, same_numbers_and_masks) {
  for (const dim3 block : {dim3(70), dim3(5, 7), dim3(3, 1, 11), dim3(4, 3, 9)}) {
    const std::size_t threads = block.x * block.y * block.z;
    device_vector<int> differences(threads);
    ASSERT_CUDA_SUCCESS(strata::launch({"number", 1, block}, number, differences.data()));
    EXPECT_EQ(differences.to_host(), std::vector<int>(threads, 0));
  }
  for (unsigned warp = 0; warp < 4; ++warp) {
    EXPECT_EQ(strata::WarpMask<32>(warp), cub::WarpMask<32>(warp));
    EXPECT_EQ(strata::WarpMask<8>(warp), cub::WarpMask<8>(warp));
    EXPECT_EQ(strata::WarpMask<1>(warp), cub::WarpMask<1>(warp));
    EXPECT_EQ(strata::WarpMask<13>(warp), cub::WarpMask<13>(warp));
  }
}

TEST(util_ptx_cub, same_versions) {
  int ours = -1, cubs = -2;
  ASSERT_CUDA_SUCCESS(strata::PtxVersion(ours));
  ASSERT_CUDA_SUCCESS(cub::PtxVersion(cubs));
  EXPECT_EQ(ours, cubs);
  ASSERT_CUDA_SUCCESS(strata::SmVersion(ours));
  ASSERT_CUDA_SUCCESS(cub::SmVersion(cubs));
  EXPECT_EQ(ours, cubs);
}

}  // namespace util_ptx_cub_test
