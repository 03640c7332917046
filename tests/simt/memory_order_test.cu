// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Host back end only, in check mode: which patterns of fences, atomics and barriers order memory between blocks, and
// which do not.
#include "diagnosis.cuh"

using strata::launch;

namespace {

class MemoryOrder : public DiagnosisTest {
 protected:
  void SetUp() override {
    if (simt::runtime_flavour() != simt::flavour::check) {
      GTEST_SKIP() << "only check mode sees each access";
    }
    DiagnosisTest::SetUp();
  }
};

// ---- block 0 publishes an array with a flag, block 1 reads it

enum class publish {
  release_after_barrier,
  release_without_barrier,
  relaxed_flag,
  fence_then_relaxed_flag,
  acquire_release_fences,
  everybody_fences,
  block_fence_then_relaxed_flag,
  volatile_flag,
  volatile_flag_with_fences,
  block_scope_release
};

template <publish How>
STRATA_KERNEL void publish_array(int* out, unsigned* flag) {
  using namespace strata::platform;
  constexpr bool is_volatile = How == publish::volatile_flag || How == publish::volatile_flag_with_fences;
  constexpr bool reader_fences = How == publish::fence_then_relaxed_flag || How == publish::everybody_fences ||
                                 How == publish::block_fence_then_relaxed_flag ||
                                 How == publish::volatile_flag_with_fences;
  constexpr bool narrow_fences = How == publish::acquire_release_fences;
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    out[t] = static_cast<int>(t) + 1;
    if (How == publish::everybody_fences) __threadfence();
    if (How != publish::release_without_barrier) __syncthreads();
    if (t != 0) return;
    if (How == publish::fence_then_relaxed_flag) __threadfence();
    if (How == publish::volatile_flag_with_fences) __threadfence();
    if (narrow_fences) fence_acq_rel();
    if (How == publish::block_fence_then_relaxed_flag) __threadfence_block();
    if (is_volatile) {
      *const_cast<volatile unsigned*>(flag) = 1;
    } else if (How == publish::block_scope_release) {
      simt::atomic_store(flag, 1u, __ATOMIC_RELEASE, simt::memory_scope::block);
    } else if (How == publish::release_after_barrier || How == publish::release_without_barrier) {
      store_release(flag, 1u);
    } else {
      store_relaxed(flag, 1u);
    }
    return;
  }
  if (t == 0) {
    if (is_volatile) {
      while (*const_cast<volatile unsigned*>(flag) == 0) STRATA_SPIN();
    } else if (reader_fences || narrow_fences) {
      while (load_relaxed(flag) == 0) STRATA_SPIN();
    } else {
      while (load_acquire(flag) == 0) STRATA_SPIN();
    }
    if (reader_fences) __threadfence();
    if (narrow_fences) fence_acq_rel();
  }
  __syncthreads();
  out[256 + t] = out[t];  // fault: read of the array
}

template <publish How>
void expect_ordered(int* out, unsigned* flags) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    simt::config().seed = seed;
    EXPECT_EQ(cudaMemset(flags, 0, sizeof(unsigned)), cudaSuccess);
    expect_clean(launch({"publish", 2, 256}, publish_array<How>, out, flags));
  }
}
#define EXPECT_RACE(how)                                                                                            \
  EXPECT_DIAGNOSIS(launch({"publish", 2, 256}, publish_array<how>, out, flags), "global-race", "read of the array", \
                   "different blocks, no release and acquire between")

TEST_F(MemoryOrder, release_by_the_leader_after_a_barrier_publishes_the_block) {
  expect_ordered<publish::release_after_barrier>(out, flags);
}
TEST_F(MemoryOrder, release_without_the_barrier_publishes_the_leader_only) {
  EXPECT_RACE(publish::release_without_barrier);
}
TEST_F(MemoryOrder, relaxed_flag_publishes_nothing) { EXPECT_RACE(publish::relaxed_flag); }
TEST_F(MemoryOrder, fence_before_a_relaxed_flag_publishes) {
  expect_ordered<publish::fence_then_relaxed_flag>(out, flags);
}
TEST_F(MemoryOrder, acquire_release_fences_around_a_relaxed_flag_publish) {
  expect_ordered<publish::acquire_release_fences>(out, flags);
}
TEST_F(MemoryOrder, fences_of_all_threads_before_the_barrier_publish) {
  expect_ordered<publish::everybody_fences>(out, flags);
}
TEST_F(MemoryOrder, block_fence_does_not_reach_another_block) { EXPECT_RACE(publish::block_fence_then_relaxed_flag); }
TEST_F(MemoryOrder, volatile_flag_publishes_nothing) { EXPECT_RACE(publish::volatile_flag); }
TEST_F(MemoryOrder, volatile_flag_between_fences_publishes) {
  expect_ordered<publish::volatile_flag_with_fences>(out, flags);
}

// There is also a race for the flag, so the first report may be about the flag.
TEST_F(MemoryOrder, block_scope_release_does_not_reach_another_block) {
  EXPECT_NE(launch({"publish", 2, 256}, publish_array<publish::block_scope_release>, out, flags), cudaSuccess);
  EXPECT_STREQ(simt::last_report().kind, "global-race");
}

// ---- a release covers what its thread did before, and what that thread had synchronised with

