// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: items that are aligned to more than 16 bytes lie on boundaries of 16 bytes only
#include <strata/core/shared_layout.hpp>

#if defined(STRATA_BAD)
constexpr int alignment = 32;
#else
constexpr int alignment = 16;
#endif

struct alignas(alignment) item {
  unsigned char bytes[32];
};

item first_of(strata::LayoutStorage<item, strata::ExchangeLayout<item, 1>, 32>& storage) { return storage[0]; }
