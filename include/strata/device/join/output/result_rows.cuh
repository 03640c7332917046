// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/warp/warp_reduce.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Finds the row of a list that a result belongs to, for 32 results at a time. Every row has at least one
/// result. Those of row `i` begin at `begins[i]`. `warp_threads` numbers follow that are greater than the
/// number of any result.
class join_result_rows {
  using Reduce = WarpReduce<unsigned>;

 public:
  /// By a warp, for the results from number `first`.
  STRATA_D join_result_rows(const unsigned* begins, unsigned rows, unsigned first) : begins_(begins), row_(0) {
    for (unsigned end = rows; end - row_ > 1;) {
      const unsigned middle = (row_ + end) / 2;
      if (begins[middle] <= first) {
        row_ = middle;
      } else {
        end = middle;
      }
    }
  }

  /// The row of result `base` + lane. Calls advance `base` by 32. The first `base` may be less than
  /// `first`, and less than 0 (modulo 2^32).
  STRATA_D unsigned next(unsigned base) {
    const unsigned lane = platform::lane_id();
    // Rows that begin after `base` set the bit of their first result.
    const unsigned offset = begins_[row_ + 1 + lane] - base;
    typename Reduce::TempStorage unused;
    const unsigned heads = Reduce(unused).AllReduce(offset < warp_threads ? 1u << offset : 0u, BitOr{});
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
