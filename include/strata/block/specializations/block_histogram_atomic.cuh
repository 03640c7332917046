// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// BLOCK_HISTO_ATOMIC: an atomic addition for each sample.
class block_histogram_atomic {
 public:
  struct storage {};

  template <class Counter, std::size_t ItemsPerThread>
  STRATA_D static void add(storage&, int, const unsigned (&bins)[ItemsPerThread], Counter* histogram) {
    STRATA_UNROLL
    for (const unsigned bin : bins) count_one(histogram + bin);
  }

 private:
  template <class Counter>
  STRATA_D static void count_one(Counter* counter) {
    constexpr bool is_word = std::is_integral_v<Counter> && (sizeof(Counter) == 4 || sizeof(Counter) == 8);
    static_assert(is_word || is_device_real<Counter>,
                  "BLOCK_HISTO_ATOMIC counts by atomicAdd: counters must be integers of 4 or 8 bytes, float, double, "
                  "half or bfloat16; take BLOCK_HISTO_SORT for others");
    if constexpr (is_word) {
      // CUDA has no atomicAdd for some integer types; the sums of signed and unsigned words have the same bits.
      using word = std::conditional_t<sizeof(Counter) == 4, unsigned, unsigned long long>;
      atomicAdd(reinterpret_cast<word*>(counter), word{1});
    } else {
      atomicAdd(counter, static_cast<Counter>(1));
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
