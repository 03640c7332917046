// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// How a transposition is cut into blocks. A block has one tile at a time; while it loads, all of the
/// tile's bytes are on their way.
struct transpose_tuning {
  int block_threads;
  int tile_rows;
  int tile_columns;
  /// Of one load or store: a multiple of the element, or what divides it.
  int access_bytes;
  /// What registers must allow.
  int blocks_per_multiprocessor;
  /// Blocks go down so many tiles, then to the next column of tiles: those that run at the same time
  /// cover about a square, and read and write few DRAM pages and few entries of the TLB.
  int band_tiles;
};

namespace detail {

/// Which of a policy's rows a call takes.
enum class transpose_kind {
  vectors,  ///< both matrices aligned to `access_bytes`: squares of several elements
  items,    ///< any alignment: element by element, or by the pieces that alignment allows
  wide,     ///< the same, few rows
  tall,     ///< the same, few columns
  direct,   ///< elements so large that shared memory gains nothing
};

/// Matrices of at most so many rows (columns) are wide (tall): most of a square tile would be empty.
inline constexpr int few_transpose_rows = 8;
/// Elements above this are moved directly: each alone fills more than a sector of memory.
inline constexpr int most_staged_bytes = 40;

/// For elements of `ElementBytes`, which are accessed by `PieceBytes` where not by vectors.
template <int ElementBytes, int PieceBytes>
struct transpose_policy_hub {
  static constexpr int pieces = ElementBytes / PieceBytes;

  // Whole rows of a tile at once, which keeps addresses simple.
  static constexpr int threads_for_pieces() {
    int threads = 32 * pieces;
    while (threads < 192) threads *= 2;
    return threads < 1024 ? threads : 1024;
  }

  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    // Chosen by count, not yet by measurement. Vectors: 64 bytes are on their way per thread (of 2-byte
    // elements 128) and 64 KiB per multiprocessor, without spills, and every row of a tile has at
    // least 128 bytes on both sides.
    static constexpr transpose_tuning vectors =
        ElementBytes == 1   ? transpose_tuning{256, 128, 128, 8, 4, 16}
        : ElementBytes == 2 ? transpose_tuning{128, 128, 64, 16, 4, 16}
        : ElementBytes == 4 ? transpose_tuning{256, 64, 64, 16, 4, 32}
                            : transpose_tuning{256, 32, 64, 16, 4, 32};

    static constexpr transpose_tuning items =
        pieces > 1           ? transpose_tuning{threads_for_pieces(), 32, 32, PieceBytes, 1, 32}
        : ElementBytes == 16 ? transpose_tuning{256, 32, 32, 16, 4, 32}
        : ElementBytes == 8
            ? transpose_tuning{256, 32, 64, 8, 4, 32}
            : transpose_tuning{256, 64, 64, ElementBytes, ElementBytes == 1 ? 3 : 4, 32};

    static constexpr int long_side = ElementBytes == 16 ? 128 : ElementBytes == 8 ? 256 : 512;
    static constexpr transpose_tuning wide{256, few_transpose_rows, long_side, PieceBytes, 4, 1};
    static constexpr transpose_tuning tall{256, long_side, few_transpose_rows, PieceBytes, 4, 32};
    static constexpr transpose_tuning direct{256, 8, 8, PieceBytes, 4, 32};
  };

  using MaxPolicy = Policy750;
};

template <class Policy, transpose_kind Kind>
constexpr transpose_tuning transpose_row() {
  return Kind == transpose_kind::vectors ? Policy::vectors
         : Kind == transpose_kind::items ? Policy::items
         : Kind == transpose_kind::wide  ? Policy::wide
         : Kind == transpose_kind::tall  ? Policy::tall
                                         : Policy::direct;
}

}  // namespace detail
STRATA_NAMESPACE_END
