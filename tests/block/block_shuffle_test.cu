// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_shuffle.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <set>
#include <vector>

#include "block/block_tile.cuh"
#include "support/bank_conflicts.cuh"
#include "support/test_support.cuh"

namespace block_shuffle_test {

using namespace block_tile;
using strata::BlockShuffle;

constexpr int kept = -5;

template <class Case>
using shuffle_of = BlockShuffle<typename Case::type, Case::x, Case::y, Case::z>;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// ---------------------------------------------------------------------------- one item per thread
// Block b shuffles by distance[b] in four ways: an offset and a rotation, each into another variable and in place. Two
// of the four use private storage.
template <class Case>
STRATA_KERNEL void shuffle_items(const int* distance, typename Case::type* out) {
  using T = typename Case::type;
  using shuffle = shuffle_of<Case>;
  STRATA_SHARED(temp_storage, typename shuffle::TempStorage);
  const int by = distance[blockIdx.x];
  const int rank = Case::rank();
  const T input = number<T>(rank);
  T offset = number<T>(kept), offset_in_place = input, rotated = number<T>(kept), rotated_in_place = input;

  shuffle(temp_storage).Offset(input, offset, by);
  shuffle().Rotate(input, rotated, static_cast<unsigned>(by));
  __syncthreads();
  shuffle(temp_storage).Rotate(rotated_in_place, rotated_in_place, static_cast<unsigned>(by));
  shuffle().Offset(offset_in_place, offset_in_place, by);

  T* const results = out + 4 * (static_cast<int>(blockIdx.x) * Case::threads + rank);
  results[0] = offset;
  results[1] = offset_in_place;
  results[2] = rotated;
  results[3] = rotated_in_place;
}

template <class Case>
class block_shuffle : public testing::Test {};
TYPED_TEST_SUITE(block_shuffle, tile_cases);

TYPED_TEST(block_shuffle, offset_and_rotate_take_the_item_at_that_distance) {
  using T = typename TypeParam::type;
  constexpr int threads = TypeParam::threads;
  std::set<int> distances{0, INT_MIN, INT_MIN + 1, INT_MAX, INT_MAX - 1};
  for (const int d : {1, 2, 5, 17, 31, 32, 33, threads - 1, threads, threads + 1, 3 * threads + 1}) {
    distances.insert({d, -d});
  }
  const std::vector<int> distance(distances.begin(), distances.end());
  const device_vector<int> by(distance);
  device_vector<T> out(4 * threads * distance.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"shuffle_items", static_cast<unsigned>(distance.size()), TypeParam::dimensions()},
                                     shuffle_items<TypeParam>, by.data(), out.data()));
  const std::vector<T> results = out.to_host();
  for (std::size_t b = 0; b < distance.size(); ++b) {
    for (int thread = 0; thread < threads; ++thread) {
      const T* const got = &results[4 * (b * threads + index(thread))];
      const long long source = 0ll + thread + distance[b];
      const bool has_source = source >= 0 && source < threads;
      // Converted to unsigned, a negative distance is a large one.
      const int rotated =
          static_cast<int>((static_cast<unsigned long long>(thread) + static_cast<unsigned>(distance[b])) % threads);
      const auto place = [&] { return testing::Message() << "thread " << thread << ", distance " << distance[b]; };
      const int in = static_cast<int>(source);
      ASSERT_TRUE(same_bits(got[0], number<T>(has_source ? in : kept))) << place();
      ASSERT_TRUE(same_bits(got[1], number<T>(has_source ? in : thread))) << place();
      ASSERT_TRUE(same_bits(got[2], number<T>(rotated))) << place();
      ASSERT_TRUE(same_bits(got[3], number<T>(rotated))) << place();
    }
  }
}

// ---------------------------------------------------------------------------- arrays
// The rows that a thread writes. Two of them have one item, the others have `Case::items`.
enum row { up, up_and_suffix, up_in_place, down, down_and_prefix, down_in_place, rows };

