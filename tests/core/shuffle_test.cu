// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check
#include <strata/core/launcher.cuh>
#include <strata/core/platform/shuffle.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using strata_test::device_vector;
using strata_test::int128;
namespace platform = strata::platform;

// Has any size, and no default constructor.
template <std::size_t Bytes>
struct blob {
  unsigned char byte[Bytes];
  STRATA_HD explicit blob(unsigned number) {
    for (std::size_t i = 0; i < Bytes; ++i) {
      byte[i] = static_cast<unsigned char>(7 * number + 31 * i + 1);
    }
  }
  friend STRATA_HD bool operator==(const blob& a, const blob& b) {
    for (std::size_t i = 0; i < Bytes; ++i) {
      if (a.byte[i] != b.byte[i]) return false;
    }
    return true;
  }
};

enum shuffle_row { from_index, from_above, from_below, from_xor, shuffle_rows };

// For each kind of shuffle, stores the lane whose value each lane got, or -1 if it is no lane's value.
template <class T>
STRATA_KERNEL void shuffle_every_way(int* sources, unsigned mask, int width, int by) {
  const unsigned lane = threadIdx.x;
  if ((mask >> lane & 1) == 0) return;
  const T mine = static_cast<T>(lane);
  const auto offset = static_cast<unsigned>(by);
  const T results[shuffle_rows] = {
      platform::shuffle(mask, mine, by, width), platform::shuffle_down(mask, mine, offset, width),
      platform::shuffle_up(mask, mine, offset, width), platform::shuffle_xor(mask, mine, by, width)};
  for (int row = 0; row < shuffle_rows; ++row) {
    int source = -1;
    for (unsigned from = 0; from < 32; ++from) {
      if (results[row] == static_cast<T>(from)) source = static_cast<int>(from);
    }
    sources[static_cast<unsigned>(row) * 32 + lane] = source;
  }
}

// CUDA's definition: sources are counted within a segment of `width` lanes. Where a source is outside of the segment, a
// lane keeps its own value.
int expected_source(int row, int lane, int width, int by) {
  const int first = lane / width * width;
  const int above = lane + by;
  const int below = lane - by;
  switch (row) {
    case from_index:
      return first + by % width;
    case from_above:
      return above < first + width ? above : lane;
    case from_below:
      return below >= first ? below : lane;
    default:
      return (lane ^ by) < first + width ? lane ^ by : lane;
  }
}

template <class T>
void test_shuffle(unsigned mask, int width, int by) {
  device_vector<int> sources(32 * shuffle_rows);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"shuffle_every_way", 1, 32}, shuffle_every_way<T>, sources.data(), mask, width, by));
  const std::vector<int> results = sources.to_host();
  for (int row = 0; row < shuffle_rows; ++row) {
    for (int lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const int expected = expected_source(row, lane, width, by);
      // A value from a lane outside the mask is undefined.
      if ((mask >> expected & 1) == 0) continue;
      ASSERT_EQ(results[static_cast<std::size_t>(row * 32 + lane)], expected)
          << sizeof(T) << " bytes, shuffle " << row << ", lane " << lane << ", width " << width << ", by " << by;
    }
  }
}

template <class T>
void test_shuffles() {
  test_shuffle<T>(0xffffffffu, 32, 1);
  test_shuffle<T>(0xffffffffu, 32, 21);
  test_shuffle<T>(0xffffffffu, 8, 3);
  test_shuffle<T>(0x00ff00ffu, 8, 5);
}

template <std::size_t... Bytes>
void test_shuffles_of_bytes(std::index_sequence<Bytes...>) {
  (test_shuffles<blob<Bytes + 1>>(), ...);
}

TEST(shuffle, moves_1_to_20_bytes) { test_shuffles_of_bytes(std::make_index_sequence<20>{}); }

TEST(shuffle, moves_numbers) {
  test_shuffles<std::int32_t>();
  test_shuffles<std::uint64_t>();
  test_shuffles<float>();
  test_shuffles<double>();
  test_shuffles<int128>();
}

}  // namespace
