// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/core/util_ptx.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace util_ptx_test {

using strata_test::device_vector;
using strata_test::same_bits;
using strata_test::words;

// ---------------------------------------------------------------------------- numbers
STRATA_KERNEL void number_threads(int* ranks, unsigned* lanes, unsigned* warps) {
  const int rank =
      strata::RowMajorTid(static_cast<int>(blockDim.x), static_cast<int>(blockDim.y), static_cast<int>(blockDim.z));
  ranks[threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)] = rank;
  lanes[rank] = strata::LaneId();
  warps[rank] = strata::WarpId();
}

TEST(util_ptx, threads_lanes_and_warps_are_numbered) {
  for (const dim3 block : {dim3(1), dim3(70), dim3(5, 7), dim3(64, 2), dim3(3, 1, 11), dim3(4, 3, 9)}) {
    const std::size_t threads = block.x * block.y * block.z;
    device_vector<int> ranks(threads);
    device_vector<unsigned> lanes(threads), warps(threads);
    ASSERT_CUDA_SUCCESS(strata::launch({"number", 1, block}, number_threads, ranks.data(), lanes.data(), warps.data()));
    const std::vector<int> rank = ranks.to_host();
    const std::vector<unsigned> lane = lanes.to_host(), warp = warps.to_host();
    for (std::size_t i = 0; i < threads; ++i) {
      ASSERT_EQ(rank[i], static_cast<int>(i));
      ASSERT_EQ(lane[i], i % 32);
#if STRATA_HOST_SIMT
      // Host only: a GPU may move a warp to another warp slot while it runs.
      for (std::size_t j = 0; j < i; ++j) ASSERT_EQ(warp[i] == warp[j], i / 32 == j / 32) << i << " and " << j;
#endif
    }
  }
}

TEST(util_ptx, warp_mask_has_the_lanes_of_a_logical_warp) {
  EXPECT_EQ(strata::WarpMask<32>(0), 0xffffffffu);
  EXPECT_EQ(strata::WarpMask<32>(3), 0xffffffffu);
  EXPECT_EQ(strata::WarpMask<16>(1), 0xffff0000u);
  EXPECT_EQ(strata::WarpMask<4>(0), 0xfu);
  EXPECT_EQ(strata::WarpMask<4>(7), 0xf0000000u);
  EXPECT_EQ(strata::WarpMask<1>(31), 0x80000000u);
  EXPECT_EQ(strata::WarpMask<7>(0), 0x7fu);
  EXPECT_EQ(strata::WarpMask<7>(2), 0x7fu);
}

// ---------------------------------------------------------------------------- shuffles
enum { up, down, at, results };

template <class T, int Width>
STRATA_KERNEL void shuffle_items(const T* in, int offset, int bound, T* out) {
  const unsigned mask = strata::WarpMask<Width>(strata::LaneId() / Width);
  const T item = in[threadIdx.x];
  T* const to = out + results * threadIdx.x;
  to[up] = strata::ShuffleUp<Width>(item, offset, bound, mask);
  to[down] = strata::ShuffleDown<Width>(item, offset, bound, mask);
  to[at] = strata::ShuffleIndex<Width>(item, offset, mask);
}

template <class T, int Width>
void expect_shuffles() {
  constexpr int threads = 64;
  SCOPED_TRACE(testing::Message() << sizeof(T) << "-byte items, " << Width << " lanes");
  const std::vector<T> items = strata_test::random_items<T>(threads);
  const device_vector<T> in(items);
  device_vector<T> out(results * threads);
  for (const int offset : {0, 1, 2, Width / 2, Width - 1, 31}) {
    for (const int bound : {0, 1, Width / 2, Width - 1, 31}) {
      ASSERT_CUDA_SUCCESS(
          strata::launch({"shuffle", 1, threads}, shuffle_items<T, Width>, in.data(), offset, bound, out.data()));
      const std::vector<T> got = out.to_host();
      for (int thread = 0; thread < threads; ++thread) {
        const int lane = thread % Width, first = thread - lane, bound_of_warp = bound % Width;
        const auto expect = [&](int result, int source) {
          ASSERT_TRUE(same_bits(got[static_cast<std::size_t>(results * thread + result)],
                                items[static_cast<std::size_t>(first + source)]))
              << "result " << result << ", thread " << thread << ", offset " << offset << ", bound " << bound;
        };
        expect(up, lane - offset >= bound_of_warp ? lane - offset : lane);
        expect(down, lane + offset <= bound_of_warp ? lane + offset : lane);
        expect(at, offset % Width);
      }
    }
  }
}

template <class T>
class util_ptx_shuffles : public testing::Test {};
using item_types =
    testing::Types<std::int8_t, __half, int, double, strata_test::int128, words<3, std::uint8_t>, words<3>, words<5>>;
TYPED_TEST_SUITE(util_ptx_shuffles, item_types);

TYPED_TEST(util_ptx_shuffles, take_the_item_of_a_lane_or_keep_their_own) {
  expect_shuffles<TypeParam, 32>();
  expect_shuffles<TypeParam, 8>();
  expect_shuffles<TypeParam, 1>();
  if (!strata_test::is_small()) {
    expect_shuffles<TypeParam, 16>();
    expect_shuffles<TypeParam, 4>();
    expect_shuffles<TypeParam, 2>();
  }
}

// Odd lanes have themselves as bound: the hardware uses the bound of each lane.
STRATA_KERNEL void shuffle_with_own_bounds(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  out[2 * lane] = strata::ShuffleUp<32>(lane, 1, lane % 2 == 0 ? 0 : lane, 0xffffffff);
  out[2 * lane + 1] = strata::ShuffleDown<32>(lane, 1, lane % 2 == 0 ? 31 : lane, 0xffffffff);
}

TEST(util_ptx, each_lane_may_have_its_own_bound) {
  device_vector<int> out(64);
  ASSERT_CUDA_SUCCESS(strata::launch({"own_bounds", 1, 32}, shuffle_with_own_bounds, out.data()));
  const std::vector<int> got = out.to_host();
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(got[static_cast<std::size_t>(2 * lane)], lane % 2 == 0 && lane > 0 ? lane - 1 : lane);
    EXPECT_EQ(got[static_cast<std::size_t>(2 * lane + 1)], lane % 2 == 0 ? lane + 1 : lane);
  }
}

// Pairs each item with that of two threads before it. The first two lanes of each warp get 0.
STRATA_KERNEL void pairs(const double* in, double2* out) {
  const double item = in[threadIdx.x];
  const double before = strata::ShuffleUp<32>(item, 2, 0, 0xffffffff);
  out[threadIdx.x] = {strata::LaneId() < 2 ? 0 : before, item};
}

TEST(util_ptx, shuffle_up_by_two_lanes) {
  std::vector<double> items;
  for (int i = 0; i < 64; ++i) items.push_back(i + 0.5);
  const device_vector<double> in(items);
  device_vector<double2> out(64);
  ASSERT_CUDA_SUCCESS(strata::launch({"pairs", 1, 64}, pairs, in.data(), out.data()));
  const std::vector<double2> got = out.to_host();
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(got[i].x, i % 32 < 2 ? 0 : items[i - 2]);
    EXPECT_EQ(got[i].y, items[i]);
  }
}

}  // namespace util_ptx_test
