// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedTopK of segments that do not fit in the registers of a block: samples, several blocks, fallbacks.
#include "device/top_k/segmented_top_k_cases.cuh"

#include <cmath>

namespace device_segmented_top_k_test {

using namespace segmented_top_k_test;

// One row takes several blocks, many rows take one block each. For few results, a sample bounds the candidates. For
// many, blocks search the whole segment.
TEST(device_segmented_top_k, long_segments) {
  for (const pattern how : all_patterns) {
    SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
    for (const std::size_t rows : {1, 2, is_small() ? 9 : 300}) {
      for (const std::size_t size : {513, 1025, is_small() ? 6001 : 70001}) {
        if (rows > 2 && size > 1025) continue;
        // Other patterns take long on the host.
        const bool is_main = how == pattern::random || how == pattern::few;
        if (!is_main && (rows > 9 || (is_small() && size > 1025))) continue;
        if (is_small() && rows == 2 && size > 513) continue;
        const auto keys = make_keys<float>(rows * size, how, size);
        for (const std::size_t k : {std::size_t{1}, std::size_t{20}, size / 2, size - 1}) {
          if (is_small() && k > 20 && how != pattern::few) continue;
          ASSERT_NO_FATAL_FAILURE(
              (expect_rows<true, false, form::arg, std::uint32_t, short_tiles>(keys, rows, size, k, k % 2)));
          ASSERT_NO_FATAL_FAILURE(
              (expect_rows<false, true, form::pairs, std::uint32_t, short_tiles>(keys, rows, size, k)));
        }
      }
    }
  }
}

TEST(device_segmented_top_k, long_and_short_segments) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 50; ++i) lengths.push_back(i * 37 % 90);
  lengths.insert(lengths.end(), {511, 512, 513, 0, if_small<std::size_t>(3000, 200000), 1, 1500, 63, 64, 65});
  for (const pattern how : {pattern::random, pattern::equal, pattern::sorted}) {
    for (const std::size_t k : {1, 15, 400}) {
      ASSERT_NO_FATAL_FAILURE((expect_segments<true, false, form::arg, std::int64_t, short_tiles>(lengths, k, how)));
      ASSERT_NO_FATAL_FAILURE((expect_segments<false, true, form::keys, std::int64_t, short_tiles>(lengths, k, how)));
    }
  }
}

// All sampled keys are greater than all other keys, or less. So there are too few candidates, or too many.
TEST(device_segmented_top_k, a_sample_may_mislead) {
  const std::size_t size = if_small<std::size_t>(17408, 65536);
  for (const std::size_t k : {std::size_t{30}, std::size_t{60}}) {
    constexpr int items = 512;  // of a block
    const auto sample =
        strata::detail::find_top_k_sample(static_cast<long long>(size), static_cast<long long>(k), items, items);
    ASSERT_GT(sample.rank, 0u);
    ASSERT_GT(sample.rounds(), 1);
    for (const bool is_greater : {false, true}) {
      auto keys = make_keys<std::uint32_t>(size, pattern::random);
      for (std::uint32_t& key : keys) key = (key >> 4) + (1u << 30);
      const long long positions = items / strata::detail::top_k_neighbours * sample.rounds();
      for (long long i = 0; i < positions; ++i) {
        const long long first = strata::detail::top_k_sample_index(static_cast<long long>(size) / positions, i);
        for (long long j = first; j < first + strata::detail::top_k_neighbours; ++j) {
          keys[static_cast<std::size_t>(j)] += is_greater ? 1u << 31 : 0u - (1u << 30);
        }
      }
      ASSERT_NO_FATAL_FAILURE((expect_rows<true, false, form::arg, std::uint32_t, short_tiles>(keys, 1, size, k)));
      ASSERT_NO_FATAL_FAILURE((expect_rows<true, true, form::arg, std::uint32_t, short_tiles>(keys, 1, size, k)));
      // By one block, which alone must find out that there are too many.
      const device_vector<int> offsets(std::vector<int>{0, static_cast<int>(size)});
      ASSERT_NO_FATAL_FAILURE((expect_results<true, false, form::arg, std::uint32_t, short_tiles>(
          keys, {{0, size}}, {{0, k}}, k, strata::SegmentsByOffsets(1, offsets.data(), offsets.data() + 1), k)));
    }
  }
}

