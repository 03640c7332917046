// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Loads and stores of what nobody needs soon, so that caches keep other lines.

#include <strata/core/macros.hpp>

#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// Loads an object of device memory whose line is the first to leave the caches.
template <class T>
STRATA_D T load_once(const T* p) {
#if STRATA_DEVICE_PASS
  if constexpr ((sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) &&
                sizeof(T) == alignof(T) && std::is_trivially_copyable_v<T>) {
    using Word =
        std::conditional_t<sizeof(T) == 4, unsigned, std::conditional_t<sizeof(T) == 8, uint2, uint4>>;
    const Word word = __ldcs(reinterpret_cast<const Word*>(p));
    T value;
    memcpy(&value, &word, sizeof(T));
    return value;
  }
#endif
  return *p;
}

/// Stores an object to device memory; its line is the first to leave the caches.
template <class T>
STRATA_D void store_once(T* p, const T& value) {
#if STRATA_DEVICE_PASS
  if constexpr ((sizeof(T) == 4 || sizeof(T) == 8) && sizeof(T) == alignof(T) &&
                std::is_trivially_copyable_v<T>) {
    using Word = std::conditional_t<sizeof(T) == 4, unsigned, uint2>;
    Word word;
    memcpy(&word, &value, sizeof(T));
    __stcs(reinterpret_cast<Word*>(p), word);
    return;
  }
#endif
  *p = value;
}

}  // namespace platform
STRATA_NAMESPACE_END
