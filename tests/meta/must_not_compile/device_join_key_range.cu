// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: only integers and enumerations have a range of keys
#include <strata/device/join/common/join_side.hpp>

#if defined(STRATA_BAD)
using key = float;
#else
using key = int;
#endif

auto side_of(const key* keys) { return strata::join_side(keys, 10).key_range(key(0), key(9)); }
