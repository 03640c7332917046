// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Host back end only, in check mode (bounds also under AddressSanitizer): kernels that use memory wrongly, each
// followed by its correct variant.
#include "diagnosis.cuh"

using simt::location;
using strata::launch;

namespace {

#define HERE \
  location { __FILE__, __LINE__ }

class BrokenMemory : public DiagnosisTest {
 protected:
  void SetUp() override {
    if (simt::runtime_flavour() != simt::flavour::check) {
      GTEST_SKIP() << "only check mode sees each access";
    }
    DiagnosisTest::SetUp();
  }
};

// ---- races in shared memory

template <bool Repaired>
STRATA_KERNEL void write_after_read(int* out) {
  STRATA_SHARED(s, int[256]);
  const unsigned t = threadIdx.x;
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    s[t] = round;  // fault: write after read
    __syncthreads();
    sum += s[(t + 37) & 255];
    if (Repaired) __syncthreads();
  }
  out[t] = sum;
}
TEST_F(BrokenMemory, loop_without_its_second_barrier_is_a_race) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 256}, write_after_read<false>, out), "shared-race", "write after read",
                   "block (0,0,0) thread (5,0,0)");
  expect_clean(launch({"k", 1, 256}, write_after_read<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void read_after_write(int* out) {
  STRATA_SHARED(s, int[256]);
  const unsigned t = threadIdx.x;
  if (t >= 32) s[t] = 1;
  if (Repaired) __syncthreads();
  if (t < 32) out[t] = s[t + 32];  // fault: read after write
}
TEST_F(BrokenMemory, read_of_another_warps_value_needs_a_block_barrier) {
  simt::config().seed = 1;  // the second warp runs first, so the first warp reads what it wrote
  EXPECT_DIAGNOSIS(launch({"k", 1, 64}, read_after_write<false>, out), "shared-race", "read after write",
                   "block (0,0,0) thread (31,0,0)");
  expect_clean(launch({"k", 1, 64}, read_after_write<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void exchange_in_a_warp(int* out) {
  STRATA_SHARED(s, int[32]);
  const unsigned t = threadIdx.x;
  s[t] = 0;
  __syncwarp();
  s[t] = static_cast<int>(t);  // fault: warp exchange
  if (Repaired) __syncwarp();
  out[t] = s[t ^ 1];
}
TEST_F(BrokenMemory, exchange_in_a_warp_needs_syncwarp) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, exchange_in_a_warp<false>, out), "shared-race", "warp exchange",
                   "block (0,0,0) thread (1,0,0)");
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, exchange_in_a_warp<false>, out), "shared-race", "warp exchange",
                   "same warp, no __syncwarp between");
}
TEST_F(BrokenMemory, exchange_with_syncwarp_is_clean) {
  expect_clean(launch({"k", 1, 32}, exchange_in_a_warp<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void shuffle_as_a_fence(int* out) {
  STRATA_SHARED(s, int[32]);
  const unsigned t = threadIdx.x;
  s[t] = static_cast<int>(t);
  const int first = __shfl_sync(0xffffffffu, static_cast<int>(t), 0);
  if (Repaired) __syncwarp();
  out[t] = first + s[t ^ 1];  // fault: shuffle as a fence
}
TEST_F(BrokenMemory, shuffle_orders_no_memory) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, shuffle_as_a_fence<false>, out), "shared-race", "shuffle as a fence",
                   "block (0,0,0) thread (31,0,0)");
  expect_clean(launch({"k", 1, 32}, shuffle_as_a_fence<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void half_warps_mix(int* out) {
  STRATA_SHARED(s, int[32]);
  const unsigned t = threadIdx.x;
  const unsigned mask = t < 16 ? 0x0000ffffu : 0xffff0000u;
  s[t] = 0;
  __syncwarp();
  s[t] = static_cast<int>(t);
  __syncwarp(Repaired ? 0xffffffffu : mask);
  out[t] = s[t ^ 16];  // fault: half warps
}
TEST_F(BrokenMemory, syncwarp_orders_only_the_lanes_of_its_mask) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, half_warps_mix<false>, out), "shared-race", "half warps",
                   "block (0,0,0) thread (15,0,0)");
  expect_clean(launch({"k", 1, 32}, half_warps_mix<true>, out));
}

