// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Barriers, votes, matches, shuffles, warp reductions, clusters and bulk copies. Each knows the source line of its
// caller.
#pragma once

#include <strata/simt/engine.hpp>

// ---- block barriers
inline void __syncthreads(STRATA_SIMT_CALLER) {
  strata::simt::block_barrier(strata::simt::operation::block_sync, 0, STRATA_SIMT_CALLER_LOCATION);
}
inline int __syncthreads_count(int predicate, STRATA_SIMT_CALLER) {
  return strata::simt::block_barrier(strata::simt::operation::block_sync_count, predicate, STRATA_SIMT_CALLER_LOCATION);
}
inline int __syncthreads_and(int predicate, STRATA_SIMT_CALLER) {
  return strata::simt::block_barrier(strata::simt::operation::block_sync_and, predicate, STRATA_SIMT_CALLER_LOCATION);
}
inline int __syncthreads_or(int predicate, STRATA_SIMT_CALLER) {
  return strata::simt::block_barrier(strata::simt::operation::block_sync_or, predicate, STRATA_SIMT_CALLER_LOCATION);
}

// ---- warp barrier, votes, matches
inline void __syncwarp(unsigned mask = 0xffffffffu, STRATA_SIMT_CALLER) {
  strata::simt::warp_collective(strata::simt::operation::sync_warp, mask, 0, 0, STRATA_SIMT_CALLER_LOCATION);
}
inline unsigned __activemask(STRATA_SIMT_CALLER) {
  return static_cast<unsigned>(strata::simt::warp_collective(strata::simt::operation::active_mask, 0xffffffffu, 0, 0,
                                                             STRATA_SIMT_CALLER_LOCATION));
}
inline unsigned __ballot_sync(unsigned mask, int predicate, STRATA_SIMT_CALLER) {
  return static_cast<unsigned>(strata::simt::warp_collective(strata::simt::operation::ballot, mask, predicate != 0, 0,
                                                             STRATA_SIMT_CALLER_LOCATION));
}
inline int __any_sync(unsigned mask, int predicate, STRATA_SIMT_CALLER) {
  return static_cast<int>(strata::simt::warp_collective(strata::simt::operation::any, mask, predicate != 0, 0,
                                                        STRATA_SIMT_CALLER_LOCATION));
}
inline int __all_sync(unsigned mask, int predicate, STRATA_SIMT_CALLER) {
  return static_cast<int>(strata::simt::warp_collective(strata::simt::operation::all, mask, predicate != 0, 0,
                                                        STRATA_SIMT_CALLER_LOCATION));
}
template <class T>
inline unsigned __match_any_sync(unsigned mask, T value, STRATA_SIMT_CALLER) {
  return static_cast<unsigned>(strata::simt::warp_collective(
      strata::simt::operation::match_any, mask, strata::simt::to_bits(value), 0, STRATA_SIMT_CALLER_LOCATION));
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* all_equal, STRATA_SIMT_CALLER) {
  const unsigned lanes = static_cast<unsigned>(strata::simt::warp_collective(
      strata::simt::operation::match_all, mask, strata::simt::to_bits(value), 0, STRATA_SIMT_CALLER_LOCATION));
  *all_equal = lanes != 0;
  return lanes;
}

// ---- shuffles of 1 to 8 bytes; CUDA's own overloads stop at 4- and 8-byte arithmetic types
namespace strata {
namespace simt {
namespace detail {
template <class T>
inline T shuffle(operation op, unsigned mask, T value, unsigned source, int width, location where) {
  const uint64_t extra = static_cast<uint64_t>(static_cast<uint32_t>(width)) << 32 | source;
  return from_bits<T>(warp_collective(op, mask, to_bits(value), extra, where));
}
}  // namespace detail
}  // namespace simt
}  // namespace strata

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source_lane, int width = 32, STRATA_SIMT_CALLER) {
  return strata::simt::detail::shuffle(strata::simt::operation::shuffle_index, mask, value,
                                       static_cast<unsigned>(source_lane), width, STRATA_SIMT_CALLER_LOCATION);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, STRATA_SIMT_CALLER) {
  return strata::simt::detail::shuffle(strata::simt::operation::shuffle_up, mask, value, delta, width,
                                       STRATA_SIMT_CALLER_LOCATION);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, STRATA_SIMT_CALLER) {
  return strata::simt::detail::shuffle(strata::simt::operation::shuffle_down, mask, value, delta, width,
                                       STRATA_SIMT_CALLER_LOCATION);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, STRATA_SIMT_CALLER) {
  return strata::simt::detail::shuffle(strata::simt::operation::shuffle_xor, mask, value,
                                       static_cast<unsigned>(lane_mask), width, STRATA_SIMT_CALLER_LOCATION);
}

