// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Instructions that CUDA C++ has no function for, or that only newer architectures have, each beside its
/// meaning on older architectures and on the host back end. Kernels call CUDA's built-ins (threadIdx,
/// __syncthreads, __shfl_sync, atomicAdd ...) directly; on the host these come from strata/simt.

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

#if STRATA_HOST_SIMT
#include <strata/simt/simt.hpp>
#elif !STRATA_NVRTC
#include <cuda_runtime.h>

#include <cstdio>
#endif

STRATA_NAMESPACE_BEGIN

inline constexpr int warp_threads = 32;
inline constexpr unsigned full_warp_mask = 0xffffffffu;

namespace platform {

// ---------------------------------------------------------------------------- lanes and threads
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

/// True if all 32 lanes of the warp execute this very call at the same time. Then they may use collectives of the whole
/// warp, even if the caller's contract does not bring them together. A constant mask of all lanes takes fewer
/// instructions than a variable mask. The types `Caller` identify the calling code: each place that calls this passes
/// other types.
template <class... Caller>
STRATA_D bool warp_is_together() {
#if STRATA_DEVICE_PASS
  return __activemask() == full_warp_mask;
#elif STRATA_HOST_SIMT
  // The host back end joins lanes that wait at the same line, whatever called them.
  static const char tag = 0;
  if (__activemask() != full_warp_mask) return false;
  const auto mine = reinterpret_cast<unsigned long long>(&tag);
  return __all_sync(full_warp_mask, mine == __shfl_sync(full_warp_mask, mine, 0)) != 0;
#else
  return false;
#endif
}

/// A number that no other warp of the multiprocessor has at the same time.
STRATA_D unsigned warp_id() {
#if STRATA_DEVICE_PASS
  unsigned warp;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  return warp;
#elif STRATA_HOST_SIMT
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / warp_threads;
#else
  return 0;
#endif
}

/// Hides from the compiler how a value was computed. The compiler then computes what depends on the value again after
/// this call, instead of keeping it in registers.
template <class Word>
STRATA_D void optimization_barrier([[maybe_unused]] Word& value) {
#if STRATA_DEVICE_PASS
  if constexpr (sizeof(Word) == 8) {
    asm volatile("" : "+l"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
#endif
}

/// Makes the host compiler assume that the memory behind `pointer` is written and read here. Does nothing on a GPU.
STRATA_D void compiler_fence([[maybe_unused]] const void* pointer) {
#if STRATA_HOST_SIMT
  asm volatile("" : : "r"(pointer) : "memory");
#endif
}

STRATA_D unsigned lane_mask_le() { return lane_mask_lt() | (1u << lane_id()); }
STRATA_D unsigned lane_mask_ge() { return ~lane_mask_lt(); }
STRATA_D unsigned lane_mask_gt() { return ~lane_mask_le(); }

/// Rank of the calling thread in its block, x fastest. `Y` and `Z` are template parameters, so that a
/// one-dimensional block reads one register.
template <int X, int Y, int Z>
STRATA_D unsigned row_major_thread_id() {
  unsigned id = threadIdx.x;
  if constexpr (Y > 1 || Z > 1) id += threadIdx.y * static_cast<unsigned>(X);
  if constexpr (Z > 1) id += threadIdx.z * static_cast<unsigned>(X * Y);
  return id;
}

// ---------------------------------------------------------------------------- device-scope memory
// Accesses to words by which the blocks of a grid communicate. `relaxed` accesses are atomic and bypass L1. Acquire and
// release accesses, or fences, order other accesses.
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
  STRATA_D Word name(const Word* p) { return STRATA_DETAIL_ATOMIC_LOAD(p, order); }
#define STRATA_DETAIL_DEVICE_STORE(name, order, Word, type, constraint) \
  STRATA_D void name(Word* p, Word value) {                             \
    STRATA_DETAIL_ATOMIC_STORE(p, value, order);                        \
    STRATA_DETAIL_PROGRESS();                                           \
  }
#endif

#if STRATA_DEVICE_PASS
#define STRATA_DETAIL_PTX_OR_ORDER(ptx, order) ptx
#else
#define STRATA_DETAIL_PTX_OR_ORDER(ptx, order) order
#endif

STRATA_DETAIL_DEVICE_LOAD(load_relaxed, STRATA_DETAIL_PTX_OR_ORDER("ld.relaxed.gpu.global", __ATOMIC_RELAXED), unsigned,
                          "u32", "r")
STRATA_DETAIL_DEVICE_LOAD(load_relaxed, STRATA_DETAIL_PTX_OR_ORDER("ld.relaxed.gpu.global", __ATOMIC_RELAXED),
                          unsigned long long, "u64", "l")
STRATA_DETAIL_DEVICE_LOAD(load_acquire, STRATA_DETAIL_PTX_OR_ORDER("ld.acquire.gpu.global", __ATOMIC_ACQUIRE), unsigned,
                          "u32", "r")
STRATA_DETAIL_DEVICE_LOAD(load_acquire, STRATA_DETAIL_PTX_OR_ORDER("ld.acquire.gpu.global", __ATOMIC_ACQUIRE),
                          unsigned long long, "u64", "l")
STRATA_DETAIL_DEVICE_STORE(store_relaxed, STRATA_DETAIL_PTX_OR_ORDER("st.relaxed.gpu.global", __ATOMIC_RELAXED),
                           unsigned, "u32", "r")
STRATA_DETAIL_DEVICE_STORE(store_relaxed, STRATA_DETAIL_PTX_OR_ORDER("st.relaxed.gpu.global", __ATOMIC_RELAXED),
                           unsigned long long, "u64", "l")
STRATA_DETAIL_DEVICE_STORE(store_release, STRATA_DETAIL_PTX_OR_ORDER("st.release.gpu.global", __ATOMIC_RELEASE),
                           unsigned, "u32", "r")
STRATA_DETAIL_DEVICE_STORE(store_release, STRATA_DETAIL_PTX_OR_ORDER("st.release.gpu.global", __ATOMIC_RELEASE),
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

/// A value of 8 bytes and the epoch in which it was written, read and written in one access of 16 bytes.
struct alignas(16) tagged_word {
  unsigned long long value;
  unsigned long long epoch;
};

/// Relaxed access at device scope to both halves at once: a reader that finds a writer's epoch has that
/// writer's value.
STRATA_D tagged_word load_tagged_word(const tagged_word* p) {
  tagged_word result;
#if STRATA_DEVICE_PASS
  asm volatile(
      "{\n\t.reg .b128 both;\n\tld.relaxed.gpu.global.b128 both, [%2];\n\t"
      "mov.b128 {%0, %1}, both;\n\t}"
      : "=l"(result.value), "=l"(result.epoch)
      : "l"(p)
      : "memory");
#else
  // Loads read the epoch before the value, stores write the value before the epoch. On the host back end, where one
  // thread runs at a time, this gives the same guarantee. Memory that no thread has written may be read here.
#if STRATA_HOST_SIMT
  ::strata::simt::declare_initialised(p, sizeof(tagged_word));
#endif
  result.epoch = STRATA_DETAIL_ATOMIC_LOAD(&p->epoch, __ATOMIC_RELAXED);
  result.value = STRATA_DETAIL_ATOMIC_LOAD(&p->value, __ATOMIC_RELAXED);
#endif
  return result;
}

STRATA_D void store_tagged_word(tagged_word* p, const tagged_word& both) {
#if STRATA_DEVICE_PASS
  asm volatile(
      "{\n\t.reg .b128 both;\n\tmov.b128 both, {%1, %2};\n\t"
      "st.relaxed.gpu.global.b128 [%0], both;\n\t}" ::"l"(p),
      "l"(both.value), "l"(both.epoch)
      : "memory");
#else
  STRATA_DETAIL_ATOMIC_STORE(&p->value, both.value, __ATOMIC_RELAXED);
  STRATA_DETAIL_ATOMIC_STORE(&p->epoch, both.epoch, __ATOMIC_RELAXED);
#endif
}

/// Allows reads of memory that no thread has written, because any value will do. Otherwise the host back end reports
/// such reads.
STRATA_D void may_be_unwritten([[maybe_unused]] const void* p, [[maybe_unused]] std::size_t bytes) {
#if STRATA_HOST_SIMT
  ::strata::simt::declare_initialised(p, bytes);
#endif
}

/// Stands before an access of `bytes` bytes. If it is misaligned, the host back end ends the kernel, as a GPU does.
STRATA_D void expect_aligned([[maybe_unused]] const void* p, [[maybe_unused]] std::size_t bytes) {
#if STRATA_HOST_SIMT
  ::strata::simt::expect_aligned(p, bytes);
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
STRATA_D unsigned redux_and(unsigned mask, unsigned value) { return __reduce_and_sync(mask, value); }
STRATA_D unsigned redux_or(unsigned mask, unsigned value) { return __reduce_or_sync(mask, value); }
STRATA_D unsigned redux_xor(unsigned mask, unsigned value) { return __reduce_xor_sync(mask, value); }
#else
// Never executed, because callers test has_redux first. They are declared so that templates compile in every pass.
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
/// Says which cache lines of an input L2 evicts first. It is for inputs that a kernel reads only once.
struct l2_policy {
  unsigned long long bits;
};

/// Marks `fraction` (above 0, up to 1) of the lines of an input, so that L2 evicts these first and keeps the others.
/// This helps if the input is larger than L2, and is read again or was just written: without marks, each line would
/// evict one that is needed soon.
STRATA_D l2_policy evict_first(float fraction) {
  l2_policy policy{};
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 800
  asm("createpolicy.fractional.L2::evict_first.b64 %0, %1;" : "=l"(policy.bits) : "f"(fraction));
#else
  static_cast<void>(fraction);
#endif
  return policy;
}

/// Loads 16 aligned bytes of device memory. `load_streaming` allocates no line in L1: it is for warps that read whole
/// lines. `load_cached` is for lanes that read the neighbouring 16 bytes next.
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

// ---------------------------------------------------------------------------- some of a block's warps
/// A barrier of the `threads` threads of the block that call it with the same `number`, from 1 to 15. Like
/// __syncthreads(), it orders their accesses to shared and global memory.
#if STRATA_HOST_SIMT
inline void group_barrier(unsigned number, unsigned threads, const char* file = __builtin_FILE(),
                          int line = __builtin_LINE()) {
  ::strata::simt::named_barrier(static_cast<int>(number), static_cast<int>(threads), true,
                                ::strata::simt::location{file, line});
}
#else
STRATA_D void group_barrier([[maybe_unused]] unsigned number, [[maybe_unused]] unsigned threads) {
#if STRATA_DEVICE_PASS
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
#endif
}
#endif

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

/// Barrier of all threads of the cluster. It orders accesses to the shared memory of all its blocks.
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

/// Returns the address, in block `rank` of the cluster, of the variable that `p` points to in this block's shared
/// memory.
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
/// Waits until the kernels that this one depends on have ended and their writes are visible. Does nothing in
/// a kernel that was not launched with `programmatic`.
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
