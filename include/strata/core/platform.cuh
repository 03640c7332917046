// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The machine, for kernels: every instruction that CUDA C++ has no spelling for, and every one
/// that newer architectures only have, beside what it means on older ones and on the host back end.
/// CUDA's own built-ins (threadIdx, __syncthreads, __shfl_sync, atomicAdd ...) are used directly;
/// on the host they come from strata/simt.

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

#if STRATA_HOST_SIMT
#include <strata/simt/simt.hpp>
#else
#include <cuda_runtime.h>

#include <cstdio>
#endif

#include <cstddef>

STRATA_NAMESPACE_BEGIN

inline constexpr int warp_threads = 32;
inline constexpr unsigned full_warp_mask = 0xffffffffu;

namespace platform {

// ---------------------------------------------------------------------------- who am I
STRATA_D unsigned lane_id() {
#if STRATA_DEVICE_PASS
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#elif STRATA_HOST_SIMT
  return ::strata::simt::lane_id();
#else
  return 0;
#endif
}

STRATA_D unsigned lane_mask_lt() {
#if STRATA_DEVICE_PASS
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
#else
  return (1u << lane_id()) - 1u;
#endif
}

/// Makes the compiler forget what it knows of a value, and of all that was computed from it: cheap
/// things are then computed again instead of being kept in registers.
template <class Word>
STRATA_D void forget([[maybe_unused]] Word& value) {
#if STRATA_DEVICE_PASS
  if constexpr (sizeof(Word) == 8) {
    asm volatile("" : "+l"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
#endif
}

STRATA_D unsigned lane_mask_le() { return lane_mask_lt() | (1u << lane_id()); }
STRATA_D unsigned lane_mask_ge() { return ~lane_mask_lt(); }
STRATA_D unsigned lane_mask_gt() { return ~lane_mask_le(); }

/// Rank of the calling thread in its block, x fastest; `Y` and `Z` are known at compile time so
/// that a one-dimensional block pays for one register read only.
template <int X, int Y, int Z>
STRATA_D unsigned row_major_thread_id() {
  unsigned id = threadIdx.x;
  if constexpr (Y > 1 || Z > 1) id += threadIdx.y * static_cast<unsigned>(X);
  if constexpr (Z > 1) id += threadIdx.z * static_cast<unsigned>(X * Y);
  return id;
}

// ---------------------------------------------------------------------------- device-scope memory
// Words that several blocks of a grid use to talk to each other. `relaxed` accesses are atomic and
// bypass L1; order comes from the acquire/release forms or from fences.
#if STRATA_DEVICE_PASS
#define STRATA_DETAIL_DEVICE_LOAD(name, ptx, Word, type, constraint)                     \
  STRATA_D Word name(const Word* p) {                                                    \
    Word value;                                                                          \
    asm volatile(ptx "." type " %0, [%1];" : "=" constraint(value) : "l"(p) : "memory"); \
    return value;                                                                        \
  }
#define STRATA_DETAIL_DEVICE_STORE(name, ptx, Word, type, constraint)               \
  STRATA_D void name(Word* p, Word value) {                                         \
    asm volatile(ptx "." type " [%0], %1;" ::"l"(p), constraint(value) : "memory"); \
  }
#else
#if STRATA_HOST_SIMT
#define STRATA_DETAIL_PROGRESS() ::strata::simt::progress()
#else
#define STRATA_DETAIL_PROGRESS() static_cast<void>(0)
#endif
#define STRATA_DETAIL_DEVICE_LOAD(name, order, Word, type, constraint) \
  STRATA_D Word name(const Word* p) { return __atomic_load_n(p, order); }
#define STRATA_DETAIL_DEVICE_STORE(name, order, Word, type, constraint) \
  STRATA_D void name(Word* p, Word value) {                             \
    __atomic_store_n(p, value, order);                                  \
    STRATA_DETAIL_PROGRESS();                                           \
  }
#endif

#if STRATA_DEVICE_PASS
#define STRATA_DETAIL_PTX_OR_ORDER(ptx, order) ptx
#else
#define STRATA_DETAIL_PTX_OR_ORDER(ptx, order) order
#endif

STRATA_DETAIL_DEVICE_LOAD(load_relaxed,
                          STRATA_DETAIL_PTX_OR_ORDER("ld.relaxed.gpu.global", __ATOMIC_RELAXED),
                          unsigned, "u32", "r")
STRATA_DETAIL_DEVICE_LOAD(load_relaxed,
                          STRATA_DETAIL_PTX_OR_ORDER("ld.relaxed.gpu.global", __ATOMIC_RELAXED),
                          unsigned long long, "u64", "l")
STRATA_DETAIL_DEVICE_LOAD(load_acquire,
                          STRATA_DETAIL_PTX_OR_ORDER("ld.acquire.gpu.global", __ATOMIC_ACQUIRE),
                          unsigned, "u32", "r")
STRATA_DETAIL_DEVICE_LOAD(load_acquire,
                          STRATA_DETAIL_PTX_OR_ORDER("ld.acquire.gpu.global", __ATOMIC_ACQUIRE),
                          unsigned long long, "u64", "l")
STRATA_DETAIL_DEVICE_STORE(store_relaxed,
                           STRATA_DETAIL_PTX_OR_ORDER("st.relaxed.gpu.global", __ATOMIC_RELAXED),
                           unsigned, "u32", "r")
STRATA_DETAIL_DEVICE_STORE(store_relaxed,
                           STRATA_DETAIL_PTX_OR_ORDER("st.relaxed.gpu.global", __ATOMIC_RELAXED),
                           unsigned long long, "u64", "l")
STRATA_DETAIL_DEVICE_STORE(store_release,
                           STRATA_DETAIL_PTX_OR_ORDER("st.release.gpu.global", __ATOMIC_RELEASE),
                           unsigned, "u32", "r")
STRATA_DETAIL_DEVICE_STORE(store_release,
                           STRATA_DETAIL_PTX_OR_ORDER("st.release.gpu.global", __ATOMIC_RELEASE),
                           unsigned long long, "u64", "l")

#undef STRATA_DETAIL_DEVICE_LOAD
#undef STRATA_DETAIL_DEVICE_STORE
#undef STRATA_DETAIL_PTX_OR_ORDER
#if !STRATA_DEVICE_PASS
#undef STRATA_DETAIL_PROGRESS
#endif

/// Sequentially consistent fence at device scope: of two threads that each store a word, fence and
/// load the other's word, at least one sees the other's store.
STRATA_D void fence_sc() {
#if STRATA_DEVICE_PASS
  asm volatile("fence.sc.gpu;" ::: "memory");
#elif STRATA_HOST_SIMT
  ::strata::simt::fence(__ATOMIC_SEQ_CST, ::strata::simt::memory_scope::device);
#endif
}

STRATA_D void fence_acq_rel() {
#if STRATA_DEVICE_PASS
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#elif STRATA_HOST_SIMT
  ::strata::simt::fence(__ATOMIC_ACQ_REL, ::strata::simt::memory_scope::device);
#endif
}

/// 8 bytes of value and 8 bytes that vouch for them, read and written as one.
struct alignas(16) packet {
  unsigned long long value;
  unsigned long long tag;
};

/// Relaxed access at device scope to both halves at once: a reader that finds a writer's tag has
/// that writer's value.
STRATA_D packet load_packet(const packet* p) {
  packet result;
#if STRATA_DEVICE_PASS
  asm volatile(
      "{\n\t.reg .b128 both;\n\tld.relaxed.gpu.global.b128 both, [%2];\n\t"
      "mov.b128 {%0, %1}, both;\n\t}"
      : "=l"(result.value), "=l"(result.tag)
      : "l"(p)
      : "memory");
#else
  // Tag before value, and in store_packet value before tag: on the host back end, where one thread
  // runs at a time, that gives the same promise. What was there before anybody wrote may be read.
#if STRATA_HOST_SIMT
  ::strata::simt::declare_initialised(p, sizeof(packet));
#endif
  result.tag = __atomic_load_n(&p->tag, __ATOMIC_RELAXED);
  result.value = __atomic_load_n(&p->value, __ATOMIC_RELAXED);
#endif
  return result;
}

STRATA_D void store_packet(packet* p, const packet& both) {
#if STRATA_DEVICE_PASS
  asm volatile(
      "{\n\t.reg .b128 both;\n\tmov.b128 both, {%1, %2};\n\t"
      "st.relaxed.gpu.global.b128 [%0], both;\n\t}" ::"l"(p),
      "l"(both.value), "l"(both.tag)
      : "memory");
#else
  __atomic_store_n(&p->value, both.value, __ATOMIC_RELAXED);
  __atomic_store_n(&p->tag, both.tag, __ATOMIC_RELAXED);
#endif
}

/// "What lies here may be read though nobody wrote it, and whatever it is will do": for the host back
/// end, which otherwise reports the read.
STRATA_D void may_be_unwritten([[maybe_unused]] const void* p, [[maybe_unused]] std::size_t bytes) {
#if STRATA_HOST_SIMT
  ::strata::simt::declare_initialised(p, bytes);
#endif
}

// ---------------------------------------------------------------------------- warp reductions
/// True where one instruction reduces a 32-bit integer over the lanes of a mask (sm_80 on).
#if STRATA_DEVICE_PASS
inline constexpr bool has_redux = __CUDA_ARCH__ >= 800;
#else
inline constexpr bool has_redux = true;
#endif

#if (STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 800) || STRATA_HOST_SIMT
template <class Word>
STRATA_D Word redux_add(unsigned mask, Word value) {
  return __reduce_add_sync(mask, value);
}
template <class Word>
STRATA_D Word redux_min(unsigned mask, Word value) {
  return __reduce_min_sync(mask, value);
}
template <class Word>
STRATA_D Word redux_max(unsigned mask, Word value) {
  return __reduce_max_sync(mask, value);
}
STRATA_D unsigned redux_and(unsigned mask, unsigned value) {
  return __reduce_and_sync(mask, value);
}
STRATA_D unsigned redux_or(unsigned mask, unsigned value) { return __reduce_or_sync(mask, value); }
STRATA_D unsigned redux_xor(unsigned mask, unsigned value) {
  return __reduce_xor_sync(mask, value);
}
#else
// Never executed: callers ask has_redux first. Declared so that templates parse in every pass.
template <class Word>
STRATA_D Word redux_add(unsigned, Word value) {
  return value;
}
template <class Word>
STRATA_D Word redux_min(unsigned, Word value) {
  return value;
}
template <class Word>
STRATA_D Word redux_max(unsigned, Word value) {
  return value;
}
STRATA_D unsigned redux_and(unsigned, unsigned value) { return value; }
STRATA_D unsigned redux_or(unsigned, unsigned value) { return value; }
STRATA_D unsigned redux_xor(unsigned, unsigned value) { return value; }
#endif

// ---------------------------------------------------------------------------- wide loads
/// Which lines of an input that is read once L2 shall give up first.
struct l2_policy {
  unsigned long long bits;
};

/// Marks `fraction` (above 0, up to 1) of the lines as the first to go. An input larger than L2 that
/// is read again, or was just written, then finds the other lines still there; without, each line
/// would push out one that is about to be needed.
STRATA_D l2_policy evict_first(float fraction) {
  l2_policy policy{};
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 800
  asm("createpolicy.fractional.L2::evict_first.b64 %0, %1;" : "=l"(policy.bits) : "f"(fraction));
#else
  static_cast<void>(fraction);
#endif
  return policy;
}

/// Loads 16 aligned bytes of device memory. `load_streaming` leaves no line in L1 and is for whole
/// lines per warp; `load_cached` is for lanes whose next load lies beside this one.
STRATA_D uint4 load_streaming(const uint4* p, l2_policy policy) {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 800
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p), "l"(policy.bits));
  return v;
#else
  static_cast<void>(policy);
  return *p;
#endif
}

STRATA_D uint4 load_cached(const uint4* p, l2_policy policy) {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 800
  uint4 v;
  asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p), "l"(policy.bits));
  return v;
