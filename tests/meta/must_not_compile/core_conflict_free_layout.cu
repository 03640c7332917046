// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: neither plain nor padded nor swizzled elements are free of conflicts
#include <strata/core/shared_layout.hpp>

#if defined(STRATA_BAD)
constexpr int stride = 1024;
#else
constexpr int stride = 32;
#endif

int position(int index) { return strata::ConflictFreeLayout<strata::strided_access<4, stride>>{}(index); }
