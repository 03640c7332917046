// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: transpose_tuning: shared memory would have bank conflicts: choose tile sides that are powers of two or multiples of 32
// errors: 6, without a tile that has no conflicts there is no type for it
#include <strata/device/device_transpose.cuh>

#if defined(STRATA_BAD)
constexpr int columns = 24;
#else
constexpr int columns = 32;
#endif

// A tuning of one's own.
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, strata::transpose_policy_hub<4, 4>::Policy750> {
    static constexpr strata::transpose_tuning items{/*block_threads=*/256, /*tile_rows=*/32, columns,
                                                    /*access_bytes=*/4};
  };
  using MaxPolicy = Policy;
};

cudaError_t transpose(const int* in, int* out) {
  return strata::TunedDeviceTranspose<hub>::Transpose(in, out, 100, 100);
}
