// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Host back end only: a kernel gives the same results under many schedules, and a seed always gives the same schedule.
#include <gtest/gtest.h>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace simt = strata::simt;
using strata::launch;

namespace {

constexpr int block_threads = 128, items_per_thread = 4;
constexpr int tile_items = block_threads * items_per_thread;
constexpr unsigned full = 0xffffffffu;

STRATA_D unsigned warp_sum(unsigned value) {
  for (unsigned delta = 16; delta != 0; delta /= 2) value += __shfl_down_sync(full, value, delta);
  return value;
}

STRATA_KERNEL void reduce(const unsigned* in, unsigned* out, int count) {
  STRATA_SHARED(partial, unsigned[block_threads / 32]);
  const int t = static_cast<int>(threadIdx.x);
  unsigned sum = 0;
  for (int i = 0; i < items_per_thread; ++i) {
    const int at = static_cast<int>(blockIdx.x) * tile_items + i * block_threads + t;
    if (at < count) sum += in[at];
  }
  sum = warp_sum(sum);
  if (t % 32 == 0) partial[t / 32] = sum;
  __syncthreads();
  if (t == 0) atomicAdd(out, partial[0] + partial[1] + partial[2] + partial[3]);
}

// Inclusive scan in one pass with decoupled look-back (Merrill and Garland, 2016). A tile's word is 1 << 32 plus the
// tile's sum, or 2 << 32 plus the sum up to the tile's end.
STRATA_KERNEL void look_back_scan(const unsigned* in, unsigned* out, unsigned long long* states, unsigned* ticket,
                                  int count) {
  using namespace strata::platform;
  STRATA_SHARED(warp_sums, unsigned[block_threads / 32]);
  STRATA_SHARED(tile_shared, unsigned);
  STRATA_SHARED(before_shared, unsigned);
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (t == 0) tile_shared = atomicAdd(ticket, 1u);
  __syncthreads();
  const unsigned tile = tile_shared;
  const int base = static_cast<int>(tile) * tile_items + static_cast<int>(t) * items_per_thread;
  unsigned items[items_per_thread], sum = 0;
  for (int i = 0; i < items_per_thread; ++i) {
    sum += base + i < count ? in[base + i] : 0u;
    items[i] = sum;
  }
  unsigned inclusive = sum;
  for (unsigned delta = 1; delta < 32; delta *= 2) {
    const unsigned left = __shfl_up_sync(full, inclusive, delta);
    if (lane >= delta) inclusive += left;
  }
  if (lane == 31) warp_sums[warp] = inclusive;
  __syncthreads();
  unsigned before_warp = 0, total = 0;
  for (unsigned w = 0; w < block_threads / 32; ++w) {
    if (w < warp) before_warp += warp_sums[w];
    total += warp_sums[w];
  }
  if (t == 0) {
    unsigned before = 0;
    if (tile != 0) store_release(&states[tile], 1ull << 32 | total);
    for (unsigned look = tile; look != 0;) {
      const unsigned long long state = load_acquire(&states[look - 1]);
      if (state == 0) {
        STRATA_SPIN();
        continue;
      }
      before += static_cast<unsigned>(state);
      if (state >> 32 == 2) break;
      --look;
    }
    store_release(&states[tile], 2ull << 32 | (before + total));
    before_shared = before;
  }
  __syncthreads();
  const unsigned before_thread = before_shared + before_warp + inclusive - sum;
  for (int i = 0; i < items_per_thread; ++i) {
    if (base + i < count) out[base + i] = before_thread + items[i];
  }
}

struct outcome {
  unsigned sum;
  std::vector<unsigned> scan;
  uint64_t switches;
};

outcome run(const std::vector<unsigned>& items) {
  const int count = static_cast<int>(items.size());
  const unsigned tiles = static_cast<unsigned>((count + tile_items - 1) / tile_items);
  unsigned *in = nullptr, *out = nullptr, *words = nullptr;
  unsigned long long* states = nullptr;
  EXPECT_EQ(cudaMalloc(&in, items.size() * 4), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&out, items.size() * 4), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&words, 2 * 4), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&states, tiles * 8), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(in, items.data(), items.size() * 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset(words, 0, 8), cudaSuccess);
  EXPECT_EQ(cudaMemset(states, 0, tiles * 8), cudaSuccess);
  simt::reset_statistics();
  EXPECT_EQ(launch({"reduce", tiles, block_threads}, reduce, in, words, count), cudaSuccess)
      << simt::last_report().text;
  EXPECT_EQ(launch({"scan", tiles, block_threads}, look_back_scan, in, out, states, words + 1, count), cudaSuccess)
      << simt::last_report().text;
  outcome result{0, std::vector<unsigned>(items.size()), simt::stats().switches};
  EXPECT_EQ(cudaMemcpy(&result.sum, words, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(result.scan.data(), out, items.size() * 4, cudaMemcpyDeviceToHost), cudaSuccess);
  for (void* memory :
       {static_cast<void*>(in), static_cast<void*>(out), static_cast<void*>(words), static_cast<void*>(states)}) {
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
  }
  return result;
}

