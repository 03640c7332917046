// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: all policies of a chain must have the same numbers where temporary storage depends on them
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_hash_join.hpp>

struct rows : strata::join_common_policy {
  static constexpr strata::join_table_tuning table{256, 128, 2, 4};
  static constexpr strata::join_partition_tuning partition{512, {8, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                           256, 500,       250,       4,   8, 4};
  static constexpr std::uint64_t least_partitioned_rows = 1000;
  using strategy = strata::cuda_join_policy;
};

struct hub {
#ifdef STRATA_BAD
  struct Policy700 : strata::ChainedPolicy<700, Policy700, Policy700>, rows {
    static constexpr strata::join_merge_tuning merge{64, 3, 4, 1, 0};
  };
#else
  struct Policy700 : strata::ChainedPolicy<700, Policy700, Policy700>, rows {
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
  };
#endif
  // Newer than every device: the older policy is the active one.
  struct Policy99990 : strata::ChainedPolicy<99990, Policy99990, Policy700>, rows {
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
  };
  using MaxPolicy = Policy99990;
};

cudaError_t count(std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  const auto side = strata::join_side(keys, 10);
  return strata::TunedDeviceHashJoin<hub>::Inner(nullptr, bytes, side, side, strata::join_count(), num_out);
}