STRATA_KERNEL void neighbouring_bytes(int* out) {
  STRATA_SHARED(s, unsigned char[64]);
  s[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
TEST_F(BrokenMemory, bytes_of_one_word_written_by_several_threads_are_clean) {
  expect_clean(launch({"k", 1, 64}, neighbouring_bytes, out));
}

template <bool Repaired>
STRATA_KERNEL void byte_in_a_word(int* out) {
  STRATA_SHARED(s, unsigned char[64]);
  s[threadIdx.x] = 1;
  if (Repaired) __syncthreads();
  if (threadIdx.x >= 32) {
    s[(threadIdx.x - 32) ^ 1] = 2;  // fault: byte in a word
  }
  out[threadIdx.x] = 1;
}
TEST_F(BrokenMemory, race_on_single_bytes_is_seen) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 64}, byte_in_a_word<false>, out), "shared-race", "byte in a word",
                   "block (0,0,0) thread (32,0,0)");
  expect_clean(launch({"k", 1, 64}, byte_in_a_word<true>, out));
}

template <bool Repaired>
STRATA_KERNEL void word_over_bytes(int* out) {
  STRATA_SHARED(s, int[16]);
  if (threadIdx.x >= 32) {
    reinterpret_cast<unsigned char*>(s)[threadIdx.x - 32] = 1;
  }
  if (Repaired) __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = s[threadIdx.x];  // fault: word over bytes
}
TEST_F(BrokenMemory, word_read_over_bytes_of_others_is_a_race) {
  simt::config().seed = 1;
  EXPECT_DIAGNOSIS(launch({"k", 1, 64}, word_over_bytes<false>, out), "shared-race", "word over bytes",
                   "block (0,0,0) thread (7,0,0)");
  expect_clean(launch({"k", 1, 64}, word_over_bytes<true>, out));
}

// ---- bounds

template <bool Repaired>
STRATA_KERNEL void past_a_shared_array(int* out) {
  STRATA_SHARED(s, int[Repaired ? 257 : 256]);
  s[threadIdx.x + 1] = 1;  // fault: past a shared array
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + 1];
}
TEST_F(BrokenMemory, write_past_a_shared_array_names_it) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 256}, past_a_shared_array<false>, out), "shared-out-of-bounds",
                   "past a shared array", "block (0,0,0) thread (255,0,0)");
  EXPECT_DIAGNOSIS(launch({"k", 1, 256}, past_a_shared_array<false>, out), "shared-out-of-bounds",
                   "past a shared array", "0 bytes past the end of s (1024 bytes)");
  expect_clean(launch({"k", 1, 256}, past_a_shared_array<true>, out));
}

STRATA_KERNEL void dynamic_array(int* out) {
  STRATA_DYNAMIC_SHARED(raw);
  int* const s = reinterpret_cast<int*>(raw);
  s[threadIdx.x] = 1;  // fault: past dynamic shared memory
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
TEST_F(BrokenMemory, write_past_dynamic_shared_memory_is_seen) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 256, 1020}, dynamic_array, out), "shared-out-of-bounds",
                   "past dynamic shared memory", "block (0,0,0) thread (255,0,0)");
  expect_clean(launch({"k", 1, 256, 1024}, dynamic_array, out));
}

STRATA_KERNEL void write_at(int* out, int offset) {
  out[static_cast<int>(threadIdx.x) + offset] = 1;  // fault: write at
}
TEST_F(BrokenMemory, write_past_device_memory_is_seen) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 256}, write_at, out, 3841), "global-out-of-bounds", "write at",
                   "block (0,0,0) thread (255,0,0)");
  expect_clean(launch({"k", 1, 256}, write_at, out, 3840));
}
TEST_F(BrokenMemory, write_before_device_memory_is_seen) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 256}, write_at, out, -1), "global-out-of-bounds", "write at",
                   "block (0,0,0) thread (0,0,0)");
}
TEST_F(BrokenMemory, use_after_free_is_seen) {
  int* gone = nullptr;
  ASSERT_EQ(cudaMalloc(&gone, 1024), cudaSuccess);
  expect_clean(launch({"k", 1, 256}, write_at, gone, 0));
  ASSERT_EQ(cudaFree(gone), cudaSuccess);
  EXPECT_DIAGNOSIS(launch({"k", 1, 256}, write_at, gone, 0), "use-after-free", "write at",
                   "block (0,0,0) thread (0,0,0)");
}

