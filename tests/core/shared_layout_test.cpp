// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checks layouts and the model of bank conflicts with a second, simpler model: a set of words for each bank.
#include <strata/core/shared_layout.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using strata::blocked_access;
using strata::column_access;
using strata::conflict_degree;
using strata::count_wavefronts;
using strata::element_place;
using strata::ExchangeLayout;
using strata::PaddedLayout;
using strata::PaddedMatrixLayout;
using strata::PlainLayout;
using strata::row_access;
using strata::runtime_strided_access;
using strata::serialization;
using strata::strided_access;
using strata::striped_access;
using strata::SwizzledLayout;

// Wavefronts of one access of `bytes` bytes per lane at these addresses. A lane with a negative address is inactive.
int judge_wavefronts(const std::array<int, 32>& addresses, int bytes) {
  const int lanes_at_once = bytes <= 4 ? 32 : 128 / bytes;
  int wavefronts = 0;
  for (int first = 0; first < 32; first += lanes_at_once) {
    std::array<std::set<int>, 32> words_of_bank;
    for (int lane = first; lane < first + lanes_at_once; ++lane) {
      const int address = addresses[static_cast<std::size_t>(lane)];
      for (int byte = 0; address >= 0 && byte < bytes; ++byte) {
        const int word = (address + byte) / 4;
        words_of_bank[static_cast<std::size_t>(word % 32)].insert(word);
      }
    }
    std::size_t most = 0;
    for (const auto& words : words_of_bank) most = std::max(most, words.size());
    wavefronts += static_cast<int>(most);
  }
  return wavefronts;
}

constexpr int ideal_wavefronts(int bytes) { return bytes <= 4 ? 1 : bytes / 4; }

// ---------------------------------------------------------------------------------- the model

struct listed_pattern_base {
  std::array<int, 32> places;
  int operator()(int, int lane) const { return places[static_cast<std::size_t>(lane)]; }
};
template <int Bytes>
struct listed_pattern : listed_pattern_base {
  static constexpr int element_bytes = Bytes;
  static constexpr int instructions = 1;
};

template <int Bytes>
void compare_with_judge() {
  std::mt19937 random(static_cast<unsigned>(Bytes));
  for (int repeat = 0; repeat < 2000; ++repeat) {
    listed_pattern<Bytes> pattern{};
    std::array<int, 32> addresses{};
    const int range = 1 << (1 + repeat % 9);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const int place = static_cast<int>(random() % static_cast<unsigned>(range)) - range / 8;
      pattern.places[lane] = place;
      addresses[lane] = place < 0 ? -1 : place * Bytes;
    }
    ASSERT_EQ(judge_wavefronts(addresses, Bytes), count_wavefronts(PlainLayout{}, pattern).wavefronts);
  }
}

TEST(bank_conflict_model, agrees_with_sets_of_words_on_random_places) {
  compare_with_judge<1>();
  compare_with_judge<2>();
  compare_with_judge<4>();
  compare_with_judge<8>();
  compare_with_judge<16>();
}

TEST(bank_conflict_model, strides_of_4_bytes_conflict_by_their_common_divisor_with_32) {
  EXPECT_EQ(1, conflict_degree(PlainLayout{}, strided_access<4, 1>{}));
  EXPECT_EQ(2, conflict_degree(PlainLayout{}, strided_access<4, 2>{}));
  EXPECT_EQ(1, conflict_degree(PlainLayout{}, strided_access<4, 3>{}));
  EXPECT_EQ(8, conflict_degree(PlainLayout{}, strided_access<4, 24>{}));
  EXPECT_EQ(32, conflict_degree(PlainLayout{}, strided_access<4, 32>{}));
  EXPECT_EQ(32, conflict_degree(PlainLayout{}, strided_access<4, 64>{}));
}

TEST(bank_conflict_model, lanes_that_take_no_part_or_share_a_word_are_free) {
  EXPECT_EQ(1, conflict_degree(PlainLayout{}, strided_access<4, 0>{}));
  EXPECT_EQ(1, conflict_degree(PlainLayout{}, strided_access<4, 32, 0, 1>{}));
  EXPECT_EQ(4, conflict_degree(PlainLayout{}, strided_access<4, 32, 0, 97>{}));
  EXPECT_EQ(1, conflict_degree(PlainLayout{}, strided_access<1, 4>{}));
  EXPECT_EQ(2, conflict_degree(PlainLayout{}, strided_access<1, 8>{}));
}