template <bool Repaired>
STRATA_KERNEL void write_after_release(int* out, unsigned* flag) {
  using namespace strata::platform;
  if (blockIdx.x == 0) {
    if (Repaired) out[0] = 1;
    store_release(flag, 1u);
    if (!Repaired) out[0] = 1;
  } else {
    while (load_acquire(flag) == 0) STRATA_SPIN();
    out[1] = out[0];  // fault: after the release
  }
}
TEST_F(MemoryOrder, write_after_the_release_is_not_covered) {
  EXPECT_DIAGNOSIS(launch({"k", 2, 1}, write_after_release<false>, out, flags), "global-race", "after the release",
                   "block (1,0,0) thread (0,0,0)");
  ASSERT_EQ(cudaMemset(flags, 0, sizeof(unsigned)), cudaSuccess);
  expect_clean(launch({"k", 2, 1}, write_after_release<true>, out, flags));
}

STRATA_KERNEL void release_for_half_a_warp(int* out, unsigned* flag, unsigned readers) {
  using namespace strata::platform;
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    out[t] = 1;
    __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
    if (t == 0) store_release(flag, 1u);
  } else if (t < readers) {
    while (load_acquire(flag) == 0) STRATA_SPIN();
    out[32 + t] = out[t];  // fault: other half
  }
}
TEST_F(MemoryOrder, release_covers_the_lanes_met_in_syncwarp_and_no_others) {
  const char* const first_reader[] = {"block (1,0,0) thread (16,0,0)", "block (1,0,0) thread (31,0,0)"};
  for (uint64_t seed : {0, 1}) {
    simt::config().seed = seed;
    ASSERT_EQ(cudaMemset(flags, 0, sizeof(unsigned)), cudaSuccess);
    expect_clean(launch({"k", 2, 32}, release_for_half_a_warp, out, flags, 16u));
    ASSERT_EQ(cudaMemset(flags, 0, sizeof(unsigned)), cudaSuccess);
    EXPECT_DIAGNOSIS(launch({"k", 2, 32}, release_for_half_a_warp, out, flags, 32u), "global-race", "other half",
                     first_reader[seed]);
  }
}

// ---- atomics of block scope

template <bool Block>
STRATA_KERNEL void count(unsigned* counter) {
  if (Block) {
    atomicAdd_block(counter, 1u);  // fault: block-scope atomic
  } else {
    atomicAdd(counter, 1u);
  }
}
TEST_F(MemoryOrder, block_scope_atomics_of_two_blocks_race) {
  EXPECT_DIAGNOSIS(launch({"count", 2, 32}, count<true>, flags), "global-race", "block-scope atomic",
                   "block (1,0,0) thread (0,0,0)");
  expect_clean(launch({"count", 1, 64}, count<true>, flags));
  expect_clean(launch({"count", 2, 32}, count<false>, flags));
}

// ---- each block publishes, then reads all flags; a block that sees all flags reads all payloads

enum class look { fenced, no_fence_before_flag, no_fence_after_flags };

template <look How>
STRATA_KERNEL void last_one_sums(int* out, unsigned* flags, int* partial) {
  using namespace strata::platform;
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = 1;
  if (How != look::no_fence_before_flag) fence_acq_rel();
  store_relaxed(&flags[blockIdx.x], 1u);
  if (How == look::fenced) fence_sc();
  unsigned seen = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) seen += load_relaxed(&flags[i]);
  if (seen != gridDim.x) return;
  if (How != look::no_fence_after_flags) fence_acq_rel();
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) {
    sum += partial[i];  // fault: read of payloads
  }
  atomicExch(&out[0], sum);
}

TEST_F(MemoryOrder, dekker_with_fences_is_ordered_whoever_reads) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    simt::config().seed = seed;
    simt::config().preemption = seed % 2 == 0 ? 0 : 3;
    simt::config().order = static_cast<simt::block_order>(seed % 3);
    ASSERT_EQ(cudaMemset(out, 0, 64), cudaSuccess);
    ASSERT_EQ(cudaMemset(flags, 0, 64), cudaSuccess);
    expect_clean(launch({"last", 4, 32}, last_one_sums<look::fenced>, out, flags, out + 100));
    int sum = 0;
    ASSERT_EQ(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(sum, 4) << "seed " << seed;
  }
}
TEST_F(MemoryOrder, dekker_without_a_fence_before_the_flag_is_a_race) {
  EXPECT_DIAGNOSIS(launch({"last", 4, 32}, last_one_sums<look::no_fence_before_flag>, out, flags, out + 100),
                   "global-race", "read of payloads", "block (3,0,0) thread (0,0,0)");
}
TEST_F(MemoryOrder, dekker_without_a_fence_after_the_flags_is_a_race) {
  EXPECT_DIAGNOSIS(launch({"last", 4, 32}, last_one_sums<look::no_fence_after_flags>, out, flags, out + 100),
                   "global-race", "read of payloads", "block (3,0,0) thread (0,0,0)");
}

// ---- a ticket of read-modify-writes carries all releases before it

template <bool Repaired>
STRATA_KERNEL void last_block_by_ticket(int* out, unsigned* ticket) {
  STRATA_SHARED(last, bool);
  out[1 + blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (Repaired) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  if (Repaired) __threadfence();
  int sum = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) {
    sum += out[1 + i];  // fault: last block reads
  }
  atomicAdd(&out[0], sum);
}
TEST_F(MemoryOrder, last_block_of_the_fence_sample_may_read_all) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    simt::config().seed = seed;
    ASSERT_EQ(cudaMemset(flags, 0, 64), cudaSuccess);
    expect_clean(launch({"ticket", 6, 64}, last_block_by_ticket<true>, out, flags));
  }
}
TEST_F(MemoryOrder, last_block_without_fences_races) {
  EXPECT_DIAGNOSIS(launch({"ticket", 6, 64}, last_block_by_ticket<false>, out, flags), "global-race",
                   "last block reads", "block (5,0,0) thread (31,0,0)");
}

}  // namespace
