// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: need the extremes of the type for empty inputs: specialise std::numeric_limits for it
#include <strata/core/types.hpp>

struct price {
  int cents;
};

#if !defined(STRATA_BAD)
template <>
struct std::numeric_limits<price> : std::numeric_limits<int> {
  static constexpr price max() { return {1000000}; }
  static constexpr price lowest() { return {-1000000}; }
};
#endif

int highest_price() { return strata::detail::value_limits<price>::max().cents; }
