// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: both sides of a join have keys of one type, read by one type of iterator
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_HOST
#include <strata/device/device_hash_join.hpp>

#if defined(STRATA_BAD)
using probe_key = long long;
#else
using probe_key = int;
#endif

cudaError_t join(const int* build, const probe_key* probe, std::int64_t* num_out) {
  return strata::DeviceHashJoin::Inner(strata::join_side(build, 10), strata::join_side(probe, 10), strata::join_count(),
                                       num_out);
}
