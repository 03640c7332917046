// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check
#include <strata/block/block_radix_rank.cuh>
#include <strata/block/classic/block_radix_rank_shuffle.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "block/radix_cases.cuh"
#include "support/bank_conflicts.cuh"
#include "support/test_support.cuh"

namespace block_radix_rank_test {

using namespace strata;
using radix_cases::spread_count;
using strata_test::device_vector;

/// Some bits in the middle of a key are the digit, so a ranking must use the extractor.
template <int Bits>
struct some_bits {
  STRATA_D unsigned Digit(unsigned key) const { return key >> 3 & ((1u << Bits) - 1); }
};

enum arrangement { blocked, warp_striped };

template <class Rank_, int Bits, bool IsDescending, int Items, arrangement Arrangement, int X, int Y = 1, int Z = 1>
struct rank_case {
  using Rank = Rank_;
  static constexpr bool is_descending = IsDescending;
  static constexpr int bits = Bits, items = Items, threads = X * Y * Z, tile = threads * Items;
  static constexpr int bins = 1 << Bits;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }

  STRATA_D static int thread() {
    return static_cast<int>(threadIdx.x) + X * static_cast<int>(threadIdx.y + Y * threadIdx.z);
  }
  /// The index within the tile of item i of a thread.
  STRATA_D static int index(int thread, int i) {
    if (Arrangement == blocked) return thread * Items + i;
    const int first = thread / 32 * 32;
    const int lanes = threads - first < 32 ? threads - first : 32;
    return first * Items + i * lanes + thread % 32;
  }
};

template <bool IsDescending, int Bits, int Items, bool Memoize, int X, int Y = 1, int Z = 1>
using basic = rank_case<
    BlockRadixRank<X, Bits, IsDescending, Memoize, BLOCK_SCAN_WARP_SCANS, cudaSharedMemBankSizeFourByte, Y, Z>, Bits,
    IsDescending, Items, blocked, X, Y, Z>;
template <bool IsDescending, int Bits, int Items, int X, int Y = 1, int Z = 1>
using match = rank_case<BlockRadixRankMatch<X, Bits, IsDescending, BLOCK_SCAN_RAKING, Y, Z>, Bits, IsDescending, Items,
                        warp_striped, X, Y, Z>;
template <WarpMatchAlgorithm Match, bool IsDescending, int Bits, int Items, int X, int Y = 1, int Z = 1>
using early = rank_case<BlockRadixRankMatchEarlyCounts<X, Bits, IsDescending, BLOCK_SCAN_WARP_SCANS, Match, 1, Y, Z>,
                        Bits, IsDescending, Items, warp_striped, X, Y, Z>;
template <bool IsDescending, int Bits, int Items, int X, int Y = 1, int Z = 1>
using shuffle = rank_case<BlockRadixRankShuffle<X, Bits, IsDescending, BLOCK_SCAN_WARP_SCANS, Y, Z>, Bits, IsDescending,
                          Items, warp_striped, X, Y, Z>;

/// Writes the counts of all digits to an array.
template <class Case>
struct write_counts {
  int* counts;

  STRATA_D void operator()(int (&of_thread)[Case::Rank::BINS_TRACKED_PER_THREAD]) const {
    constexpr int tracked = Case::Rank::BINS_TRACKED_PER_THREAD;
    for (int i = 0; i < tracked; ++i) {
      const int bin = Case::thread() * tracked + i;
      if (bin < Case::bins) {
        counts[bin] = of_thread[i];
      } else if (of_thread[i] != 0) {
        counts[0] = -1000000;  // a count for a digit that does not exist
      }
    }
  }
};

