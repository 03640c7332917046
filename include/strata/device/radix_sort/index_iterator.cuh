// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// 0, 1, 2 ...
template <class T>
struct index_iterator {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using reference = T;
  using pointer = void;
  using difference_type = std::ptrdiff_t;

  std::ptrdiff_t first = 0;

  STRATA_HD index_iterator operator+(std::ptrdiff_t n) const { return {first + n}; }
  STRATA_HD T operator*() const { return static_cast<T>(first); }
  STRATA_HD T operator[](std::ptrdiff_t n) const { return static_cast<T>(first + n); }
};

}  // namespace detail
STRATA_NAMESPACE_END
