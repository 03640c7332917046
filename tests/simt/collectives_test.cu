// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Host back end only: compares warp collectives, block barriers and numbered barriers with their definitions, lane by
// lane.
#include <gtest/gtest.h>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <functional>
#include <vector>

namespace simt = strata::simt;
using strata::launch;

namespace {

constexpr unsigned full = 0xffffffffu;

template <class T, class Kernel, class... Arguments>
std::vector<T> run(unsigned threads, Kernel kernel, Arguments... arguments) {
  T* out = nullptr;
  EXPECT_EQ(cudaMalloc(&out, threads * sizeof(T)), cudaSuccess);
  EXPECT_EQ(launch({"test", 1, threads}, kernel, out, arguments...), cudaSuccess) << simt::last_report().text;
  std::vector<T> result(threads);
  EXPECT_EQ(cudaMemcpy(result.data(), out, threads * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
  return result;
}

// ---- shuffles

template <class T>
T value_of(unsigned lane) {
  return static_cast<T>(lane * 1000003u + 17);
}
enum class kind { index, up, down, exclusive_or };

template <class T>
STRATA_KERNEL void shuffle_kernel(T* out, kind how, int operand, int width) {
  const T mine = value_of<T>(threadIdx.x);
  T got{};
  switch (how) {
    case kind::index:
      got = __shfl_sync(full, mine, operand, width);
      break;
    case kind::up:
      got = __shfl_up_sync(full, mine, static_cast<unsigned>(operand), width);
      break;
    case kind::down:
      got = __shfl_down_sync(full, mine, static_cast<unsigned>(operand), width);
      break;
    case kind::exclusive_or:
      got = __shfl_xor_sync(full, mine, operand, width);
      break;
  }
  out[threadIdx.x] = got;
}

// PTX's definition of shfl, with its clamp and segment mask.
int ptx_source(kind how, int lane, int operand, int width) {
  const int segment_mask = 32 - width;
  const int clamp = how == kind::up ? 0 : 31;
  const int last = (lane & segment_mask) | (clamp & ~segment_mask);
  const int first = lane & segment_mask;
  switch (how) {
    case kind::index: {
      const int source = first | (operand & ~segment_mask & 31);
      return source <= last ? source : lane;
    }
    case kind::up:
      return lane - operand >= last ? lane - operand : lane;
    case kind::down:
      return lane + operand <= last ? lane + operand : lane;
    default:
      return (lane ^ operand) <= last ? lane ^ operand : lane;
  }
}

template <class T>
class Shuffles : public testing::Test {};
using ShuffledTypes = testing::Types<int, unsigned, float, long long, unsigned long long, double, short, char>;
TYPED_TEST_SUITE(Shuffles, ShuffledTypes);

TYPED_TEST(Shuffles, agree_with_ptx_for_all_operands_and_widths) {
  using T = TypeParam;
  for (kind how : {kind::index, kind::up, kind::down, kind::exclusive_or}) {
    for (int width = 1; width <= 32; width *= 2) {
      for (int operand = 0; operand < 32; ++operand) {
        const std::vector<T> got = run<T>(32, shuffle_kernel<T>, how, operand, width);
        for (int lane = 0; lane < 32; ++lane) {
          const int source = ptx_source(how, lane, operand, width);
          ASSERT_EQ(got[static_cast<size_t>(lane)], value_of<T>(static_cast<unsigned>(source)))
              << "kind " << static_cast<int>(how) << " width " << width << " operand " << operand << " lane " << lane;
        }
      }
    }
  }
}

STRATA_KERNEL void shuffle_in_halves(int* out) {
  const unsigned mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
  const int first = threadIdx.x < 16 ? 3 : 20;
  out[threadIdx.x] = __shfl_sync(mask, static_cast<int>(threadIdx.x), first);
}
TEST(PartialMasks, halves_of_a_warp_shuffle_on_their_own) {
  const std::vector<int> got = run<int>(32, shuffle_in_halves);
  for (size_t lane = 0; lane < 32; ++lane) EXPECT_EQ(got[lane], lane < 16 ? 3 : 20);
}

STRATA_KERNEL void shuffle_from_outside(int* out) {
  out[threadIdx.x] = 0;
  if (threadIdx.x >= 16) return;
  out[threadIdx.x] = __shfl_sync(0x0000ffffu, 1, 20) == 1;
}
TEST(PartialMasks, read_of_a_lane_outside_the_mask_is_garbage_and_counted) {
  simt::reset_statistics();
  const std::vector<int> got = run<int>(32, shuffle_from_outside);
  for (int equal : got) EXPECT_EQ(equal, 0);
  EXPECT_EQ(simt::stats().undefined_shuffle_reads, 16u);
}

// ---- votes, matches, reductions

struct votes {
  unsigned ballot, match_any, match_all, match_all_same;
  int any, all, any_none, all_each, match_pred, match_pred_same;
};
STRATA_KERNEL void votes_kernel(votes* out) {
  const unsigned t = threadIdx.x;
  votes v{};
  v.ballot = __ballot_sync(full, t % 3 == 0);
  v.any = __any_sync(full, t == 31);
  v.any_none = __any_sync(full, 0);
  v.all = __all_sync(full, t != 31);
  v.all_each = __all_sync(full, t + 1);
  v.match_any = __match_any_sync(full, t % 5);
  v.match_all = __match_all_sync(full, static_cast<unsigned long long>(t / 32), &v.match_pred_same);
  v.match_all_same = __match_all_sync(full, t, &v.match_pred);
  out[t] = v;
}
TEST(Votes, agree_with_their_definition) {
  const std::vector<votes> got = run<votes>(32, votes_kernel);
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned same_rest = 0, thirds = 0;
    for (unsigned other = 0; other < 32; ++other) {
      if (other % 5 == lane % 5) same_rest |= 1u << other;
      if (other % 3 == 0) thirds |= 1u << other;
    }
    EXPECT_EQ(got[lane].ballot, thirds);
    EXPECT_EQ(got[lane].match_any, same_rest);
    EXPECT_EQ(got[lane].match_all, full);
    EXPECT_EQ(got[lane].match_pred_same, 1);
    EXPECT_EQ(got[lane].match_all_same, 0u);
    EXPECT_EQ(got[lane].match_pred, 0);
    EXPECT_EQ(got[lane].any, 1);
    EXPECT_EQ(got[lane].any_none, 0);
    EXPECT_EQ(got[lane].all, 0);
    EXPECT_EQ(got[lane].all_each, 1);
  }
}

struct reductions {
  unsigned add, min, max, conjunction, disjunction, parity;
  int signed_add, signed_min, signed_max;
};
STRATA_KERNEL void reductions_kernel(reductions* out, unsigned mask) {
  const unsigned t = threadIdx.x;
  reductions r{};
  if ((mask >> t & 1) != 0) {
    const unsigned value = t * 0x9E3779B9u;
    r.add = __reduce_add_sync(mask, value);
    r.min = __reduce_min_sync(mask, value);
    r.max = __reduce_max_sync(mask, value);
    r.conjunction = __reduce_and_sync(mask, value);
    r.disjunction = __reduce_or_sync(mask, value);
    r.parity = __reduce_xor_sync(mask, value);
    r.signed_add = __reduce_add_sync(mask, static_cast<int>(value));
    r.signed_min = __reduce_min_sync(mask, static_cast<int>(value));
    r.signed_max = __reduce_max_sync(mask, static_cast<int>(value));
  }
  out[t] = r;
}
TEST(Reductions, agree_with_a_loop_over_the_mask) {
  for (unsigned mask : {full, 0x0000ffffu, 0x80000001u, 0x00f0f000u}) {
    const std::vector<reductions> got = run<reductions>(32, reductions_kernel, mask);
    reductions want{0, ~0u, 0, ~0u, 0, 0, 0, 0x7fffffff, static_cast<int>(0x80000000u)};
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const unsigned value = lane * 0x9E3779B9u;
      const int as_signed = static_cast<int>(value);
      want.add += value;
      want.min = std::min(want.min, value);
      want.max = std::max(want.max, value);
      want.conjunction &= value;
      want.disjunction |= value;
      want.parity ^= value;
      want.signed_min = std::min(want.signed_min, as_signed);
      want.signed_max = std::max(want.signed_max, as_signed);
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      EXPECT_EQ(got[lane].add, want.add);
      EXPECT_EQ(got[lane].min, want.min);
      EXPECT_EQ(got[lane].max, want.max);
      EXPECT_EQ(got[lane].conjunction, want.conjunction);
      EXPECT_EQ(got[lane].disjunction, want.disjunction);
      EXPECT_EQ(got[lane].parity, want.parity);
      EXPECT_EQ(got[lane].signed_add, static_cast<int>(want.add));
      EXPECT_EQ(got[lane].signed_min, want.signed_min);
      EXPECT_EQ(got[lane].signed_max, want.signed_max);
    }
  }
}

STRATA_KERNEL void active_mask_kernel(unsigned* out) {
  unsigned mask = 0;
  if (threadIdx.x % 2 == 0) {
    mask = __activemask();
  } else {
    mask = __activemask();
  }
  out[threadIdx.x] = mask;
}
TEST(ActiveMask, joins_the_lanes_of_one_branch) {
  const std::vector<unsigned> got = run<unsigned>(32, active_mask_kernel);
  for (size_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(got[lane], lane % 2 == 0 ? 0x55555555u : 0xaaaaaaaau);
  }
}

// ---- block barriers

struct counted {
  int count, conjunction, disjunction, conjunction_all, disjunction_none;
};
STRATA_KERNEL void counting_barriers(counted* out) {
  const int t = static_cast<int>(threadIdx.x);
  counted c{};
  c.count = __syncthreads_count(t % 3 == 0);
  c.conjunction = __syncthreads_and(t != 77);
  c.disjunction = __syncthreads_or(t == 77);
  c.conjunction_all = __syncthreads_and(1);
  c.disjunction_none = __syncthreads_or(0);
  out[t] = c;
}
TEST(BlockBarriers, count_and_vote) {
  for (const counted& c : run<counted>(100, counting_barriers)) {
    EXPECT_EQ(c.count, 34);
    EXPECT_EQ(c.conjunction, 0);
    EXPECT_EQ(c.disjunction, 1);
    EXPECT_EQ(c.conjunction_all, 1);
    EXPECT_EQ(c.disjunction_none, 0);
  }
}

// Warp 0 produces, warp 1 consumes. They synchronise by two numbered barriers, as in a pipeline.
STRATA_KERNEL void producer_and_consumer(int* out) {
  STRATA_SHARED(item, int[32]);
  const unsigned lane = threadIdx.x % 32;
  constexpr int full_slot = 1, empty_slot = 2;
  int sum = 0;
  for (int round = 0; round < 5; ++round) {
    if (threadIdx.x < 32) {
      if (round > 0) simt::named_barrier(empty_slot, 64, true, {__FILE__, __LINE__});
      item[lane] = round + static_cast<int>(lane);
      simt::named_barrier(full_slot, 64, false, {__FILE__, __LINE__});
    } else {
      simt::named_barrier(full_slot, 64, true, {__FILE__, __LINE__});
      sum += item[lane];
      if (round < 4) simt::named_barrier(empty_slot, 64, false, {__FILE__, __LINE__});
    }
  }
  out[threadIdx.x] = sum;
}
TEST(NamedBarriers, order_producer_and_consumer) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    simt::config().seed = seed;
    const std::vector<int> got = run<int>(64, producer_and_consumer);
    for (size_t lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(got[32 + lane], 10 + 5 * static_cast<int>(lane)) << "seed " << seed;
    }
  }
  simt::config().seed = 0;
}

// ---- built-in variables

STRATA_KERNEL void coordinates(uint3* out) {
  const unsigned linear = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[linear] = {simt::linear_thread_id(), simt::lane_id(), strata::platform::lane_id()};
}
TEST(Coordinates, x_is_fastest) {
  uint3* out = nullptr;
  ASSERT_EQ(cudaMalloc(&out, 60 * sizeof(uint3)), cudaSuccess);
  ASSERT_EQ(launch({"test", dim3(1), dim3(5, 4, 3)}, coordinates, out), cudaSuccess);
  std::vector<uint3> got(60);
  ASSERT_EQ(cudaMemcpy(got.data(), out, 60 * sizeof(uint3), cudaMemcpyDeviceToHost), cudaSuccess);
  for (unsigned i = 0; i < 60; ++i) {
    EXPECT_EQ(got[i].x, i);
    EXPECT_EQ(got[i].y, i % 32);
    EXPECT_EQ(got[i].z, i % 32);
  }
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

}  // namespace
