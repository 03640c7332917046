// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_shape.cuh>
#include <strata/block/specializations/transpose_tile.hpp>
#include <strata/block/specializations/transpose_units.cuh>
#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>

STRATA_NAMESPACE_BEGIN

/// Default argument of a layout: the primitive chooses a layout that it proves free of bank conflicts.
struct ChosenLayout {};

namespace detail {

/// How an item is moved: as one access, or as several of its alignment.
template <class T>
struct transpose_pieces {
  static constexpr int item_bytes = static_cast<int>(sizeof(T));
  static constexpr bool is_one = is_access_size(item_bytes) && alignof(T) == sizeof(T);
  static constexpr int bytes = is_one ? item_bytes : alignof(T) > 16 ? 16 : int{alignof(T)};
  static constexpr int count = item_bytes / bytes;
};

/// The default side of squares: the number of items of the widest unit, up to 16 bytes and 8 items, with which every
/// thread gets a square. 1 if there is none.
template <class T, int Rows, int Columns, int Threads>
STRATA_HD constexpr int default_square_side() {
  constexpr int bytes = static_cast<int>(sizeof(T));
  const int widest = !transpose_pieces<T>::is_one ? 1 : bytes > 1 ? 16 / bytes : 8;
  for (int side = widest; side > 1 && side * bytes >= 4; side /= 2) {
    const bool fits = Rows % side == 0 && Columns % side == 0 && is_power_of_two(static_cast<unsigned>(Rows)) &&
                      is_power_of_two(static_cast<unsigned>(Columns));
    if (fits && Rows / side * (Columns / side) >= Threads) return side;
  }
  return 1;
}

}  // namespace detail

/// Transposes a tile of `TileRows` x `TileColumns` items, held by the threads of a block, through shared memory. Also
/// loads such tiles from a matrix in memory and stores them to another one, both with coalesced accesses.
///
/// - `Load` reads a tile of a matrix that is stored by rows; `leading_dimension` is the number of items from one row to
///   the next. `Transpose` gives each thread its items of the transposed tile. `Store` writes the transposed tile,
///   `TileColumns` x `TileRows`, to a matrix that is stored by rows. The caller may change items between the steps, or
///   pass items from elsewhere.
/// - `valid_rows`, `valid_columns`: only these first rows and columns of the tile lie in the matrix. `Store` takes the
///   same numbers as `Load`: rows and columns before `Transpose`. Nothing outside of them is accessed, and items that
///   `Load` does not read keep their value. If one of them is not positive, nothing is accessed.
/// - Arrangement: a thread holds squares of `square_side` x `square_side` items. The squares of a tile, numbered row by
///   row, are striped over the threads. `Place(i)` is the row and column of item i of this thread in the tile that
///   `Load` reads, `TransposedPlace(i)` in the tile that `Store` writes; negative where a thread has fewer items than
///   `items_per_thread`. With squares of one item, item i of thread t is number i * threads + t of the tile. Larger
///   squares are the default for a `T` of 1, 2, 4 or 8 bytes that is aligned to its size, if both sides of the tile are
///   powers of two and every thread gets a square.
/// - A unit is a row of a square: up to 16 bytes. `Load` and `Store` access whole units if the whole tile lies in the
///   matrix, and the matrix and its leading dimension are aligned to units. Otherwise they access single items.
///   `Transpose` moves whole units through shared memory.
/// - Calls: `Load` and `Store` need no barrier and no shared memory. Every thread of the block calls
///   `Transpose`, which has one barrier inside; another must stand before the storage is used again.
/// - Shared memory: the tile. Where its sides are powers of two and units have 4 bytes or more, it has no padding and
///   is rounded up to a multiple of 128 bytes. Elsewhere it has the least padding that avoids conflicts. Conflicts:
///   none, in any instruction, which is proved when the class is instantiated. The class does not compile without a
///   `Layout` if no padding avoids all conflicts. This may also happen with sides that are powers of two, if the block
///   does not have whole warps. A `Layout` may be any layout of shared_layout.hpp, for a matrix of `TileColumns` rows
///   of TileRows / square_side units. `write_conflicts` and `read_conflicts` are then its conflict degrees.
/// - `T` must be trivially relocatable. A `T` of 1, 2, 4, 8 or 16 bytes that is aligned to its size is moved whole. Any
///   other `T` is cut into pieces of its alignment, up to 16 bytes, each with shared memory of its own.
///
/// Tiles of padded rows are those of G. Ruetsch and P. Micikevicius, "Optimizing Matrix Transpose in
/// CUDA" (2009); swizzled ones are common in matrix multiplication, see CUTLASS. Squares within tiles
/// follow J. O. Eklundh, "A fast computer method for matrix transposing" (1972).
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ float matrix[3][70], transposed[70][3];
///
/// // A block transposes a tile of 64 x 64 items, or what of it lies in the matrix.
/// STRATA_KERNEL void transpose(const float* in, float* out, int rows, int columns) {
///   using Transpose = strata::BlockTranspose<float, 64, 64, 256>;
///   STRATA_SHARED(temp_storage, Transpose::TempStorage);
///   Transpose tile(temp_storage);
///   const int row = static_cast<int>(blockIdx.y) * 64, column = static_cast<int>(blockIdx.x) * 64;
///   float items[Transpose::items_per_thread];
///   tile.Load(in + row * columns + column, columns, items, rows - row, columns - column);
///   tile.Transpose(items, items);
///   tile.Store(out + column * rows + row, rows, items, rows - row, columns - column);
/// }
///
/// int main() {
///   for (int i = 0; i < 3 * 70; ++i) matrix[i / 70][i % 70] = static_cast<float>(i);
///   const strata::launch_configuration tiles{"transpose", dim3(2, 1), 256};
///   if (strata::launch(tiles, transpose, matrix[0], transposed[0], 3, 70) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const float item : transposed[69]) std::printf("%g ", item);
/// }
/// // prints: 69 139 209
/// @endcode
template <class T, int TileRows, int TileColumns, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1,
          class Layout = ChosenLayout,
          int SquareSide = detail::default_square_side<T, TileRows, TileColumns, BlockDimX * BlockDimY * BlockDimZ>()>
