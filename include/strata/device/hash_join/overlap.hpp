// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Whether two arrays have a byte in common. A null pointer has none.
template <class A, class B>
bool join_arrays_overlap(const A* a, std::int64_t a_count, const B* b, std::int64_t b_count) {
  if (a == nullptr || b == nullptr || a_count <= 0 || b_count <= 0) return false;
  const auto first_a = reinterpret_cast<std::uintptr_t>(a);
  const auto first_b = reinterpret_cast<std::uintptr_t>(b);
  // By distances, because an end may lie beyond what a pointer can say.
  return first_a <= first_b ? (first_b - first_a) / sizeof(A) < static_cast<std::uint64_t>(a_count)
                            : (first_a - first_b) / sizeof(B) < static_cast<std::uint64_t>(b_count);
}

}  // namespace detail
STRATA_NAMESPACE_END
