// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/digit_plan.cuh>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The bits that a sort looks at: `passes` digits from `begin_bit` on, the last one may be
/// narrower.
struct radix_bit_range {
  int begin_bit;
  int end_bit;

  STRATA_HD int passes() const {
    return ceiling_divide(end_bit - begin_bit, radix_bits);
  }
  STRATA_HD int first_bit(int pass) const { return begin_bit + pass * radix_bits; }
  STRATA_HD int bits(int pass) const {
    const int left = end_bit - first_bit(pass);
    return left < radix_bits ? left : radix_bits;
  }
};

/// What the kernels of one sort share in device memory. Of all this, nothing needs to be
/// initialised by the host: the first kernel does it.
///
/// A state is the number of a tile's items with one digit, or of those in all tiles up to it; the
/// uppermost bits say which.
template <class StateT>
struct radix_workspace {
  using State = StateT;

  unsigned long long* bins;     // of each pass: how many items have a digit, then a smaller one
  unsigned* tickets;            // of each pass
  unsigned* departures;         // of the first kernel's blocks
  unsigned* inexact;            // not 0: there are keys that are not exact (see radix_codes)
  radix_pass_plan* plan;
  State* states[2];             // of each tile and digit; passes take turns
  platform::packet* arrivals;   // of the first kernel's blocks
  std::size_t tiles;

  STRATA_D unsigned long long* bins_of(int pass) const { return bins + pass * radix_bins; }
};

}  // namespace detail
STRATA_NAMESPACE_END
