// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: DeviceMerge: a tile must fit 48 KiB of shared memory
#include <strata/device/device_merge.cuh>

#if defined(STRATA_BAD)
constexpr int bytes_of_key = 2000;
#else
constexpr int bytes_of_key = 1024;
#endif

struct wide {
  char text[bytes_of_key];
};
struct is_less {
  STRATA_HD bool operator()(const wide& a, const wide& b) const { return a.text[0] < b.text[0]; }
};

cudaError_t call(void* storage, std::size_t& bytes, const wide* keys, wide* keys_out) {
  return strata::DeviceMerge::MergeKeys(storage, bytes, keys, 1000, keys, 1000, keys_out, is_less{});
}
