// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of BlockAdjacentDifference and BlockDiscontinuity: tiles, and operators whose results depend on
// every bit of their operands and on their order.
#pragma once

#include <strata/core/platform.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "block/block_tile.cuh"
#include "support/test_types.cuh"

template <>
struct block_tile::numbered<__half> {
  static STRATA_HD __half make(int i) { return __half(static_cast<float>(i)); }
};
template <>
struct block_tile::numbered<__nv_bfloat16> {
  static STRATA_HD __nv_bfloat16 make(int i) { return __nv_bfloat16(static_cast<float>(i)); }
};

namespace neighbour_cases {

using namespace block_tile;

#if STRATA_TEST_FEW_TYPES
using cases = testing::Types<tile_case<int, 64, 4>, tile_case<int, 1, 1>, tile_case<int, 33, 1>,
                             tile_case<signed char, 31, 7>, tile_case<__half, 8, 6, 4, 2>,
                             tile_case<strata_test::int128, 32, 3>, tile_case<words<3, std::uint8_t>, 40, 2>>;
#else
using cases = testing::Types<tile_case<int, 64, 4>, tile_case<int, 1, 1>, tile_case<int, 1, 5>, tile_case<int, 33, 1>,
                             tile_case<int, 8, 6, 4, 2>, tile_case<signed char, 32, 8>, tile_case<signed char, 31, 7>,
                             tile_case<short, 5, 2, 3, 7>, tile_case<__half, 32, 4>,
                             tile_case<__nv_bfloat16, 8, 3, 2, 2>, tile_case<double, 40, 2>,
                             tile_case<strata_test::int128, 32, 3>, tile_case<words<3, std::uint8_t>, 32, 4>,
                             tile_case<words<3>, 96, 1>, tile_case<words<4>, 32, 4>, tile_case<words<5>, 16, 2>>;
#endif

inline std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// Continues a hash with all bits of an item.
template <class T>
STRATA_HD std::uint32_t hash(std::uint32_t so_far, const T& item) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &item, sizeof(T));
  for (const unsigned char byte : bytes) so_far = (so_far ^ byte) * 16777619u;
  return so_far ^ so_far >> 15;
}

}  // namespace neighbour_cases
