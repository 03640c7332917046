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
  friend STRATA_HD bool operator==(const item& a, const item& b) { return a.number == b.number; }
};
struct hash {
  STRATA_HD unsigned operator()(const item& a) const { return static_cast<unsigned>(a.number); }
};

cudaError_t join(void* temp, std::size_t& bytes, const item* keys, long long* total, ncclComm_t comm) {
  const auto side = strata::join_side(keys, 10);
  return strata::DistributedHashJoin::Inner(temp, bytes, side, side, strata::join_count(), total,
                                            strata::DistributedJoinCapacity{10, 10}, strata::JoinOptions<hash>{}, comm);
}