/// The probability that at least `least` of `count` items are chosen, each with probability `p`.
double at_least(double least, double count, double p) {
  double sum = 0;
  for (double i = least; i <= count; ++i) {
    const double term = std::exp(std::lgamma(count + 1) - std::lgamma(i + 1) - std::lgamma(count - i + 1) +
                                 i * std::log(p) + (count - i) * std::log1p(-p));
    sum += term;
    if (i > count * p && term < 1e-20) break;
  }
  return sum;
}

// With random keys, the sample misleads at most once in a million segments. `items` is the number of items of a block.
TEST(device_segmented_top_k, a_sample_misleads_rarely) {
  int samples = 0;
  for (const int items : {512, 2048, 4096, 8192}) {
    for (long long length = items + 1; length < (1ll << 32); length += length / 3) {
      for (long long k = 1; k < items && k <= length; k += 1 + k / 3) {
        const auto sample = strata::detail::find_top_k_sample(length, k, items, static_cast<unsigned>(items));
        if (sample.rank == 0) continue;
        ++samples;
        ASSERT_LE(static_cast<long long>(items) * sample.rounds(), length);
        const double all = static_cast<double>(items) * sample.rounds(), segment = static_cast<double>(length);
        // Too few candidates: at least `rank` items of the sample come before the last result.
        const double too_few = k == 1 ? 0 : at_least(sample.rank, all, static_cast<double>(k - 1) / segment);
        // Too many candidates: fewer than `last` of the first `items` items of the segment are in the sample.
        const double is_met = -std::expm1(sample.rounds() * std::log1p(-static_cast<double>(items) / segment));
        const double last = sample.rank + sample.rank / strata::detail::top_k_sample_slack;
        const double too_many = at_least(items - last + 1, items, 1 - is_met);
        ASSERT_LT(too_few + too_many, 1e-6) << k << " of " << length << ", " << items << " items, rank " << sample.rank
                                            << ", rounds " << sample.rounds();
      }
    }
  }
  ASSERT_GT(samples, 1000);
  for (const long long length : {1ll << 18, 1ll << 20, 1ll << 21}) {
    for (const long long k : {1, 10, 100, 1000, 2000, 2048}) {
      ASSERT_GT(strata::detail::find_top_k_sample(length, k, 4096, 4096).rank, 0u) << length << ' ' << k;
      ASSERT_GT(strata::detail::find_top_k_sample(length, k, 8192, 8192).rank, 0u) << length << ' ' << k;
    }
  }
}

template <class Key>
void expect_single(std::size_t size, std::size_t k, pattern how) {
  const auto keys = make_keys<Key>(size, how);
  ASSERT_NO_FATAL_FAILURE((expect_rows<true, false, form::arg>(keys, 1, size, k)));
}

// The segment is so long that its sample has several rounds.
TEST(device_segmented_top_k, one_long_segment) {
  const std::size_t size = if_small<std::size_t>(40000, 1 << 18);
  for (const std::size_t k : {10, 100, 1000, 2000}) {
    for (const pattern how : {pattern::random, pattern::few, pattern::sorted}) {
      ASSERT_NO_FATAL_FAILURE(expect_single<float>(size, k, how));
      ASSERT_NO_FATAL_FAILURE(expect_single<std::uint64_t>(size, k, how));
      if (is_small()) break;
    }
  }
  if (!is_small()) {
    ASSERT_NO_FATAL_FAILURE(expect_single<float>(std::size_t{1} << 21, 2000, pattern::random));
    ASSERT_NO_FATAL_FAILURE(expect_single<std::uint64_t>(std::size_t{1} << 20, 2000, pattern::random));
  }
}

