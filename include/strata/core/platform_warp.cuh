// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Shuffles with a bound that the caller gives, which __shfl_up_sync and __shfl_down_sync have not.

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// The word of the lane `offset` below (`_up`) or above (`_down`) in the logical warp of `Width` lanes, a power of
/// two. The own word where that lane is below lane `first`, or above lane `last`, of the logical warp; these and
/// `offset` count modulo `Width` and 32.
template <int Width>
STRATA_D unsigned shuffle_up_word(unsigned mask, unsigned word, int offset, int first) {
#if STRATA_DEVICE_PASS
  unsigned result;
  asm volatile("shfl.sync.up.b32 %0, %1, %2, %3, %4;"
               : "=r"(result)
               : "r"(word), "r"(offset), "r"(first | (warp_threads - Width) << 8), "r"(mask));
  return result;
#else
  const int lane = static_cast<int>(lane_id());
  const int source = lane - (offset & 31), lowest = (lane & ~(Width - 1)) | (first & (Width - 1));
  return __shfl_sync(mask, word, source >= lowest ? source : lane, warp_threads);
#endif
}

template <int Width>
STRATA_D unsigned shuffle_down_word(unsigned mask, unsigned word, int offset, int last) {
#if STRATA_DEVICE_PASS
  unsigned result;
  asm volatile("shfl.sync.down.b32 %0, %1, %2, %3, %4;"
               : "=r"(result)
               : "r"(word), "r"(offset), "r"(last | (warp_threads - Width) << 8), "r"(mask));
  return result;
#else
  const int lane = static_cast<int>(lane_id());
  const int source = lane + (offset & 31), highest = (lane & ~(Width - 1)) | (last & (Width - 1));
  return __shfl_sync(mask, word, source <= highest ? source : lane, warp_threads);
#endif
}

/// A number that no other warp of the multiprocessor has at the time.
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

}  // namespace platform
STRATA_NAMESPACE_END
