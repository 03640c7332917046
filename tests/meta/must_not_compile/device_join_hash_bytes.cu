// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: JoinHash hashes bytes, but equal keys of this type may differ in theirs
#include <strata/device/join/common/join_hash.hpp>

#ifdef STRATA_BAD
using kind = char;  // and three bytes of padding
#else
using kind = int;
#endif

std::uint64_t hash_of(const strata::KeyValuePair<kind, int>& key) { return strata::JoinHash{}(key); }
