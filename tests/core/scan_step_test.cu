// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/core/platform/shuffle_ptx.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using namespace strata_test;
namespace platform = strata::platform;

constexpr unsigned lanes = 32;

// ---------------------------------------------------------------------------- any type
// For each distance below 32: what each lane got, and what `has_source` said.
template <class T, int Width>
STRATA_KERNEL void shuffle_from_below(const T* in, T* out, unsigned* told) {
  const T mine = in[threadIdx.x];
  for (unsigned distance = 0; distance < lanes; ++distance) {
    bool has_source;
    const unsigned i = distance * lanes + threadIdx.x;
    out[i] = platform::shuffle_up(strata::full_warp_mask, mine, distance, Width, has_source);
    told[i] = has_source ? 1 : 0;
  }
}

template <class T, int Width>
void test_shuffle() {
  SCOPED_TRACE(testing::Message() << "segments of " << Width << " lanes, " << sizeof(T) << " bytes");
  const std::vector<T> items = random_items<T>(lanes);
  const device_vector<T> in(items);
  device_vector<T> out(lanes * lanes);
  device_vector<unsigned> told(lanes * lanes);
  ASSERT_CUDA_SUCCESS(strata::launch({"shuffle_from_below", 1, lanes}, shuffle_from_below<T, Width>, in.data(),
                                     out.data(), told.data()));
  const std::vector<T> results = out.to_host();
  const std::vector<unsigned> has_source = told.to_host();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::size_t distance = i / lanes, lane = i % lanes;
    const bool expected = lane % Width >= distance;
    ASSERT_EQ(has_source[i], expected ? 1u : 0u) << "distance " << distance << ", lane " << lane;
    ASSERT_TRUE(same_bits(results[i], items[expected ? lane - distance : lane]))
        << "distance " << distance << ", lane " << lane;
  }
}

template <class T>
void test_shuffle_of() {
  test_shuffle<T, 32>();
  test_shuffle<T, 8>();
  test_shuffle<T, 1>();
}

TEST(scan_step, a_shuffle_says_whether_there_was_a_lane_below) {
  test_shuffle_of<std::uint8_t>();
  test_shuffle_of<float>();
  test_shuffle_of<double>();
  test_shuffle_of<bytes3>();
  test_shuffle_of<words<10>>();
}

// ---------------------------------------------------------------------------- words
template <class Word, int Width>
STRATA_KERNEL void add_every_distance(const Word* in, Word* out) {
  for (unsigned distance = 0; distance < lanes; ++distance) {
    out[distance * lanes + threadIdx.x] =
        platform::add_from_below(strata::full_warp_mask, in[threadIdx.x], distance, Width);
  }
}

template <class Word, int Width>
void test_add() {
  SCOPED_TRACE(testing::Message() << "segments of " << Width << " lanes, " << sizeof(Word) << " bytes");
  // Random in all bits, so carries go from the low half of a long word to the high half.
  std::mt19937_64 bits = random_bits(Width);
  std::vector<Word> items(lanes);
  for (Word& item : items) item = static_cast<Word>(bits());
  const device_vector<Word> in(items);
  device_vector<Word> out(lanes * lanes);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"add_every_distance", 1, lanes}, add_every_distance<Word, Width>, in.data(), out.data()));
  const std::vector<Word> results = out.to_host();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::size_t distance = i / lanes, lane = i % lanes;
    const Word below = lane % Width >= distance ? items[lane - distance] : Word{0};
    ASSERT_EQ(results[i], static_cast<Word>(below + items[lane])) << "distance " << distance << ", lane " << lane;
  }
}

TEST(scan_step, words_are_added_where_there_is_a_lane_below) {
  test_add<unsigned, 32>();
  test_add<unsigned, 16>();
  test_add<unsigned, 2>();
  test_add<unsigned long long, 32>();
  test_add<unsigned long long, 4>();
}

}  // namespace