// Arrays and rows begin at any item, and a row has several blocks.
TEST(device_segmented_top_k, long_rows_begin_anywhere) {
  const std::size_t rows = 3, size = if_small<std::size_t>(3001, 20001);
  for (const pattern how : {pattern::random, pattern::equal}) {
    const auto keys = make_keys<float>(rows * size, how);
    for (const std::size_t shift : {0, 1, 2, 3}) {
      ASSERT_NO_FATAL_FAILURE(
          (expect_rows<true, false, form::pairs, std::uint32_t, short_tiles>(keys, rows, size, 40, shift)));
      if (!is_small()) {
        ASSERT_NO_FATAL_FAILURE((expect_rows<true, true, form::keys>(keys, rows, size, 300, shift)));
      }
    }
  }
}

// The least keys lie before, between and behind the rows, and the next ones at the ends of the rows. A block that reads
// beside its row selects one of the least keys. The last tile of a row is nearly full, full, or has one item.
TEST(device_segmented_top_k, keys_beside_long_rows_are_no_candidates) {
  std::mt19937_64 bits = strata_test::random_bits(9);
  const std::size_t rows = 2, k = 9, tiles = 6 * 512;
  for (const std::size_t shift : {0, 1, 2, 3}) {
    for (const std::size_t size : {tiles - shift - 1, tiles - shift, tiles - shift + 1}) {
      const std::size_t stride = size + 5;
      std::vector<float> keys(rows * stride, 0.0f);
      std::vector<segment> all;
      std::vector<place> places;
      for (std::size_t s = 0; s < rows; ++s) {
        for (std::size_t i = 0; i < size; ++i) keys[s * stride + i] = 1 + static_cast<float>(bits() % 100000);
        keys[s * stride] = keys[s * stride + size - 1] = 0.5f;
        all.push_back({s * stride, size});
        places.push_back({s * k, k});
      }
      SCOPED_TRACE(testing::Message() << size << ", shift " << shift);
      ASSERT_NO_FATAL_FAILURE((expect_results<false, false, form::arg, std::uint32_t, short_tiles>(
          keys, all, places, rows * k, strata::SegmentsOfSize(rows, size, stride), k, shift)));
    }
  }
}

// A block marks 131,072 items before it keeps their candidates. These segments are longer.
TEST(device_segmented_top_k, segments_of_several_rounds_of_marks) {
  const std::vector<std::size_t> lengths =
      is_small() ? std::vector<std::size_t>{3, 131072 + 3, 17}
                 : std::vector<std::size_t>{3, 131072, 131073, 131072 - 1, 17, 300001, 2 * 131072, 600};
  for (const pattern how : {pattern::random, pattern::equal, pattern::few}) {
    ASSERT_NO_FATAL_FAILURE((expect_segments<true, false, form::arg, float, short_tiles>(lengths, 20, how)));
    if (is_small()) break;
    ASSERT_NO_FATAL_FAILURE((expect_segments<false, true, form::pairs, float, short_tiles>(lengths, 20, how)));
    ASSERT_NO_FATAL_FAILURE((expect_segments<true, false, form::pairs, float>(lengths, 900, how)));
  }
}

// Marks of the first round must not become candidates of the second.
TEST(device_segmented_top_k, each_round_has_marks_of_its_own) {
  constexpr std::size_t tile = 512, round = 256 * tile, size = round + 3 * tile, k = 3;
  auto keys = make_keys<std::uint32_t>(size, pattern::random);
  for (std::uint32_t& key : keys) key >>= 1;
  // At the same place of a tile: the first of the first round, the last of that round, the first of the second.
  keys[100] = 0xf0000000u;
  keys[round - tile + 100] = 0xf0000001u;
  keys[round + 100] = 0xf0000002u;
  const device_vector<int> offsets(std::vector<int>{0, static_cast<int>(size)});
  ASSERT_NO_FATAL_FAILURE((expect_results<true, false, form::arg, std::uint32_t, short_tiles>(
      keys, {{0, size}}, {{0, k}}, k, strata::SegmentsByOffsets(1, offsets.data(), offsets.data() + 1), k)));
}

}  // namespace device_segmented_top_k_test
