// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: join_partition_tuning: partition_threads \* items must be less than 65536, and items at most 32
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_hash_join.hpp>

struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, strata::join_common_policy {
    static constexpr strata::join_table_tuning table{256, 128, 2, 4};
#ifdef STRATA_BAD
    static constexpr strata::join_partition_tuning partition{1024, {64, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                             256,  500,        250,       4,   8, 4};
#else
    static constexpr strata::join_partition_tuning partition{512, {8, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                             256, 500,       250,       4,   8, 4};
#endif
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
    static constexpr std::uint64_t least_partitioned_rows = 1000;
    using strategy = strata::cuda_join_policy;
  };
  using MaxPolicy = Policy;
};

cudaError_t count(std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  const auto side = strata::join_side(keys, 10);
  return strata::TunedDeviceHashJoin<hub>::Inner(nullptr, bytes, side, side, strata::join_count(), num_out);
}
