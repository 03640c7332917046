// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/transpose_tile.hpp>
#include <strata/block/specializations/transpose_units.cuh>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/device/transform/transpose_tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A transposition in elements, and how it is cut into tiles.
struct transpose_shape {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t in_leading_dimension;
  std::int64_t out_leading_dimension;
  std::uint64_t tiles_down;
  std::uint64_t tiles_across;
  float evict_first_fraction;

  STRATA_HD std::uint64_t tiles() const { return tiles_down * tiles_across; }
};

/// Transposes tiles of a matrix through shared memory, one after the other.
template <class ActivePolicy, int ElementBytes, int PieceBytes, transpose_kind Kind>
struct staged_transpose {
  static constexpr transpose_tuning tuning = detail::transpose_row<ActivePolicy, Kind>();
  static constexpr bool is_vector = Kind == transpose_kind::vectors;
  static constexpr int unit_bytes = is_vector ? tuning.access_bytes : PieceBytes;
  static constexpr int side = is_vector ? unit_bytes / ElementBytes : 1;
  static constexpr int pieces = is_vector ? 1 : ElementBytes / PieceBytes;
  using tile = transpose_tile<unit_bytes, tuning.tile_rows, tuning.tile_columns, tuning.block_threads, side, pieces>;
  using layout = typename chosen_transpose_layout<tile>::type;
  static_assert(!std::is_void_v<layout>,
                "transpose_tuning: shared memory would have bank conflicts: choose tile sides that are powers of two "
                "or multiples of 32");
  // not for users: a layout without conflicts has been chosen
  static_assert(transpose_conflicts<tile, layout>::writes == 1 && transpose_conflicts<tile, layout>::reads == 1,
                "the layout has conflicts");
  using units = transpose_units<tile, layout>;
  using element = typename units::element;

  struct TempStorage : Uninitialized<typename units::storage> {};

  TempStorage& storage;
  const element* in;
  element* out;
  const transpose_shape& shape;

  /// Numbers of tiles go down all rows, then to the next column of tiles. So blocks that run at the same time write
  /// long parts of few output rows, and read short parts of many input rows. The reverse order costs 7 % in large
  /// matrices. So does an order in bands, in which the blocks that run at the same time cover a square. DRAM copes
  /// better with many open pages in reads.
  STRATA_D void transpose_tile_number(std::uint64_t number) {
    const std::uint64_t tile_column = number / shape.tiles_down;
    const std::uint64_t tile_row = number - tile_column * shape.tiles_down;
    transpose(static_cast<std::int64_t>(tile_row) * tile::rows, static_cast<std::int64_t>(tile_column) * tile::columns);
  }

 private:
  STRATA_D void transpose(std::int64_t row, std::int64_t column) {
    const int thread = static_cast<int>(threadIdx.x);
    const std::int64_t in_dimension = shape.in_leading_dimension * pieces;
    const std::int64_t out_dimension = shape.out_leading_dimension * pieces;
    const element* const from = in + (row * in_dimension + column * pieces);
    element* const to = out + (column * out_dimension + row * pieces);
    const platform::l2_policy policy = platform::evict_first(shape.evict_first_fraction);
    typename units::registers held;
    if (shape.rows - row >= tile::rows && shape.columns - column >= tile::columns) {
      units::load(thread, from, in_dimension, held, policy);
      units::put(thread, storage.Alias(), held);
      __syncthreads();
      units::get(thread, storage.Alias(), held);
      units::store(thread, to, out_dimension, held);
    } else {
      const int rows = at_most(shape.rows - row, tile::rows);
      const int columns = at_most(shape.columns - column, tile::columns);
      held = {};
      units::load(thread, from, in_dimension, held, rows, columns * pieces, policy);
      units::put(thread, storage.Alias(), held);
      __syncthreads();
      units::get(thread, storage.Alias(), held);
      units::store(thread, to, out_dimension, held, columns, rows * pieces);
    }
  }

  STRATA_D static int at_most(std::int64_t count, int limit) { return count < limit ? static_cast<int>(count) : limit; }
};

/// Transposes without shared memory: neighbouring threads write neighbouring pieces. A thread loads some pieces before
/// it writes the first.
template <class ActivePolicy, int ElementBytes, int PieceBytes, transpose_kind Kind>
struct direct_transpose {
  static constexpr transpose_tuning tuning = detail::transpose_row<ActivePolicy, Kind>();
  static constexpr unsigned pieces = ElementBytes / PieceBytes;
  // Pieces that a thread loads before it writes. The tiles of kind `direct`, which has large elements, have few pieces
  // for each thread.
  static constexpr unsigned batch = Kind == transpose_kind::direct ? 2 : 12;
  // Pointers to words, because nvcc makes more code for addresses from pointers to a struct (12-byte elements took 1.14
  // times as long).
  using element = access_word<PieceBytes>;
  using vector = item_vector<unsigned char, PieceBytes>;

  struct TempStorage : Uninitialized<NullType> {};

  TempStorage& storage;
  const element* in;
  element* out;
  const transpose_shape& shape;

  STRATA_D void transpose_tile_number(std::uint64_t number) {
    constexpr unsigned threads = tuning.block_threads;
    const std::uint64_t tile_column = number / shape.tiles_down;
    const auto row = static_cast<std::int64_t>(number - tile_column * shape.tiles_down) * tuning.tile_rows;
    const auto column = static_cast<std::int64_t>(tile_column) * tuning.tile_columns;
    const unsigned per_column = at_most(shape.rows - row, tuning.tile_rows) * pieces;
    const unsigned count = per_column * at_most(shape.columns - column, tuning.tile_columns);
    const element* const from = in + (row * shape.in_leading_dimension + column) * pieces;
    element* const to = out + (column * shape.out_leading_dimension + row) * pieces;
    // Piece i of the tile is piece `rest` of column c. Both are advanced without a division for each piece.
    unsigned c = threadIdx.x / per_column, rest = threadIdx.x % per_column;
    STRATA_UNROLL_N(1)
    for (unsigned i = threadIdx.x; i < count; i += batch * threads) {
      vector held[batch];
      element* target[batch];
      STRATA_UNROLL
      for (unsigned b = 0; b < batch; ++b) {
        const unsigned r = rest / pieces, piece = rest % pieces;
        target[b] = to + c * shape.out_leading_dimension * pieces + rest;
        if (i + b * threads < count) {
          const element* const source = from + (r * shape.in_leading_dimension + c) * pieces + piece;
          held[b].load(reinterpret_cast<const unsigned char*>(source));
        }
        c += threads / per_column;
        rest += threads % per_column;
        if (rest >= per_column) {
          rest -= per_column;
          ++c;
        }
      }
      STRATA_UNROLL
      for (unsigned b = 0; b < batch; ++b) {
        if (i + b * threads < count) held[b].store(reinterpret_cast<unsigned char*>(target[b]));
      }
    }
  }

 private:
  STRATA_D static unsigned at_most(std::int64_t count, int limit) {
    return static_cast<unsigned>(detail::least(count, limit));
  }
};

template <class ActivePolicy, int ElementBytes, int PieceBytes, transpose_kind Kind>
using AgentTranspose =
    std::conditional_t<detail::moves_directly(Kind), direct_transpose<ActivePolicy, ElementBytes, PieceBytes, Kind>,
                       staged_transpose<ActivePolicy, ElementBytes, PieceBytes, Kind>>;

}  // namespace detail
STRATA_NAMESPACE_END