/// Ranks one tile after the other in the same storage.
template <class Case>
STRATA_KERNEL void rank_tiles(const unsigned* keys, int tiles, int* ranks, int* starts, int* counts) {
  using Rank = typename Case::Rank;
  constexpr int tracked = Rank::BINS_TRACKED_PER_THREAD;
  STRATA_SHARED(temp_storage, typename Rank::TempStorage);
  for (int tile = 0; tile < tiles; ++tile) {
    unsigned own_keys[static_cast<std::size_t>(Case::items)];
    int own_ranks[static_cast<std::size_t>(Case::items)];
    int own_starts[tracked];
    for (int i = 0; i < Case::items; ++i) {
      own_keys[i] = keys[tile * Case::tile + Case::index(Case::thread(), i)];
    }
    Rank(temp_storage)
        .RankKeys(own_keys, own_ranks, some_bits<Case::bits>{}, own_starts,
                  write_counts<Case>{counts + tile * Case::bins});
    for (int i = 0; i < Case::items; ++i) {
      ranks[tile * Case::tile + Case::index(Case::thread(), i)] = own_ranks[i];
    }
    for (int i = 0; i < tracked; ++i) {
      const int bin = Case::thread() * tracked + i;
      if (bin < Case::bins) starts[tile * Case::bins + bin] = own_starts[i];
    }
    __syncthreads();
  }
}

/// Keys whose bits outside of the digit are random, because they must not matter.
template <class Case>
std::vector<unsigned> tiles_of_keys() {
  std::vector<unsigned> keys;
  for (const radix_cases::spread how : radix_cases::spreads) {
    const std::vector<int> other_bits =
        strata_test::random_integers(std::size_t{Case::tile}, 0, 0x7fffffff, Case::tile);
    const auto digits = radix_cases::numbers(how, std::size_t{Case::tile}, Case::bits);
    for (std::size_t i = 0; i < digits.size(); ++i) {
      const unsigned mask = unsigned{Case::bins - 1} << 3;
      keys.push_back(static_cast<unsigned>(digits[i]) << 3 | (static_cast<unsigned>(other_bits[i]) & ~mask));
    }
  }
  return keys;
}

template <class Case>
unsigned digit_of(unsigned key) {
  return key >> 3 & unsigned{Case::bins - 1};
}

template <class Case>
std::vector<int> expected_ranks(const unsigned* keys) {
  std::vector<int> order(std::size_t{Case::tile}), ranks(order.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const unsigned x = digit_of<Case>(keys[a]), y = digit_of<Case>(keys[b]);
    return Case::is_descending ? y < x : x < y;
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    ranks[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }
  return ranks;
}

template <class Case>
class block_radix_rank : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using cases = testing::Types<basic<false, 4, 5, true, 64>, basic<true, 3, 4, false, 4, 3, 3>,
                             match<true, 5, 3, 8, 4, 2>, match<false, 8, 2, 33>, early<WARP_MATCH_ANY, true, 6, 3, 40>,
                             early<WARP_MATCH_ATOMIC_OR, false, 4, 3, 64>, shuffle<true, 4, 3, 8, 2, 4>>;
#else
using cases =
    testing::Types<basic<false, 4, 1, true, 32>, basic<true, 4, 11, true, 256>, basic<false, 4, 7, false, 96>,
                   basic<true, 5, 4, false, 8, 4, 3>, basic<false, 1, 3, true, 33>, basic<true, 2, 6, true, 20>,
                   basic<false, 8, 2, false, 64>, basic<false, 3, 9, true, 1>, basic<true, 6, 3, true, 10, 5, 2>,
                   match<false, 8, 1, 32>, match<true, 8, 11, 256>, match<false, 8, 5, 96>, match<true, 4, 7, 8, 3, 2>,
                   match<false, 6, 4, 33>, match<true, 3, 5, 1>, match<false, 9, 2, 70>, match<true, 1, 3, 1024>,
                   early<WARP_MATCH_ANY, false, 8, 6, 256>, early<WARP_MATCH_ANY, true, 8, 3, 96>,
                   early<WARP_MATCH_ANY, true, 5, 4, 5, 7>, early<WARP_MATCH_ATOMIC_OR, true, 8, 6, 256>,
                   early<WARP_MATCH_ATOMIC_OR, false, 7, 3, 8, 4, 3>, early<WARP_MATCH_ATOMIC_OR, true, 4, 11, 45>,
                   early<WARP_MATCH_ATOMIC_OR, false, 2, 1, 32>, shuffle<false, 4, 1, 32>, shuffle<true, 4, 7, 96>,
                   shuffle<false, 5, 3, 16, 4, 4>, shuffle<true, 1, 4, 64>>;
#endif
TYPED_TEST_SUITE(block_radix_rank, cases);

TYPED_TEST(block_radix_rank, is_the_place_in_a_stable_sort) {
  const std::vector<unsigned> keys = tiles_of_keys<TypeParam>();
  const device_vector<unsigned> in(keys);
  device_vector<int> ranks_out(keys.size());
  device_vector<int> starts_out(spread_count * TypeParam::bins), counts_out(starts_out.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"rank_tiles", 1, TypeParam::dimensions()}, rank_tiles<TypeParam>, in.data(),
                                     int{spread_count}, ranks_out.data(), starts_out.data(), counts_out.data()));
  const std::vector<int> ranks = ranks_out.to_host(), starts = starts_out.to_host(), counts = counts_out.to_host();
  for (std::size_t tile = 0; tile < spread_count; ++tile) {
    const std::size_t first_item = tile * TypeParam::tile, first_bin = tile * TypeParam::bins;
    const std::vector<int> expected = expected_ranks<TypeParam>(keys.data() + first_item);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(ranks[first_item + i], expected[i]) << "item " << i << " of tile " << tile;
    }
    for (unsigned bin = 0; bin < unsigned{TypeParam::bins}; ++bin) {
      int count = 0, before = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const unsigned digit = digit_of<TypeParam>(keys[first_item + i]);
        if (digit == bin) ++count;
        if (TypeParam::is_descending ? bin < digit : digit < bin) ++before;
      }
      ASSERT_EQ(counts[first_bin + bin], count) << "digit " << bin << " of tile " << tile;
      ASSERT_EQ(starts[first_bin + bin], before) << "digit " << bin << " of tile " << tile;
    }
  }
}

