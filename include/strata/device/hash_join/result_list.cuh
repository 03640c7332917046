// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Bits that any lane has set. By all lanes.
STRATA_D unsigned join_bits_of_warp(unsigned bits) {
  if constexpr (platform::has_redux) {
    return platform::redux_or(full_warp_mask, bits);
  } else {
    STRATA_UNROLL
    for (unsigned distance = 1; distance < warp_threads; distance *= 2) {
      bits |= __shfl_xor_sync(full_warp_mask, bits, distance);
    }
    return bits;
  }
}

/// Which row of a list a result belongs to, for 32 results at a time. Rows have at least one each,
/// and those of row number `i` begin at `begins[i]`; behind the last row come `warp_threads` numbers
/// greater than any result's.
class join_result_rows {
 public:
  /// By a warp, for results from `first` on.
  STRATA_D join_result_rows(const unsigned* begins, unsigned rows, unsigned first)
      : begins_(begins), row_(0) {
    for (unsigned end = rows; end - row_ > 1;) {
      const unsigned middle = (row_ + end) / 2;
      if (begins[middle] <= first) {
        row_ = middle;
      } else {
        end = middle;
      }
    }
  }

  /// The row of result `base` + lane. Called for one `base` after another, in steps of 32; the first one
  /// may be before `first`, and less than 0 (modulo 2^32).
  STRATA_D unsigned next(unsigned base) {
    const unsigned lane = platform::lane_id();
    // Rows that begin behind `base` set the bit of their first result.
    const unsigned offset = begins_[row_ + 1 + lane] - base;
    const unsigned heads = join_bits_of_warp(offset < warp_threads ? 1u << offset : 0);
    const unsigned up_to_lane = ~0u >> (warp_threads - 1 - lane);
    const unsigned mine = row_ + static_cast<unsigned>(__popc(heads & up_to_lane));
    row_ += static_cast<unsigned>(__popc(heads));
    return mine;
  }

 private:
  const unsigned* begins_;
  unsigned row_;
};

}  // namespace detail
STRATA_NAMESPACE_END
