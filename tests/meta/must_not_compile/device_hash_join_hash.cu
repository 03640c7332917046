// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the hash functor cannot be called with a key
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_hash_join.hpp>

struct key_hash {
#if defined(STRATA_BAD)
  STRATA_HD unsigned operator()(const char* key) const { return static_cast<unsigned>(*key); }
#else
  STRATA_HD unsigned operator()(int key) const { return static_cast<unsigned>(key); }
#endif
};

cudaError_t count(void* storage, std::size_t& bytes, const int* build, const int* probe, std::int64_t* num_out) {
  return strata::DeviceHashJoin::Inner(storage, bytes, strata::join_side(build, 1000), strata::join_side(probe, 1000),
                                       strata::join_count(), num_out, strata::JoinOptions<key_hash>{});
}
