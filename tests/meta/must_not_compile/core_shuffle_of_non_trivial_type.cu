// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/core/platform/shuffle.cuh>

struct item {
  int value;
#if defined(STRATA_BAD)
  STRATA_HD item(const item& other) : value(other.value) {}
#endif
};

STRATA_D int neighbour(const item& mine) {
  return strata::platform::shuffle_down(strata::full_warp_mask, mine, 1).value;
}