template <class Case>
STRATA_KERNEL void shuffle_arrays(typename Case::type* out, typename Case::type* ends) {
  using T = typename Case::type;
  using shuffle = shuffle_of<Case>;
  STRATA_SHARED(temp_storage, typename shuffle::TempStorage);
  const int rank = Case::rank();
  T input[Case::size], result[rows][Case::size];
  for (int i = 0; i < Case::items; ++i) {
    input[i] = number<T>(rank * Case::items + i);
    for (T(&row)[Case::size] : result) row[i] = number<T>(kept);
    result[up_in_place][i] = result[down_in_place][i] = input[i];
  }
  T block_suffix = number<T>(kept), block_prefix = number<T>(kept);

  shuffle(temp_storage).Up(input, result[up]);
  shuffle().Down(input, result[down]);
  __syncthreads();
  shuffle(temp_storage).Up(input, result[up_and_suffix], block_suffix);
  shuffle().Down(input, result[down_and_prefix], block_prefix);
  __syncthreads();
  shuffle(temp_storage).Up(result[up_in_place], result[up_in_place]);
  shuffle().Down(result[down_in_place], result[down_in_place]);

  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < Case::items; ++i) {
      out[(rank * rows + r) * Case::items + i] = result[r][i];
    }
  }
  ends[2 * rank] = block_suffix;
  ends[2 * rank + 1] = block_prefix;
}

TYPED_TEST(block_shuffle, up_and_down_take_the_neighbouring_item_of_the_block) {
  using T = typename TypeParam::type;
  constexpr int threads = TypeParam::threads, items = TypeParam::items, tile = TypeParam::tile;
  device_vector<T> out(index(rows * tile)), ends(index(2 * threads));
  ASSERT_CUDA_SUCCESS(strata::launch({"shuffle_arrays", 1, TypeParam::dimensions()}, shuffle_arrays<TypeParam>,
                                     out.data(), ends.data()));
  const std::vector<T> results = out.to_host(), end = ends.to_host();
  for (int thread = 0; thread < threads; ++thread) {
    for (int i = 0; i < items; ++i) {
      const int position = thread * items + i;
      const auto got = [&](int r) { return results[index((thread * rows + r) * items + i)]; };
      const int before = position - 1, after = position + 1;
      const auto expect = [&](int r, int expected) {
        ASSERT_TRUE(same_bits(got(r), number<T>(expected))) << "row " << r << ", thread " << thread << ", item " << i;
      };
      expect(up, before < 0 ? kept : before);
      expect(up_and_suffix, before < 0 ? kept : before);
      expect(up_in_place, before < 0 ? position : before);
      expect(down, after == tile ? kept : after);
      expect(down_and_prefix, after == tile ? kept : after);
      expect(down_in_place, after == tile ? position : after);
    }
    ASSERT_TRUE(same_bits(end[index(2 * thread)], number<T>(tile - 1))) << thread;
    ASSERT_TRUE(same_bits(end[index(2 * thread + 1)], number<T>(0))) << thread;
  }
}

// Storage has an item for each thread. Items of an even number of pieces need padding.
static_assert(sizeof(BlockShuffle<int, 64>::TempStorage) == 64 * sizeof(int));
static_assert(sizeof(BlockShuffle<words<3>, 8, 2, 4>::TempStorage) == 64 * 12);
static_assert(sizeof(BlockShuffle<words<10>, 32>::TempStorage) == 32 * 44);

STRATA_KERNEL void shuffle_by_default(int* out) {
  using shuffle = BlockShuffle<int, 64>;
  STRATA_SHARED(temp_storage, shuffle::TempStorage);
  const int thread = static_cast<int>(threadIdx.x);
  int offset = kept, rotated = kept;
  shuffle(temp_storage).Offset(thread, offset);
  shuffle().Rotate(thread, rotated);
  out[2 * thread] = offset;
  out[2 * thread + 1] = rotated;
}

