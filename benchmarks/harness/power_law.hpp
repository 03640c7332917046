// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Ranks with power-law frequencies, as in Zipf's law.

#include <strata/core/macros.hpp>

#include <cmath>
#include <cstdint>

namespace bench {

/// Returns a rank in [0, ranks) for `u` in [0, 1). With an exponent of 0, all ranks are equally frequent.
///
/// It rounds a continuous law with the density x^-exponent on [1/2, ranks + 1/2], whose cumulative distribution has an
/// inverse in closed form. So rank k - 1 has the integral over [k - 1/2, k + 1/2), which is within 11 % of Zipf's
/// k^-exponent for exponents up to 1.5.
STRATA_HD std::uint64_t power_law_rank(double u, double exponent, std::uint64_t ranks) {
  const double low = 0.5;
  const double high = static_cast<double>(ranks) + 0.5;
  double x;
  if (exponent == 1) {
    x = low * pow(high / low, u);
  } else {
    const double power = 1 - exponent;
    const double at_low = pow(low, power);
    x = pow(at_low + u * (pow(high, power) - at_low), 1 / power);
  }
  const auto rank = static_cast<std::uint64_t>(x - low);
  return rank < ranks ? rank : ranks - 1;  // rounding may yield `ranks` for the greatest x
}

}  // namespace bench
