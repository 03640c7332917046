// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Host back end only: kernels that use barriers, collectives and clusters wrongly, each followed by its correct
// variant. All builds diagnose these errors, not only check mode.
#include <strata/core/detail/item_vector.cuh>
#include <strata/thread/thread_load.cuh>

#include <thread>

#include "diagnosis.cuh"

using simt::location;
using strata::launch;

namespace {

#define HERE \
  location { __FILE__, __LINE__ }

using BrokenKernels = DiagnosisTest;

// ---- block barriers

template <bool Repaired>
STRATA_KERNEL void barrier_in_both_arms(int* out) {
  if (!Repaired && threadIdx.x >= 128) {
    __syncthreads();
  } else {
    __syncthreads();  // fault: barrier in both arms
  }
  out[threadIdx.x] = 1;
}
TEST_F(BrokenKernels, barriers_in_both_arms_of_a_branch_are_divergent) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 256}, barrier_in_both_arms<false>, out), "barrier-divergent", "barrier in both arms",
                   "block (0,0,0) thread (128,0,0)");
}
TEST_F(BrokenKernels, one_barrier_for_all_is_clean) {
  expect_clean(launch({"k", 1, 256}, barrier_in_both_arms<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void early_return(int* out) {
  if (!Repaired && threadIdx.x >= 200) return;
  __syncthreads();  // fault: early return
  if (threadIdx.x < 200) out[threadIdx.x] = 1;
}
TEST_F(BrokenKernels, thread_that_returns_before_a_barrier_is_named) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 256}, early_return<false>, out), "barrier-after-exit", "early return",
                   "block (0,0,0) thread (200,0,0)");
}
TEST_F(BrokenKernels, thread_that_reaches_a_barrier_after_an_exit_is_named) {
  simt::config().seed = 1;  // the last threads run first, so the exits come first
  EXPECT_DIAGNOSIS(launch({"k", 1, 256}, early_return<false>, out), "barrier-after-exit", "early return",
                   "block (0,0,0) thread (199,0,0)");
}
TEST_F(BrokenKernels, guard_after_the_barrier_is_clean) {
  expect_clean(launch({"k", 1, 256}, early_return<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void numbered_barrier_counts(int* out) {
  const int threads = Repaired || threadIdx.x < 32 ? 64 : 96;
  simt::named_barrier(1, threads, true, HERE);  // fault: barrier count
  out[threadIdx.x] = 1;
}
TEST_F(BrokenKernels, numbered_barrier_with_two_counts_is_divergent) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 64}, numbered_barrier_counts<false>, out), "barrier-divergent", "barrier count",
                   "block (0,0,0) thread (32,0,0)");
}
TEST_F(BrokenKernels, numbered_barrier_with_one_count_is_clean) {
  expect_clean(launch({"k", 1, 64}, numbered_barrier_counts<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void numbered_barrier_threads(int* out) {
  simt::named_barrier(1, Repaired ? 64 : 40, true, HERE);  // fault: barrier threads
  out[threadIdx.x] = 1;
}
TEST_F(BrokenKernels, numbered_barrier_for_part_of_a_warp_is_refused) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 64}, numbered_barrier_threads<false>, out), "barrier-arguments", "barrier threads",
                   "block (0,0,0) thread (0,0,0)");
  expect_clean(launch({"k", 1, 64}, numbered_barrier_threads<true>, out));
}

// ---- warp collectives