TEST(bank_conflict_model, strides_in_the_type_and_at_run_time_are_one_pattern) {
  const strided_access<4, 3, 5, 50> in_type;
  runtime_strided_access<4> at_run_time{5, 3, 50};
  for (int lane = 0; lane < 32; ++lane) {
    const int place = lane < 15 ? 5 + 3 * lane : -1;
    EXPECT_EQ(place, in_type(0, lane));
    EXPECT_EQ(place, at_run_time(0, lane));
  }
  at_run_time.lanes = 4;
  EXPECT_EQ(14, at_run_time(0, 3));
  EXPECT_EQ(-1, at_run_time(0, 4));
  EXPECT_EQ(31, runtime_strided_access<4>{}(0, 31));
  EXPECT_EQ(8, conflict_degree(PlainLayout{}, runtime_strided_access<4>{1, 32, 1000, 8}));
}

TEST(bank_conflict_model, serialization_is_the_mean_over_patterns) {
  EXPECT_DOUBLE_EQ(1.0, serialization(PlainLayout{}, strided_access<4, 1>{}));
  EXPECT_DOUBLE_EQ(16.5, serialization(PlainLayout{}, strided_access<4, 1>{}, strided_access<4, 32>{}));
  EXPECT_DOUBLE_EQ(1.5, serialization(PlainLayout{}, strided_access<8, 1>{}, strided_access<8, 2>{}));
}

// ---------------------------------------------------------------------------------- layouts

template <class Layout>
void expect_injective(int elements) {
  const Layout layout;
  std::set<int> taken;
  for (int i = 0; i < elements; ++i) {
    const int position = layout(i);
    ASSERT_GE(position, 0);
    ASSERT_LT(position, Layout::storage_elements(elements)) << i;
    ASSERT_TRUE(taken.insert(position).second) << i;
  }
}

TEST(shared_layout, every_element_has_a_place_of_its_own) {
  for (int n : {1, 31, 32, 33, 1000, 4096}) {
    expect_injective<PlainLayout>(n);
    expect_injective<PaddedLayout<32, 1>>(n);
    expect_injective<PaddedLayout<5, 3>>(n);
    expect_injective<SwizzledLayout<4, 32>>(n);
    expect_injective<SwizzledLayout<4, 4>>(n);
    expect_injective<SwizzledLayout<4, 128>>(n);
    expect_injective<SwizzledLayout<8, 16>>(n);
    expect_injective<SwizzledLayout<16, 4>>(n);
    expect_injective<SwizzledLayout<16, 32>>(n);
  }
  expect_injective<PaddedMatrixLayout<7, 5, 2>>(35);
  EXPECT_EQ((PaddedMatrixLayout<7, 5, 2>::storage), (PaddedMatrixLayout<7, 5, 2>::storage_elements(35)));
  EXPECT_EQ(0, PlainLayout::storage_elements(0));
  EXPECT_EQ(0, (PaddedLayout<32, 1>::storage_elements(0)));
  EXPECT_EQ(32, (PaddedLayout<32, 1>::storage_elements(32)));
  EXPECT_EQ(34, (PaddedLayout<32, 1>::storage_elements(33)));
}

TEST(shared_layout, padding_by_one_in_32_frees_strides_of_powers_of_two) {
  using padded = PaddedLayout<32, 1>;
  EXPECT_EQ(1, conflict_degree(padded{}, strided_access<4, 1>{}));
  EXPECT_EQ(1, conflict_degree(padded{}, strided_access<4, 2>{}));
  EXPECT_EQ(1, conflict_degree(padded{}, strided_access<4, 8>{}));
  EXPECT_EQ(1, conflict_degree(padded{}, strided_access<4, 32>{}));
  EXPECT_EQ(2, conflict_degree(padded{}, strided_access<4, 64>{}));
}