STRATA_KERNEL void read_from(int* out, const int* from) {
  out[threadIdx.x] = from[threadIdx.x];  // fault: read from
}
TEST_F(BrokenMemory, host_pointer_on_the_device_is_seen) {
  const std::vector<int> host(32, 1);
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, read_from, out, host.data()), "host-memory", "read from",
                   "block (0,0,0) thread (0,0,0)");
}
TEST_F(BrokenMemory, pointer_to_a_local_variable_of_the_host_is_seen) {
  const int host[32] = {};
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, read_from, out, host), "host-memory", "read from",
                   "block (0,0,0) thread (0,0,0)");
}

int host_array[64];
const char* host_text = "text";
TEST_F(BrokenMemory, pointers_to_static_variables_of_the_host_are_seen) {
  static int local_array[64];
  for (int* array : {host_array, local_array}) {
    const char* const name = array == host_array ? "variable (anonymous namespace)::host_array" : "::local_array";
    EXPECT_DIAGNOSIS(launch({"k", 1, 32}, read_from, out, array), "host-memory", "read from", name);
    EXPECT_DIAGNOSIS(launch({"k", 1, 32}, read_from, out, array + 8), "host-memory", "read from",
                     "block (0,0,0) thread (0,0,0)");
    EXPECT_DIAGNOSIS(launch({"k", 1, 32}, write_at, array, 8), "host-memory", "write at",
                     "block (0,0,0) thread (0,0,0)");
    EXPECT_EQ(array[8], 0) << "the report came too late";
  }
}
struct text_view {
  int length;
  const char* begin;
};
STRATA_KERNEL void read_text(int* out, text_view text) {
  out[threadIdx.x] = text.begin[threadIdx.x];  // fault: read text
}
TEST_F(BrokenMemory, pointer_within_a_parameter_to_a_string_of_the_host_is_seen) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 4}, read_text, out, text_view{4, host_text}), "host-memory", "read text",
                   "block (0,0,0) thread (0,0,0)");
}

__device__ int device_counter;
__constant__ int constant_table[4] = {1, 2, 3, 4};
__device__ __managed__ int managed_array[32];
STRATA_KERNEL void use_static_variables(int* out, int* managed, const int* unused) {
  out[threadIdx.x] = constant_table[threadIdx.x] + managed[threadIdx.x];
  atomicAdd(&device_counter, 1);
  if (unused == nullptr) out[0] = *unused;
}
TEST_F(BrokenMemory, static_variables_of_the_device_are_clean) {
  // The last pointer points to host memory, but the kernel does not dereference it.
  expect_clean(launch({"k", 1, 4}, use_static_variables, out, managed_array, host_array));
  expect_clean(launch({"k", 1, 4}, use_static_variables, out, managed_array + 28, host_array));
}

TEST_F(BrokenMemory, pinned_and_managed_memory_are_clean) {
  int *pinned = nullptr, *managed = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 128), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 128), cudaSuccess);
  // The host writes. The checker does not see these stores, and must take the memory for initialised.
  for (int i = 0; i < 32; ++i) pinned[i] = managed[i] = i;
  expect_clean(launch({"k", 1, 32}, read_from, out, pinned));
  expect_clean(launch({"k", 1, 32}, read_from, out, managed));
  EXPECT_DIAGNOSIS(launch({"k", 1, 33}, read_from, out, managed), "global-out-of-bounds", "read from",
                   "block (0,0,0) thread (32,0,0)");
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
}

// The thread that clears a counter then adds to it. Its addition must not hide the plain write from the additions of
// other warps.
template <bool IsShared, bool Repaired>
STRATA_KERNEL void cleared_while_others_add(int* counter_in_memory) {
  STRATA_SHARED(counter_in_block, int);
  int* const counter = IsShared ? &counter_in_block : counter_in_memory;
  if (threadIdx.x == 0) *counter = 0;  // fault: clears
  if (Repaired) __syncthreads();
  atomicAdd(counter, 1);
}
TEST_F(BrokenMemory, plain_write_before_atomic_accesses_races_with_those_of_others) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 64}, cleared_while_others_add<true, false>, out), "shared-race", "clears", "");
  EXPECT_DIAGNOSIS(launch({"k", 1, 64}, cleared_while_others_add<false, false>, out), "global-race", "clears", "");
  expect_clean(launch({"k", 1, 64}, cleared_while_others_add<true, true>, out));
  expect_clean(launch({"k", 1, 64}, cleared_while_others_add<false, true>, out));
}

