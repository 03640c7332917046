// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/warp/warp_exchange.cuh>

struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_BAD)
  STRATA_HD item(const item& other) : value(other.value) {}
  STRATA_HD item& operator=(const item& other) {
    value = other.value;
    return *this;
  }
#endif
};

STRATA_KERNEL void exchange(int* out) {
  using exchange = strata::WarpExchange<item, 2>;
  STRATA_SHARED(temp_storage, exchange::TempStorage);
  item items[2] = {item(1), item(2)};
  exchange(temp_storage).StripedToBlocked(items);
  *out = items[0].value;
}
