// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Computes the layouts of the raking reductions for every block size. Conflicts are counted bank by bank, and not by
// the columns on which the library's own proof is based.
#include <strata/block/specializations/raking_layout.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>

namespace block_raking_layout_test {

template <std::size_t Bytes, std::size_t Alignment>
struct item {
  alignas(Alignment) unsigned char bytes[Bytes];
};

// The data of a layout without its template parameters, so that one function checks all block sizes.
struct layout_facts {
  int threads, segment, rakers, unit_bytes, item_bytes, total_bytes;
  int (*unit)(int);
};

template <class T, int Threads>
constexpr layout_facts facts() {
  using segments = strata::detail::raking_segments<T, Threads>;
  using layout = typename segments::layout;
  return {Threads, segments::segment, segments::rakers, layout::alignment, int{sizeof(T)}, layout::bytes, [](int i) {
            return layout::unit(i);
          }};
}

// The wavefronts of one access of `bytes` bytes per lane, by the rules of the hardware: 32 lanes at a time access 4
// bytes, 16 lanes 8 bytes, and 8 lanes 16 bytes. Lanes that access different words of one bank take turns.
int most_lanes_on_a_bank(const std::array<int, 32>& byte_of_lane, int lanes, int bytes) {
  const int lanes_at_a_time = 128 / bytes;
  std::size_t most = 0;
  for (int first = 0; first < lanes; first += lanes_at_a_time) {
    std::array<std::set<int>, 32> words_of_bank;
    for (int lane = first; lane < lanes && lane < first + lanes_at_a_time; ++lane) {
      for (int word = 0; word < bytes / 4; ++word) {
        const int address = byte_of_lane[static_cast<std::size_t>(lane)] / 4 + word;
        words_of_bank[static_cast<std::size_t>(address % 32)].insert(address);
      }
    }
    for (const std::set<int>& words : words_of_bank) most = std::max(most, words.size());
  }
  return static_cast<int>(most);
}

void check(const layout_facts& layout) {
  SCOPED_TRACE(testing::Message() << layout.threads << " threads, items of " << layout.item_bytes
                                  << " bytes in units of " << layout.unit_bytes);
  const auto byte = [&](int i) { return layout.unit(i) * layout.unit_bytes; };
  ASSERT_LE(layout.rakers, 32);
  ASSERT_GE(layout.rakers * layout.segment, layout.threads);
  ASSERT_LT((layout.rakers - 1) * layout.segment, layout.threads);
  for (int i = 1; i < layout.threads; ++i) {
    ASSERT_GE(byte(i), byte(i - 1) + layout.item_bytes) << "item " << i;
  }
  ASSERT_LE(byte(layout.threads - 1) + layout.item_bytes, layout.total_bytes);
  std::array<int, 32> bytes{};
  for (int i = 0; i < layout.segment; ++i) {
    int lanes = 0;
    for (; lanes < layout.rakers && lanes * layout.segment + i < layout.threads; ++lanes) {
      bytes[static_cast<std::size_t>(lanes)] = byte(lanes * layout.segment + i);
    }
    ASSERT_EQ(most_lanes_on_a_bank(bytes, lanes, layout.unit_bytes), 1) << "read " << i;
  }
  for (int first = 0; first < layout.threads; first += 32) {
    int lanes = 0;
    for (; lanes < 32 && first + lanes < layout.threads; ++lanes) {
      bytes[static_cast<std::size_t>(lanes)] = byte(first + lanes);
    }
    ASSERT_EQ(most_lanes_on_a_bank(bytes, lanes, layout.unit_bytes), 1) << "write from " << first;
  }
}

template <class T, int First, int Step, int... Numbers>
void check_block_sizes(std::integer_sequence<int, Numbers...>) {
  for (const layout_facts& layout : {facts<T, First + Step * Numbers>()...}) check(layout);
}

template <class T>
class block_raking_layout : public testing::Test {};
using item_types =
    testing::Types<item<1, 1>, item<4, 4>, item<8, 4>, item<8, 8>, item<12, 4>, item<16, 16>, item<40, 8>>;
TYPED_TEST_SUITE(block_raking_layout, item_types);

TYPED_TEST(block_raking_layout, no_two_lanes_meet_on_a_bank) {
  check_block_sizes<TypeParam, 33, 1>(std::make_integer_sequence<int, 64>{});
  check_block_sizes<TypeParam, 128, 32>(std::make_integer_sequence<int, 29>{});
  check_block_sizes<TypeParam, 101, 31>(std::make_integer_sequence<int, 29>{});
}

// No layout avoids conflicts for items aligned to more than 16 bytes. They must not overlap, and must be aligned.
TEST(block_raking_layout, items_of_more_than_16_byte_alignment_keep_it) {
  const layout_facts layout = facts<item<64, 32>, 100>();
  EXPECT_EQ(layout.unit_bytes, 32);
  for (int i = 1; i < 100; ++i) EXPECT_GE(layout.unit(i), layout.unit(i - 1) + 2);
  EXPECT_LE((layout.unit(99) + 2) * 32, layout.total_bytes);
}

}  // namespace block_raking_layout_test
