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
};

namespace detail {

/// Which of a policy's rows a call takes.
enum class transpose_kind {
  vectors,  ///< both matrices aligned to `access_bytes`: squares of several elements
  items,    ///< any alignment: element by element, or by the pieces that alignment allows
  wide,     ///< the same, few rows
  tall,     ///< the same, few columns
  // Without shared memory: elements so large that it gains nothing, and few rows or columns of
  // elements that are moved in pieces.
  direct,
  direct_wide,
  direct_tall,
};

constexpr bool moves_directly(transpose_kind kind) { return kind >= transpose_kind::direct; }

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
    // Measured on an H200, for matrices in memory. 64 bytes are on their way per thread (of 1- and
    // 2-byte elements 64 and 128) and 64 KiB per multiprocessor, without spills, and every row of a
    // tile has at least 128 bytes on both sides. Of 8-byte elements, squares of two gain nothing.
    static constexpr transpose_tuning vectors =
        ElementBytes == 1   ? transpose_tuning{256, 128, 128, 8, 4}
        : ElementBytes == 2 ? transpose_tuning{256, 128, 128, 16, 2}
        : ElementBytes == 4 ? transpose_tuning{256, 64, 64, 16, 4}
                            : transpose_tuning{256, 32, 32, ElementBytes, 4};

    static constexpr transpose_tuning items =
        pieces > 1           ? transpose_tuning{threads_for_pieces(), 32, 32, PieceBytes, 1}
        : ElementBytes == 16 ? transpose_tuning{256, 32, 32, 16, 4}
        : ElementBytes == 8  ? transpose_tuning{256, 32, 64, 8, 4}
        : ElementBytes == 4  ? transpose_tuning{256, 128, 32, 4, 4}
                             : transpose_tuning{256, 64, 64, ElementBytes, 4};

    static constexpr int few = few_transpose_rows;
    static constexpr int many = ElementBytes == 16 ? 128 : ElementBytes == 8 ? 256 : 512;
    static constexpr transpose_tuning wide{256, few, many, PieceBytes, 4};
    static constexpr transpose_tuning tall{256, many, few, PieceBytes, 4};
    static constexpr transpose_tuning direct{256, 8, 8, PieceBytes, 4};
    static constexpr transpose_tuning direct_wide{256, few, 256, PieceBytes, 4};
    static constexpr transpose_tuning direct_tall{256, 256, few, PieceBytes, 4};
  };

  using MaxPolicy = Policy750;
};

template <class Policy, transpose_kind Kind>
constexpr transpose_tuning transpose_row() {
  return Kind == transpose_kind::vectors       ? Policy::vectors
         : Kind == transpose_kind::items       ? Policy::items
         : Kind == transpose_kind::wide        ? Policy::wide
         : Kind == transpose_kind::tall        ? Policy::tall
         : Kind == transpose_kind::direct      ? Policy::direct
         : Kind == transpose_kind::direct_wide ? Policy::direct_wide
                                               : Policy::direct_tall;
}

}  // namespace detail
STRATA_NAMESPACE_END
