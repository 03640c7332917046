// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: JoinHash hashes bytes, but equal keys of this type may differ in theirs
#include <strata/device/join/common/join_hash.hpp>

struct composite {
#ifdef STRATA_BAD
  char kind;  // and three bytes of padding
#else
  int kind;
#endif
  int number;
};

std::uint64_t hash_of(const composite& key) { return strata::JoinHash{}(key); }
