// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: JoinHash does not know whether equal keys of this type have equal bytes
#include <strata/device/join/common/join_hash.hpp>

// Equal if both are odd, or both even. What the compiler sees of it may as well be compared byte by byte.
struct parity {
  unsigned short number;
  friend bool operator==(parity a, parity b) { return a.number % 2 == b.number % 2; }
};
struct hash_of_parity {
  int operator()(parity key) const { return key.number % 2; }
};

#ifdef STRATA_BAD
using hash = strata::JoinHash;
#else
using hash = hash_of_parity;
#endif

std::uint64_t hash_of(parity key) { return static_cast<std::uint64_t>(hash{}(key)); }