#if STRATA_HOST_SIMT
template <class Rank, int Threads>
STRATA_KERNEL void rank_alone(const unsigned* keys) {
  const unsigned own_keys[3] = {keys[threadIdx.x], keys[Threads + threadIdx.x], keys[2 * Threads + threadIdx.x]};
  int ranks[3];
  Rank().RankKeys(own_keys, ranks, some_bits<4>{});
  STRATA_ASSERT(ranks[0] != ranks[1], "ranks are different");
}

// Random digits of neighbouring threads have counters in 8 rows. They must still be in different banks.
TEST(block_radix_rank_conflicts, there_are_none_with_counters_of_threads) {
  if (!strata_test::counts_bank_conflicts()) GTEST_SKIP() << "only check mode counts bank conflicts";
  const std::vector<int> values = strata_test::random_integers(3 * 96, 0, 1000);
  const device_vector<unsigned> in(std::vector<unsigned>(values.begin(), values.end()));
  simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(strata::launch({"rank_alone", 1, 96}, rank_alone<BlockRadixRank<96, 4, false>, 96>, in.data()));
  ASSERT_CUDA_SUCCESS(
      strata::launch({"rank_alone", 1, 64}, rank_alone<BlockRadixRank<64, 4, true, false>, 64>, in.data()));
  strata_test::expect_no_bank_conflicts(5 * (9 + 9 + 9 + 9));
}
#endif

// ---------------------------------------------------------------------------- other forms
template <class Rank>
STRATA_KERNEL void rank_in_other_forms(const unsigned* keys, int* ranks, int* others) {
  const int thread = static_cast<int>(threadIdx.x);
  const unsigned own_keys[2] = {keys[2 * thread], keys[2 * thread + 1]};
  int own_ranks[2], start[Rank::BINS_TRACKED_PER_THREAD] = {};
  const auto count = [&](int(&counts)[Rank::BINS_TRACKED_PER_THREAD]) {
    if (thread < 16) others[16 + thread] = counts[0];
  };
  const auto write = [&](int form) {
    for (int i = 0; i < 2; ++i) ranks[128 * form + 2 * thread + i] = own_ranks[i];
    __syncthreads();
  };
  Rank().RankKeys(own_keys, own_ranks, some_bits<4>{});
  write(0);
  Rank().RankKeys(own_keys, own_ranks, some_bits<4>{}, start);
  write(1);
  Rank().RankKeys(own_keys, own_ranks, some_bits<4>{}, count);
  write(2);
  if (thread < 16) others[thread] = start[0];
}

