// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: JoinHash does not know whether equal keys of this type have equal bytes
#include <strata/device/join/common/join_hash.hpp>

enum class letter : char {};
#ifdef STRATA_BAD
inline bool operator==(letter a, letter b) { return (static_cast<char>(a) | 32) == (static_cast<char>(b) | 32); }
#endif

std::uint64_t hash_of(letter key) { return strata::JoinHash{}(key); }
