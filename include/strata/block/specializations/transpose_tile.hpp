// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Says in which order a thread loads and stores units of a tile, and where each unit lies in shared memory between the
/// two.
///
/// The tile of `Rows` x `Columns` elements is cut into squares of `Side` x `Side`. A thread loads a square as `Side`
/// units, each of `Side` elements side by side in one row, transposes it in registers, and stores its units. Whole
/// units, of up to 16 bytes, change places in shared memory, whatever the size of an element. With squares of one
/// element, an element may have several `Pieces`: then the units are pieces.
///
/// Threads take squares round robin, along the rows when they load and along the columns when they store: neighbours
/// touch neighbouring memory both times. Shared memory holds the transposed tile: a row of it is a column of the tile,
/// and column j * Side + k has the storage row k * (Columns / Side) + j. Line k of a square is its unit k after the
/// transposition in registers: column k of the square. So lanes that write line k of neighbouring squares write
/// neighbouring storage rows, and those that read neighbouring squares read one storage row.
///
/// If a wavefront is longer than a row of squares, it writes several storage columns at once. Their distance is the
/// number of permuted rows that the wavefront writes (SwizzledLayout permutes short rows together). Within a wavefront,
/// the row numbers that the swizzle uses differ by less than this distance, so the columns stay apart.
template <int UnitBytes, int Rows, int Columns, int Threads, int Side = 1, int Pieces = 1>
struct transpose_tile {
  // not for users: BlockTranspose and the tuning policies check their own arguments
  static_assert(Rows % Side == 0 && Columns % Side == 0 && (Side == 1 || Pieces == 1), "squares");
  static constexpr int unit_bytes = UnitBytes;
  static constexpr int rows = Rows;
  static constexpr int columns = Columns;
  static constexpr int side = Side;
  static constexpr int threads = Threads;
  static constexpr int pieces = Pieces;
  static constexpr int square_rows = Rows / Side;
  static constexpr int square_columns = Columns / Side;
  static constexpr int row_units = square_columns * Pieces;
  static constexpr int column_units = square_rows * Pieces;
  static constexpr int squares = square_rows * row_units;
  static constexpr int per_thread = (squares + Threads - 1) / Threads;
  static constexpr bool is_even = squares % Threads == 0;

  static constexpr int storage_rows = Columns;
  static constexpr int storage_columns = column_units;
  static constexpr int lanes = lanes_per_wavefront(UnitBytes);
  static constexpr bool is_power_of_two_both_ways =
      is_power_of_two(static_cast<unsigned>(row_units)) && is_power_of_two(static_cast<unsigned>(column_units));

  /// Position of line `k` of the square that is number `square` along the rows.
  STRATA_HD static constexpr element_place written(int square, int k) {
    const int x = square % row_units;
    return {k * square_columns + x / Pieces, spread(square / row_units * Pieces + x % Pieces)};
  }
  /// Position of line `k` of the square that is number `square` along the columns.
  STRATA_HD static constexpr element_place read(int square, int k) {
    return {k * square_columns + square / column_units, spread(square % column_units)};
  }

 private:
  STRATA_HD static constexpr int spread(int column) {
    if constexpr (UnitBytes >= 4 && is_power_of_two_both_ways && row_units < lanes) {
      constexpr int reach = detail::least(storage_columns, lanes);
      constexpr int at_once = detail::least(lanes / row_units, reach);
      return column / reach * reach + column % at_once * (reach / at_once) + column % reach / at_once;
    } else {
      return column;
    }
  }
};

/// The position by row and column in any layout. A layout that knows only indices gets them by rows.
template <class Tile, class Layout>
struct transpose_storage_layout {
  STRATA_HD constexpr int operator()(int row, int column) const {
    if constexpr (std::is_invocable_v<Layout, int, int>) {
      return Layout{}(row, column);
    } else {
      return Layout{}(row * Tile::storage_columns + column);
    }
  }
};

/// What a warp writes, or reads, in one instruction. If every row begins where a wavefront begins, or every wavefront
/// where a row begins, all instructions are alike, and a few of them stand for all.
template <class Tile, bool Writes>
struct transpose_access {
  static constexpr int element_bytes = Tile::unit_bytes;
  static constexpr int warps = (Tile::threads + 31) / 32;
  static constexpr int all = warps * Tile::per_thread * Tile::side;
  static constexpr bool are_alike =
      Tile::threads % 32 == 0 && (Tile::is_power_of_two_both_ways ||
                                  (Tile::row_units % Tile::lanes == 0 && Tile::column_units % Tile::lanes == 0));
  static constexpr int instructions = are_alike && all > 5 ? 5 : all;

  STRATA_HD constexpr element_place operator()(int instruction, int lane) const {
    const int number = instructions == all ? instruction : instruction * (all - 1) / 4;
    const int line = number % Tile::side;
    const int thread = number / Tile::side % warps * 32 + lane;
    const int square = number / Tile::side / warps * Tile::threads + thread;
    if (thread >= Tile::threads || square >= Tile::squares) return {-1, -1};
    return Writes ? Tile::written(square, line) : Tile::read(square, line);
  }
};

template <class Tile, class Layout>
struct transpose_conflicts {
  static constexpr int writes =
      strata::conflict_degree(transpose_storage_layout<Tile, Layout>{}, transpose_access<Tile, true>{});
  static constexpr int reads =
      strata::conflict_degree(transpose_storage_layout<Tile, Layout>{}, transpose_access<Tile, false>{});
};

/// A swizzled layout if sizes allow it, because it takes no more memory than the tile; otherwise a padded
/// one. `void` if no padding is free of conflicts.
template <class Tile>
struct chosen_transpose_layout {
  STRATA_HD static constexpr auto choose() {
    if constexpr (Tile::unit_bytes >= 4 && Tile::pieces == 1 && Tile::is_power_of_two_both_ways) {
      return std::common_type<SwizzledLayout<Tile::unit_bytes, Tile::storage_columns>>{};
    } else if constexpr (constexpr int pad = detail::least_free_pad(
                             Tile::storage_columns, transpose_access<Tile, false>{}, transpose_access<Tile, true>{});
                         pad >= 0) {
      return std::common_type<PaddedMatrixLayout<Tile::storage_rows, Tile::storage_columns, pad>>{};
    } else {
      return std::common_type<void>{};
    }
  }
  using type = typename decltype(choose())::type;
};

}  // namespace detail
STRATA_NAMESPACE_END
