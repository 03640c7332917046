// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_radix_sort.cuh>
#include <strata/core/launcher.cuh>
#include <strata/thread/thread_load_direct.cuh>
#include <strata/thread/thread_store_direct.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "block/radix_cases.cuh"
#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_radix_sort_test {

using namespace strata;
using strata_test::device_vector;
using strata_test::same_bits;

// ---------------------------------------------------------------------------- keys
struct event {
  std::uint8_t kind;
  std::int16_t year;
  float weight;
  std::uint64_t payload;
};

struct by_year_weight_kind {
  STRATA_HD RadixFields<std::int16_t&, float&, std::uint8_t&> operator()(event& e) const {
    return {e.year, e.weight, e.kind};
  }
};

enum class color : short { red = -3 };
enum class truth : bool {};  // a bool, which vectors do not pack

template <class Key>
Key from_number(std::uint64_t number, std::size_t i) {
  Key key{};
  if constexpr (std::is_same_v<Key, truth>) {
    key = static_cast<truth>((number & 1) != 0);
  } else if constexpr (sizeof(Key) == 16) {
    const std::uint64_t words[2] = {number, i % 3 == 0 ? 0 : number * 31};
    std::memcpy(&key, words, sizeof(key));
  } else {
    std::memcpy(static_cast<void*>(&key), &number, sizeof(key));
  }
  return key;
}
template <>
inline event from_number<event>(std::uint64_t number, std::size_t i) {
  return {static_cast<std::uint8_t>(number), static_cast<std::int16_t>(number >> 48),
          static_cast<float>(static_cast<int>(number >> 8 & 15) - 7) * (i % 4 == 0 ? 0.0f : 1.0f), i};
}

template <class Key>
std::vector<Key> tile_of_keys(radix_cases::spread how, std::size_t count) {
  constexpr int bits = sizeof(Key) < 8 ? 8 * static_cast<int>(sizeof(Key)) : 64;
  const std::vector<std::uint64_t> numbers = radix_cases::numbers(how, count, bits);
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = from_number<Key>(numbers[i], i);
  if constexpr (std::is_floating_point_v<Key>) {
    // What numbers of random bits seldom are.
    const Key special[] = {Key{0},
                           -Key{0},
                           static_cast<Key>(NAN),
                           -static_cast<Key>(NAN),
                           static_cast<Key>(INFINITY),
                           -static_cast<Key>(INFINITY),
                           Key{1}};
    for (std::size_t i = 0; i < count; i += 3) keys[i] = special[i / 3 % 7];
  }
  return keys;
}

inline bool is_same(const event& a, const event& b) { return a.payload == b.payload; }
template <class Key>
bool is_same(const Key& a, const Key& b) {
  return same_bits(a, b);
}

// ---------------------------------------------------------------------------- cases
template <class Key, int Items_, int RadixBits, int X, int Y = 1, int Z = 1,
          class Decomposer_ = detail::identity_decomposer, bool Memoize = true>
struct sort_case {
  using type = Key;
  using Decomposer = Decomposer_;
  static constexpr bool is_decomposed = !std::is_same_v<Decomposer, detail::identity_decomposer>;
  static constexpr int items = Items_, threads = X * Y * Z, tile = threads * items;
  static constexpr int key_bits = detail::radix_key_bits<Key, Decomposer>();
  using Sort = BlockRadixSort<Key, X, items, int, RadixBits, Memoize, BLOCK_SCAN_WARP_SCANS,
                              cudaSharedMemBankSizeFourByte, Y, Z>;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }
  STRATA_D static int thread() {
    return static_cast<int>(threadIdx.x) + X * static_cast<int>(threadIdx.y + Y * threadIdx.z);
  }
};

enum way { up, down, up_striped, down_striped, ways };
STRATA_HD constexpr bool is_descending(int which) { return which == down || which == down_striped; }
STRATA_HD constexpr bool is_striped(int which) { return which >= up_striped; }

template <class Sort, class Keys, class Values, class... Range>
STRATA_D void sort_partial(Sort sort, int which, Keys& keys, Values& values, int valid_items, Range... range) {
  switch (which) {
    case up:
      return sort.SortPartialTile(keys, values, valid_items, range...);
    case down:
      return sort.SortDescendingPartialTile(keys, values, valid_items, range...);
    case up_striped:
      return sort.SortBlockedToStripedPartialTile(keys, values, valid_items, range...);
    default:
      return sort.SortDescendingBlockedToStripedPartialTile(keys, values, valid_items, range...);
  }
}

