// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::size_t cache_line_bytes = 64;

/// Prefetches a cache line that will be read or written soon. The address need not be valid.
inline void prefetch_to_read([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address, 0);
#endif
}
inline void prefetch_to_write([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address, 1);
#endif
}

}  // namespace detail
STRATA_NAMESPACE_END
