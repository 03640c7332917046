// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// x -> factor * x + offset: maps whose composition is associative and not commutative.
#pragma once

#include <strata/core/macros.hpp>

#include <support/test_support.cuh>

#include <cstddef>
#include <vector>

struct affine_map {
  unsigned factor, offset;
};

/// First a, then b.
struct compose {
  STRATA_HD affine_map operator()(const affine_map& a, const affine_map& b) const {
    return {a.factor * b.factor, b.factor * a.offset + b.offset};
  }
};

inline std::vector<affine_map> random_maps(std::size_t count) {
  const std::vector<int> random = strata_test::random_integers(2 * count, 0, 1 << 30, 12);
  std::vector<affine_map> maps(count);
  // Odd factors keep all bits.
  for (std::size_t i = 0; i < count; ++i) {
    maps[i] = {static_cast<unsigned>(random[2 * i]) | 1u, static_cast<unsigned>(random[2 * i + 1])};
  }
  return maps;
}
