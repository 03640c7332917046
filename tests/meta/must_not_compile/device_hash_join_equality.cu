// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: cannot be compared for equality
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_hash_join.hpp>

struct is_equal {
#if defined(STRATA_BAD)
  STRATA_HD bool operator()(const char* a, int b) const { return *a == b; }
#else
  STRATA_HD bool operator()(int a, int b) const { return a == b; }
#endif
};

cudaError_t count(void* storage, std::size_t& bytes, const int* build, const int* probe, std::int64_t* num_out) {
  return strata::DeviceHashJoin::Inner(storage, bytes, strata::join_side(build, 1000), strata::join_side(probe, 1000),
                                       strata::join_count(), num_out,
                                       strata::JoinOptions<strata::JoinHash, is_equal>{});
}
