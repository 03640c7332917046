// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: a tile must have at least 128 items
#include <strata/device/device_scan.cuh>

#if defined(STRATA_BAD)
constexpr int items = 1;
#else
constexpr int items = 4;
#endif

// A tuning of one's own.
using base = strata::scan_policy_hub<int, int>::Policy900;
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::scan_tile_tuning small_tile = base::small_tile;
    static constexpr strata::scan_tile_tuning large_tile = {32, items, strata::BLOCK_LOAD_TRANSPOSE,
                                                            strata::BLOCK_STORE_TRANSPOSE, 1};
    static constexpr strata::scan_pipeline_tuning pipeline = base::pipeline;
    static constexpr int pipeline_above = base::pipeline_above;
  };
  using MaxPolicy = Policy;
};

cudaError_t sum(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceScan<hub>::ExclusiveSum(storage, bytes, in, out, 1000);
}
