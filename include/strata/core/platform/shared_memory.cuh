// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Addresses in shared memory. They have 32 bits, as instructions for shared memory take them.

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// Returns the address of an object in shared memory. On the host, the object itself has address 0.
STRATA_D unsigned shared_address([[maybe_unused]] const void* object) {
#if STRATA_DEVICE_PASS
  return static_cast<unsigned>(__cvta_generic_to_shared(object));
#else
  return 0;
#endif
}

/// Returns the pointer to `address`, which lies in `object`: it is `shared_address(object)` plus an offset in bytes.
template <class T>
STRATA_D T* shared_pointer([[maybe_unused]] void* object, unsigned address) {
#if STRATA_DEVICE_PASS
  return static_cast<T*>(__cvta_shared_to_generic(address));
#else
  return reinterpret_cast<T*>(static_cast<unsigned char*>(object) + address);
#endif
}

/// Loads a word of shared memory. Other threads of the block change it at the same time, by atomic functions.
STRATA_D unsigned long long load_shared_relaxed(const unsigned long long* word) {
#if STRATA_DEVICE_PASS
  unsigned long long value;
  asm volatile("ld.relaxed.cta.shared.u64 %0, [%1];" : "=l"(value) : "r"(shared_address(word)) : "memory");
  return value;
#else
  return STRATA_DETAIL_ATOMIC_LOAD(word, __ATOMIC_RELAXED);
#endif
}

/// Loads two neighbouring words of shared memory by one load. Other threads of the block change them at the same time.
/// Volatile accesses in C++ would be two loads.
STRATA_D void load_shared_pair(const unsigned* words, unsigned& first, unsigned& second) {
#if STRATA_DEVICE_PASS
  asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];"
               : "=r"(first), "=r"(second)
               : "r"(shared_address(words))
               : "memory");
#else
  first = *static_cast<const volatile unsigned*>(words);
  second = *static_cast<const volatile unsigned*>(words + 1);
#endif
}
STRATA_D void load_shared_pair(const unsigned long long* words, unsigned long long& first, unsigned long long& second) {
#if STRATA_DEVICE_PASS
  asm volatile("ld.volatile.shared.v2.u64 {%0, %1}, [%2];"
               : "=l"(first), "=l"(second)
               : "r"(shared_address(words))
               : "memory");
#else
  first = *static_cast<const volatile unsigned long long*>(words);
  second = *static_cast<const volatile unsigned long long*>(words + 1);
#endif
}

}  // namespace platform
STRATA_NAMESPACE_END