/// Sorts a tile with the items' numbers as values.
template <class Case>
STRATA_KERNEL void sort_tile(const typename Case::type* in, int which, int valid_items, int begin_bit, int end_bit,
                             typename Case::type* keys_out, int* values_out) {
  STRATA_SHARED(temp_storage, typename Case::Sort::TempStorage);
  constexpr int items = Case::items;
  const int thread = Case::thread();
  typename Case::type keys[static_cast<std::size_t>(items)];
  int values[static_cast<std::size_t>(items)];
  for (int i = 0; i < items; ++i) {
    keys[i] = in[thread * items + i];
    values[i] = thread * items + i;
  }
  typename Case::Sort sort(temp_storage);
  if constexpr (Case::is_decomposed) {
    sort_partial(sort, which, keys, values, valid_items, typename Case::Decomposer{}, begin_bit, end_bit);
  } else {
    sort_partial(sort, which, keys, values, valid_items, begin_bit, end_bit);
  }
  for (int i = 0; i < items; ++i) {
    const int place = is_striped(which) ? i * Case::threads + thread : thread * items + i;
    keys_out[place] = keys[i];
    values_out[place] = values[i];
  }
}

/// A number that orders keys as their bits from `begin_bit` to `end_bit - 1` do; tests of radix
/// keys show that single bits are right.
template <class Case>
detail::uint128 sort_word(const typename Case::type& key, int begin_bit, int end_bit) {
  const detail::radix_digits<typename Case::type, false, typename Case::Decomposer> bit_of{};
  detail::uint128 word = 0;
  for (int bit = end_bit - 1; bit >= begin_bit; --bit) word = word << 1 | bit_of(key, bit, 1);
  return word;
}

template <class Case>
std::vector<int> expected_values(const std::vector<typename Case::type>& keys, bool descending, int valid_items,
                                 int begin_bit, int end_bit) {
  std::vector<detail::uint128> words;
  for (const auto& key : keys) words.push_back(sort_word<Case>(key, begin_bit, end_bit));
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  const int valid = std::min(std::max(valid_items, 0), Case::tile);
  std::stable_sort(order.begin(), order.begin() + valid, [&](int a, int b) {
    const auto x = words[static_cast<std::size_t>(a)], y = words[static_cast<std::size_t>(b)];
    return descending ? y < x : x < y;
  });
  return order;
}

template <class Case>
class tile_sorter {
 public:
  explicit tile_sorter(const std::vector<typename Case::type>& keys)
      : keys_(keys), in_(keys), keys_out_(keys.size()), values_out_(keys.size()) {}

  void test(int which, int valid_items, int begin_bit, int end_bit) {
    keys_out_.poison();
    values_out_.poison();
    ASSERT_CUDA_SUCCESS(strata::launch({"sort_tile", 1, Case::dimensions()}, sort_tile<Case>, in_.data(), which,
                                       valid_items, begin_bit, end_bit, keys_out_.data(), values_out_.data()));
    const std::vector<typename Case::type> keys = keys_out_.to_host();
    const std::vector<int> values = values_out_.to_host();
    const std::vector<int> expected =
        expected_values<Case>(keys_, is_descending(which), valid_items, begin_bit, end_bit);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(values[i], expected[i]) << "value " << i << ", way " << which << ", " << valid_items
                                        << " valid items, bits " << begin_bit << " to " << end_bit;
      ASSERT_TRUE(is_same(keys[i], keys_[static_cast<std::size_t>(expected[i])]))
          << "key " << i << ", way " << which << ", " << valid_items << " valid items, bits " << begin_bit << " to "
          << end_bit;
    }
  }

 private:
  std::vector<typename Case::type> keys_;
  device_vector<typename Case::type> in_, keys_out_;
  device_vector<int> values_out_;
};

template <class Case>
class block_radix_sort : public testing::Test {};
using int128 = strata_test::int128;
#if STRATA_TEST_FEW_TYPES
using cases = testing::Types<sort_case<unsigned, 3, 4, 40>, sort_case<double, 2, 5, 4, 4, 2>,
                             sort_case<event, 2, 8, 64, 1, 1, by_year_weight_kind>, sort_case<std::int8_t, 5, 3, 33>>;
#else
using cases =
    testing::Types<sort_case<unsigned, 1, 4, 32>, sort_case<unsigned, 11, 4, 256>, sort_case<int, 7, 5, 96>,
                   sort_case<std::int8_t, 5, 3, 33>, sort_case<truth, 4, 1, 64>, sort_case<color, 6, 4, 8, 4, 3>,
                   sort_case<std::uint64_t, 3, 8, 32>, sort_case<float, 4, 4, 16, 6>, sort_case<double, 3, 6, 64>,
                   sort_case<__half, 8, 4, 128>, sort_case<__nv_bfloat16, 5, 4, 70>, sort_case<int128, 2, 4, 64>,
                   sort_case<event, 2, 4, 64, 1, 1, by_year_weight_kind>, sort_case<int, 9, 4, 1>,
                   sort_case<int, 4, 4, 128, 1, 1, detail::identity_decomposer, false>>;
