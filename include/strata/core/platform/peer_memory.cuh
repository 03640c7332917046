// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Words in memory of another GPU, and the clock that bounds a wait for one.

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// Relaxed access at system scope: between GPUs.
STRATA_D unsigned long long load_from_peer(const unsigned long long* p) {
#if STRATA_DEVICE_PASS
  unsigned long long value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
  return value;
#else
  return STRATA_DETAIL_ATOMIC_LOAD(p, __ATOMIC_RELAXED);
#endif
}
STRATA_D void store_to_peer(unsigned long long* p, unsigned long long value) {
#if STRATA_DEVICE_PASS
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
#else
  STRATA_DETAIL_ATOMIC_STORE(p, value, __ATOMIC_RELAXED);
#endif
}

/// Nanoseconds of a clock that all multiprocessors have in common.
STRATA_D unsigned long long nanoseconds() {
#if STRATA_DEVICE_PASS
  unsigned long long value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value));
  return value;
#else
  return 0;
#endif
}

}  // namespace platform
STRATA_NAMESPACE_END