TEST(shared_layout, a_square_of_4_byte_elements_plain_padded_and_swizzled) {
  EXPECT_EQ(32, conflict_degree(PaddedMatrixLayout<32, 32, 0>{}, column_access<4, 32, 32>{}));
  EXPECT_EQ(1, conflict_degree(PaddedMatrixLayout<32, 32, 1>{}, column_access<4, 32, 32>{}));
  EXPECT_EQ(1, conflict_degree(PaddedMatrixLayout<32, 32, 1>{}, row_access<4, 32, 32>{}));
  EXPECT_EQ(1, conflict_degree(SwizzledLayout<4, 32>{}, column_access<4, 32, 32>{}));
  EXPECT_EQ(1, conflict_degree(SwizzledLayout<4, 32>{}, row_access<4, 32, 32>{}));
}

template <int Bytes, int RowElements>
void expect_swizzled_rows_and_columns_are_free() {
  using swizzled = SwizzledLayout<Bytes, RowElements>;
  EXPECT_EQ(1, conflict_degree(swizzled{}, row_access<Bytes, 64, RowElements>{}));
  EXPECT_EQ(1, conflict_degree(swizzled{}, column_access<Bytes, 64, RowElements>{}));
}

TEST(shared_layout, swizzled_rows_and_columns_of_any_power_of_two_are_free) {
  expect_swizzled_rows_and_columns_are_free<4, 1>();
  expect_swizzled_rows_and_columns_are_free<4, 2>();
  expect_swizzled_rows_and_columns_are_free<4, 16>();
  expect_swizzled_rows_and_columns_are_free<4, 32>();
  expect_swizzled_rows_and_columns_are_free<4, 64>();
  expect_swizzled_rows_and_columns_are_free<4, 128>();
  expect_swizzled_rows_and_columns_are_free<8, 4>();
  expect_swizzled_rows_and_columns_are_free<8, 16>();
  expect_swizzled_rows_and_columns_are_free<8, 64>();
  expect_swizzled_rows_and_columns_are_free<16, 2>();
  expect_swizzled_rows_and_columns_are_free<16, 4>();
  expect_swizzled_rows_and_columns_are_free<16, 8>();
  expect_swizzled_rows_and_columns_are_free<16, 32>();
}

TEST(shared_layout, the_first_layout_that_is_free_is_chosen) {
  using strata::ConflictFreeLayout;
  using strata::ConflictFreeMatrixLayout;
  EXPECT_TRUE((std::is_same_v<PlainLayout, ConflictFreeLayout<strided_access<4, 3>>>));
  EXPECT_TRUE((std::is_same_v<SwizzledLayout<4, 32>, ConflictFreeLayout<strided_access<4, 32>, strided_access<4, 1>>>));
  EXPECT_TRUE((std::is_same_v<SwizzledLayout<4, 32>, ConflictFreeLayout<blocked_access<4, 8>, striped_access<4, 8>>>));
  // A swizzle does not help if the items of a thread end within its period; padding does.
  EXPECT_TRUE((std::is_same_v<PaddedLayout<128, 4>, ConflictFreeLayout<strided_access<1, 8>>>));
  EXPECT_TRUE(
      (std::is_same_v<SwizzledLayout<16, 8>, ConflictFreeLayout<blocked_access<16, 4>, striped_access<16, 4>>>));
  EXPECT_EQ(33, (ConflictFreeMatrixLayout<4, 32, 32>::pitch));
  EXPECT_EQ(33, (ConflictFreeMatrixLayout<4, 32, 33>::pitch));
  EXPECT_EQ(33, (ConflictFreeMatrixLayout<8, 32, 32>::pitch));
  // A pitch of 17 words, an odd number.
  EXPECT_EQ(68, (ConflictFreeMatrixLayout<1, 32, 64>::pitch));
  EXPECT_EQ(66, (ConflictFreeMatrixLayout<2, 64, 64>::pitch));
}

// Two elements in one row and in one bank conflict however rows are padded.
struct two_of_a_bank {
  static constexpr int element_bytes = 4;
  static constexpr int instructions = 1;
  constexpr element_place operator()(int, int lane) const { return {lane < 2 ? 0 : -1, 32 * lane}; }
};

TEST(shared_layout, the_least_padding_is_found_if_there_is_any) {
  using strata::detail::least_free_pad;
  EXPECT_EQ(0, least_free_pad(33, column_access<4, 32, 33>{}));
  EXPECT_EQ(1, least_free_pad(32, column_access<4, 32, 32>{}, row_access<4, 32, 32>{}));
  EXPECT_EQ(1, least_free_pad(8, row_access<16, 8, 8>{}, column_access<16, 8, 8>{}));
  EXPECT_EQ(-1, least_free_pad(64, two_of_a_bank{}));
  EXPECT_EQ(-1, least_free_pad(64, row_access<4, 32, 64>{}, two_of_a_bank{}));
}

