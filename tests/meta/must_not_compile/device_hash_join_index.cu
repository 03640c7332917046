// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: the row numbers of a hash join are integers of 4 or 8 bytes: choose such an Index
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_hash_join.hpp>

#ifdef STRATA_BAD
using row_number = short;
#else
using row_number = int;
#endif

cudaError_t semi(std::size_t& bytes, const int* keys, row_number* rows, std::int64_t* num_out) {
  return strata::DeviceHashJoin::Semi(nullptr, bytes, strata::join_side(keys, 10), strata::join_side(keys, 10),
                                      strata::join_pairs(nullptr, rows, 10), num_out);
}
