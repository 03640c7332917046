// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/distributed/distributed_hash_join.cuh>

struct item {
  int number;
#if defined(STRATA_BAD)
  item() = default;
  item(const item& other) : number(other.number) {}
  item& operator=(const item&) = default;
#endif
};

cudaError_t join(void* temp, std::size_t& bytes, const int* keys, const item* in, item* out, long long* total,
                 ncclComm_t comm) {
  const auto side = strata::join_side(keys, 10);
  const auto output = strata::join_columns<std::int64_t>(10, strata::probe_column(in, out, item{}));
  return strata::DistributedHashJoin::Inner(temp, bytes, side, side, output, total,
                                            strata::DistributedJoinCapacity{10, 10}, strata::JoinOptions<>{}, comm);
}
