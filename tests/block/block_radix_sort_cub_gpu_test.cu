// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// BlockRadixSort and the rankings must give the same order, ranks and prefixes as CUB's.
#include <strata/block/block_radix_rank.cuh>
#include <strata/block/block_radix_sort.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/radix_rank_sort_operations.cuh>
#include <cuda/std/tuple>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "block/radix_cases.cuh"
#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using strata_test::device_vector;
using strata_test::same_bits;

template <class Key, int X, int Items, int RadixBits = 4, int Y = 1, int Z = 1>
struct sort_case {
  using type = Key;
  static constexpr int items = Items, threads = X * Y * Z, tile = threads * Items;
  using by_strata = strata::BlockRadixSort<Key, X, Items, int, RadixBits, true, strata::BLOCK_SCAN_WARP_SCANS,
                                           cudaSharedMemBankSizeFourByte, Y, Z>;
  using by_cub = cub::BlockRadixSort<Key, X, Items, int, RadixBits, true, cub::BLOCK_SCAN_WARP_SCANS,
                                     cudaSharedMemBankSizeFourByte, Y, Z>;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }
  STRATA_D static int thread() {
    return static_cast<int>(threadIdx.x) + X * static_cast<int>(threadIdx.y + Y * threadIdx.z);
  }
};

struct record {
  std::uint16_t year;
  std::uint8_t kind;
  std::uint8_t number;  // not part of the sort key
};
struct by_kind_and_year {
  STRATA_HD cuda::std::tuple<std::uint8_t&, std::uint16_t&> operator()(record& r) const { return {r.kind, r.year}; }
};

constexpr int ways = 4;

template <class Sort, class Keys, class Values, class... Range>
STRATA_D void sort_one_way(Sort sort, int which, Keys& keys, Values& values, Range... range) {
  switch (which) {
    case 0:
      return sort.Sort(keys, values, range...);
    case 1:
      return sort.SortDescending(keys, values, range...);
    case 2:
      return sort.SortBlockedToStriped(keys, values, range...);
    default:
      return sort.SortDescendingBlockedToStriped(keys, values, range...);
  }
}

// Each thread writes its results one after the other, so that their arrangement shows.
template <class Sort, class Case>
STRATA_KERNEL void sort_tile(const typename Case::type* in, int which, int begin_bit, int end_bit,
                             typename Case::type* keys_out, int* values_out) {
  STRATA_SHARED(temp_storage, typename Sort::TempStorage);
  typename Case::type keys[Case::items];
  int values[Case::items];
  const int first = Case::thread() * Case::items;
  for (int i = 0; i < Case::items; ++i) {
    keys[i] = in[first + i];
    values[i] = first + i;
  }
  if constexpr (std::is_same_v<typename Case::type, record>) {
    sort_one_way(Sort(temp_storage), which, keys, values, by_kind_and_year{}, begin_bit, end_bit);
  } else {
    sort_one_way(Sort(temp_storage), which, keys, values, begin_bit, end_bit);
  }
  for (int i = 0; i < Case::items; ++i) {
    keys_out[first + i] = keys[i];
    values_out[first + i] = values[i];
  }
}

template <class Key>
std::vector<Key> tile_of_keys(radix_cases::spread how, std::size_t count) {
  const auto numbers = radix_cases::numbers(how, count, sizeof(Key) < 8 ? 8 * sizeof(Key) : 64);
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    // No NaNs: CUB sorts them in another order.
    if constexpr (std::is_floating_point_v<Key>) {
      keys[i] = static_cast<Key>(static_cast<double>(numbers[i] % 2001) - 1000) * Key{0.125};
      if (i % 5 == 0) keys[i] = i % 2 == 0 ? Key{0} : -Key{0};
    } else {
      std::memcpy(&keys[i], &numbers[i], sizeof(Key));
    }
  }
  return keys;
}

template <class Case>
class block_radix_sort_cub : public testing::Test {};
using cases = testing::Types<sort_case<unsigned, 256, 11>, sort_case<int, 96, 4, 5>, sort_case<float, 128, 7>,
                             sort_case<double, 64, 3, 6>, sort_case<std::uint8_t, 32, 8>,
                             sort_case<std::int64_t, 8, 5, 4, 4, 3>, sort_case<short, 33, 3>, sort_case<record, 64, 4>>;
TYPED_TEST_SUITE(block_radix_sort_cub, cases);

