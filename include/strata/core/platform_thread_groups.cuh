// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Barriers of some of a block's warps.

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// __syncthreads() for some warps of the block: for the `threads` threads that call it with the same `number`
/// from 1 to 15. It orders their accesses to shared and global memory.
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

}  // namespace platform
STRATA_NAMESPACE_END
