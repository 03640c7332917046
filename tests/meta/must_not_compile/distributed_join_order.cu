// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: the result of DistributedHashJoin has any order: pass JoinOptions, not OrderedJoinOptions
#include <strata/distributed/distributed_hash_join.cuh>

cudaError_t join(void* temp, std::size_t& bytes, const int* keys, long long* total, ncclComm_t comm) {
#if defined(STRATA_BAD)
  const strata::OrderedJoinOptions<> options;
#else
  const strata::JoinOptions<> options;
#endif
  const auto side = strata::join_side(keys, 10);
  return strata::DistributedHashJoin::Inner(temp, bytes, side, side, strata::join_count(), total,
                                            strata::DistributedJoinCapacity{10, 10}, options, comm);
}
