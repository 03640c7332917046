// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: DistributedHashJoin takes numbers of rows that the host knows: copy the number to the host
#include <strata/distributed/distributed_hash_join.cuh>

cudaError_t join(void* temp, std::size_t& bytes, const int* keys, long long* total, ncclComm_t comm, const int* count) {
#if defined(STRATA_BAD)
  const auto side = strata::join_side(keys, strata::FutureCount(count, 10));
#else
  static_cast<void>(count);
  const auto side = strata::join_side(keys, 10);
#endif
  return strata::DistributedHashJoin::Inner(temp, bytes, side, strata::join_side(keys, 10), strata::join_count(), total,
                                            strata::DistributedJoinCapacity{10, 10}, strata::JoinOptions<>{}, comm);
}
