// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/device/join/host/host_join.hpp>

struct owner {
  int value;
  bool operator==(const owner& other) const { return value == other.value; }
#ifdef STRATA_BAD
  ~owner() { value = 0; }
#endif
};

struct hash_of_owner {
  int operator()(const owner& key) const { return key.value; }
};

strata::HostJoinStatus count(std::size_t& bytes, const owner* keys, std::int64_t* num_out) {
  return strata::detail::host_join_count(nullptr, bytes, strata::JoinKind::inner, keys, 10, keys, 10, num_out, {},
                                         hash_of_owner{});
}