#endif
TYPED_TEST_SUITE(block_radix_sort, cases);

TYPED_TEST(block_radix_sort, is_stable_whatever_the_keys) {
  for (const radix_cases::spread how : radix_cases::spreads) {
    tile_sorter<TypeParam> sorter(tile_of_keys<typename TypeParam::type>(how, std::size_t{TypeParam::tile}));
    for (int which = 0; which < ways; ++which) {
      sorter.test(which, TypeParam::tile, 0, TypeParam::key_bits);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(block_radix_sort, looks_at_some_bits) {
  tile_sorter<TypeParam> sorter(
      tile_of_keys<typename TypeParam::type>(radix_cases::spread::random, std::size_t{TypeParam::tile}));
  constexpr int bits = TypeParam::key_bits;
  const int ranges[][2] = {{0, 0},        {0, 1},           {bits - 1, bits}, {bits, bits},
                           {3, bits - 1}, {bits / 2, bits}, {1, bits / 2}};
  for (const auto& range : ranges) {
    for (int which = 0; which < ways; ++which) {
      sorter.test(which, TypeParam::tile, range[0], range[1]);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(block_radix_sort, leaves_items_that_are_not_valid) {
  constexpr int tile = TypeParam::tile;
  // Also keys behind which nothing could be put to fill up.
  for (const auto how :
       {radix_cases::spread::random, radix_cases::spread::equal_highest, radix_cases::spread::equal_lowest}) {
    tile_sorter<TypeParam> sorter(tile_of_keys<typename TypeParam::type>(how, std::size_t{tile}));
    for (const int valid : {INT_MIN, 0, 1, 2, tile / 3, tile - 1, tile + 1, INT_MAX}) {
      for (int which = 0; which < ways; ++which) {
        sorter.test(which, valid, 0, TypeParam::key_bits);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// ---------------------------------------------------------------------------- every form
struct reverse_fields {
  STRATA_HD RadixFields<std::uint8_t&, std::int16_t&> operator()(event& e) const { return {e.kind, e.year}; }
};

template <class Sort, class Key, class... Arguments>
STRATA_D void call_form(int form, Key (&keys)[2], int (&values)[2], Arguments... range) {
  constexpr int all = 128, some = 77;
  switch (form) {
    case 0:
      return Sort().Sort(keys, range...);
    case 1:
      return Sort().SortDescending(keys, range...);
    case 2:
      return Sort().SortBlockedToStriped(keys, range...);
    case 3:
      return Sort().SortDescendingBlockedToStriped(keys, range...);
    case 4:
      return Sort().Sort(keys, values, range...);
    case 5:
      return Sort().SortDescending(keys, values, range...);
    case 6:
      return Sort().SortBlockedToStriped(keys, values, range...);
    case 7:
      return Sort().SortDescendingBlockedToStriped(keys, values, range...);
    case 8:
      return Sort().SortPartialTile(keys, some, range...);
    case 9:
      return Sort().SortDescendingPartialTile(keys, some, range...);
    case 10:
      return Sort().SortBlockedToStripedPartialTile(keys, some, range...);
    case 11:
      return Sort().SortDescendingBlockedToStripedPartialTile(keys, some, range...);
    default:
      return Sort().SortPartialTile(keys, values, all, range...);
  }
}
constexpr int forms = 13;

enum range_kind { no_range, bit_range, decomposer, decomposer_and_bits };

template <range_kind Kind, class Key>
STRATA_KERNEL void sort_by_form(const Key* in, int form, Key* keys_out, int* values_out) {
  using Sort = BlockRadixSort<Key, 64, 2, int>;
  const int thread = static_cast<int>(threadIdx.x);
  Key keys[2] = {in[2 * thread], in[2 * thread + 1]};
  int values[2] = {2 * thread, 2 * thread + 1};
  if constexpr (Kind == no_range) {
    call_form<Sort>(form, keys, values);
  } else if constexpr (Kind == bit_range) {
    call_form<Sort>(form, keys, values, 5, 11);
  } else if constexpr (Kind == decomposer) {
    call_form<Sort>(form, keys, values, reverse_fields{});
  } else {
    call_form<Sort>(form, keys, values, reverse_fields{}, 5, 11);
  }
  const bool striped = form < 12 && form % 4 >= 2;
  for (int i = 0; i < 2; ++i) {
    const int place = striped ? 64 * i + thread : 2 * thread + i;
    keys_out[place] = keys[i];
    values_out[place] = values[i];
  }
}

template <range_kind Kind, class Key, class Decomposer>
void test_forms(int begin_bit, int end_bit) {
  using oracle = sort_case<Key, 2, 4, 64, 1, 1, Decomposer>;
  const std::vector<Key> keys = tile_of_keys<Key>(radix_cases::spread::random, 128);
  const device_vector<Key> in(keys);
  device_vector<Key> keys_out(128);
  device_vector<int> values_out(128);
  for (int form = 0; form < forms; ++form) {
    ASSERT_CUDA_SUCCESS(strata::launch({"sort_by_form", 1, 64}, sort_by_form<Kind, Key>, in.data(), form,
                                       keys_out.data(), values_out.data()));
    const std::vector<Key> sorted = keys_out.to_host();
    const std::vector<int> values = values_out.to_host();
    const bool descending = form < 12 && form % 2 == 1;
    const int valid = form >= 8 && form < 12 ? 77 : 128;
    const std::vector<int> expected = expected_values<oracle>(keys, descending, valid, begin_bit, end_bit);
    for (std::size_t i = 0; i < 128; ++i) {
      ASSERT_TRUE(is_same(sorted[i], keys[static_cast<std::size_t>(expected[i])]))
          << "key " << i << " of form " << form;
      const bool with_values = (form >= 4 && form < 8) || form == 12;
      if (with_values) {
        ASSERT_EQ(values[i], expected[i]) << "value " << i << " of form " << form;
      }
    }
  }
}

TEST(block_radix_sort_forms, without_a_range) { test_forms<no_range, short, detail::identity_decomposer>(0, 16); }
TEST(block_radix_sort_forms, with_bits) { test_forms<bit_range, short, detail::identity_decomposer>(5, 11); }
#if !STRATA_TEST_FEW_TYPES
TEST(block_radix_sort_forms, with_a_decomposer) { test_forms<decomposer, event, reverse_fields>(0, 24); }
TEST(block_radix_sort_forms, with_a_decomposer_and_bits) {
  test_forms<decomposer_and_bits, event, reverse_fields>(5, 11);
}
#endif

// Not by words of the library's own making.
TEST(block_radix_sort, floats_are_in_order) {
  using oracle = sort_case<float, 4, 4, 16, 6>;
  std::vector<float> keys(std::size_t{oracle::tile});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<float>((i * 7919) % 1000) * (i % 2 == 0 ? 0.25f : -4e7f);
  }
  const device_vector<float> in(keys);
  device_vector<float> out(keys.size());
  device_vector<int> values(keys.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_tile", 1, oracle::dimensions()}, sort_tile<oracle>, in.data(), int{up},
                                     int{oracle::tile}, 0, 32, out.data(), values.data()));
  std::stable_sort(keys.begin(), keys.end());
  EXPECT_EQ(out.to_host(), keys);
}

// -------------------------------------------------------------------- the documented example
// Sorts rows of up to 512 items by their keys, each by a block.
STRATA_KERNEL void sort_rows(float* keys, int* values, const int* row_begins) {
  using Sort = strata::BlockRadixSort<float, 128, 4, int>;
  STRATA_SHARED(temp_storage, Sort::TempStorage);
  const int thread = static_cast<int>(threadIdx.x);
  const int begin = row_begins[blockIdx.x];
  const int count = row_begins[blockIdx.x + 1] - begin;
  float row_keys[4];
  int row_values[4];
  strata::LoadDirectBlocked(thread, keys + begin, row_keys, count);
  strata::LoadDirectBlocked(thread, values + begin, row_values, count);
  Sort(temp_storage).SortBlockedToStripedPartialTile(row_keys, row_values, count);
  strata::StoreDirectStriped<128>(thread, keys + begin, row_keys, count);
  strata::StoreDirectStriped<128>(thread, values + begin, row_values, count);
}

TEST(block_radix_sort_example, sorts_each_row) {
  const std::vector<int> begins = {0, 512, 512, 513, 700, 1000};
  const std::vector<int> numbers = strata_test::random_integers(1000, -30, 30);
  std::vector<float> keys(numbers.begin(), numbers.end());
  std::vector<int> values(keys.size());
  std::iota(values.begin(), values.end(), 0);
  device_vector<float> keys_inout(keys);
  device_vector<int> values_inout(values);
  const device_vector<int> row_begins(begins);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"sort_rows", 5, 128}, sort_rows, keys_inout.data(), values_inout.data(), row_begins.data()));
  for (std::size_t row = 0; row + 1 < begins.size(); ++row) {
    std::stable_sort(values.begin() + begins[row], values.begin() + begins[row + 1], [&](int a, int b) {
      return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
    });
  }
  EXPECT_EQ(values_inout.to_host(), values);
  const std::vector<float> sorted = keys_inout.to_host();
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(sorted[i], keys[static_cast<std::size_t>(values[i])]);
  }
}

}  // namespace block_radix_sort_test
