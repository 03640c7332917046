// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: counts of rows, columns and segments must be integers
#include <strata/device/device_hash_join.hpp>

cudaError_t count_pairs(void* temp, std::size_t& bytes, const int* keys, long long* total) {
#if defined(STRATA_BAD)
  const double count = 10.5;
#else
  const int count = 10;
#endif
  return strata::DeviceHashJoin::Inner(temp, bytes, strata::join_side(keys, count), strata::join_side(keys, 10),
                                       strata::join_count(), total);
}
