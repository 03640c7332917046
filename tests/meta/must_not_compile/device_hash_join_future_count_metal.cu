// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: joins by Metal take numbers of rows that the host knows
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_METAL
#include <strata/device/device_hash_join.hpp>

cudaError_t count_pairs(const int* keys, const int* d_rows, long long* total) {
#if defined(STRATA_BAD)
  const strata::FutureCount<int> rows(d_rows, 10);
#else
  static_cast<void>(d_rows);
  const int rows = 10;
#endif
  return strata::DeviceHashJoin::Inner(strata::join_side(keys, rows), strata::join_side(keys, 10), strata::join_count(),
                                       total);
}