// ---- memory that nobody wrote

template <bool Repaired>
STRATA_KERNEL void one_element_missing(int* out) {
  STRATA_SHARED(s, int[256]);
  if (Repaired || threadIdx.x != 7) s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];  // fault: one missing
}
TEST_F(BrokenMemory, read_of_unwritten_shared_memory_is_seen) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 256}, one_element_missing<false>, out), "shared-uninitialised", "one missing",
                   "block (0,0,0) thread (7,0,0)");
  expect_clean(launch({"k", 1, 256}, one_element_missing<true>, out));
}

// An atomic addition reads, too: to a counter that nobody has set to 0.
template <bool Repaired>
STRATA_KERNEL void counter_without_zero(int* out) {
  STRATA_SHARED(counter, int);
  if (Repaired && threadIdx.x == 0) counter = 0;
  __syncthreads();
  atomicAdd(&counter, 1);  // fault: no zero
  __syncthreads();
  if (threadIdx.x == 0) *out = counter;
}
TEST_F(BrokenMemory, atomic_access_to_unwritten_shared_memory_is_seen) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 1}, counter_without_zero<false>, out), "shared-uninitialised", "no zero",
                   "block (0,0,0) thread (0,0,0)");
  expect_clean(launch({"k", 1, 256}, counter_without_zero<true>, out));
}
TEST_F(BrokenMemory, read_of_unwritten_device_memory_is_seen) {
  int* fresh = nullptr;
  ASSERT_EQ(cudaMalloc(&fresh, 128), cudaSuccess);
  ASSERT_EQ(cudaMemset(fresh, 0, 64), cudaSuccess);
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, read_from, out, fresh), "global-uninitialised", "read from",
                   "block (0,0,0) thread (16,0,0)");
  expect_clean(launch({"k", 1, 16}, read_from, out, fresh));
  EXPECT_EQ(cudaFree(fresh), cudaSuccess);
}

STRATA_KERNEL void read_anything(int* out, const int* from) {
  STRATA_SHARED(s, int[32]);
  simt::declare_initialised(from + threadIdx.x, sizeof(int));
  simt::declare_initialised(&s[threadIdx.x], sizeof(int));
  out[threadIdx.x] = from[threadIdx.x] + s[threadIdx.x];
}
TEST_F(BrokenMemory, declared_read_of_arbitrary_memory_is_clean) {
  int* fresh = nullptr;
  ASSERT_EQ(cudaMalloc(&fresh, 128), cudaSuccess);
  expect_clean(launch({"k", 1, 32}, read_anything, out, fresh));
  EXPECT_EQ(cudaFree(fresh), cudaSuccess);
}

// ---- alignment

// A scalar, because clang copies an int4 by memcpy, which needs no alignment.
template <bool Repaired>
STRATA_KERNEL void wide_load(int* out, const int* from) {
  using wide = unsigned long long;
  const wide* const words = reinterpret_cast<const wide*>(from + (Repaired ? 0 : 1));
  reinterpret_cast<wide*>(out)[threadIdx.x] = words[threadIdx.x];  // fault: wide load
}
TEST_F(BrokenMemory, misaligned_load_is_seen) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, wide_load<false>, out, out + 2048), "misaligned", "wide load",
                   "block (0,0,0) thread (0,0,0)");
  expect_clean(launch({"k", 1, 32}, wide_load<true>, out, out + 2048));
}

// ---- memory of other threads and blocks

STRATA_KERNEL void local_of_another_thread(int* out) {
  STRATA_SHARED(where, int*);
  int mine = static_cast<int>(threadIdx.x);
  if (threadIdx.x == 0) where = &mine;
  __syncthreads();
  out[threadIdx.x] = *where;  // fault: local
  __syncthreads();
}
TEST_F(BrokenMemory, local_variable_of_another_thread_is_seen) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 2}, local_of_another_thread, out), "foreign-local", "local",
                   "block (0,0,0) thread (1,0,0)");
}

