// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_transpose.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_transpose_test {

using strata::BlockTranspose;
using strata::ChosenLayout;
using strata::element_place;
using strata::PlainLayout;
using strata_test::device_vector;
using strata_test::words;

// ---------------------------------------------------------------------------- items
/// An item of type T for a number. Neighbouring numbers differ in every byte.
template <class T>
T number(std::int64_t n) {
  unsigned char bytes[sizeof(T)];
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<unsigned char>(n * 7 + (n >> 8) * 13 + static_cast<int>(i) * 31 + 1);
  }
  T item;
  std::memcpy(static_cast<void*>(&item), bytes, sizeof(T));
  return item;
}
template <class T>
bool equal_bytes(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// ---------------------------------------------------------------------------- cases
template <class T, int Rows, int Columns, int X, int Y = 1, int Z = 1, class Layout = ChosenLayout,
          int Side = strata::detail::default_square_side<T, Rows, Columns, X * Y * Z>()>
struct tile_case {
  using type = T;
  using transpose = BlockTranspose<T, Rows, Columns, X, Y, Z, Layout, Side>;
  static constexpr int rows = Rows;
  static constexpr int columns = Columns;
  static constexpr bool is_free = !std::is_same_v<Layout, PlainLayout>;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }
};

#if defined(STRATA_TEST_FEW_TYPES)
using cases =
    testing::Types<tile_case<std::uint8_t, 128, 128, 256>, tile_case<std::uint16_t, 128, 64, 128>,
                   tile_case<float, 64, 64, 256>, tile_case<double, 32, 64, 256>,
                   tile_case<strata_test::int128, 32, 32, 256>, tile_case<int, 32, 32, 32, 8, 1, ChosenLayout, 1>,
                   tile_case<double, 16, 8, 64, 1, 2>, tile_case<std::int8_t, 64, 64, 256, 1, 1, ChosenLayout, 1>,
                   tile_case<std::int16_t, 32, 160, 256>, tile_case<int, 512, 8, 256>, tile_case<short, 5, 3, 7>,
                   tile_case<strata_test::bytes3, 32, 32, 128>, tile_case<words<5, std::uint64_t>, 32, 16, 64>,
                   tile_case<float, 32, 32, 256, 1, 1, PlainLayout, 1>,
                   tile_case<float, 32, 32, 64, 1, 1, PlainLayout, 4>>;
#else
using cases = testing::Types<
    // Transposed in units of 16 bytes.
    tile_case<std::uint8_t, 128, 128, 32, 2, 1, ChosenLayout, 16>, tile_case<std::uint16_t, 128, 64, 128>,
    tile_case<float, 64, 64, 256>, tile_case<double, 32, 64, 256>, tile_case<strata_test::int128, 32, 32, 256>,
    // Transposed in units of 8 and 4 bytes.
    tile_case<std::uint8_t, 128, 128, 256>, tile_case<std::uint8_t, 64, 64, 256>, tile_case<std::uint16_t, 64, 64, 256>,
    tile_case<int, 32, 32, 16, 16>,
    // Transposed item by item, swizzled and padded.
    tile_case<int, 32, 32, 32, 8, 1, ChosenLayout, 1>, tile_case<int, 16, 16, 256>, tile_case<double, 16, 8, 64, 1, 2>,
    tile_case<std::int8_t, 64, 64, 256, 1, 1, ChosenLayout, 1>,
    tile_case<std::int16_t, 64, 64, 256, 1, 1, ChosenLayout, 1>, tile_case<float, 96, 64, 256>,
    tile_case<std::int16_t, 32, 160, 256>,
    // Few rows, few columns, odd blocks and tiles.
    tile_case<int, 8, 512, 256>, tile_case<int, 512, 8, 256>, tile_case<int, 1, 64, 32>, tile_case<int, 64, 1, 32>,
    tile_case<int, 33, 32, 96>, tile_case<short, 5, 3, 7>,
    // Types that are accessed in several pieces.
    tile_case<strata_test::bytes3, 32, 32, 128>, tile_case<words<3>, 32, 32, 128>,
    tile_case<words<5, std::uint64_t>, 32, 16, 64>, tile_case<words<4>, 16, 16, 64>,
    // Layouts with conflicts.
    tile_case<float, 32, 32, 256, 1, 1, PlainLayout, 1>, tile_case<float, 32, 32, 64, 1, 1, PlainLayout, 4>>;