template <bool Repaired>
STRATA_KERNEL void shuffle_by_half_a_warp(int* out) {
  int value = static_cast<int>(threadIdx.x);
  if (Repaired || threadIdx.x < 16) {
    value = __shfl_down_sync(0xffffffffu, value, 1);  // fault: half a warp
  }
  __syncthreads();
  out[threadIdx.x] = value;
}
TEST_F(BrokenKernels, lanes_that_do_not_come_are_a_deadlock) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 64}, shuffle_by_half_a_warp<false>, out), "deadlock", "half a warp",
                   "16 threads {0-15}: waits at __shfl_down_sync(mask=ffffffff)");
  expect_clean(launch({"k", 1, 64}, shuffle_by_half_a_warp<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void caller_not_in_mask(int* out) {
  const unsigned mask = Repaired ? 0xffffffffu : 0x0000ffffu;
  out[threadIdx.x] = __shfl_sync(mask, static_cast<int>(threadIdx.x), 0);  // fault: mask
}
TEST_F(BrokenKernels, caller_outside_its_own_mask_is_named) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, caller_not_in_mask<false>, out), "collective-mask", "mask",
                   "block (0,0,0) thread (16,0,0)");
  expect_clean(launch({"k", 1, 32}, caller_not_in_mask<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void two_different_votes(int* out) {
  int vote = 0;
  if (!Repaired && (threadIdx.x & 1) != 0) {
    vote = static_cast<int>(__ballot_sync(0xffffffffu, 1));
  } else {
    vote = __any_sync(0xffffffffu, 1);  // fault: two votes
  }
  out[threadIdx.x] = vote;
}
TEST_F(BrokenKernels, different_collectives_that_meet_are_a_mismatch) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, two_different_votes<false>, out), "collective-mismatch", "two votes",
                   "block (0,0,0) thread (31,0,0)");
  expect_clean(launch({"k", 1, 32}, two_different_votes<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void shuffle_in_both_arms(int* out) {
  int value = static_cast<int>(threadIdx.x);
  if (!Repaired && (threadIdx.x & 1) != 0) {
    value = __shfl_xor_sync(0xffffffffu, value, 1);
  } else {
    value = __shfl_xor_sync(0xffffffffu, value, 1);  // fault: shuffle in both arms
  }
  out[threadIdx.x] = value;
}
TEST_F(BrokenKernels, shuffle_reached_from_two_lines_is_divergent) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, shuffle_in_both_arms<false>, out), "collective-divergent",
                   "shuffle in both arms", "block (0,0,0) thread (31,0,0)");
  expect_clean(launch({"k", 1, 32}, shuffle_in_both_arms<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void odd_width(int* out) {
  const int width = Repaired ? 16 : 12;
  out[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0, width);  // fault: width
}
TEST_F(BrokenKernels, shuffle_width_must_be_a_power_of_two) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, odd_width<false>, out), "collective-width", "width",
                   "block (0,0,0) thread (31,0,0)");
  expect_clean(launch({"k", 1, 32}, odd_width<true>, out));
}

// ---- waiting for other blocks

template <bool Repaired>
STRATA_KERNEL void chain_of_blocks(int* out, unsigned* flags) {
  if (threadIdx.x != 0) return;
  const unsigned tile = Repaired ? atomicAdd(&flags[1000], 1u) : blockIdx.x;
  unsigned before = 1;
  if (tile != 0) {
    while ((before = strata::platform::load_acquire(&flags[tile - 1])) == 0) {
      STRATA_SPIN();  // fault: chain
    }
  }
  strata::platform::store_release(&flags[tile], before + 1);
  out[tile] = static_cast<int>(before);
}
TEST_F(BrokenKernels, chain_by_block_index_is_a_livelock_when_dispatch_descends) {
  simt::config().order = simt::block_order::descending;
  simt::config().resident_blocks = 2;
  simt::config().poll_limit = 10000;
  EXPECT_DIAGNOSIS(launch({"k", 8, 32}, chain_of_blocks<false>, out, flags), "livelock", "chain",
                   "block (7,0,0): 1 of 32 threads alive");
}
TEST_F(BrokenKernels, chain_by_ticket_is_clean_in_any_order) {
  simt::config().order = simt::block_order::descending;
  simt::config().resident_blocks = 2;
  expect_clean(launch({"k", 8, 32}, chain_of_blocks<true>, out, flags));
}

