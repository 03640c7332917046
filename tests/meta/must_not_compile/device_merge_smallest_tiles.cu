// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: the newest policy must have the smallest tiles: they say how many splits are kept
#include <strata/core/operators.hpp>
#include <strata/core/types.hpp>
#include <strata/device/merge/dispatch.cuh>

// Tunings of one's own; the host back end takes the first.
struct hub {
  struct Policy900 : strata::ChainedPolicy<900, Policy900, Policy900> {
#if defined(STRATA_BAD)
    static constexpr strata::merge_tuning tuning{128, 5, 1, 0};
#else
    static constexpr strata::merge_tuning tuning{512, 5, 1, 0};
#endif
  };
  struct Policy1000 : strata::ChainedPolicy<1000, Policy1000, Policy900> {
    static constexpr strata::merge_tuning tuning{256, 5, 1, 0};
  };
  using MaxPolicy = Policy1000;
};
using arrays =
    strata::detail::merge_arrays<const int*, strata::NullType*, const int*, strata::NullType*, int*, strata::NullType*>;

cudaError_t merge(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::detail::DispatchMerge<arrays, strata::Less, hub>::Dispatch(
      storage, bytes, {in, nullptr, 500, in + 500, nullptr, 500, out, nullptr}, 500, 500, strata::Less{}, nullptr);
}
