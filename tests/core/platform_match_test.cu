// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// match: which lanes have the same digit as the calling lane.
#include <strata/core/launcher.cuh>
#include <strata/core/platform/match.cuh>

#include <gtest/gtest.h>

#include <vector>

#include "support/test_support.cuh"

namespace {

using namespace strata_test;

// Only lanes of the mask call `match`; the others write 0.
template <int Bits, unsigned Lanes>
STRATA_KERNEL void match(const unsigned* digits, unsigned* peers) {
  unsigned result = 0;
  if ((Lanes >> threadIdx.x & 1) != 0) {
    result = strata::platform::match_digit<Bits>(digits[threadIdx.x], Lanes);
  }
  peers[threadIdx.x] = result;
}

template <int Bits>
STRATA_KERNEL void match_in_whole_warp(const unsigned* digits, unsigned* peers) {
  peers[threadIdx.x] = strata::platform::match_digit<Bits>(digits[threadIdx.x]);
}

template <int Bits, unsigned Lanes, bool IsWhole = false>
void test_match(const std::vector<int>& values) {
  const unsigned low_bits = (1u << Bits) - 1;
  const std::vector<unsigned> digits(values.begin(), values.end());
  const device_vector<unsigned> in(digits);
  device_vector<unsigned> out(32);
  const auto kernel = IsWhole ? match_in_whole_warp<Bits> : match<Bits, Lanes>;
  ASSERT_CUDA_SUCCESS(strata::launch({"match", 1, 32}, kernel, in.data(), out.data()));
  const std::vector<unsigned> peers = out.to_host();
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned expected = 0;
    for (unsigned other = 0; other < 32; ++other) {
      const bool take_part = (Lanes >> lane & Lanes >> other & 1) != 0;
      if (take_part && ((digits[lane] ^ digits[other]) & low_bits) == 0) expected |= 1u << other;
    }
    ASSERT_EQ(peers[lane], expected) << "lane " << lane << " of " << Lanes << ", bits " << Bits;
  }
}

TEST(platform_match, finds_lanes_with_the_same_low_bits) {
  for (const int highest : {0, 1, 3, 15, 255, 0x7fffffff}) {
    const std::vector<int> values = random_integers(32, 0, highest, static_cast<unsigned>(highest));
    test_match<1, 0xffffffffu, true>(values);
    test_match<4, 0xffffffffu, true>(values);
    test_match<8, 0xffffffffu, true>(values);
    test_match<16, 0xffffffffu, true>(values);
    test_match<1, 0xffffffffu>(values);
    test_match<4, 0x0000ffffu>(values);
    test_match<4, 0x00000001u>(values);
    test_match<8, 0xffffffffu>(values);
    test_match<8, 0x5a5af00fu>(values);
    test_match<16, 0x80000003u>(values);
  }
}

TEST(platform_match, of_no_bits_finds_all) { test_match<0, 0xffff0000u>(random_integers(32, 0, 255)); }

}  // namespace