// ---------------------------------------------------------------------------------- exchange

template <int Bytes>
struct alignas(Bytes) element {
  unsigned char bytes[Bytes];
};

constexpr int exchange_threads = 128;

// The data of a layout without its template parameters, so that one function checks all layouts.
struct exchange_facts {
  int items;
  int unit_bytes;
  int units_per_item;
  int storage_units;
  int (*position)(int);
};

template <class T, int Items>
constexpr exchange_facts facts_of() {
  using layout = ExchangeLayout<T, Items>;
  return {Items, layout::unit_bytes, layout::units_per_item, layout::storage_elements(exchange_threads * Items),
          [](int index) { return layout{}(index); }};
}

// Counts the wavefronts of blocked and striped accesses of every warp, from their addresses.
void expect_exchange_is_free(const exchange_facts& layout) {
  SCOPED_TRACE(testing::Message() << layout.items << " items");
  std::set<int> taken;
  for (int i = 0; i < exchange_threads * layout.items; ++i) {
    for (int unit = 0; unit < layout.units_per_item; ++unit) {
      const int position = layout.position(i) + unit;
      ASSERT_LT(position, layout.storage_units);
      ASSERT_TRUE(taken.insert(position).second) << i;
    }
  }
  enum arrangement { blocked, striped, warp_striped };
  for (arrangement access : {blocked, striped, warp_striped}) {
    for (int row = 0; row < exchange_threads / 32 * layout.items; ++row) {
      const int warp = row / layout.items;
      const int item = row % layout.items;
      for (int unit = 0; unit < layout.units_per_item; ++unit) {
        std::array<int, 32> addresses{};
        for (int lane = 0; lane < 32; ++lane) {
          const int index = access == blocked   ? (warp * 32 + lane) * layout.items + item
                            : access == striped ? item * exchange_threads + warp * 32 + lane
                                                : (warp * layout.items + item) * 32 + lane;
          addresses[static_cast<std::size_t>(lane)] = (layout.position(index) + unit) * layout.unit_bytes;
        }
        ASSERT_LE(judge_wavefronts(addresses, layout.unit_bytes), ideal_wavefronts(layout.unit_bytes))
            << "arrangement " << access;
      }
    }
  }
}

template <class T, int... Items>
void expect_exchanges_are_free(std::integer_sequence<int, Items...>) {
  constexpr exchange_facts layouts[] = {facts_of<T, Items + 1>()...};
  for (const exchange_facts& layout : layouts) expect_exchange_is_free(layout);
}

using items_to_64 = std::make_integer_sequence<int, 64>;

TEST(exchange_layout, is_free_for_1_byte_and_1_to_64_items) { expect_exchanges_are_free<element<1>>(items_to_64{}); }
TEST(exchange_layout, is_free_for_2_bytes_and_1_to_64_items) { expect_exchanges_are_free<element<2>>(items_to_64{}); }
TEST(exchange_layout, is_free_for_4_bytes_and_1_to_64_items) { expect_exchanges_are_free<element<4>>(items_to_64{}); }
TEST(exchange_layout, is_free_for_8_bytes_and_1_to_64_items) { expect_exchanges_are_free<element<8>>(items_to_64{}); }
TEST(exchange_layout, is_free_for_16_bytes_and_1_to_64_items) { expect_exchanges_are_free<element<16>>(items_to_64{}); }

template <int Words, int Alignment>
struct alignas(Alignment) record {
  unsigned char bytes[Words];
};

TEST(exchange_layout, is_free_for_items_that_are_moved_in_pieces) {
  using items = std::integer_sequence<int, 0, 1, 2, 3, 6, 7, 11, 15, 23, 31>;
  expect_exchanges_are_free<record<3, 1>>(items{});
  expect_exchanges_are_free<record<6, 2>>(items{});
  expect_exchanges_are_free<record<8, 4>>(items{});
  expect_exchanges_are_free<record<12, 4>>(items{});
  expect_exchanges_are_free<record<24, 8>>(items{});
  expect_exchanges_are_free<record<40, 8>>(items{});
  expect_exchanges_are_free<record<48, 16>>(items{});
}