#else
  static_cast<void>(policy);
  return *p;
#endif
}

// ---------------------------------------------------------------------------- clusters (sm_90 on)
/// Rank of the calling block in its cluster; 0 where there are no clusters.
STRATA_D unsigned cluster_rank() {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 900
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#elif STRATA_HOST_SIMT
  return ::strata::simt::cluster_rank();
#else
  return 0;
#endif
}

STRATA_D unsigned cluster_size() {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 900
  unsigned size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
#elif STRATA_HOST_SIMT
  return ::strata::simt::cluster_size();
#else
  return 1;
#endif
}

/// Barrier of all threads of the cluster; shared memory of all its blocks is ordered by it.
#if STRATA_HOST_SIMT
inline void cluster_sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  ::strata::simt::cluster_barrier(::strata::simt::location{file, line});
}
#else
STRATA_D void cluster_sync() {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
}
#endif

/// The address, in the shared memory of block `rank` of the cluster, of the variable that `p`
/// points to in this block's shared memory.
template <class T>
STRATA_D T* map_shared(T* p, unsigned rank) {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 900
  unsigned long long peer;
  asm("mapa.u64 %0, %1, %2;" : "=l"(peer) : "l"(p), "r"(rank));
  return reinterpret_cast<T*>(peer);
#elif STRATA_HOST_SIMT
  return static_cast<T*>(::strata::simt::map_shared(p, rank));
#else
  static_cast<void>(rank);
  return p;
#endif
}

// ---------------------------------------------------------------------------- dependent launches
/// Waits until the kernels this one depends on have finished and their writes are visible. A no-op
/// in a kernel that was not launched with `programmatic`.
STRATA_D void wait_for_previous_kernel() {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Lets a kernel launched with `programmatic` after this one start before this one has ended.
STRATA_D void launch_next_kernel() {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

}  // namespace platform
STRATA_NAMESPACE_END
