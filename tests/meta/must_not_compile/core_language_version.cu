// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: strata needs C\+\+17
// bad flags: -std=c++14
// The bad half is this source in an older language: STRATA_BAD changes nothing else.
#include <strata/core/macros.hpp>

const int version = STRATA_VERSION_MAJOR;