#endif

// ---------------------------------------------------------------------------- memory to memory
// Transposes a matrix. Each block transposes one tile.
template <class Case>
STRATA_KERNEL void transpose_matrix(const typename Case::type* in, std::int64_t in_dimension, typename Case::type* out,
                                    std::int64_t out_dimension, int rows, int columns) {
  using Transpose = typename Case::transpose;
  STRATA_SHARED(temp_storage, typename Transpose::TempStorage);
  Transpose tile(temp_storage);
  const int row = static_cast<int>(blockIdx.y) * Case::rows;
  const int column = static_cast<int>(blockIdx.x) * Case::columns;
  typename Case::type items[Transpose::items_per_thread];
  tile.Load(in + row * in_dimension + column, in_dimension, items, rows - row, columns - column);
  tile.Transpose(items, items);
  tile.Store(out + column * out_dimension + row, out_dimension, items, rows - row, columns - column);
}

template <class Case>
void test_matrix(int rows, int columns, int in_gap, int out_gap, int offset) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", gaps " << in_gap << " and " << out_gap
                                  << ", offset " << offset);
  using T = typename Case::type;
  const int in_dimension = columns + in_gap, out_dimension = rows + out_gap;
  // The allocation ends with the last item.
  std::vector<T> items;
  for (int i = 0; i < offset + (rows - 1) * in_dimension + columns; ++i) {
    items.push_back(number<T>(i));
  }
  const device_vector<T> in(items);
  device_vector<T> out(static_cast<std::size_t>(offset + (columns - 1) * out_dimension + rows));
  const dim3 grid(static_cast<unsigned>((columns + Case::columns - 1) / Case::columns),
                  static_cast<unsigned>((rows + Case::rows - 1) / Case::rows));
  ASSERT_CUDA_SUCCESS(strata::launch({"transpose_matrix", grid, Case::dimensions()}, transpose_matrix<Case>,
                                     in.data() + offset, in_dimension, out.data() + offset, out_dimension, rows,
                                     columns));
  const std::vector<T> results = out.to_host();
  for (int i = 0; i < static_cast<int>(results.size()); ++i) {
    const int place = i - offset;
    const T& result = results[static_cast<std::size_t>(i)];
    if (place < 0 || place % out_dimension >= rows) {
      ASSERT_TRUE(strata_test::is_poison(result)) << "item " << place << " was written";
    } else {
      const int from = offset + place % out_dimension * in_dimension + place / out_dimension;
      ASSERT_TRUE(equal_bytes(result, number<T>(from)))
          << "row " << place / out_dimension << ", column " << place % out_dimension;
    }
  }
}

template <class Case>
class block_transpose : public testing::Test {};
TYPED_TEST_SUITE(block_transpose, cases);

TYPED_TEST(block_transpose, whole_tiles) {
  test_matrix<TypeParam>(TypeParam::rows, TypeParam::columns, 0, 0, 0);
  test_matrix<TypeParam>(TypeParam::rows, 2 * TypeParam::columns, 0, 0, 0);
  test_matrix<TypeParam>(TypeParam::rows, TypeParam::columns, 16, 32, 16);
}
TYPED_TEST(block_transpose, whole_tiles_at_any_alignment) {
  test_matrix<TypeParam>(TypeParam::rows, TypeParam::columns, 0, 0, 1);
  test_matrix<TypeParam>(TypeParam::rows, TypeParam::columns, 1, 3, 0);
}
TYPED_TEST(block_transpose, edges) {
  constexpr int r = TypeParam::rows, c = TypeParam::columns;
  test_matrix<TypeParam>(1, 1, 0, 0, 0);
  test_matrix<TypeParam>(1, c, 2, 1, 0);
  test_matrix<TypeParam>(r, 1, 0, 2, 3);
  test_matrix<TypeParam>(r + 1, c + 1, 0, 0, 0);
  if (r > 1 && c > 1) test_matrix<TypeParam>(2 * r - 1, 2 * c - 1, 1, 0, 0);
}

