// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the last argument of a call says where it works: pass a cudaStream_t, a class that converts to it or
#include <strata/device/device_hash_join.hpp>

#include <cstdint>

int main() {
  int keys[3] = {1, 2, 3};
  std::int64_t count = 0;
  const auto side = strata::join_side(keys, 3);
#if defined(STRATA_BAD)
  const int where = 5;
#else
  const cudaStream_t where = nullptr;
#endif
  const strata::JoinOptions<> options;
  return strata::DeviceHashJoin::Inner(side, side, strata::join_count(), &count, options, where) == cudaSuccess ? 0 : 1;
}
