// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/transpose_tile.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The 32-bit words of the units of a square.
template <int Words, int Side>
struct square_words {
  unsigned word[Side][Words];
};

/// Transposes a square of `Side` x `Side` elements of `ElementBytes`: element (k, l) becomes (l, k).
/// For elements of whole words only the names of registers change; for smaller ones each word of the
/// result takes one (2 bytes) or two (1 byte) byte permutations.
template <int ElementBytes, int Words, int Side>
STRATA_D void turn_square(square_words<Words, Side>& square) {
  const square_words<Words, Side> from = square;
  if constexpr (ElementBytes >= 4) {
    constexpr int per_element = ElementBytes / 4;
    STRATA_UNROLL
    for (int k = 0; k < Side; ++k) {
      STRATA_UNROLL
      for (int w = 0; w < Words; ++w) {
        square.word[k][w] = from.word[w / per_element][k * per_element + w % per_element];
      }
    }
  } else if constexpr (ElementBytes == 2) {
    STRATA_UNROLL
    for (int k = 0; k < Side; ++k) {
      STRATA_UNROLL
      for (int w = 0; w < Words; ++w) {
        square.word[k][w] =
            __byte_perm(from.word[2 * w][k / 2], from.word[2 * w + 1][k / 2], k % 2 == 0 ? 0x5410u : 0x7632u);
      }
    }
  } else {
    STRATA_UNROLL
    for (int w = 0; w < Words; ++w) {
      STRATA_UNROLL
      for (int c = 0; c < Words; ++c) {
        // Four rows of four bytes.
        const unsigned a = from.word[4 * w][c], b = from.word[4 * w + 1][c];
        const unsigned d = from.word[4 * w + 2][c], e = from.word[4 * w + 3][c];
        const unsigned ab_low = __byte_perm(a, b, 0x5140u), ab_high = __byte_perm(a, b, 0x7362u);
        const unsigned de_low = __byte_perm(d, e, 0x5140u), de_high = __byte_perm(d, e, 0x7362u);
        square.word[4 * c][w] = __byte_perm(ab_low, de_low, 0x5410u);
        square.word[4 * c + 1][w] = __byte_perm(ab_low, de_low, 0x7632u);
        square.word[4 * c + 2][w] = __byte_perm(ab_high, de_high, 0x5410u);
        square.word[4 * c + 3][w] = __byte_perm(ab_high, de_high, 0x7632u);
      }
    }
  }
}

/// The steps of a transposition of one tile by a block. Memory is seen as matrices of elements. If the user's elements
/// are moved in pieces (`Tile::pieces`), each piece is an element here. The leading dimension counts these elements.
template <class Tile, class Layout>
struct transpose_units {
  static constexpr int side = Tile::side;
  static constexpr int element_bytes = Tile::unit_bytes / side;
  using element = access_word<element_bytes>;
  using unit = access_word<Tile::unit_bytes>;
  using layout = transpose_storage_layout<Tile, Layout>;

  /// What a thread holds.
  struct registers {
    unit line[Tile::per_thread][side];
  };
  struct storage {
    alignas(Tile::unit_bytes) unit units[Layout::storage_elements(Tile::storage_rows * Tile::storage_columns)];
  };

  /// True if whole units may be accessed.
  STRATA_HD static bool is_aligned(const void* matrix, std::int64_t leading_dimension) {
    return (reinterpret_cast<std::uintptr_t>(matrix) |
            (static_cast<std::uintptr_t>(leading_dimension) * element_bytes)) %
               Tile::unit_bytes ==
           0;
  }

  /// Calls `access(unit, address, count)` for each unit of a thread that begins inside of a matrix of
  /// `rows` x `elements`, with its address and the number of its elements that lie inside.
  template <bool IsWhole, int UnitsPerRow, class Element, class Registers, class Access>
  STRATA_D static void for_each_unit(int thread, Element* matrix, std::int64_t leading_dimension, Registers& units,
                                     int rows, int elements, Access access) {
    const auto access_square = [&](decltype(units.line[0]) square, Element* address, int row, int count) {
      STRATA_UNROLL
      for (int k = 0; k < side; ++k) {
        if (IsWhole || (row + k < rows && count > 0)) {
          access(square[k], address, IsWhole || count > side ? side : count);
        }
        address += leading_dimension;
      }
    };
    if constexpr (Tile::is_even && Tile::threads % UnitsPerRow == 0) {
      // The squares of a thread begin in one column, at equal distances: one running address takes fewer
      // registers than one for each square.
      constexpr int rows_apart = Tile::threads / UnitsPerRow * side;
      const int row = thread / UnitsPerRow * side;
      const int column = thread % UnitsPerRow * side;
      Element* address = matrix + (row * leading_dimension + column);
      const std::int64_t apart = rows_apart * leading_dimension;
      STRATA_UNROLL
      for (int s = 0; s < Tile::per_thread; ++s) {
        access_square(units.line[s], address, row + s * rows_apart, elements - column);
        address += apart;
      }
    } else if constexpr (Tile::is_even && UnitsPerRow % Tile::threads == 0) {
      // A row has several squares for each thread.
      constexpr int per_row = UnitsPerRow / Tile::threads;
      Element* address = matrix + thread * side;
      STRATA_UNROLL
      for (int s = 0; s < Tile::per_thread; ++s) {
        const int offset = s % per_row * Tile::threads * side;
        access_square(units.line[s], address + offset, s / per_row * side, elements - thread * side - offset);
        if (s % per_row == per_row - 1) address += side * leading_dimension;
      }
    } else {
      STRATA_UNROLL
      for (int s = 0; s < Tile::per_thread; ++s) {
        const int square = s * Tile::threads + thread;
        if (!Tile::is_even && square >= Tile::squares) continue;
        const int row = square / UnitsPerRow * side;
        const int column = square % UnitsPerRow * side;
        access_square(units.line[s], matrix + (row * leading_dimension + column), row, elements - column);
      }
    }
  }

