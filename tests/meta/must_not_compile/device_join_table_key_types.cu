// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: both sides of a join have keys of one type, read by one type of iterator
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_HOST
#include <strata/device/device_hash_join.hpp>

#if defined(STRATA_BAD)
using probe_key = short;
#else
using probe_key = int;
#endif

cudaError_t join(const strata::JoinTable<int>& table, const probe_key* keys, std::int64_t* num_out) {
  return table.Semi(strata::join_side(keys, 10), strata::join_count(), num_out);
}
