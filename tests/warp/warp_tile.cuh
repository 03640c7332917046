// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of WarpLoad and WarpStore: tiles of logical warps, in several widths and types.
#pragma once

#include <strata/core/platform.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "block/block_tile.cuh"

namespace warp_tile {

using block_tile::interesting_counts;
using block_tile::number;
using strata_test::device_vector;
using strata_test::same_bits;
using strata_test::words;

/// Blocks of 64 threads with as many logical warps as fit. If their width is a power of two, they divide each warp.
/// Otherwise each warp has one.
template <class T, int Width, int Items>
struct tile_case {
  using type = T;
  static constexpr int width = Width, items = Items;
  static constexpr std::size_t size = static_cast<std::size_t>(Items);
  static constexpr int tile = Width * Items;
  static constexpr int block_threads = 64;
  static constexpr int pitch = (Width & (Width - 1)) == 0 ? Width : 32;
  static constexpr int logical_warps = block_threads / pitch;  // per block

  STRATA_D static int lane() { return static_cast<int>(threadIdx.x) % pitch; }
  STRATA_D static int logical_warp() { return static_cast<int>(threadIdx.x) / pitch; }
  STRATA_D static bool is_member() { return lane() < Width; }

  /// Number of blocks for at least `count` logical warps.
  static unsigned blocks(std::size_t count) {
    return static_cast<unsigned>((count + logical_warps - 1) / logical_warps);
  }
};

#if STRATA_TEST_FEW_TYPES
using tile_cases = testing::Types<tile_case<int, 32, 4>, tile_case<int, 16, 5>, tile_case<int, 20, 4>,
                                  tile_case<signed char, 32, 7>, tile_case<short, 2, 6>, tile_case<double, 16, 12>,
                                  tile_case<words<3, std::uint8_t>, 32, 4>, tile_case<words<10>, 16, 2>>;
#else
using tile_cases =
    testing::Types<tile_case<int, 32, 4>, tile_case<int, 32, 1>, tile_case<int, 32, 24>, tile_case<int, 16, 5>,
                   tile_case<int, 8, 8>, tile_case<int, 1, 3>, tile_case<int, 20, 4>, tile_case<signed char, 32, 7>,
                   tile_case<signed char, 4, 16>, tile_case<short, 2, 6>, tile_case<double, 32, 2>,
                   tile_case<double, 16, 12>, tile_case<strata_test::int128, 8, 3>,
                   tile_case<words<3, std::uint8_t>, 32, 4>, tile_case<words<3>, 31, 4>, tile_case<words<10>, 16, 2>>;
#endif

}  // namespace warp_tile