class Schedules : public testing::Test {
 protected:
  void SetUp() override {
    saved_ = simt::config();
    items.resize(7 * tile_items + 5);
    for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<unsigned>(i * 2654435761u);
    sum = std::accumulate(items.begin(), items.end(), 0u);
    scan.resize(items.size());
    std::partial_sum(items.begin(), items.end(), scan.begin());
  }
  void TearDown() override { simt::config() = saved_; }

  std::vector<unsigned> items, scan;
  unsigned sum = 0;

 private:
  simt::configuration saved_;
};

TEST_F(Schedules, results_do_not_depend_on_seed_order_or_residency) {
  for (uint64_t seed = 0; seed < 24; ++seed) {
    simt::config().seed = seed;
    simt::config().order = static_cast<simt::block_order>(seed % 3);
    simt::config().resident_blocks = 1 + static_cast<unsigned>(seed % 5);
    const outcome got = run(items);
    EXPECT_EQ(got.sum, sum) << "seed " << seed;
    EXPECT_EQ(got.scan, scan) << "seed " << seed;
  }
}

TEST_F(Schedules, a_seed_repeats_exactly_and_another_differs) {
  simt::config().seed = 5;
  const uint64_t switches = run(items).switches;
  EXPECT_EQ(run(items).switches, switches);
  simt::config().seed = 6;
  EXPECT_NE(run(items).switches, switches);
}

STRATA_KERNEL void order_of_threads(unsigned* out, unsigned* next) {
  const unsigned place = atomicAdd(next, 1u);
  out[place] = blockIdx.x * blockDim.x + threadIdx.x;
}
std::vector<unsigned> order(uint64_t seed, simt::block_order blocks, unsigned resident) {
  simt::config().seed = seed;
  simt::config().order = blocks;
  simt::config().resident_blocks = resident;
  unsigned *out = nullptr, *next = nullptr;
  EXPECT_EQ(cudaMalloc(&out, 256 * 4), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&next, 4), cudaSuccess);
  EXPECT_EQ(cudaMemset(next, 0, 4), cudaSuccess);
  EXPECT_EQ(launch({"order", 4, 64}, order_of_threads, out, next), cudaSuccess);
  std::vector<unsigned> got(256);
  EXPECT_EQ(cudaMemcpy(got.data(), out, 1024, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
  EXPECT_EQ(cudaFree(next), cudaSuccess);
  return got;
}
TEST_F(Schedules, ascending_descending_and_shuffled_are_what_they_say) {
  std::vector<unsigned> ascending(256);
  std::iota(ascending.begin(), ascending.end(), 0u);
  const std::vector<unsigned> descending(ascending.rbegin(), ascending.rend());
  EXPECT_EQ(order(0, simt::block_order::ascending, 4), ascending);
  EXPECT_EQ(order(1, simt::block_order::descending, 4), descending);
  const std::vector<unsigned> shuffled = order(2, simt::block_order::shuffled, 4);
  EXPECT_NE(shuffled, ascending);
  EXPECT_TRUE(std::is_permutation(shuffled.begin(), shuffled.end(), ascending.begin()));
}

// ---- blocks in flight

// Counts the most blocks that were in flight: started and not ended.
STRATA_KERNEL void count_blocks_in_flight(unsigned* now, unsigned* peak) {
  if (threadIdx.x != 0) return;
  atomicMax(peak, atomicAdd(now, 1u) + 1);
  for (int i = 0; i < 20; ++i) STRATA_SPIN();
  atomicSub(now, 1u);
}
unsigned peak_of_blocks(unsigned blocks, bool cooperative) {
  unsigned *words = nullptr, peak = 0;
  EXPECT_EQ(cudaMalloc(&words, 8), cudaSuccess);
  EXPECT_EQ(cudaMemset(words, 0, 8), cudaSuccess);
  strata::launch_configuration shape{"in_flight", blocks, 32};
  shape.cooperative = cooperative;
  EXPECT_EQ(launch(shape, count_blocks_in_flight, words, words + 1), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&peak, words + 1, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaFree(words), cudaSuccess);
  return peak;
}
TEST_F(Schedules, as_many_blocks_are_in_flight_as_allowed_and_all_of_a_cooperative_launch) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    simt::config().seed = seed;
    simt::config().order = static_cast<simt::block_order>(seed % 3);
    for (unsigned bound : {1u, 2u, 3u, 7u, 12u, 100u}) {
      simt::config().resident_blocks = bound;
      EXPECT_EQ(peak_of_blocks(12, false), std::min(bound, 12u)) << "seed " << seed;
      EXPECT_EQ(peak_of_blocks(12, true), 12u) << "seed " << seed;
    }
  }
}