template <bool Mapped>
STRATA_KERNEL void shared_of_a_peer(int* out, int** where) {
  STRATA_SHARED(mine, int);
  mine = static_cast<int>(blockIdx.x);
  where[blockIdx.x] = &mine;
  strata::platform::cluster_sync();
  const int* const peer = Mapped ? static_cast<int*>(simt::map_shared(&mine, blockIdx.x ^ 1)) : where[blockIdx.x ^ 1];
  out[blockIdx.x] = *peer;  // fault: peer
  strata::platform::cluster_sync();
}
TEST_F(BrokenMemory, plain_shared_address_of_a_peer_is_seen) {
  int** where = nullptr;
  ASSERT_EQ(cudaMalloc(&where, 2 * sizeof(int*)), cudaSuccess);
  EXPECT_DIAGNOSIS(launch({"k", 2, 1, 0, nullptr, 2}, shared_of_a_peer<false>, out, where), "foreign-shared", "peer",
                   "block (1,0,0) thread (0,0,0)");
  expect_clean(launch({"k", 2, 1, 0, nullptr, 2}, shared_of_a_peer<true>, out, where));
  EXPECT_EQ(cudaFree(where), cudaSuccess);
}

STRATA_KERNEL void keep_a_shared_address(int* out, int** where) {
  STRATA_SHARED(mine, int);
  mine = 1;
  if (blockIdx.x == 0) {
    atomicExch(reinterpret_cast<unsigned long long*>(where), reinterpret_cast<unsigned long long>(&mine));
  } else {
    const int* other = nullptr;
    while (other == nullptr) {
      other = reinterpret_cast<int*>(atomicAdd(reinterpret_cast<unsigned long long*>(where), 0ull));
      if (other == nullptr) STRATA_SPIN();
    }
    out[0] = *other;  // fault: kept address
  }
}
TEST_F(BrokenMemory, shared_address_of_an_unrelated_block_is_seen) {
  int** where = nullptr;
  ASSERT_EQ(cudaMalloc(&where, sizeof(int*)), cudaSuccess);
  ASSERT_EQ(cudaMemset(where, 0, sizeof(int*)), cudaSuccess);
  EXPECT_DIAGNOSIS(launch({"k", 2, 1}, keep_a_shared_address, out, where), "foreign-shared", "kept address",
                   "block (1,0,0) thread (0,0,0)");
  EXPECT_EQ(cudaFree(where), cudaSuccess);
}

template <bool Repaired>
STRATA_KERNEL void write_to_a_peer(int* out) {
  STRATA_SHARED(mine, int[32]);
  const unsigned t = threadIdx.x;
  mine[t] = 0;
  strata::platform::cluster_sync();
  static_cast<int*>(simt::map_shared(mine, blockIdx.x ^ 1))[t] = static_cast<int>(t);
  if (Repaired) {
    strata::platform::cluster_sync();
  } else {
    __syncthreads();
  }
  out[blockIdx.x * 32 + t] = mine[t];  // fault: peer's write
  strata::platform::cluster_sync();
}
TEST_F(BrokenMemory, peers_write_needs_a_cluster_barrier) {
  EXPECT_DIAGNOSIS(launch({"k", 2, 32, 0, nullptr, 2}, write_to_a_peer<false>, out), "shared-race", "peer's write",
                   "different blocks, no release and acquire between");
  expect_clean(launch({"k", 2, 32, 0, nullptr, 2}, write_to_a_peer<true>, out));
}

// ---- bulk copies

struct alignas(16) tile {
  int values[32];
};

template <bool Repaired>
STRATA_KERNEL void read_before_wait(int* out, const int* from) {
  STRATA_SHARED(barrier, uint64_t);
  STRATA_SHARED(target, tile);
  if (threadIdx.x == 0) {
    simt::mbarrier_init(&barrier, 1, HERE);
    simt::mbarrier_arrive_expect_tx(&barrier, sizeof(tile), HERE);
    simt::bulk_copy_global_to_shared(&target, from, sizeof(tile), &barrier, HERE);
  }
  __syncthreads();
  if (Repaired) {
    while (!simt::mbarrier_try_wait_parity(&barrier, 0, HERE)) {
    }
  }
  out[threadIdx.x] = target.values[threadIdx.x];  // fault: not waited
}
TEST_F(BrokenMemory, bulk_copy_must_be_waited_for) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 32}, read_before_wait<false>, out, out + 1024), "bulk-copy-pending", "not waited",
                   "block (0,0,0) thread (31,0,0)");
  expect_clean(launch({"k", 1, 32}, read_before_wait<true>, out, out + 1024));
}