// ---- warp reductions of 32-bit integers
#define STRATA_SIMT_REDUCE(name, type, op)                                                                 \
  inline type name(unsigned mask, type value, STRATA_SIMT_CALLER) {                                        \
    return static_cast<type>(strata::simt::warp_collective(                                                \
        strata::simt::operation::op, mask, static_cast<unsigned>(value), 0, STRATA_SIMT_CALLER_LOCATION)); \
  }
STRATA_SIMT_REDUCE(__reduce_add_sync, unsigned, reduce_add)
STRATA_SIMT_REDUCE(__reduce_add_sync, int, reduce_add)
STRATA_SIMT_REDUCE(__reduce_min_sync, unsigned, reduce_min_unsigned)
STRATA_SIMT_REDUCE(__reduce_min_sync, int, reduce_min_signed)
STRATA_SIMT_REDUCE(__reduce_max_sync, unsigned, reduce_max_unsigned)
STRATA_SIMT_REDUCE(__reduce_max_sync, int, reduce_max_signed)
STRATA_SIMT_REDUCE(__reduce_and_sync, unsigned, reduce_and)
STRATA_SIMT_REDUCE(__reduce_or_sync, unsigned, reduce_or)
STRATA_SIMT_REDUCE(__reduce_xor_sync, unsigned, reduce_xor)
#undef STRATA_SIMT_REDUCE

// ---- fences: CUDA's are sequentially consistent
inline void __threadfence() { strata::simt::fence(__ATOMIC_SEQ_CST, strata::simt::memory_scope::device); }
inline void __threadfence_block() { strata::simt::fence(__ATOMIC_SEQ_CST, strata::simt::memory_scope::block); }
inline void __threadfence_system() { strata::simt::fence(__ATOMIC_SEQ_CST, strata::simt::memory_scope::system); }

inline void __nanosleep(unsigned, STRATA_SIMT_CALLER) { strata::simt::spin_hint(STRATA_SIMT_CALLER_LOCATION); }
[[noreturn]] inline void __trap(STRATA_SIMT_CALLER) { strata::simt::fail("trap", "__trap() at %s:%d", file_, line_); }

namespace strata {
namespace simt {

// ---- clusters of thread blocks: rank, barrier and distributed shared memory
unsigned cluster_rank();   // of the calling block in its cluster
unsigned cluster_size();   // blocks in the cluster
unsigned cluster_index();  // linear number of the cluster in the grid

// The two halves of the cluster barrier: arrive releases, wait acquires.
void cluster_arrive(location where);
void cluster_wait(location where);
inline void cluster_barrier(location where) {
  cluster_arrive(where);
  cluster_wait(where);
}

// `address` is the address of a variable in the shared memory of this block. Returns the address at which this block
// can access the same variable of block `rank`. This block cannot use plain shared addresses of another block; the
// check flavour reports their use.
void* map_shared(const void* address, unsigned rank, const char* file = __builtin_FILE(), int line = __builtin_LINE());

// ---- asynchronous bulk copies into shared memory, and the mbarrier that signals their completion
// A copy is not executed when it is issued, but when a thread waits for its barrier. So code that reads too early reads
// garbage, as it may on the GPU. The check flavour reports the early read.
void mbarrier_init(uint64_t* barrier, unsigned count, location where);
void mbarrier_invalidate(uint64_t* barrier, location where);
// Makes one arrival, which releases. The second form also adds to the bytes that the phase expects from bulk copies.
void mbarrier_arrive(uint64_t* barrier, location where);
void mbarrier_arrive_expect_tx(uint64_t* barrier, unsigned bytes, location where);
// Returns true, and acquires, if the phase of this parity is complete. The caller calls it in a loop.
bool mbarrier_try_wait_parity(uint64_t* barrier, unsigned parity, location where);
// Both addresses and the size must be multiples of 16, as for the hardware.
void bulk_copy_global_to_shared(void* to, const void* from, unsigned bytes, uint64_t* barrier, location where);

}  // namespace simt
}  // namespace strata
