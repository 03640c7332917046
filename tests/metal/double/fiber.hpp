// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A context switch, with the calls that inform the sanitizers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SANITIZE_THREAD__) || defined(MSL_WITH_TSAN)
#define MSL_TSAN 1
#else
#define MSL_TSAN 0
#endif
#if defined(__SANITIZE_ADDRESS__)
#define MSL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MSL_ASAN 1
#endif
#endif
#ifndef MSL_ASAN
#define MSL_ASAN 0
#endif

extern "C" {
// Saves the caller's registers on its stack, stores its stack pointer in `save`, and continues with the stack `load`.
void msl_switch(void** save, void* load);
#if MSL_TSAN
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* token);
void __tsan_release(void* token);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
#endif
#if MSL_ASAN
void __asan_unpoison_memory_region(const volatile void* begin, std::size_t bytes);
void __sanitizer_start_switch_fiber(void** save, const void* bottom, std::size_t bytes);
void __sanitizer_finish_switch_fiber(void* save, const void** bottom, std::size_t* bytes);
#endif
}

namespace msl {

// The stack of a new fiber, from which msl_switch enters `function`.
inline void* fiber_frame(char* top, void (*function)()) {
  auto** p = reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15});
#if defined(__x86_64__)
  *--p = nullptr;  // at entry, the stack pointer is a multiple of 16, plus 8
  *--p = reinterpret_cast<void*>(function);
  for (int i = 0; i < 6; ++i) *--p = nullptr;
#elif defined(__aarch64__)
  p -= 22;
  std::memset(static_cast<void*>(p), 0, 176);
  p[11] = reinterpret_cast<void*>(function);
#else
#error "add a context switch for this processor"
#endif
  return p;
}

}  // namespace msl