template <class Rank>
void test_other_forms() {
  const std::vector<int> values = strata_test::random_integers(128, 0, 1000);
  const device_vector<unsigned> in(std::vector<unsigned>(values.begin(), values.end()));
  device_vector<int> ranks(3 * 128), others(32);
  ASSERT_CUDA_SUCCESS(strata::launch({"rank_in_other_forms", 1, 64}, rank_in_other_forms<Rank>, in.data(), ranks.data(),
                                     others.data()));
  const std::vector<int> all = ranks.to_host(), starts_and_counts = others.to_host();
  for (std::size_t i = 0; i < 128; ++i) {
    ASSERT_EQ(all[i], all[128 + i]);
    ASSERT_EQ(all[i], all[256 + i]);
  }
  int start = 0;
  for (std::size_t digit = 0; digit < 16; ++digit) {
    ASSERT_EQ(starts_and_counts[digit], start);
    start += starts_and_counts[16 + digit];
  }
  ASSERT_EQ(start, 128);
}

TEST(block_radix_rank_forms, say_the_same_with_private_storage) {
  test_other_forms<detail::block_radix_rank_t<RADIX_RANK_BASIC, 64, 4, false>>();
  test_other_forms<detail::block_radix_rank_t<RADIX_RANK_MEMOIZE, 64, 4, false>>();
  test_other_forms<detail::block_radix_rank_t<RADIX_RANK_MATCH, 64, 4, false>>();
  test_other_forms<detail::block_radix_rank_t<RADIX_RANK_MATCH_EARLY_COUNTS_ANY, 64, 4, false>>();
  test_other_forms<detail::block_radix_rank_t<RADIX_RANK_MATCH_EARLY_COUNTS_ATOMIC_OR, 64, 4, false>>();
  test_other_forms<BlockRadixRankShuffle<64>>();
}

TEST(block_radix_rank_forms, are_named_by_the_enumeration) {
  using by_votes = detail::block_radix_rank_t<RADIX_RANK_MATCH_EARLY_COUNTS_ANY, 64, 8, true>;
  using by_words = detail::block_radix_rank_t<RADIX_RANK_MATCH_EARLY_COUNTS_ATOMIC_OR, 64, 8, true>;
  EXPECT_TRUE((std::is_same_v<by_votes, BlockRadixRankMatchEarlyCounts<64, 8, true>>));
  EXPECT_TRUE(
      (std::is_same_v<by_words,
                      BlockRadixRankMatchEarlyCounts<64, 8, true, BLOCK_SCAN_WARP_SCANS, WARP_MATCH_ATOMIC_OR>>));
  EXPECT_EQ(2, (BlockRadixRankMatch<128, 8, false>::BINS_TRACKED_PER_THREAD));
  EXPECT_EQ(1, (BlockRadixRank<128, 4, false>::BINS_TRACKED_PER_THREAD));
  EXPECT_EQ(3, (BlockRadixRankMatch<8, 8, false, BLOCK_SCAN_RAKING, 12>::BINS_TRACKED_PER_THREAD));
}

// ---------------------------------------------------------------------------- digit extractors
TEST(digit_extractors, take_some_bits_of_the_word_of_a_key) {
  const BFEDigitExtractor<unsigned> bits(4, 8);
  EXPECT_EQ(0x67u, bits.Digit(0x12345678u));
  EXPECT_EQ(0x12345678u, BFEDigitExtractor<unsigned>(0, 32).Digit(0x12345678u));
  EXPECT_EQ(0u, BFEDigitExtractor<unsigned>().Digit(0x12345678u));
  EXPECT_EQ(0x1u, BFEDigitExtractor<int>(28, 8).Digit(0x12345678));
  EXPECT_EQ(0x123u, BFEDigitExtractor<std::uint64_t>(52, 12).Digit(0x123456789abcdef0u));
  EXPECT_EQ(0x67u, ShiftDigitExtractor<unsigned>(4, 8).Digit(0x12345678u));
}

