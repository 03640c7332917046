// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform_order.cuh>
#include <strata/core/radix_key.hpp>

#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The order of radix sorts as a comparator; without words, which take up to ten instructions, where a
/// comparison of keys says the same. `<` of floating-point numbers would be no ordering, as it does not
/// say where NaNs belong.
template <class Key, bool IsDescending>
struct is_before_in_radix_sorts {
  STRATA_HD bool operator()(const Key& a, const Key& b) const {
    return IsDescending ? ascends(b, a) : ascends(a, b);
  }

 private:
  STRATA_HD static bool ascends(const Key& a, const Key& b) {
    if constexpr (std::is_integral_v<Key>) {
      return a < b;
    } else if constexpr (std::is_floating_point_v<Key>) {
      return platform::is_less_or_before_nan(a, b);
    } else {
      return RadixTraits<Key>::ordered(a) < RadixTraits<Key>::ordered(b);
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
