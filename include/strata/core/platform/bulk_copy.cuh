// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Asynchronous bulk copies from device memory into shared memory, and the barriers in shared memory that
/// signal their completion (sm_90 on).

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shared_memory.cuh>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// True where bulk copies exist. Other architectures must not execute code that uses them.
#if STRATA_DEVICE_PASS
inline constexpr bool has_bulk_copies = __CUDA_ARCH__ >= 900;
#else
inline constexpr bool has_bulk_copies = true;
#endif

/// A barrier in shared memory that has phases. A phase is complete when `count` threads have arrived, and all bytes
/// that they expect from bulk copies have arrived. Waiting threads distinguish phases by parity, so no thread may be
/// two phases late.
class mbarrier {
 public:
  /// Initialises the barrier for `count` arrivals in each phase. One thread calls this, before fence_mbarrier_init()
  /// and a barrier of the block.
  STRATA_D void init(unsigned count) {
#if STRATA_HOST_SIMT
    ::strata::simt::mbarrier_init(&word_, count, {__FILE__, __LINE__});
#elif STRATA_DEVICE_PASS
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&word_)), "r"(count) : "memory");
#else
    static_cast<void>(count);
#endif
  }

  /// Arrives. What the thread wrote before is visible to the threads that wait for the phase.
  STRATA_D void arrive() {
#if STRATA_HOST_SIMT
    ::strata::simt::mbarrier_arrive(&word_, {__FILE__, __LINE__});
#elif STRATA_DEVICE_PASS
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&word_)) : "memory");
#endif
  }

  /// Arrives, and adds to the bytes that this phase expects from bulk copies.
  STRATA_D void arrive_and_expect(unsigned bytes) {
#if STRATA_HOST_SIMT
    ::strata::simt::mbarrier_arrive_expect_tx(&word_, bytes, {__FILE__, __LINE__});
#elif STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&word_)), "r"(bytes)
                 : "memory");
#else
    static_cast<void>(bytes);
#endif
  }

  /// Returns when the phase of this parity (0 for the first) is complete.
  STRATA_D void wait(unsigned parity) {
#if STRATA_HOST_SIMT
    while (!::strata::simt::mbarrier_try_wait_parity(&word_, parity, {__FILE__, __LINE__})) {
      STRATA_SPIN();
    }
#elif STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 900
    unsigned is_complete;
    do {
      asm volatile(
          "{\n\t.reg .pred complete;\n\t"
          "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n\t"
          "selp.u32 %0, 1, 0, complete;\n\t}"
          : "=r"(is_complete)
          : "r"(shared_address(&word_)), "r"(parity)
          : "memory");
    } while (is_complete == 0);
#else
    static_cast<void>(parity);
#endif
  }

  /// Starts a bulk copy, whose bytes the current phase expects. Addresses and size are multiples of 16.
  STRATA_D void copy(void* shared, const void* global, unsigned bytes) {
#if STRATA_HOST_SIMT
    ::strata::simt::bulk_copy_global_to_shared(shared, global, bytes, &word_, {__FILE__, __LINE__});
#elif STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 900
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(shared_address(shared)),
        "l"(global), "r"(bytes), "r"(shared_address(&word_))
        : "memory");
#else
    static_cast<void>(shared);
    static_cast<void>(global);
    static_cast<void>(bytes);
#endif
  }

 private:
  std::uint64_t word_;
};

/// Makes initialised barriers visible to bulk copies.
STRATA_D void fence_mbarrier_init() {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

/// A thread calls this before a barrier. Its earlier accesses to shared memory then come before all bulk copies into
/// shared memory that any thread starts after the barrier.
STRATA_D void fence_before_bulk_copy() {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

}  // namespace platform
STRATA_NAMESPACE_END
