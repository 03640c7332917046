// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_adjacent_difference.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "block/neighbour_cases.cuh"
#include "support/bank_conflicts.cuh"
#include "support/test_support.cuh"

namespace block_adjacent_difference_test {

using namespace neighbour_cases;
using strata::BlockAdjacentDifference;

template <class Case>
using difference_of = BlockAdjacentDifference<typename Case::type, Case::x, Case::y, Case::z>;

constexpr int before = -3, after = -4, elsewhere = -5;

// ---------------------------------------------------------------------------- every call
/// Records what was done with an item: it was copied, or the operator was called with it and a neighbour.
template <class T>
struct shown {
  enum kinds { nothing, copy, difference } kind = nothing;
  T item{}, neighbour{};

  shown() = default;
  STRATA_HD explicit shown(const T& copied) : kind(copy), item(copied) {}
  STRATA_HD shown(const T& a, const T& b) : kind(difference), item(a), neighbour(b) {}
};

struct show {
  template <class T>
  STRATA_D shown<T> operator()(const T& a, const T& b) const {
    return {a, b};
  }
};

/// A hash of both operands in the items' type, for calls in place.
template <class T>
STRATA_HD T mixed(const T& a, const T& b) {
  const std::uint32_t bits = hash(hash(2166136261u, a), b);
  T result{};
  unsigned char bytes[sizeof(T)];
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<unsigned char>(bits >> i % 4 * 8);
  std::memcpy(&result, bytes, sizeof(T));
  return result;
}
struct mix {
  template <class T>
  STRATA_D T operator()(const T& a, const T& b) const {
    return mixed(a, b);
  }
};

enum form { left, left_of_tile, left_partial, left_partial_of_tile, right, right_of_tile, right_partial, forms };

template <class Difference, class T, std::size_t N, class Output, class Op>
STRATA_D void subtract(form how, Difference difference, T (&items)[N], Output (&output)[N], Op op, int valid) {
  const T predecessor = number<T>(threadIdx.x + threadIdx.y + threadIdx.z == 0 ? before : elsewhere);
  const bool is_last = threadIdx.x == blockDim.x - 1 && threadIdx.y == blockDim.y - 1 && threadIdx.z == blockDim.z - 1;
  const T successor = number<T>(is_last ? after : elsewhere);
  switch (how) {
    case left:
      return difference.SubtractLeft(items, output, op);
    case left_of_tile:
      return difference.SubtractLeft(items, output, op, predecessor);
    case left_partial:
      return difference.SubtractLeftPartialTile(items, output, op, valid);
    case left_partial_of_tile:
      return difference.SubtractLeftPartialTile(items, output, op, valid, predecessor);
    case right:
      return difference.SubtractRight(items, output, op);
    case right_of_tile:
      return difference.SubtractRight(items, output, op, successor);
    default:
      return difference.SubtractRightPartialTile(items, output, op, valid);
  }
}

// Block b calls form b % forms with valid[b / forms] valid items, once into another array and once in place.
template <class Case>
STRATA_KERNEL void subtract_all(const int* valid, shown<typename Case::type>* out, typename Case::type* in_place) {
  using T = typename Case::type;
  using difference = difference_of<Case>;
  STRATA_SHARED(temp_storage, typename difference::TempStorage);
  const form how = static_cast<form>(blockIdx.x % forms);
  const int count = valid[blockIdx.x / forms];
  T items[Case::size];
  shown<T> output[Case::size];
  for (int i = 0; i < Case::items; ++i) items[i] = number<T>(Case::rank() * Case::items + i);
  subtract(how, difference(temp_storage), items, output, show{}, count);
  subtract(how, difference(), items, items, mix{}, count);
  const int first = static_cast<int>(blockIdx.x) * Case::tile + Case::rank() * Case::items;
  for (int i = 0; i < Case::items; ++i) {
    out[first + i] = output[i];
    in_place[first + i] = items[i];
  }
}

/// The index of item i's neighbour: -1 or `tile` for an item next to the tile, `elsewhere` if item i has no neighbour.
int neighbour(form how, int i, int valid, int tile) {
  const bool is_partial = how == left_partial || how == left_partial_of_tile || how == right_partial;
  const int end = !is_partial || valid > tile ? tile : valid < 0 ? 0 : valid;
  if (i >= end) return elsewhere;
  if (how >= right) return i + 1 < end || how == right_of_tile ? i + 1 : elsewhere;
  return i > 0 || how == left_of_tile || how == left_partial_of_tile ? i - 1 : elsewhere;
}

template <class Case>
class block_adjacent_difference : public testing::Test {};
TYPED_TEST_SUITE(block_adjacent_difference, cases);

TYPED_TEST(block_adjacent_difference, operator_gets_each_item_and_its_neighbour) {
  using T = typename TypeParam::type;
  constexpr int tile = TypeParam::tile;
  const std::vector<int> counts = interesting_counts(tile, TypeParam::items);
  const device_vector<int> valid(counts);
  const std::size_t blocks = counts.size() * forms;
  device_vector<shown<T>> out(blocks * tile);
  device_vector<T> in_place(blocks * tile);
  ASSERT_CUDA_SUCCESS(strata::launch({"subtract_all", static_cast<unsigned>(blocks), TypeParam::dimensions()},
                                     subtract_all<TypeParam>, valid.data(), out.data(), in_place.data()));
  const std::vector<shown<T>> results = out.to_host();
  const std::vector<T> results_in_place = in_place.to_host();
  for (std::size_t b = 0; b < blocks; ++b) {
    const form how = static_cast<form>(b % forms);
    const int count = counts[b / forms];
    for (int i = 0; i < tile; ++i) {
      const auto place = [&] { return testing::Message() << "form " << how << ", " << count << " valid, item " << i; };
      const shown<T>& got = results[b * tile + index(i)];
      const T item = number<T>(i);
      const int other = neighbour(how, i, count, tile);
      ASSERT_TRUE(same_bits(got.item, item)) << place();
      if (other == elsewhere) {
        ASSERT_EQ(got.kind, shown<T>::copy) << place();
        ASSERT_TRUE(same_bits(results_in_place[b * tile + index(i)], item)) << place();
      } else {
        const T neighbour_item = number<T>(other == -1 ? before : other == tile ? after : other);
        ASSERT_EQ(got.kind, shown<T>::difference) << place();
        ASSERT_TRUE(same_bits(got.neighbour, neighbour_item)) << place();
        ASSERT_TRUE(same_bits(results_in_place[b * tile + index(i)], mixed(item, neighbour_item))) << place();
      }
    }
  }
}

// ---------------------------------------------------------------------------- what the operator sees
struct watch {
  int end;
  int* calls;
  STRATA_D int operator()(int a, int b) const {
    // A call with an invalid item adds 1000, so no number of valid calls can hide it.
    atomicAdd(calls, a < end && b < end ? 1 : 1000);
    return 0;
  }
};

STRATA_KERNEL void watch_partial_tiles(int* calls) {
  const int valid = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  int items[3], output[3];
  for (int i = 0; i < 3; ++i) items[i] = thread * 3 + i;
  const auto of_block = [&](int form) { return watch{valid, calls + 3 * valid + form}; };
  BlockAdjacentDifference<int, 40>().SubtractLeftPartialTile(items, output, of_block(0), valid);
  __syncthreads();
  BlockAdjacentDifference<int, 40>().SubtractLeftPartialTile(items, output, of_block(1), valid, -1);
  __syncthreads();
  BlockAdjacentDifference<int, 40>().SubtractRightPartialTile(items, output, of_block(2), valid);
}

TEST(block_adjacent_difference, operator_is_called_once_for_each_pair_and_never_with_invalid_items) {
  device_vector<int> calls(std::vector<int>(3 * 121, 0));
  ASSERT_CUDA_SUCCESS(strata::launch({"watch_partial_tiles", 121, 40}, watch_partial_tiles, calls.data()));
  const std::vector<int> counts = calls.to_host();
  for (int valid = 0; valid <= 120; ++valid) {
    const int pairs = valid > 0 ? valid - 1 : 0;
    EXPECT_EQ(counts[index(3 * valid)], pairs) << valid;
    EXPECT_EQ(counts[index(3 * valid + 1)], valid) << valid;
    EXPECT_EQ(counts[index(3 * valid + 2)], pairs) << valid;
  }
}

// ---------------------------------------------------------------------------- types
/// A point in time, without a default constructor. The difference of two points has another type.
struct moment {
  long long ticks;
  STRATA_HD explicit moment(long long t) : ticks(t) {}
};
struct duration {
  long long ticks = 0;
  duration() = default;
  STRATA_HD explicit duration(long long t) : ticks(t) {}
};
struct elapsed {
  // The parameters are references to non-const items, as in CUB's examples.
  STRATA_D duration operator()(moment& a, moment& b) const { return duration(a.ticks - b.ticks); }
};

STRATA_KERNEL void durations(long long* out) {
  using difference = BlockAdjacentDifference<moment, 48>;
  STRATA_SHARED(temp_storage, difference::TempStorage);
  const long long first = 2 * static_cast<long long>(threadIdx.x);
  moment items[2] = {moment(first * first), moment((first + 1) * (first + 1))};
  duration steps[2];
  difference(temp_storage).SubtractLeft(items, steps, elapsed{}, moment(1));
  __syncthreads();
  out[first] = steps[0].ticks;
  out[first + 1] = steps[1].ticks;
  difference(temp_storage).SubtractRight(items, steps, elapsed{}, moment(96 * 96));
  out[96 + first] = steps[0].ticks;
  out[96 + first + 1] = steps[1].ticks;
}

TEST(block_adjacent_difference, results_need_not_be_made_of_items_if_all_have_neighbours) {
  device_vector<long long> out(192);
  ASSERT_CUDA_SUCCESS(strata::launch({"durations", 1, 48}, durations, out.data()));
  const std::vector<long long> steps = out.to_host();
  for (int i = 0; i < 96; ++i) {
    EXPECT_EQ(steps[index(i)], 2 * i - 1) << i;
    EXPECT_EQ(steps[index(96 + i)], -2 * i - 1) << i;
  }
}

// Storage has an item for each thread. Items of an even number of pieces need padding.
static_assert(sizeof(BlockAdjacentDifference<int, 64>::TempStorage) == 64 * sizeof(int));
static_assert(sizeof(BlockAdjacentDifference<words<3>, 8, 2, 4>::TempStorage) == 64 * 12);
static_assert(sizeof(BlockAdjacentDifference<words<10>, 32>::TempStorage) == 32 * 44);

// ---------------------------------------------------------------------------- bank conflicts
#if STRATA_HOST_SIMT
template <class T, int Threads>
void count_conflicts() {
  SCOPED_TRACE(testing::Message() << sizeof(T) << "-byte items");
  using tile = tile_case<T, Threads, 3>;
  const device_vector<int> valid(std::vector<int>{2 * Threads, 3 * Threads});
  device_vector<shown<T>> out(index(2 * forms * tile::tile));
  device_vector<T> in_place(index(2 * forms * tile::tile));
  strata::simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(strata::launch({"subtract_all", 2 * forms, Threads}, subtract_all<tile>, valid.data(), out.data(),
                                     in_place.data()));
  // A warp without valid items writes its items, but does not read neighbours.
  strata_test::expect_no_bank_conflicts(2 * forms * 3 * (Threads / 32));
}

TEST(block_adjacent_difference, has_no_bank_conflicts) {
  if (!strata_test::counts_bank_conflicts()) GTEST_SKIP() << "only check mode counts bank conflicts";
  count_conflicts<std::int8_t, 128>();
  count_conflicts<short, 128>();
  count_conflicts<int, 96>();
  count_conflicts<double, 64>();
  count_conflicts<strata_test::int128, 64>();
  count_conflicts<words<3>, 64>();
  count_conflicts<words<10>, 64>();
}
#endif

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void steps(const int* in, int* out) {
  using BlockAdjacentDifference = strata::BlockAdjacentDifference<int, 128>;
  STRATA_SHARED(temp_storage, BlockAdjacentDifference::TempStorage);
  int items[2];
  for (int i = 0; i < 2; ++i) items[i] = in[static_cast<int>(threadIdx.x) * 2 + i];
  BlockAdjacentDifference(temp_storage).SubtractLeft(items, items, [](int a, int b) { return a - b; });
  for (int i = 0; i < 2; ++i) out[static_cast<int>(threadIdx.x) * 2 + i] = items[i];
}

TEST(block_adjacent_difference, subtracts_in_place) {
  std::vector<int> squares, odd_numbers;
  for (int i = 0; i < 256; ++i) {
    squares.push_back((i + 1) * (i + 1));
    odd_numbers.push_back(2 * i + 1);
  }
  const device_vector<int> in(squares);
  device_vector<int> out(256);
  ASSERT_CUDA_SUCCESS(strata::launch({"steps", 1, 128}, steps, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), odd_numbers);
}

}  // namespace block_adjacent_difference_test
