// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: a JoinTable takes numbers of rows that the host knows
#include <strata/device/device_hash_join.hpp>

cudaError_t count_pairs(const strata::JoinTable<int>& table, const int* keys, const int* d_rows, long long* total) {
#if defined(STRATA_BAD)
  const strata::FutureCount<int> rows(d_rows, 10);
#else
  static_cast<void>(d_rows);
  const int rows = 10;
#endif
  return table.Inner(strata::join_side(keys, rows), strata::join_count(), total);
}
