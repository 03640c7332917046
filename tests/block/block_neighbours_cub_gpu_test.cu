// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// BlockAdjacentDifference and BlockDiscontinuity must give the same differences and flags as CUB's.
#include <strata/block/block_adjacent_difference.cuh>
#include <strata/block/block_discontinuity.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>

#include <vector>

#include "block/neighbour_cases.cuh"
#include "support/test_support.cuh"

namespace {

using namespace neighbour_cases;

struct by_strata {
  template <class Case>
  using difference = strata::BlockAdjacentDifference<typename Case::type, Case::x, Case::y, Case::z>;
  template <class Case>
  using discontinuity = strata::BlockDiscontinuity<typename Case::type, Case::x, Case::y, Case::z>;
};
struct by_cub {
  template <class Case>
  using difference = cub::BlockAdjacentDifference<typename Case::type, Case::x, Case::y, Case::z>;
  template <class Case>
  using discontinuity = cub::BlockDiscontinuity<typename Case::type, Case::x, Case::y, Case::z>;
};

/// Returns one operand or the other, by a hash of both.
struct choose {
  template <class T>
  STRATA_D T operator()(const T& a, const T& b) const {
    return hash(hash(2166136261u, a), b) >> 9 & 1 ? a : b;
  }
};
struct differ {
  template <class T>
  STRATA_D bool operator()(const T& a, const T& b) const {
    return (hash(hash(2166136261u, a), b) >> 9 & 1) != 0;
  }
};
struct differ_by_index {
  template <class T>
  STRATA_D bool operator()(const T& a, const T& b, int index) const {
    return (hash(hash(hash(2166136261u, a), b), index) >> 9 & 1) != 0;
  }
};

template <class Case, class T>
STRATA_D void write(const T (&items)[Case::size], T*& out) {
  for (int i = 0; i < Case::items; ++i) out[Case::rank() * Case::items + i] = items[i];
  out += Case::tile;
  __syncthreads();
}

constexpr int difference_ways = 14, flag_ways = 28, pred_ways = 4;

// Block b has b valid items, at most a tile, because CUB allows no more.
template <class Library, class Case>
STRATA_KERNEL void subtract(typename Case::type* out) {
  using T = typename Case::type;
  using difference = typename Library::template difference<Case>;
  STRATA_SHARED(temp_storage, typename difference::TempStorage);
  difference d(temp_storage);
  out += blockIdx.x * difference_ways * Case::tile;
  const int valid = static_cast<int>(blockIdx.x);
  const T beside = number<T>(Case::tile);
  T items[Case::size], results[Case::size];
  const auto renew = [](T(&to)[Case::size]) {
    for (int i = 0; i < Case::items; ++i) to[i] = number<T>(Case::rank() * Case::items + i);
  };
  renew(items);
  d.SubtractLeft(items, results, choose{});
  write<Case>(results, out);
  d.SubtractLeft(items, results, choose{}, beside);
  write<Case>(results, out);
  d.SubtractLeftPartialTile(items, results, choose{}, valid);
  write<Case>(results, out);
  d.SubtractLeftPartialTile(items, results, choose{}, valid, beside);
  write<Case>(results, out);
  d.SubtractRight(items, results, choose{});
  write<Case>(results, out);
  d.SubtractRight(items, results, choose{}, beside);
  write<Case>(results, out);
  d.SubtractRightPartialTile(items, results, choose{}, valid);
  write<Case>(results, out);

  d.SubtractLeft(items, items, choose{});
  write<Case>(items, out);
  renew(items);
  d.SubtractLeft(items, items, choose{}, beside);
  write<Case>(items, out);
  renew(items);
  d.SubtractLeftPartialTile(items, items, choose{}, valid);
  write<Case>(items, out);
  renew(items);
  d.SubtractLeftPartialTile(items, items, choose{}, valid, beside);
  write<Case>(items, out);
  renew(items);
  d.SubtractRight(items, items, choose{});
  write<Case>(items, out);
  renew(items);
  d.SubtractRight(items, items, choose{}, beside);
  write<Case>(items, out);
  renew(items);
  d.SubtractRightPartialTile(items, items, choose{}, valid);
  write<Case>(items, out);
}

template <class Case, class Discontinuity, class T, class Op>
STRATA_D void flag_in_all_ways(Discontinuity d, T (&items)[Case::size], int*& out, T*& preds_out, Op op) {
  const T beside = number<T>(Case::tile);
  int heads[Case::size], tails[Case::size];
  T preds[Case::size];
  for (int i = 0; i < Case::items; ++i) preds[i] = items[i];
  d.FlagHeads(heads, items, op);
  write<Case>(heads, out);
  d.FlagHeads(heads, items, op, beside);
  write<Case>(heads, out);
  d.FlagHeads(heads, items, preds, op);
  write<Case>(heads, out);
  write<Case>(preds, preds_out);
  d.FlagHeads(heads, items, preds, op, beside);
  write<Case>(heads, out);
  write<Case>(preds, preds_out);
  d.FlagTails(tails, items, op);
  write<Case>(tails, out);
  d.FlagTails(tails, items, op, beside);
  write<Case>(tails, out);
  d.FlagHeadsAndTails(heads, tails, items, op);
  write<Case>(heads, out);
  write<Case>(tails, out);
  d.FlagHeadsAndTails(heads, tails, beside, items, op);
  write<Case>(heads, out);
  write<Case>(tails, out);
  d.FlagHeadsAndTails(heads, beside, tails, items, op);
  write<Case>(heads, out);
  write<Case>(tails, out);
  d.FlagHeadsAndTails(heads, beside, tails, beside, items, op);
  write<Case>(heads, out);
  write<Case>(tails, out);
}

template <class Library, class Case>
STRATA_KERNEL void flag(int* out, typename Case::type* preds) {
  using T = typename Case::type;
  using discontinuity = typename Library::template discontinuity<Case>;
  STRATA_SHARED(temp_storage, typename discontinuity::TempStorage);
  T items[Case::size];
  for (int i = 0; i < Case::items; ++i) items[i] = number<T>(Case::rank() * Case::items + i);
  flag_in_all_ways<Case>(discontinuity(temp_storage), items, out, preds, differ{});
  flag_in_all_ways<Case>(discontinuity(temp_storage), items, out, preds, differ_by_index{});
}

template <class T>
void expect_the_same(const device_vector<T>& ours, const device_vector<T>& theirs, int tile) {
  const std::vector<T> our_results = ours.to_host(), their_results = theirs.to_host();
  for (std::size_t i = 0; i < our_results.size(); ++i) {
    ASSERT_TRUE(same_bits(our_results[i], their_results[i]))
        << "way " << i / index(tile) << ", item " << i % index(tile);
  }
}

template <class Case>
class block_neighbours_cub : public testing::Test {};
TYPED_TEST_SUITE(block_neighbours_cub, cases);

TYPED_TEST(block_neighbours_cub, every_difference) {
  using T = typename TypeParam::type;
  constexpr unsigned blocks = TypeParam::tile + 1;
  const std::vector<T> zeros(blocks * index(difference_ways * TypeParam::tile));
  device_vector<T> ours(zeros), theirs(zeros);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"ours", blocks, TypeParam::dimensions()}, subtract<by_strata, TypeParam>, ours.data()));
  ASSERT_CUDA_SUCCESS(
      strata::launch({"theirs", blocks, TypeParam::dimensions()}, subtract<by_cub, TypeParam>, theirs.data()));
  expect_the_same(ours, theirs, TypeParam::tile);
}

TYPED_TEST(block_neighbours_cub, every_flag) {
  using T = typename TypeParam::type;
  const std::vector<int> no_flags(index(flag_ways * TypeParam::tile), -1);
  const std::vector<T> no_preds(index(pred_ways * TypeParam::tile));
  device_vector<int> our_flags(no_flags), their_flags(no_flags);
  device_vector<T> our_preds(no_preds), their_preds(no_preds);
  ASSERT_CUDA_SUCCESS(strata::launch({"ours", 1, TypeParam::dimensions()}, flag<by_strata, TypeParam>, our_flags.data(),
                                     our_preds.data()));
  ASSERT_CUDA_SUCCESS(strata::launch({"theirs", 1, TypeParam::dimensions()}, flag<by_cub, TypeParam>,
                                     their_flags.data(), their_preds.data()));
  expect_the_same(our_flags, their_flags, TypeParam::tile);
  expect_the_same(our_preds, their_preds, TypeParam::tile);
}

}  // namespace
