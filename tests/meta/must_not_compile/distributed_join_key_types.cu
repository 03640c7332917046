// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: both sides of a join have keys of one type, read by one type of iterator
#include <strata/distributed/distributed_hash_join.cuh>

#if defined(STRATA_BAD)
using probe_key = unsigned;
#else
using probe_key = int;
#endif

cudaError_t join(void* temp, std::size_t& bytes, const int* keys, const probe_key* probe, long long* total,
                 ncclComm_t comm) {
  return strata::DistributedHashJoin::Inner(temp, bytes, strata::join_side(keys, 10), strata::join_side(probe, 10),
                                            strata::join_count(), total, strata::DistributedJoinCapacity{10, 10},
                                            strata::JoinOptions<>{}, comm);
}