// ---------------------------------------------------------------------------- between threads
// Items are not loaded. Each contains its place in the tile, and the receiver checks it.
template <class Case>
STRATA_KERNEL void exchange_places(int* errors, int* items_seen) {
  using Transpose = typename Case::transpose;
  using T = typename Case::type;
  const Transpose tile;
  T in[Transpose::items_per_thread], out[Transpose::items_per_thread];
  const auto code = [](int row, int column) {
    T item;
    unsigned char bytes[sizeof(T)];
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(row * 5 + column * 3 + 1);
    bytes[0] = static_cast<unsigned char>(row ^ column * 16);
    memcpy(static_cast<void*>(&item), bytes, sizeof(T));
    return item;
  };
  for (int i = 0; i < Transpose::items_per_thread; ++i) {
    const element_place at = tile.Place(i);
    in[i] = code(at.row, at.column);
    if (at.row >= 0) atomicAdd(items_seen, 1);
  }
  tile.Transpose(in, out);
  for (int i = 0; i < Transpose::items_per_thread; ++i) {
    const element_place at = tile.TransposedPlace(i);
    if (at.row < 0) continue;
    const T expected = code(at.column, at.row);
    const auto* const a = reinterpret_cast<const unsigned char*>(&out[i]);
    const auto* const b = reinterpret_cast<const unsigned char*>(&expected);
    bool same = true;
    for (unsigned k = 0; k < sizeof(T); ++k) same = same && a[k] == b[k];
    if (!same) atomicAdd(errors, 1);
  }
}

TYPED_TEST(block_transpose, items_change_places) {
  device_vector<int> errors(std::vector<int>{0}), seen(std::vector<int>{0});
  ASSERT_CUDA_SUCCESS(strata::launch({"exchange_places", 1, TypeParam::dimensions()}, exchange_places<TypeParam>,
                                     errors.data(), seen.data()));
  EXPECT_EQ(errors.to_host()[0], 0);
  EXPECT_EQ(seen.to_host()[0], TypeParam::rows * TypeParam::columns);
}

// ---------------------------------------------------------------------------- bank conflicts
#if STRATA_HOST_SIMT
TYPED_TEST(block_transpose, shared_memory_is_accessed_without_conflicts) {
  if (strata::simt::runtime_flavour() != strata::simt::flavour::check) {
    GTEST_SKIP() << "only check mode counts bank conflicts";
  }
  strata::simt::reset_statistics();
  device_vector<int> errors(std::vector<int>{0}), seen(std::vector<int>{0});
  ASSERT_CUDA_SUCCESS(strata::launch({"exchange_places", 1, TypeParam::dimensions()}, exchange_places<TypeParam>,
                                     errors.data(), seen.data()));
  const auto& counted = strata::simt::stats();
  EXPECT_GT(counted.shared_instructions, 0u);
  using transpose = typename TypeParam::transpose;
  if (TypeParam::is_free) {
    EXPECT_EQ(counted.shared_wavefronts, counted.shared_ideal_wavefronts);
    strata::simt::bank_row rows[64];
    const int count = strata::simt::bank_rows(rows, 64);
    for (int i = 0; i < count; ++i) EXPECT_EQ(rows[i].wavefronts, rows[i].ideal) << rows[i].where;
  } else {
    // The executed accesses have the conflicts that the model predicts for the layout.
    const auto half = counted.shared_ideal_wavefronts / 2;
    EXPECT_EQ(counted.shared_wavefronts,
              half * static_cast<unsigned>(transpose::write_conflicts + transpose::read_conflicts));
  }
}
#endif

// In the plain layout, 32 rows begin in the same bank. In units of 16 bytes, 8 lanes access at a time.
static_assert(BlockTranspose<float, 32, 32, 256, 1, 1, PlainLayout, 1>::write_conflicts == 32);
static_assert(BlockTranspose<float, 32, 32, 256, 1, 1, PlainLayout, 1>::read_conflicts == 1);
static_assert(BlockTranspose<float, 32, 32, 64, 1, 1, PlainLayout, 4>::write_conflicts == 8);

