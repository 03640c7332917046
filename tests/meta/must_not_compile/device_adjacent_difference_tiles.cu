// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: the newest policy must have the smallest tiles: they say how many neighbours are saved
#include <strata/core/operators.hpp>
#include <strata/device/adjacent_difference/dispatch.cuh>

// Tunings of one's own; the host back end takes the first.
struct Policy900 : strata::ChainedPolicy<900, Policy900, Policy900> {
#if defined(STRATA_BAD)
  static constexpr strata::tile_tuning tuning{128, 32, 4, 2, 1};
#else
  static constexpr strata::tile_tuning tuning{512, 32, 4, 2, 1};
#endif
};
struct Policy1000 : strata::ChainedPolicy<1000, Policy1000, Policy900> {
  static constexpr strata::tile_tuning tuning{256, 32, 4, 2, 1};
};

cudaError_t differences(void* storage, std::size_t& bytes, int* data) {
  return strata::detail::dispatch_difference<true, true, Policy1000>(storage, bytes, data, data, 1000,
                                                                   strata::Difference{}, nullptr);
}