  /// Loads the squares of a thread. The whole tile must lie in the matrix, and rows must be aligned to units. `policy`:
  /// which lines L2 gives up first, or NullType for ordinary loads through L1.
  template <class Policy>
  STRATA_D static void load(int thread, const element* matrix, std::int64_t leading_dimension, registers& units,
                            Policy policy) {
    for_each_unit<true, Tile::row_units>(thread, matrix, leading_dimension, units, 0, 0,
                                         [&](unit& to, const element* from, int) { load_unit(from, to, policy); });
  }
  /// Loads the part of the tile that lies in the first `rows` rows and `elements` columns. The other registers keep
  /// their value. Units that lie inside are loaded whole.
  template <class Policy>
  STRATA_D static void load(int thread, const element* matrix, std::int64_t leading_dimension, registers& units,
                            int rows, int elements, Policy policy) {
    for_each_unit<false, Tile::row_units>(thread, matrix, leading_dimension, units, rows, elements,
                                          [&](unit& to, const element* from, int count) {
                                            if (count == side) {
                                              load_unit(from, to, policy);
                                            } else {
                                              element single[side];
                                              std::memcpy(static_cast<void*>(single), &to, sizeof(unit));
                                              STRATA_UNROLL
                                              for (int i = 0; i < side; ++i) {
                                                if (i < count) copy_bytes<element_bytes>(&single[i], from + i);
                                              }
                                              std::memcpy(static_cast<void*>(&to), single, sizeof(unit));
                                            }
                                          });
  }

  STRATA_D static void store(int thread, element* matrix, std::int64_t leading_dimension, const registers& units) {
    for_each_unit<true, Tile::column_units>(thread, matrix, leading_dimension, units, 0, 0,
                                            [&](const unit& from, element* to, int) { store_unit(to, from); });
  }
  /// `rows` and `elements` are those of the transposed tile.
  STRATA_D static void store(int thread, element* matrix, std::int64_t leading_dimension, const registers& units,
                             int rows, int elements) {
    for_each_unit<false, Tile::column_units>(thread, matrix, leading_dimension, units, rows, elements,
                                             [&](const unit& from, element* to, int count) {
                                               if (count == side) {
                                                 store_unit(to, from);
                                               } else {
                                                 element single[side];
                                                 std::memcpy(static_cast<void*>(single), &from, sizeof(unit));
                                                 STRATA_UNROLL
                                                 for (int i = 0; i < side; ++i) {
                                                   if (i < count) copy_bytes<element_bytes>(to + i, &single[i]);
                                                 }
                                               }
                                             });
  }

  /// Transposes each square in registers and writes it to shared memory. Squares are numbered as in load().
  STRATA_D static void put(int thread, storage& shared, registers& units) {
    STRATA_UNROLL
    for (int s = 0; s < Tile::per_thread; ++s) {
      const int square = s * Tile::threads + thread;
      if (!Tile::is_even && square >= Tile::squares) continue;
      if constexpr (side > 1) {
        square_words<Tile::unit_bytes / 4, side> words;
        std::memcpy(&words, units.line[s], sizeof(words));
        detail::turn_square<element_bytes>(words);
        std::memcpy(static_cast<void*>(units.line[s]), &words, sizeof(words));
      }
      STRATA_UNROLL
      for (int k = 0; k < side; ++k) {
        const element_place element = Tile::written(square, k);
        shared.units[layout{}(element.row, element.column)] = units.line[s][k];
      }
    }
  }
  /// Reads the squares from shared memory. Squares are numbered as in store(). A barrier comes before.
  STRATA_D static void get(int thread, const storage& shared, registers& units) {
    STRATA_UNROLL
    for (int s = 0; s < Tile::per_thread; ++s) {
      const int square = s * Tile::threads + thread;
      if (!Tile::is_even && square >= Tile::squares) continue;
      STRATA_UNROLL
      for (int k = 0; k < side; ++k) {
        const element_place element = Tile::read(square, k);
        units.line[s][k] = shared.units[layout{}(element.row, element.column)];
      }
    }
  }

 private:
  /// One aligned access of `Bytes`, whatever the type of the memory.
  template <int Bytes>
  STRATA_D static void copy_bytes(void* to, const void* from) {
    item_vector<unsigned char, Bytes> word;
    word.load(static_cast<const unsigned char*>(from));
    word.store(static_cast<unsigned char*>(to));
  }

  STRATA_D static void store_unit(element* to, const unit& from) {
#if STRATA_DEVICE_PASS && !STRATA_CLANG_CUDA
    // An assignment of 16 bytes to where smaller elements lie becomes four stores.
    if constexpr (Tile::unit_bytes == 16) {
      __stwb(reinterpret_cast<uint4*>(to), from);
      return;
    }
#endif
    copy_bytes<Tile::unit_bytes>(to, &from);
  }
  STRATA_D static void load_unit(const element* from, unit& to, NullType) { copy_bytes<Tile::unit_bytes>(&to, from); }
  STRATA_D static void load_unit(const element* from, unit& to, platform::l2_policy policy) {
    if constexpr (Tile::unit_bytes == 16 && !STRATA_HOST_SIMT) {
      to = platform::load_streaming(reinterpret_cast<const uint4*>(from), policy);
    } else {
      load_unit(from, to, NullType{});
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