// The model evaluates a few instructions that stand for all. Here it evaluates every instruction.
template <class Transpose, int UnitBytes, int Rows, int Columns, int Threads, int Side, int Pieces>
struct every_access {
  using tile = strata::detail::transpose_tile<UnitBytes, Rows, Columns, Threads, Side, Pieces>;
  using layout = typename strata::detail::chosen_transpose_layout<tile>::type;
  template <bool Writes>
  struct pattern {
    using sampled = strata::detail::transpose_access<tile, Writes>;
    static constexpr int element_bytes = UnitBytes;
    static constexpr int instructions = sampled::all;
    STRATA_HD constexpr element_place operator()(int number, int lane) const {
      const int thread = number / Side % sampled::warps * 32 + lane;
      const int square = number / Side / sampled::warps * Threads + thread;
      if (thread >= Threads || square >= tile::squares) return {-1, -1};
      return Writes ? tile::written(square, number % Side) : tile::read(square, number % Side);
    }
  };
  static int degree() {
    const strata::detail::transpose_storage_layout<tile, layout> storage;
    const int writes = strata::conflict_degree(storage, pattern<true>{});
    const int reads = strata::conflict_degree(storage, pattern<false>{});
    return writes > reads ? writes : reads;
  }
};

TEST(block_transpose_model, few_instructions_stand_for_all) {
  EXPECT_EQ((every_access<void, 16, 64, 64, 256, 4, 1>::degree()), 1);
  EXPECT_EQ((every_access<void, 16, 128, 128, 256, 8, 1>::degree()), 1);
  EXPECT_EQ((every_access<void, 8, 128, 128, 256, 8, 1>::degree()), 1);
  EXPECT_EQ((every_access<void, 16, 32, 64, 256, 2, 1>::degree()), 1);
  EXPECT_EQ((every_access<void, 16, 16, 8, 64, 1, 1>::degree()), 1);
  EXPECT_EQ((every_access<void, 4, 8, 512, 256, 1, 1>::degree()), 1);
  EXPECT_EQ((every_access<void, 4, 512, 8, 256, 1, 1>::degree()), 1);
  EXPECT_EQ((every_access<void, 8, 256, 4, 96, 1, 1>::degree()), 1);
  EXPECT_EQ((every_access<void, 4, 16, 16, 64, 1, 1>::degree()), 1);
  EXPECT_EQ((every_access<void, 2, 64, 64, 256, 1, 1>::degree()), 1);
  EXPECT_EQ((every_access<void, 1, 64, 128, 256, 1, 1>::degree()), 1);
  EXPECT_EQ((every_access<void, 4, 96, 64, 128, 1, 1>::degree()), 1);
  EXPECT_EQ((every_access<void, 4, 32, 32, 128, 1, 3>::degree()), 1);
  EXPECT_EQ((every_access<void, 8, 32, 32, 128, 1, 5>::degree()), 1);
}

static_assert(sizeof(BlockTranspose<float, 64, 64, 256>::TempStorage) == 64 * 64 * 4,
              "a swizzled tile takes no padding");

// ---------------------------------------------------------------------------- two uses in a row
// Transposes three times, with barriers in between.
STRATA_KERNEL void transpose_twice(const float* in, float* out, int rows, int columns) {
  using Transpose = strata::BlockTranspose<float, 64, 64, 256>;
  STRATA_SHARED(temp_storage, Transpose::TempStorage);
  Transpose tile(temp_storage);
  const int row = static_cast<int>(blockIdx.y) * 64, column = static_cast<int>(blockIdx.x) * 64;
  float items[Transpose::items_per_thread];
  tile.Load(in + row * columns + column, columns, items, rows - row, columns - column);
  tile.Transpose(items, items);
  __syncthreads();
  tile.Transpose(items, items);
  __syncthreads();
  tile.Transpose(items, items);
  tile.Store(out + column * rows + row, rows, items, rows - row, columns - column);
}

TEST(block_transpose_storage, may_be_used_again_after_a_barrier) {
  std::vector<float> items;
  for (int i = 0; i < 128 * 64; ++i) items.push_back(static_cast<float>(i));
  const device_vector<float> in(items);
  device_vector<float> out(items.size());
  ASSERT_CUDA_SUCCESS(
      strata::launch({"transpose_twice", dim3(1, 2), 256}, transpose_twice, in.data(), out.data(), 128, 64));
  const std::vector<float> results = out.to_host();
  for (int i = 0; i < 128 * 64; ++i) {
    ASSERT_EQ(results[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(i % 128 * 64 + i / 128)]);
  }
}

}  // namespace block_transpose_test