TYPED_TEST(block_radix_sort_cub, orders_the_same) {
  using Key = typename TypeParam::type;
  constexpr std::size_t tile = TypeParam::tile;
  constexpr int bits = std::is_same_v<Key, record> ? 24 : 8 * static_cast<int>(sizeof(Key));
  for (const radix_cases::spread how : radix_cases::spreads) {
    const device_vector<Key> in(tile_of_keys<Key>(how, tile));
    for (const int begin_bit : {0, bits / 3}) {
      for (int which = 0; which < ways; ++which) {
        device_vector<Key> our_keys(tile), their_keys(tile);
        device_vector<int> our_values(tile), their_values(tile);
        ASSERT_CUDA_SUCCESS(strata::launch({"ours", 1, TypeParam::dimensions()},
                                           sort_tile<typename TypeParam::by_strata, TypeParam>, in.data(), which,
                                           begin_bit, bits, our_keys.data(), our_values.data()));
        ASSERT_CUDA_SUCCESS(strata::launch({"theirs", 1, TypeParam::dimensions()},
                                           sort_tile<typename TypeParam::by_cub, TypeParam>, in.data(), which,
                                           begin_bit, bits, their_keys.data(), their_values.data()));
        ASSERT_EQ(our_values.to_host(), their_values.to_host()) << "way " << which;
        const std::vector<Key> ours = our_keys.to_host(), theirs = their_keys.to_host();
        for (std::size_t i = 0; i < tile; ++i) ASSERT_TRUE(same_bits(ours[i], theirs[i])) << i;
      }
    }
  }
}

// ---------------------------------------------------------------------------- ranks
template <class Rank, int Threads, int Items, int Bits>
STRATA_KERNEL void rank_tile(const unsigned* in, int* ranks_out, int* starts_out) {
  STRATA_SHARED(temp_storage, typename Rank::TempStorage);
  constexpr int tracked = Rank::BINS_TRACKED_PER_THREAD;
  const int thread = static_cast<int>(threadIdx.x);
  unsigned keys[Items];
  int ranks[Items], starts[tracked];
  for (int i = 0; i < Items; ++i) keys[i] = in[thread * Items + i];
  Rank(temp_storage).RankKeys(keys, ranks, cub::BFEDigitExtractor<unsigned>(7, Bits), starts);
  for (int i = 0; i < Items; ++i) ranks_out[thread * Items + i] = ranks[i];
  for (int i = 0; i < tracked; ++i) {
    if (thread * tracked + i < 1 << Bits) starts_out[thread * tracked + i] = starts[i];
  }
}

template <class Ours, class Theirs, int Threads, int Bits>
void test_ranks() {
  constexpr int items = 5;
  constexpr std::size_t tile = Threads * items, bins = 1 << Bits;
  for (const radix_cases::spread how : radix_cases::spreads) {
    const device_vector<unsigned> in(tile_of_keys<unsigned>(how, tile));
    device_vector<int> our_ranks(tile), their_ranks(tile), our_starts(bins), their_starts(bins);
    ASSERT_CUDA_SUCCESS(strata::launch({"ours", 1, Threads}, rank_tile<Ours, Threads, items, Bits>, in.data(),
                                       our_ranks.data(), our_starts.data()));
    ASSERT_CUDA_SUCCESS(strata::launch({"theirs", 1, Threads}, rank_tile<Theirs, Threads, items, Bits>, in.data(),
                                       their_ranks.data(), their_starts.data()));
    ASSERT_EQ(our_ranks.to_host(), their_ranks.to_host());
    ASSERT_EQ(our_starts.to_host(), their_starts.to_host());
  }
}

TEST(block_radix_rank_cub, by_counters_of_threads) {
  test_ranks<strata::BlockRadixRank<128, 4, false>, cub::BlockRadixRank<128, 4, false>, 128, 4>();
  test_ranks<strata::BlockRadixRank<96, 5, true, false>, cub::BlockRadixRank<96, 5, true, false>, 96, 5>();
}
TEST(block_radix_rank_cub, by_warps) {
  test_ranks<strata::BlockRadixRankMatch<256, 8, false>, cub::BlockRadixRankMatch<256, 8, false>, 256, 8>();
  test_ranks<strata::BlockRadixRankMatch<64, 8, true>, cub::BlockRadixRankMatch<64, 8, true>, 64, 8>();
}
// CUB's BlockRadixRankMatchEarlyCounts always ranks ascending, even if its parameter asks for descending.
TEST(block_radix_rank_cub, by_warps_with_early_counts) {
  test_ranks<strata::BlockRadixRankMatchEarlyCounts<128, 8, false>, cub::BlockRadixRankMatchEarlyCounts<128, 8, false>,
             128, 8>();
  test_ranks<strata::BlockRadixRankMatchEarlyCounts<256, 7, false, strata::BLOCK_SCAN_WARP_SCANS,
                                                    strata::WARP_MATCH_ATOMIC_OR>,
             cub::BlockRadixRankMatchEarlyCounts<256, 7, false, cub::BLOCK_SCAN_WARP_SCANS, cub::WARP_MATCH_ATOMIC_OR>,
             256, 7>();
}

}  // namespace