// The layout of 32 threads in groups, with an array of storages. Item numbers continue from group to group.
template <class T, int Items, int Group>
constexpr exchange_facts facts_of_groups() {
  using layout = ExchangeLayout<T, Items, Group>;
  constexpr int items = Group * Items;
  return {Items, layout::unit_bytes, layout::units_per_item, 32 / Group * layout::storage_elements(items),
          [](int index) { return index / items * layout::storage_elements(items) + layout{}(index % items); }};
}

void expect_groups_are_free(const exchange_facts& layout, int group) {
  SCOPED_TRACE(testing::Message() << layout.items << " items, groups of " << group);
  std::set<int> taken;
  for (int i = 0; i < 32 * layout.items; ++i) {
    for (int unit = 0; unit < layout.units_per_item; ++unit) {
      const int position = layout.position(i) + unit;
      ASSERT_LT(position, layout.storage_units);
      ASSERT_TRUE(taken.insert(position).second) << i;
    }
  }
  for (const bool striped : {false, true}) {
    const int ways = striped && group == 2 && layout.unit_bytes < 4 ? 2 : 1;
    for (int item = 0; item < layout.items; ++item) {
      for (int unit = 0; unit < layout.units_per_item; ++unit) {
        std::array<int, 32> addresses{};
        for (int lane = 0; lane < 32; ++lane) {
          const int index =
              striped ? lane / group * group * layout.items + item * group + lane % group : lane * layout.items + item;
          addresses[static_cast<std::size_t>(lane)] = (layout.position(index) + unit) * layout.unit_bytes;
        }
        ASSERT_LE(judge_wavefronts(addresses, layout.unit_bytes), ways * ideal_wavefronts(layout.unit_bytes))
            << "item " << item << (striped ? " striped" : " blocked");
      }
    }
  }
}

template <class T, int... Items>
void expect_groups_are_free(std::integer_sequence<int, Items...>) {
  constexpr exchange_facts layouts[][sizeof...(Items)] = {{facts_of_groups<T, Items + 1, 1>()...},
                                                          {facts_of_groups<T, Items + 1, 2>()...},
                                                          {facts_of_groups<T, Items + 1, 4>()...},
                                                          {facts_of_groups<T, Items + 1, 8>()...},
                                                          {facts_of_groups<T, Items + 1, 16>()...}};
  int group = 1;
  for (const auto& layouts_of_group : layouts) {
    for (const exchange_facts& layout : layouts_of_group) expect_groups_are_free(layout, group);
    group *= 2;
  }
}

TEST(exchange_layout, is_free_for_groups_whose_storages_are_an_array) {
  using items = std::integer_sequence<int, 0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 15, 23, 31>;
  expect_groups_are_free<element<1>>(items{});
  expect_groups_are_free<element<2>>(items{});
  expect_groups_are_free<element<4>>(items{});
  expect_groups_are_free<element<8>>(items{});
  expect_groups_are_free<element<16>>(items{});
  expect_groups_are_free<record<3, 1>>(items{});
  expect_groups_are_free<record<12, 4>>(items{});
  expect_groups_are_free<record<40, 8>>(items{});
}

// At compile time, the library's own model agrees for the most frequent shapes.
static_assert(conflict_degree(ExchangeLayout<int, 24>{}, blocked_access<4, 24>{}) == 1 &&
                  conflict_degree(ExchangeLayout<double, 12>{}, blocked_access<8, 12>{}) == 1 &&
                  conflict_degree(ExchangeLayout<short, 7>{}, blocked_access<2, 7>{}) == 1 &&
                  conflict_degree(ExchangeLayout<char, 5>{}, striped_access<1, 5>{}) == 1,
              "");
// In the plain layout, 24 items of 4 bytes have 8-way conflicts.
static_assert(conflict_degree(PlainLayout{}, blocked_access<4, 24>{}) == 8, "");

TEST(exchange_layout, storage_is_addressed_by_index) {
  static strata::LayoutStorage<int, ExchangeLayout<int, 8>, 256> storage;
  for (int i = 0; i < 256; ++i) storage[i] = i;
  for (int i = 0; i < 256; ++i) ASSERT_EQ(i, storage[i]);
  EXPECT_EQ(sizeof(storage), (ExchangeLayout<int, 8>::storage_elements(256) * sizeof(int)));
}

}  // namespace