// Ways to wait until every block of the grid has started. Polling must not count as progress.
struct wait_by_load {
  static void wait(unsigned* started, unsigned blocks) {
    if (threadIdx.x != 0) return;
    while (strata::platform::load_acquire(started) < blocks) STRATA_SPIN();  // fault: load
  }
};
struct wait_by_add {
  static void wait(unsigned* started, unsigned blocks) {
    if (threadIdx.x != 0) return;
    while (atomicAdd(started, 0u) < blocks) STRATA_SPIN();  // fault: add
  }
};
struct wait_by_compare_and_swap {
  static void wait(unsigned* started, unsigned blocks) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(started, 0u, 0u) < blocks) {  // fault: compare and swap
    }
  }
};
struct wait_by_vote {
  static void wait(unsigned* started, unsigned blocks) {
    while (__all_sync(0xffffffffu, strata::platform::load_acquire(started) >= blocks) == 0) {
      STRATA_SPIN();  // fault: vote
    }
  }
};
struct wait_by_barrier {
  static void wait(unsigned* started, unsigned blocks) {
    while (__syncthreads_or(strata::platform::load_acquire(started) >= blocks) == 0) {
      STRATA_SPIN();  // fault: barrier
    }
  }
};
template <class Wait>
STRATA_KERNEL void wait_for_all_blocks(unsigned* started) {
  if (threadIdx.x == 0) atomicAdd(started, 1u);
  Wait::wait(started, gridDim.x);
}
template <class Wait>
void expect_livelock_beyond_the_bound(unsigned* started, const char* fault) {
  constexpr unsigned blocks = 5;
  strata::launch_configuration shape{"k", blocks, 64};
  for (uint64_t seed : {0, 1, 2, 3}) {
    for (unsigned resident = 1; resident <= blocks + 1; ++resident) {
      simt::config().seed = seed;
      simt::config().order = static_cast<simt::block_order>(seed % 3);
      simt::config().resident_blocks = resident;
      simt::config().poll_limit = 200;
      ASSERT_EQ(cudaMemset(started, 0, sizeof *started), cudaSuccess);
      const cudaError_t status = launch(shape, wait_for_all_blocks<Wait>, started);
      if (resident >= blocks) {
        expect_clean(status);
        continue;
      }
      EXPECT_DIAGNOSIS(
          status, "livelock", fault,
          std::to_string(resident) + " blocks resident, " + std::to_string(blocks - resident) + " not yet started");
    }
  }
  ASSERT_EQ(cudaMemset(started, 0, sizeof *started), cudaSuccess);
  simt::config().resident_blocks = 1;
  shape.cooperative = true;
  expect_clean(launch(shape, wait_for_all_blocks<Wait>, started));
}
TEST_F(BrokenKernels, waiting_for_a_block_that_cannot_start_is_a_livelock) {
  expect_livelock_beyond_the_bound<wait_by_load>(flags, "load");
  expect_livelock_beyond_the_bound<wait_by_add>(flags, "add");
  expect_livelock_beyond_the_bound<wait_by_compare_and_swap>(flags, "compare and swap");
  expect_livelock_beyond_the_bound<wait_by_vote>(flags, "vote");
  expect_livelock_beyond_the_bound<wait_by_barrier>(flags, "barrier");
}

// ---- shared memory that does not fit

template <int Count>
STRATA_KERNEL void large_array(int* out) {
  STRATA_SHARED(large, int[Count]);  // fault: large
  large[threadIdx.x] = 1;
  out[threadIdx.x] = large[threadIdx.x];
}
TEST_F(BrokenKernels, static_shared_memory_has_a_limit) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, large_array<12289>, out), "shared-limit", "large",
                   "block (0,0,0) thread (0,0,0)");
  expect_clean(launch({"k", 1, 32}, large_array<12288>, out));
}
TEST_F(BrokenKernels, dynamic_shared_memory_beyond_48_kb_must_be_allowed_first) {
  EXPECT_EQ(launch({"k", 1, 32, 49153}, large_array<32>, out), cudaErrorInvalidValue);
  EXPECT_EQ(strata::allow_dynamic_shared_memory(large_array<32>, 49153), cudaSuccess);
  expect_clean(launch({"k", 1, 32, 49153}, large_array<32>, out));
}

