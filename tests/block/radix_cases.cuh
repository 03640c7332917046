// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of BlockRadixRank and BlockRadixSort: the numbers to sort.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "support/test_support.cuh"

namespace radix_cases {

/// Distributions of the numbers of a tile.
enum class spread { random, equal_lowest, equal_highest, two_values, ascending, descending, few_bits };
inline constexpr spread spreads[] = {spread::random,    spread::equal_lowest, spread::equal_highest, spread::two_values,
                                     spread::ascending, spread::descending,   spread::few_bits};
inline constexpr std::size_t spread_count = sizeof(spreads) / sizeof(spreads[0]);

/// Numbers of `bits` bits, which is at most 64.
inline std::vector<std::uint64_t> numbers(spread how, std::size_t count, int bits) {
  const std::uint64_t highest = ~std::uint64_t{0} >> (64 - bits);
  std::mt19937_64 random = strata_test::random_bits(count + static_cast<std::uint64_t>(how) * 1000003);
  const double step = static_cast<double>(highest) / static_cast<double>(count + 1);
  std::vector<std::uint64_t> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto rising = static_cast<std::uint64_t>(step * static_cast<double>(i));
    switch (how) {
      case spread::random:
        result[i] = random() & highest;
        break;
      case spread::equal_lowest:
        result[i] = 0;
        break;
      case spread::equal_highest:
        result[i] = highest;
        break;
      case spread::two_values:
        result[i] = random() % 3 == 0 ? highest : highest / 3;
        break;
      case spread::ascending:
        result[i] = rising;
        break;
      case spread::descending:
        result[i] = highest - rising;
        break;
      case spread::few_bits:
        result[i] = random() & random() & random() & highest;
        break;
    }
  }
  return result;
}

}  // namespace radix_cases
