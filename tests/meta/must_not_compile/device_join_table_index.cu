// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: row numbers of a join with a table have the type Index of the table
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_HOST
#include <strata/device/device_hash_join.hpp>

#if defined(STRATA_BAD)
using row_number = long long;
#else
using row_number = int;
#endif

auto probe(const strata::JoinTable<int, int>& table, const int* keys, row_number* rows, std::int64_t* num_out) {
  return table.Inner(strata::join_side(keys, 10), strata::join_pairs(rows, rows + 10, 10), num_out);
}
