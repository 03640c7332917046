// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_hash_join.hpp>

struct key {
  int id;
#ifdef STRATA_BAD
  STRATA_HD key(const key& other) : id(other.id) {}
#endif
  STRATA_HD friend bool operator==(const key& a, const key& b) { return a.id == b.id; }
};
struct key_hash {
  STRATA_HD int operator()(const key& k) const { return k.id; }
};

cudaError_t count(std::size_t& bytes, const key* keys, std::int64_t* num_out,
                  const strata::JoinOptions<key_hash>& options) {
  return strata::DeviceHashJoin::Semi(nullptr, bytes, strata::join_side(keys, 10), strata::join_side(keys, 10),
                                      strata::join_count(), num_out, options);
}
