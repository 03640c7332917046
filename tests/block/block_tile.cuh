// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of BlockLoad and BlockStore: tiles of several shapes and item types.
#pragma once

#include <strata/core/platform.cuh>

#include <gtest/gtest.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_tile {

using strata_test::device_vector;
using strata_test::same_bits;

using strata_test::words;

/// An item that contains its own number, as far as its type can hold it.
template <class T>
struct numbered {
  static STRATA_HD T make(int i) { return static_cast<T>(i); }
};
template <std::size_t Count, class Word>
struct numbered<words<Count, Word>> {
  static STRATA_HD words<Count, Word> make(int i) {
    words<Count, Word> result{};
    for (std::size_t k = 0; k < Count; ++k) {
      result.word[k] = static_cast<Word>(static_cast<std::size_t>(i) * 31 + k * 77);
    }
    return result;
  }
};
template <class T>
STRATA_HD T number(int i) {
  return numbered<T>::make(i);
}

template <class T, int X, int Items, int Y = 1, int Z = 1>
struct tile_case {
  using type = T;
  static constexpr int x = X, y = Y, z = Z, items = Items;
  static constexpr std::size_t size = static_cast<std::size_t>(Items);
  static constexpr int threads = X * Y * Z;
  static constexpr int tile = threads * Items;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }
  STRATA_D static int rank() {
    return static_cast<int>(threadIdx.x) + X * static_cast<int>(threadIdx.y + Y * threadIdx.z);
  }
};

#if STRATA_TEST_FEW_TYPES
using tile_cases = testing::Types<tile_case<int, 64, 4>, tile_case<int, 33, 3>, tile_case<int, 8, 6, 4, 2>,
                                  tile_case<signed char, 31, 7>, tile_case<double, 40, 2>,
                                  tile_case<words<3, std::uint8_t>, 32, 4>, tile_case<words<5>, 16, 2>>;
#else
using tile_cases =
    testing::Types<tile_case<int, 64, 4>, tile_case<int, 1, 1>, tile_case<int, 33, 3>, tile_case<int, 8, 6, 4, 2>,
                   tile_case<signed char, 32, 8>, tile_case<signed char, 31, 7>, tile_case<short, 5, 2, 3, 7>,
                   tile_case<double, 40, 2>, tile_case<strata_test::int128, 32, 3>,
                   tile_case<words<3, std::uint8_t>, 32, 4>, tile_case<words<3>, 32, 4>, tile_case<words<5>, 16, 2>>;
#endif

inline std::vector<int> interesting_counts(int tile, int items_per_thread) {
  std::vector<int> counts{INT_MIN, -1, 0};
  for (int n = 1; n <= tile + 1; ++n) {
    const bool near_an_end = n <= 2 * items_per_thread + 1 || n >= tile - items_per_thread;
    const bool near_a_warp = (n + 1) % (32 * items_per_thread) <= 2 || (n + 1) % 32 <= 2;
    if (near_an_end || near_a_warp) counts.push_back(n);
  }
  counts.push_back(INT_MAX);
  return counts;
}

}  // namespace block_tile
