// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstdlib>

namespace strata_test {

/// The seed of random data: STRATA_TEST_SEED of the environment, or a fixed one. A failing test prints it.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* text = std::getenv("STRATA_TEST_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 0) : 20261121ull;
  }();
  return value;
}

}  // namespace strata_test
