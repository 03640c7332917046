// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Copies from device memory into shared memory that do not pass through registers (sm_80 on).

#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shared_memory.cuh>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// True if one asynchronous copy can copy an object of this type.
template <class T>
inline constexpr bool is_async_copy_size = sizeof(T) == alignof(T) &&
                                           (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);

/// Starts a copy of 4, 8 or 16 bytes between addresses that are multiples of the size. The calling thread must wait for
/// the copy (wait_for_async_copies(), or groups of copies) before a barrier. Other threads see the bytes after that
/// barrier.
template <int Bytes>
STRATA_D void copy_async(void* shared, const void* global) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16,
                "copy_async copies 4, 8 or 16 bytes: copy other items by assignment");
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 800
  const unsigned to = platform::shared_address(shared);
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(Bytes) : "memory");
  }
#else
  using word = strata::detail::access_word<Bytes>;
#if STRATA_HOST_SIMT
  word bits;
  std::memcpy(&bits, global, sizeof(bits));
  std::memcpy(shared, &bits, sizeof(bits));
#else
  *static_cast<word*>(shared) = *static_cast<const word*>(global);
#endif
#endif
}

/// Waits for all copies that this thread has started.
STRATA_D void wait_for_async_copies() {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
#endif
}

/// Makes a group of the copies that this thread has started since its last group.
STRATA_D void commit_async_copies() {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits for all groups of this thread except the last `Groups`.
template <int Groups>
STRATA_D void wait_for_async_groups_before() {
#if STRATA_DEVICE_PASS && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#endif
}

/// Starts a prefetch to L2 of the line of 128 bytes at an address of device memory.
STRATA_D void prefetch_to_l2([[maybe_unused]] const void* global) {
#if STRATA_DEVICE_PASS
  asm volatile("prefetch.L2 [%0];" ::"l"(global));
#endif
}

}  // namespace platform
STRATA_NAMESPACE_END
