// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: the rows of all ranks have numbers of 8 bytes: choose such an Index
#include <strata/distributed/distributed_hash_join.cuh>

cudaError_t join(void* temp, std::size_t& bytes, const int* keys, long long* total, ncclComm_t comm, void* rows) {
#if defined(STRATA_BAD)
  using Index = int;
#else
  using Index = long long;
#endif
  Index* const rows_out = static_cast<Index*>(rows);
  const auto side = strata::join_side(keys, 10);
  return strata::DistributedHashJoin::Inner(temp, bytes, side, side, strata::join_pairs(rows_out, rows_out, 10), total,
                                            strata::DistributedJoinCapacity{10, 10}, strata::JoinOptions<>{}, comm);
}