TEST(block_shuffle, default_distance_is_one) {
  device_vector<int> out(128);
  ASSERT_CUDA_SUCCESS(strata::launch({"shuffle_by_default", 1, 64}, shuffle_by_default, out.data()));
  const std::vector<int> items = out.to_host();
  for (int thread = 0; thread < 64; ++thread) {
    EXPECT_EQ(items[index(2 * thread)], thread == 63 ? kept : thread + 1);
    EXPECT_EQ(items[index(2 * thread + 1)], (thread + 1) % 64);
  }
}

// ---------------------------------------------------------------------------- bank conflicts
// Accesses at every distance. The class itself asserts that those to neighbours have no conflicts.
template <class T>
struct first_is {
  static constexpr int element_bytes = strata::ExchangeLayout<T, 1>::unit_bytes;
  static constexpr int instructions = 64;
  STRATA_HD constexpr int operator()(int instruction, int lane) const { return instruction + lane; }
};
template <class T>
constexpr bool every_distance_is_free = strata::conflict_degree(strata::ExchangeLayout<T, 1>{}, first_is<T>{}) == 1;
static_assert(every_distance_is_free<std::int8_t> && every_distance_is_free<short> && every_distance_is_free<int> &&
              every_distance_is_free<double> && every_distance_is_free<strata_test::int128> &&
              every_distance_is_free<words<3>> && every_distance_is_free<words<4>> &&
              every_distance_is_free<words<10>> && every_distance_is_free<words<5, std::uint64_t>>);

#if STRATA_HOST_SIMT
template <class T, int Threads>
void count_conflicts() {
  SCOPED_TRACE(testing::Message() << sizeof(T) << "-byte items");
  using tile = tile_case<T, Threads, 3>;
  const device_vector<int> by(std::vector<int>{0, 1, -1, 7, -13, 31, 32, 45, 70});
  device_vector<T> out(4 * Threads * by.size());
  device_vector<T> rows_out(rows * tile::tile), ends(2 * Threads);
  strata::simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(strata::launch({"shuffle_items", static_cast<unsigned>(by.size()), Threads}, shuffle_items<tile>,
                                     by.data(), out.data()));
  ASSERT_CUDA_SUCCESS(
      strata::launch({"shuffle_arrays", 1, Threads}, shuffle_arrays<tile>, rows_out.data(), ends.data()));
  strata_test::expect_no_bank_conflicts(by.size() * 8 * (Threads / 32));
}

TEST(block_shuffle, has_no_bank_conflicts_at_any_distance) {
  if (!strata_test::counts_bank_conflicts()) GTEST_SKIP() << "only check mode counts bank conflicts";
  count_conflicts<std::int8_t, 128>();
  count_conflicts<short, 128>();
  count_conflicts<int, 96>();
  count_conflicts<double, 64>();
  count_conflicts<strata_test::int128, 64>();
  count_conflicts<words<3>, 64>();
  count_conflicts<words<8, std::uint8_t>, 64>();
  count_conflicts<words<10>, 64>();
  count_conflicts<words<5, std::uint64_t>, 64>();
}
#endif

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void differences(const int* in, int* out) {
  using BlockShuffle = strata::BlockShuffle<int, 128>;
  STRATA_SHARED(temp_storage, BlockShuffle::TempStorage);
  int items[2], previous[2] = {};
  for (int i = 0; i < 2; ++i) items[i] = in[static_cast<int>(threadIdx.x) * 2 + i];
  BlockShuffle(temp_storage).Up(items, previous);
  for (int i = 0; i < 2; ++i) out[static_cast<int>(threadIdx.x) * 2 + i] = items[i] - previous[i];
}

TEST(block_shuffle, up_gives_each_item_its_predecessor) {
  std::vector<int> squares, odd_numbers;
  for (int i = 0; i < 256; ++i) {
    squares.push_back((i + 1) * (i + 1));
    odd_numbers.push_back(2 * i + 1);
  }
  const device_vector<int> in(squares);
  device_vector<int> out(256);
  ASSERT_CUDA_SUCCESS(strata::launch({"differences", 1, 128}, differences, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), odd_numbers);
}

}  // namespace block_shuffle_test