template <bool Repaired>
STRATA_KERNEL void one_warp_waits(int* out, const int* from) {
  STRATA_SHARED(barrier, uint64_t);
  STRATA_SHARED(target, tile);
  const unsigned t = threadIdx.x;
  if (t == 0) {
    simt::mbarrier_init(&barrier, 1, HERE);
    simt::mbarrier_arrive_expect_tx(&barrier, sizeof(tile), HERE);
    simt::bulk_copy_global_to_shared(&target, from, sizeof(tile), &barrier, HERE);
  }
  __syncthreads();
  if (t >= 32) STRATA_SPIN();  // lets the first warp run ahead, without ordering memory
  if (t < 32) {
    while (!simt::mbarrier_try_wait_parity(&barrier, 0, HERE)) {
    }
  }
  if (Repaired) __syncthreads();
  if (t >= 32) out[t] = target.values[t - 32];  // fault: another warp waited
}
TEST_F(BrokenMemory, who_has_not_waited_needs_a_barrier_after_one_who_has) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 64}, one_warp_waits<false>, out, out + 1024), "shared-race", "another warp waited",
                   "this thread has not waited for its mbarrier");
  expect_clean(launch({"k", 1, 64}, one_warp_waits<true>, out, out + 1024));
}

template <bool Repaired>
STRATA_KERNEL void overwrite_before_wait(int* data) {
  STRATA_SHARED(barrier, uint64_t);
  STRATA_SHARED(target, tile);
  const unsigned t = threadIdx.x;
  if (t == 0) simt::mbarrier_init(&barrier, 1, HERE);
  __syncthreads();
  if (t == 0) {
    simt::mbarrier_arrive_expect_tx(&barrier, sizeof(tile), HERE);
    simt::bulk_copy_global_to_shared(&target, data, sizeof(tile), &barrier, HERE);
  }
  if (t >= 32) {
    STRATA_SPIN();  // lets the first warp run ahead, without ordering memory
    if (Repaired) {
      while (!simt::mbarrier_try_wait_parity(&barrier, 0, HERE)) {
      }
    }
    data[t - 32] = 1;  // fault: still being copied
  }
}
TEST_F(BrokenMemory, source_of_a_bulk_copy_is_free_after_the_wait) {
  EXPECT_DIAGNOSIS(launch({"k", 1, 64}, overwrite_before_wait<false>, out + 1024), "global-race", "still being copied",
                   "block (0,0,0) thread (0,0,0)");
  expect_clean(launch({"k", 1, 64}, overwrite_before_wait<true>, out + 1024));
}

// ---- races in device memory

template <bool Repaired>
STRATA_KERNEL void neighbours_element(int* out) {
  const unsigned i = blockIdx.x + 1;
  if (Repaired) {
    atomicAdd(&out[0], 1);
  } else if (threadIdx.x == 0) {
    out[i] = out[i - 1] + 1;  // fault: neighbour
  }
}
TEST_F(BrokenMemory, blocks_that_share_an_element_race) {
  EXPECT_DIAGNOSIS(launch({"k", 4, 32}, neighbours_element<false>, out), "global-race", "neighbour",
                   "block (1,0,0) thread (0,0,0)");
  expect_clean(launch({"k", 4, 32}, neighbours_element<true>, out));
}

#if defined(STRATA_SIMT_ASAN)
// ---- reports of AddressSanitizer and UBSan
using BrokenMemoryDeathTest = DiagnosisTest;
TEST_F(BrokenMemoryDeathTest, bounds_and_lifetimes_are_seen_by_asan) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(static_cast<void>(launch({"k", 1, 256, 1020}, dynamic_array, out)), "use-after-poison");
  EXPECT_DEATH(static_cast<void>(launch({"k", 1, 256}, write_at, out, 3841)), "AddressSanitizer");
  EXPECT_DEATH(static_cast<void>(launch({"k", 1, 32}, wide_load<false>, out, out + 2048)), "misaligned address");
}
#endif

}  // namespace
