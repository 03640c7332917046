// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hooks for text that is compiled with -fsanitize=thread and linked without it. The compiler calls them before loads
// and stores. Volatile accesses are those to threadgroup memory.
#pragma once
#define MSL_HOOK extern "C" __attribute__((visibility("default"), no_sanitize("thread")))
#define MSL_HOOKS(bytes)                                                               \
  MSL_HOOK void __tsan_read##bytes(void*) {}                                           \
  MSL_HOOK void __tsan_write##bytes(void*) {}                                          \
  MSL_HOOK void __tsan_volatile_read##bytes(void* address) {                           \
    msl::rt()->threadgroup_access(address, bytes, false, __builtin_return_address(0)); \
  }                                                                                    \
  MSL_HOOK void __tsan_volatile_write##bytes(void* address) {                          \
    msl::rt()->threadgroup_access(address, bytes, true, __builtin_return_address(0));  \
  }
MSL_HOOKS(1)
MSL_HOOKS(2)
MSL_HOOKS(4)
MSL_HOOKS(8)
MSL_HOOK void __tsan_read16(void*) {}
MSL_HOOK void __tsan_write16(void*) {}
MSL_HOOK void __tsan_init() {}
MSL_HOOK void __tsan_func_entry(void*) {}
MSL_HOOK void __tsan_func_exit(void*) {}
MSL_HOOK void __tsan_vptr_update(void**, void*) {}
#undef MSL_HOOKS
#undef MSL_HOOK
