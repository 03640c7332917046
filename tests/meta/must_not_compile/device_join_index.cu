// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: the row numbers of a join are integers of 4 or 8 bytes: choose such an Index
#include <strata/device/join/host/host_join.hpp>

#ifdef STRATA_BAD
using row_number = short;
#else
using row_number = int;
#endif

strata::HostJoinStatus count(std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  return strata::detail::host_join_count<row_number>(nullptr, bytes, strata::JoinKind::inner, keys, 10, keys, 10,
                                                     num_out);
}
