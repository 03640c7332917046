// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Host back end only: clusters, distributed shared memory and bulk copies.
#include <gtest/gtest.h>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <numeric>
#include <vector>

namespace simt = strata::simt;
using strata::launch;

namespace {

class Clusters : public testing::Test {
 protected:
  void SetUp() override {
    saved_ = simt::config();
    ASSERT_EQ(cudaMalloc(&out, count * sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaMemset(out, 0, count * sizeof(int)), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaFree(out), cudaSuccess);
    simt::config() = saved_;
    simt::clear_report();
  }
  std::vector<int> result() {
    std::vector<int> values(count);
    EXPECT_EQ(cudaMemcpy(values.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }
  static constexpr size_t count = 1024;
  int* out = nullptr;

 private:
  simt::configuration saved_;
};

STRATA_KERNEL void ranks(int* out) {
  int* const row = out + 4 * (blockIdx.x + gridDim.x * blockIdx.y);
  row[0] = static_cast<int>(simt::cluster_rank());
  row[1] = static_cast<int>(simt::cluster_size());
  row[2] = static_cast<int>(simt::cluster_index());
  row[3] = 1;
}
TEST_F(Clusters, blocks_along_x_form_a_cluster) {
  simt::config().order = simt::block_order::shuffled;
  ASSERT_EQ(launch({"ranks", dim3(8, 3), 1, 0, nullptr, 4}, ranks, out), cudaSuccess);
  const std::vector<int> got = result();
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 8; ++x) {
      const int* const row = &got[static_cast<size_t>(4 * (x + 8 * y))];
      EXPECT_EQ(row[0], x % 4);
      EXPECT_EQ(row[1], 4);
      EXPECT_EQ(row[2], x / 4 + 2 * y);
      EXPECT_EQ(row[3], 1);
    }
  }
}
TEST_F(Clusters, grid_must_be_a_multiple_and_the_size_at_most_16) {
  EXPECT_EQ(launch({"ranks", 6, 1, 0, nullptr, 4}, ranks, out), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch({"ranks", 17, 1, 0, nullptr, 17}, ranks, out), cudaErrorInvalidClusterSize);
  EXPECT_EQ(launch({"ranks", 16, 1, 0, nullptr, 16}, ranks, out), cudaSuccess);
}

// In several rounds, each block adds up the shared memory of its peers.
STRATA_KERNEL void all_to_all(int* out) {
  STRATA_SHARED(mine, int[64]);
  const unsigned t = threadIdx.x;
  int total = 0;
  for (int round = 0; round < 3; ++round) {
    mine[t] = static_cast<int>(blockIdx.x * 64 + t) + round;
    strata::platform::cluster_sync();
    for (unsigned rank = 0; rank < simt::cluster_size(); ++rank) {
      total += strata::platform::map_shared(&mine[63 - t], rank)[0];
    }
    strata::platform::cluster_sync();
  }
  out[blockIdx.x * 64 + t] = total;
}
TEST_F(Clusters, distributed_shared_memory_under_20_schedules) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    simt::config().seed = seed;
    ASSERT_EQ(launch({"all_to_all", 8, 64, 0, nullptr, 4}, all_to_all, out), cudaSuccess) << simt::last_report().text;
    const std::vector<int> got = result();
    for (int b = 0; b < 8; ++b) {
      for (int t = 0; t < 64; ++t) {
        int want = 0;
        for (int peer = b / 4 * 4; peer < b / 4 * 4 + 4; ++peer) {
          want += 3 * (peer * 64 + 63 - t) + 3;
        }
        ASSERT_EQ(got[static_cast<size_t>(b * 64 + t)], want) << "seed " << seed;
      }
    }
  }
}

STRATA_KERNEL void work_between_arrive_and_wait(int* out) {
  STRATA_SHARED(mine, int);
  if (threadIdx.x == 0) mine = static_cast<int>(blockIdx.x) + 1;
  simt::cluster_arrive({__FILE__, __LINE__});
  out[512 + blockIdx.x * 32 + threadIdx.x] = 1;
  simt::cluster_wait({__FILE__, __LINE__});
  if (threadIdx.x == 0) out[blockIdx.x] = *strata::platform::map_shared(&mine, blockIdx.x ^ 1);
  strata::platform::cluster_sync();
}
TEST_F(Clusters, arrive_and_wait_can_be_apart) {
  ASSERT_EQ(launch({"split", 2, 32, 0, nullptr, 2}, work_between_arrive_and_wait, out), cudaSuccess)
      << simt::last_report().text;
  EXPECT_EQ(result()[0], 2);
  EXPECT_EQ(result()[1], 1);
}

