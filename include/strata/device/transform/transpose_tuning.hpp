// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN

/// How a transposition is cut into blocks. A block has one tile at a time. If it uses shared memory, it issues all
/// loads of a tile before it uses the first.
struct transpose_tuning {
  int block_threads;
  int tile_rows;
  int tile_columns;
  /// Bytes of one load or store: a multiple of the element's size, or a divisor of it.
  int access_bytes;
  /// The launch bound: blocks that registers must allow.
  int blocks_per_multiprocessor = 4;
};

namespace detail {

/// The tuning rows of a policy. A call takes one.
enum class transpose_kind {
  vectors,  ///< both matrices aligned to `access_bytes`: a thread transposes squares of several elements in registers
  items,    ///< any alignment: element by element, or by the pieces that alignment allows
  wide,     ///< as `items`, at most `few_transpose_rows` rows
  tall,     ///< as `items`, at most this many columns
  // Without shared memory: elements above `most_staged_bytes`, and few rows or columns of elements that are moved in
  // pieces.
  direct,
  direct_wide,
  direct_tall,
};

constexpr bool moves_directly(transpose_kind kind) { return kind >= transpose_kind::direct; }

/// Maximum number of rows (columns) of wide (tall) matrices: most of a square tile would be empty.
inline constexpr int few_transpose_rows = 8;
/// Elements above this are moved directly: each alone fills more than a sector of memory.
inline constexpr int most_staged_bytes = 40;

}  // namespace detail

/// The tuning rows of DeviceTranspose for elements of `ElementBytes` bytes. Where an access does not move a vector, it
/// moves a piece of `PieceBytes` bytes.
template <int ElementBytes, int PieceBytes>
struct transpose_policy_hub {
  static constexpr int pieces = ElementBytes / PieceBytes;

  // A block moves whole rows of a tile at a time, which keeps addresses simple. Only rows of more than 1024 pieces are
  // cut.
  static constexpr int threads_for_pieces() {
    int threads = 32 * pieces;
    while (threads < 192) threads *= 2;
    return detail::least(threads, 1024);
  }

  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    // H200, 2026-11-21, CUDA 13.0, 16384 x 16384; percent of the bytes per second of a copy. 1 byte 88, 2 bytes 95.6
    // (tiles of 128 x 64: 91.8), 4 bytes 92, 8 bytes 94.3 (squares of two elements: 92.9). 64 bytes per thread are on
    // their way (2-byte elements 128) and 64 KiB per multiprocessor, without spills, and every row of a tile has at
    // least 128 bytes on both sides. More bytes, larger tiles or 512 threads: equal or 1 % slower.
    static constexpr transpose_tuning vectors =
        ElementBytes == 1
            ? transpose_tuning{/*block_threads=*/256, /*tile_rows=*/128, /*tile_columns=*/128, /*access_bytes=*/8}
        : ElementBytes == 2 ? transpose_tuning{/*block_threads=*/256, /*tile_rows=*/128, /*tile_columns=*/128,
                                               /*access_bytes=*/16, /*blocks_per_multiprocessor=*/2}
        : ElementBytes == 4
            ? transpose_tuning{/*block_threads=*/256, /*tile_rows=*/64, /*tile_columns=*/64, /*access_bytes=*/16}
            : transpose_tuning{/*block_threads=*/256, /*tile_rows=*/32, /*tile_columns=*/32, ElementBytes};

    // The same runs: 4 bytes at any address 85 (tiles of 64 x 64: 78); pieces (12 bytes) 67.
    static constexpr transpose_tuning items =
        pieces > 1 ? transpose_tuning{threads_for_pieces(), /*tile_rows=*/32, /*tile_columns=*/32, PieceBytes,
                                      /*blocks_per_multiprocessor=*/1}
        : ElementBytes == 16
            ? transpose_tuning{/*block_threads=*/256, /*tile_rows=*/32, /*tile_columns=*/32, /*access_bytes=*/16}
        : ElementBytes == 8
            ? transpose_tuning{/*block_threads=*/256, /*tile_rows=*/32, /*tile_columns=*/64, /*access_bytes=*/8}
        : ElementBytes == 4
            ? transpose_tuning{/*block_threads=*/256, /*tile_rows=*/128, /*tile_columns=*/32, /*access_bytes=*/4}
            : transpose_tuning{/*block_threads=*/256, /*tile_rows=*/64, /*tile_columns=*/64, ElementBytes};

    // `direct_wide`: 3 x 33 M elements of 12 bytes: 50 (through shared memory: 8). `direct_tall`: 33 M x 3: 70 (9). A
    // thread then loaded fewer pieces at a time. With 12 pieces, both take 0.78 and 0.94 of that time on an H100.
    // `wide` and `tall`: 18 for 1 byte. Other shapes of them were not measured. They have as many elements in a tile as
    // `items`. `direct` was not measured.
    static constexpr int few = detail::few_transpose_rows;
    static constexpr int many = ElementBytes == 16 ? 128 : ElementBytes == 8 ? 256 : 512;
    static constexpr transpose_tuning wide{/*block_threads=*/256, few, many, PieceBytes};
    static constexpr transpose_tuning tall{/*block_threads=*/256, many, few, PieceBytes};
    static constexpr transpose_tuning direct{/*block_threads=*/256, /*tile_rows=*/8, /*tile_columns=*/8, PieceBytes};
    static constexpr transpose_tuning direct_wide{/*block_threads=*/256, few, /*tile_columns=*/256, PieceBytes};
    static constexpr transpose_tuning direct_tall{/*block_threads=*/256, /*tile_rows=*/256, few, PieceBytes};
  };

  using MaxPolicy = Policy750;
};

namespace detail {

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