class BlockTranspose {
  static_assert(detail::relocatable_requirements<T>::check());
  static_assert(TileRows > 0 && TileColumns > 0, "BlockTranspose: TileRows and TileColumns must be positive");
  using pieces = detail::transpose_pieces<T>;
  static_assert(SquareSide == 1 ||
                    (SquareSide > 1 && TileRows % SquareSide == 0 && TileColumns % SquareSide == 0 && pieces::is_one &&
                     SquareSide * pieces::bytes >= 4 && detail::is_access_size(SquareSide * pieces::bytes)),
                "BlockTranspose: SquareSide must be 1, or it must divide TileRows and TileColumns, and SquareSide "
                "items of 1, 2, 4 or 8 bytes must have 4, 8 or 16 bytes together");
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  using tile = detail::transpose_tile<pieces::bytes * SquareSide, TileRows, TileColumns, shape::threads, SquareSide>;
  static constexpr bool is_chosen = std::is_same_v<Layout, ChosenLayout>;
  using free_layout =
      typename std::conditional_t<is_chosen, detail::chosen_transpose_layout<tile>, std::common_type<Layout>>::type;
  static_assert(!std::is_void_v<free_layout>,
                "BlockTranspose: no padding of this tile is free of bank conflicts: choose sides that "
                "are powers of two or multiples of 32, or name a Layout and accept its conflicts");
  using layout = std::conditional_t<std::is_void_v<free_layout>, PlainLayout, free_layout>;
  using conflicts = detail::transpose_conflicts<tile, layout>;
  using units = detail::transpose_units<tile, layout>;
  using registers = typename units::registers;

 public:
  static constexpr int square_side = SquareSide;  ///< Rows and columns of the squares that a thread holds.
  static constexpr int items_per_thread = tile::per_thread * SquareSide * SquareSide;  ///< Items of each thread.
  /// Conflict degree of writes to shared memory: 1 means no conflict.
  static constexpr int write_conflicts = conflicts::writes;
  static constexpr int read_conflicts = conflicts::reads;  ///< Conflict degree of reads of shared memory.
  // not for users: the layouts that are chosen are free of conflicts
  static_assert(!is_chosen || std::is_void_v<free_layout> || (write_conflicts == 1 && read_conflicts == 1),
                "the layout chosen by BlockTranspose has conflicts");

 private:
  struct storage {
    typename units::storage piece[pieces::count];
  };
  static constexpr std::size_t item_count = static_cast<std::size_t>(items_per_thread);

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Uses storage of the class's own, which all objects of this type share.
  STRATA_D BlockTranspose() : BlockTranspose(private_storage()) {}
  /// Uses `temp_storage`, which all threads of the block pass.
  STRATA_D explicit BlockTranspose(TempStorage& temp_storage)
      : storage_(temp_storage.Alias()), thread_(shape::thread_rank("BlockTranspose")) {}

  /// Returns the row and column of an item of this thread in the tile that `Load` reads.
  STRATA_D element_place Place(int item) const { return element_of(item, tile::row_units); }
  /// Returns the row and column of an item of this thread in the tile that `Store` writes.
  STRATA_D element_place TransposedPlace(int item) const { return element_of(item, tile::column_units); }