// ---- clusters

template <bool Repaired>
STRATA_KERNEL void peer_has_exited(int* out) {
  STRATA_SHARED(mine, int);
  mine = static_cast<int>(blockIdx.x);
  strata::platform::cluster_sync();
  if (!Repaired && blockIdx.x == 1) return;
  if (blockIdx.x == 0) {
    if (!Repaired) {
      while (simt::map_shared(&mine, 1) != nullptr) STRATA_SPIN();  // fault: exited peer
    }
    out[0] = *static_cast<int*>(simt::map_shared(&mine, 1));
  }
  if (Repaired) strata::platform::cluster_sync();
}
TEST_F(BrokenKernels, shared_memory_of_a_block_that_exited_is_gone) {
  EXPECT_DIAGNOSIS(launch({"k", 2, 1, 0, nullptr, 2}, peer_has_exited<false>, out), "cluster-exited", "exited peer",
                   "block (0,0,0) thread (0,0,0)");
  expect_clean(launch({"k", 2, 1, 0, nullptr, 2}, peer_has_exited<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void cluster_wait_alone(int* out) {
  if (Repaired) simt::cluster_arrive(HERE);
  simt::cluster_wait(HERE);  // fault: wait alone
  out[blockIdx.x] = 1;
}
TEST_F(BrokenKernels, cluster_wait_needs_an_arrival) {
  EXPECT_DIAGNOSIS(launch({"k", 2, 1, 0, nullptr, 2}, cluster_wait_alone<false>, out), "barrier-divergent",
                   "wait alone", "block (0,0,0) thread (0,0,0)");
  expect_clean(launch({"k", 2, 1, 0, nullptr, 2}, cluster_wait_alone<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void rank_out_of_range(int* out) {
  STRATA_SHARED(mine, int);
  mine = 1;
  strata::platform::cluster_sync();
  const unsigned rank = Repaired ? 1 : 2;
  out[blockIdx.x] = *static_cast<int*>(simt::map_shared(&mine, rank));  // fault: rank
  strata::platform::cluster_sync();
}
TEST_F(BrokenKernels, rank_beyond_the_cluster_is_refused) {
  EXPECT_DIAGNOSIS(launch({"k", 2, 1, 0, nullptr, 2}, rank_out_of_range<false>, out), "cluster-address", "rank",
                   "block (1,0,0) thread (0,0,0)");
  expect_clean(launch({"k", 2, 1, 0, nullptr, 2}, rank_out_of_range<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void half_of_a_cluster_waits(int* out) {
  if (Repaired || blockIdx.x == 0) strata::platform::cluster_sync();  // fault: half a cluster
  if (!Repaired && blockIdx.x == 1) {
    simt::named_barrier(1, 64, true, HERE);
  }
  out[blockIdx.x * 32 + threadIdx.x] = 1;
}
TEST_F(BrokenKernels, blocks_of_a_cluster_that_wait_for_different_things_deadlock) {
  EXPECT_DIAGNOSIS(launch({"k", 2, 32, 0, nullptr, 2}, half_of_a_cluster_waits<false>, out), "deadlock",
                   "half a cluster", "32 threads {0-31}: waits at the cluster barrier");
  expect_clean(launch({"k", 2, 32, 0, nullptr, 2}, half_of_a_cluster_waits<true>, out));
}

// ---- mbarriers

template <bool Repaired>
STRATA_KERNEL void mbarrier_without_init(int* out) {
  STRATA_SHARED(barrier, uint64_t);
  if (Repaired && threadIdx.x == 0) simt::mbarrier_init(&barrier, 32, HERE);
  __syncthreads();
  simt::mbarrier_arrive(&barrier, HERE);  // fault: no init
  out[threadIdx.x] = 1;
}
TEST_F(BrokenKernels, mbarrier_must_be_initialised) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, mbarrier_without_init<false>, out), "mbarrier", "no init",
                   "block (0,0,0) thread (31,0,0)");
  expect_clean(launch({"k", 1, 32}, mbarrier_without_init<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void mbarrier_expects_too_much(int* out) {
  STRATA_SHARED(barrier, uint64_t);
  struct alignas(16) line {
    int values[32];
  };
  STRATA_SHARED(target, line);
  if (threadIdx.x == 0) {
    simt::mbarrier_init(&barrier, 1, HERE);
    simt::mbarrier_arrive_expect_tx(&barrier, Repaired ? 128 : 144, HERE);
    simt::bulk_copy_global_to_shared(&target, out, 128, &barrier, HERE);
  }
  __syncthreads();
  while (!simt::mbarrier_try_wait_parity(&barrier, 0, HERE)) {  // fault: bytes never come
  }
  out[1000 + threadIdx.x] = target.values[threadIdx.x];
}
TEST_F(BrokenKernels, bytes_that_never_come_are_a_livelock) {
  simt::config().poll_limit = 10000;
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, mbarrier_expects_too_much<false>, out), "livelock", "bytes never come",
                   "32 threads {0-31}: spins at");
  expect_clean(launch({"k", 1, 32}, mbarrier_expects_too_much<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void misaligned_bulk_copy(int* out) {
  STRATA_SHARED(barrier, uint64_t);
  struct alignas(16) line {
    int values[36];
  };
  STRATA_SHARED(target, line);
  simt::mbarrier_init(&barrier, 1, HERE);
  simt::mbarrier_arrive_expect_tx(&barrier, 128, HERE);
  int* const to = target.values + (Repaired ? 0 : 1);
  simt::bulk_copy_global_to_shared(to, out, 128, &barrier, HERE);  // fault: bulk alignment
  while (!simt::mbarrier_try_wait_parity(&barrier, 0, HERE)) {
  }
}
TEST_F(BrokenKernels, bulk_copy_needs_multiples_of_16) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 1}, misaligned_bulk_copy<false>, out), "misaligned", "bulk alignment",
                   "block (0,0,0) thread (0,0,0)");
  expect_clean(launch({"k", 1, 1}, misaligned_bulk_copy<true>, out));
}

// ---- words of several items

// The address is half a word off. Host processors can load from it, but no GPU can.
template <bool Stores, bool Repaired>
STRATA_KERNEL void misaligned_vector(int* out) {
  strata::detail::item_vector<int, 2> both;
  const int items[2] = {1, 2};
  int* const at = out + (Repaired ? 0 : 1);
  if (Stores) {
    both.set(items);
    both.store(at);
  } else {
    both.load(at);
  }
}
template <bool Repaired>
STRATA_KERNEL void misaligned_cached_item(int* out) {
  const auto* const item = reinterpret_cast<const long long*>(out + (Repaired ? 0 : 1));
  out[2] = static_cast<int>(strata::ThreadLoad<strata::LOAD_CS>(item));
}
TEST_F(BrokenKernels, misaligned_words_of_items_are_seen) {
  const char* const thread = "block (0,0,0) thread (0,0,0)";
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, misaligned_vector<false, false>, out), "misaligned", "", thread);
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, misaligned_vector<true, false>, out), "misaligned", "", thread);
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, misaligned_cached_item<false>, out), "misaligned", "", thread);
  expect_clean(launch({"k", 1, 32}, misaligned_vector<false, true>, out));
  expect_clean(launch({"k", 1, 1}, misaligned_vector<true, true>, out));
  expect_clean(launch({"k", 1, 1}, misaligned_cached_item<true>, out));
}