STRATA_KERNEL void some_threads_leave(int* out) {
  if (threadIdx.x >= 16) return;
  strata::platform::cluster_sync();
  out[blockIdx.x * 16 + threadIdx.x] = 1;
}
TEST_F(Clusters, exited_threads_are_not_waited_for) {
  ASSERT_EQ(launch({"leave", 2, 32, 0, nullptr, 2}, some_threads_leave, out), cudaSuccess) << simt::last_report().text;
  EXPECT_EQ(result()[31], 1);
}

// ---- bulk copies: a double-buffered stream of tiles

struct alignas(16) tile {
  int values[32];
};

STRATA_KERNEL void sum_of_tiles(int* out, const int* from, int tiles) {
  STRATA_SHARED(buffers, tile[2]);
  STRATA_SHARED(barriers, uint64_t[2]);
  const unsigned t = threadIdx.x;
  const auto fetch = [&](int which) {
    simt::mbarrier_arrive_expect_tx(&barriers[which % 2], sizeof(tile), {__FILE__, __LINE__});
    simt::bulk_copy_global_to_shared(&buffers[which % 2], from + 32 * which, sizeof(tile), &barriers[which % 2],
                                     {__FILE__, __LINE__});
  };
  if (t == 0) {
    simt::mbarrier_init(&barriers[0], 1, {__FILE__, __LINE__});
    simt::mbarrier_init(&barriers[1], 1, {__FILE__, __LINE__});
    fetch(0);
  }
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (t == 0 && i + 1 < tiles) fetch(i + 1);
    const unsigned parity = static_cast<unsigned>(i / 2) & 1;
    while (!simt::mbarrier_try_wait_parity(&barriers[i % 2], parity, {__FILE__, __LINE__})) {
    }
    sum += buffers[i % 2].values[t % 32];
    __syncthreads();
  }
  out[t] = sum;
}
TEST_F(Clusters, bulk_copies_arrive_before_their_wait_returns) {
  constexpr int tiles = 7;
  std::vector<int> items(32 * tiles);
  std::iota(items.begin(), items.end(), 0);
  int* from = nullptr;
  ASSERT_EQ(cudaMalloc(&from, items.size() * sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(from, items.data(), items.size() * sizeof(int), cudaMemcpyHostToDevice), cudaSuccess);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    simt::config().seed = seed;
    ASSERT_EQ(launch({"tiles", 1, 64}, sum_of_tiles, out, from, tiles), cudaSuccess)
        << "seed " << seed << ": " << simt::last_report().text;
    const std::vector<int> got = result();
    for (int t = 0; t < 64; ++t) {
      EXPECT_EQ(got[static_cast<size_t>(t)], tiles * (t % 32) + 32 * 21) << "seed " << seed;
    }
  }
  EXPECT_EQ(cudaFree(from), cudaSuccess);
}

STRATA_KERNEL void read_too_early(int* out, const int* from) {
  STRATA_SHARED(barrier, uint64_t);
  STRATA_SHARED(target, tile);
  simt::mbarrier_init(&barrier, 1, {__FILE__, __LINE__});
  target.values[0] = 1;
  simt::mbarrier_arrive_expect_tx(&barrier, sizeof(tile), {__FILE__, __LINE__});
  simt::bulk_copy_global_to_shared(&target, from, sizeof(tile), &barrier, {__FILE__, __LINE__});
  out[0] = target.values[0];
}
TEST_F(Clusters, data_of_a_bulk_copy_is_garbage_before_the_wait) {
  simt::config().quiet = true;
  const cudaError_t status = launch({"early", 1, 1}, read_too_early, out, out + 512);
  if (simt::runtime_flavour() == simt::flavour::check) {
    EXPECT_STREQ(simt::last_report().kind, "bulk-copy-pending");
  } else {
    EXPECT_EQ(status, cudaSuccess);
    EXPECT_EQ(result()[0], static_cast<int>(0xDBDBDBDBu));
  }
}

}  // namespace