// In the threadsafe style, a death test starts the program again, which then reads its environment.
using SchedulesDeathTest = Schedules;
TEST_F(SchedulesDeathTest, environment_bounds_blocks_in_flight_and_multiprocessors) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  setenv("STRATA_SIMT_RESIDENT_BLOCKS", "3", 1);
  setenv("STRATA_SIMT_MULTIPROCESSORS", "1", 1);
  const auto refused = [] {
    strata::launch_configuration shape{"in_flight", 33, 32};
    shape.cooperative = true;
    return launch(shape, count_blocks_in_flight, nullptr, nullptr) == cudaErrorCooperativeLaunchTooLarge;
  };
  EXPECT_EXIT(std::exit(static_cast<int>(peak_of_blocks(12, false)) + (refused() ? 10 : 20)),
              testing::ExitedWithCode(13), "");
  unsetenv("STRATA_SIMT_RESIDENT_BLOCKS");
  unsetenv("STRATA_SIMT_MULTIPROCESSORS");
}

TEST_F(SchedulesDeathTest, environment_says_what_the_device_is) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const std::pair<const char*, const char*> variables[] = {{"STRATA_SIMT_MULTIPROCESSORS", "132"},
                                                           {"STRATA_SIMT_USABLE_MULTIPROCESSORS", "7"},
                                                           {"STRATA_SIMT_SHARED_BYTES", "0x18c00"},
                                                           {"STRATA_SIMT_COMPUTE_CAPABILITY", "86"}};
  for (const auto& [name, value] : variables) setenv(name, value, 1);
  const auto is_as_said = [] {
    const simt::configuration& config = simt::config();
    return config.multiprocessors == 132 && config.usable_multiprocessors == 7 && config.shared_limit == 99 << 10 &&
           config.compute_capability == 86;
  };
  EXPECT_EXIT(std::exit(is_as_said() ? 13 : 14), testing::ExitedWithCode(13), "");
  for (const auto& [name, value] : variables) unsetenv(name);
}

TEST_F(SchedulesDeathTest, values_that_are_no_numbers_or_out_of_range_end_the_program) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  for (const char* const value : {"0", "133", "", "four", "4x", "-1", " 4"}) {
    setenv("STRATA_SIMT_MULTIPROCESSORS", value, 1);
    EXPECT_EXIT(std::exit(13), testing::ExitedWithCode(1),
                "STRATA_SIMT_MULTIPROCESSORS is \"" + std::string(value) + "\", must be a number from 1 to 132");
  }
  unsetenv("STRATA_SIMT_MULTIPROCESSORS");
  setenv("STRATA_SIMT_SHARED_BYTES", "48", 1);
  EXPECT_EXIT(std::exit(13), testing::ExitedWithCode(1), "STRATA_SIMT_SHARED_BYTES .* from 49152 to 232448");
  unsetenv("STRATA_SIMT_SHARED_BYTES");
}

}  // namespace