// ---- traps and assertions of the kernel, and crashes

STRATA_KERNEL void trap_in_thread(int* out, unsigned thread) {
  if (threadIdx.x == thread) __trap();  // fault: trap
  out[threadIdx.x] = 1;
}
TEST_F(BrokenKernels, trap_names_its_thread) {
  EXPECT_DIAGNOSIS(launch({"k", dim3(1), dim3(8, 4, 1)}, trap_in_thread, out, 3u), "trap", "trap",
                   "block (0,0,0) thread (3,0,0) [warp 0 lane 3]");
  expect_clean(launch({"k", 1, 32}, trap_in_thread, out, 33u));
}

STRATA_KERNEL void failing_assertion(int* out) {
  if (threadIdx.x == 7) simt::fail("assertion", "%u is not below %d", threadIdx.x, 7);
  out[threadIdx.x] = 1;
}
TEST_F(BrokenKernels, failed_assertion_is_cudaErrorAssert) {
  EXPECT_EQ(launch({"k", 1, 32}, failing_assertion, out), cudaErrorAssert);
  EXPECT_EQ(std::string(simt::last_report().text).find("7 is not below 7"), 0u);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
  EXPECT_EQ(cudaGetLastError(), cudaErrorAssert);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

STRATA_KERNEL void poll_without_hint(unsigned* flags) {
  if (threadIdx.x == 0) {
    while (*const_cast<volatile unsigned*>(flags) == 0) {  // fault: poll without hint
    }
  } else {
    *const_cast<volatile unsigned*>(flags) = 1;
  }
}
using BrokenKernelsDeathTest = DiagnosisTest;

// The lines of a report that name the place of a thread: a line of this file if there is debug information, else the
// function.
std::string at_line_or_in(const std::string& line, const std::string& function) {
  return ".*\n    at (.*broken_kernels_test\\.cu:" + line + "|.*" + function + "\\()";
}
TEST_F(BrokenKernelsDeathTest, poll_without_a_spin_hint_hangs_and_is_named) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  simt::config().hang_seconds = 1;
  EXPECT_EXIT(static_cast<void>(launch({"k", 1, 32}, poll_without_hint, flags)), testing::ExitedWithCode(86),
              std::string("\\[hang\\] kernel k: block \\(0,0,0\\) thread \\(0,0,0\\)") +
                  at_line_or_in(std::to_string(line_of_fault(__FILE__, "poll without hint")), "poll_without_hint"));
}
TEST_F(BrokenKernels, poll_without_a_spin_hint_ends_under_preemption) {
  SKIP_UNLESS_CHECKED();
  simt::config().seed = 3;
  simt::config().preemption = 20;
  expect_clean(launch({"k", 1, 32}, poll_without_hint, flags));
}

int use_stack(int depth) {
  volatile char large[1024];
  large[depth % 1024] = 1;
  const int below = depth != 0 ? use_stack(depth - 1) : 0;
  return below + large[depth % 1024];  // used after the call, so that compilers do not turn the recursion into a loop
}
STRATA_KERNEL void recursion(int* out, int depth) { out[threadIdx.x] = use_stack(depth); }
TEST_F(BrokenKernelsDeathTest, stack_overflow_is_named) {
  if (simt::runtime_flavour() == simt::flavour::asan) {
    GTEST_SKIP() << "AddressSanitizer has its own handler";
  }
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(static_cast<void>(launch({"k", 1, 1}, recursion, out, 1000)),
               std::string("\\[stack-overflow\\] kernel k: block \\(0,0,0\\) thread \\(0,0,0\\)") +
                   at_line_or_in("", "use_stack"));
  expect_clean(launch({"k", 1, 1}, recursion, out, 5));
}

// ---- devices

TEST_F(BrokenKernels, failure_is_the_error_of_its_device_alone) {
  simt::config().devices = 2;
  EXPECT_NE(launch({"k", 1, 256}, early_return<false>, out), cudaSuccess);
  std::thread([] {
    EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  }).join();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

}  // namespace