TEST(digit_extractors, both_zeros_have_the_same_digits) {
  const BFEDigitExtractor<float> sign(31, 1);
  const BFEDigitExtractor<float> all(0, 32);
  const std::uint32_t negative_zero = ~(std::uint32_t{1} << 31);  // encoded by flipping all bits, as some sorts do
  EXPECT_EQ(1u, sign.Digit(negative_zero));
  EXPECT_EQ(all.Digit(RadixTraits<float>::ordered(0.0f)), all.Digit(negative_zero));
  EXPECT_EQ(negative_zero - 1, all.Digit(negative_zero - 1));
}

STRATA_KERNEL void rank_by_extractor(const unsigned* in, int* ranks) {
  using Rank = BlockRadixRank<64, 5, false>;
  STRATA_SHARED(temp_storage, Rank::TempStorage);
  const unsigned keys[2] = {in[2 * threadIdx.x], in[2 * threadIdx.x + 1]};
  int own_ranks[2];
  Rank(temp_storage).RankKeys(keys, own_ranks, BFEDigitExtractor<unsigned>(2, 5));
  ranks[2 * threadIdx.x] = own_ranks[0];
  ranks[2 * threadIdx.x + 1] = own_ranks[1];
}

TEST(digit_extractors, rank_keys) {
  const std::vector<int> values = strata_test::random_integers(128, 0, 1000);
  const std::vector<unsigned> keys(values.begin(), values.end());
  const device_vector<unsigned> in(keys);
  device_vector<int> ranks(128);
  ASSERT_CUDA_SUCCESS(strata::launch({"rank_by_extractor", 1, 64}, rank_by_extractor, in.data(), ranks.data()));
  std::vector<std::size_t> order(128);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return (keys[a] >> 2 & 31) < (keys[b] >> 2 & 31); });
  const std::vector<int> all = ranks.to_host();
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(static_cast<int>(i), all[order[i]]);
}

// -------------------------------------------------------------------- the documented example
struct lowest_byte {
  STRATA_D unsigned Digit(unsigned key) const { return key & 255; }
};

// Each block sorts 1024 keys by their lowest byte.
STRATA_KERNEL void sort_by_lowest_byte(const unsigned* in, unsigned* out) {
  using Rank = strata::BlockRadixRankMatch<256, 8, false>;
  STRATA_SHARED(temp_storage, Rank::TempStorage);
  const unsigned tile = blockIdx.x * 1024;
  unsigned keys[4];
  int ranks[4];
  for (unsigned i = 0; i < 4; ++i) {  // warp-striped
    keys[i] = in[tile + threadIdx.x / 32 * 128 + i * 32 + threadIdx.x % 32];
  }
  Rank(temp_storage).RankKeys(keys, ranks, lowest_byte{});
  for (int i = 0; i < 4; ++i) out[tile + static_cast<unsigned>(ranks[i])] = keys[i];
}

TEST(block_radix_rank_example, sorts_by_the_lowest_byte) {
  const std::vector<int> values = strata_test::random_integers(2048, 0, 0x7fffffff);
  std::vector<unsigned> keys(values.begin(), values.end());
  const device_vector<unsigned> in(keys);
  device_vector<unsigned> out(keys.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_by_lowest_byte", 2, 256}, sort_by_lowest_byte, in.data(), out.data()));
  const auto less = [](unsigned a, unsigned b) { return (a & 255) < (b & 255); };
  std::stable_sort(keys.begin(), keys.begin() + 1024, less);
  std::stable_sort(keys.begin() + 1024, keys.end(), less);
  EXPECT_EQ(out.to_host(), keys);
}

}  // namespace block_radix_rank_test