  /// Loads a full tile of a matrix.
  STRATA_D void Load(const T* matrix, std::int64_t leading_dimension, T (&items)[item_count]) const {
    if constexpr (pieces::is_one) {
      const auto* const from = reinterpret_cast<const typename units::element*>(matrix);
      if (units::is_aligned(matrix, leading_dimension)) {
        registers held;
        units::load(thread_, from, leading_dimension, held, NullType{});
        std::memcpy(static_cast<void*>(items), &held, sizeof(items));
        return;
      }
    }
    load_items(matrix, leading_dimension, items, TileRows, TileColumns);
  }

  /// Loads the part of a tile that lies in the matrix. Other items keep their value.
  STRATA_D void Load(const T* matrix, std::int64_t leading_dimension, T (&items)[item_count], int valid_rows,
                     int valid_columns) const {
    if (pieces::is_one && valid_rows >= TileRows && valid_columns >= TileColumns) {
      Load(matrix, leading_dimension, items);
      return;
    }
    load_items(matrix, leading_dimension, items, valid_rows, valid_columns);
  }

  /// Gives each thread its items of the transposed tile. `in` may be `out`.
  STRATA_D void Transpose(const T (&in)[item_count], T (&out)[item_count]) const {
    if constexpr (pieces::is_one) {
      registers held;
      std::memcpy(&held, in, sizeof(held));
      units::put(thread_, storage_.piece[0], held);
      __syncthreads();
      units::get(thread_, storage_.piece[0], held);
      std::memcpy(static_cast<void*>(out), &held, sizeof(held));
    } else {
      using element = typename units::element;
      element held[item_count][pieces::count];
      std::memcpy(static_cast<void*>(held), in, sizeof(held));
      STRATA_UNROLL
      for (int p = 0; p < pieces::count; ++p) {
        registers plane;
        STRATA_UNROLL
        for (int i = 0; i < items_per_thread; ++i) plane.line[i][0] = held[i][p];
        units::put(thread_, storage_.piece[p], plane);
      }
      __syncthreads();
      STRATA_UNROLL
      for (int p = 0; p < pieces::count; ++p) {
        registers plane;
        units::get(thread_, storage_.piece[p], plane);
        STRATA_UNROLL
        for (int i = 0; i < items_per_thread; ++i) held[i][p] = plane.line[i][0];
      }
      std::memcpy(static_cast<void*>(out), held, sizeof(held));
    }
  }

  /// Stores the full transposed tile to a matrix.
  STRATA_D void Store(T* matrix, std::int64_t leading_dimension, const T (&items)[item_count]) const {
    if constexpr (pieces::is_one) {
      auto* const to = reinterpret_cast<typename units::element*>(matrix);
      if (units::is_aligned(matrix, leading_dimension)) {
        registers held;
        std::memcpy(&held, items, sizeof(held));
        units::store(thread_, to, leading_dimension, held);
        return;
      }
    }
    store_items(matrix, leading_dimension, items, TileRows, TileColumns);
  }

  /// Stores the part of the transposed tile that lies in the matrix.
  STRATA_D void Store(T* matrix, std::int64_t leading_dimension, const T (&items)[item_count], int valid_rows,
                      int valid_columns) const {
    if (pieces::is_one && valid_rows >= TileRows && valid_columns >= TileColumns) {
      Store(matrix, leading_dimension, items);
      return;
    }
    store_items(matrix, leading_dimension, items, valid_rows, valid_columns);
  }

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  STRATA_D element_place element_of(int item, int units_per_row) const {
    const int square = item / (SquareSide * SquareSide) * shape::threads + thread_;
    if (!tile::is_even && square >= tile::squares) return {-1, -1};
    return {square / units_per_row * SquareSide + item / SquareSide % SquareSide,
            square % units_per_row * SquareSide + item % SquareSide};
  }

  STRATA_D void load_items(const T* matrix, std::int64_t leading_dimension, T (&items)[item_count], int valid_rows,
                           int valid_columns) const {
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const element_place at = Place(i);
      if (at.row >= 0 && at.row < valid_rows && at.column < valid_columns) {
        items[i] = matrix[at.row * leading_dimension + at.column];
      }
    }
  }
  STRATA_D void store_items(T* matrix, std::int64_t leading_dimension, const T (&items)[item_count], int valid_rows,
                            int valid_columns) const {
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const element_place at = TransposedPlace(i);
      if (at.row >= 0 && at.row < valid_columns && at.column < valid_rows) {
        matrix[at.row * leading_dimension + at.column] = items[i];
      }
    }
  }

  storage& storage_;
  int thread_;
};

STRATA_NAMESPACE_END
