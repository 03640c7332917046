// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_radix_sort.cuh>
#include <strata/core/launcher.cuh>
#include <strata/thread/thread_load_direct.cuh>
#include <strata/thread/thread_store_direct.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "block/radix_sort_cases.cuh"

namespace block_radix_sort_test {

template <class Case>
class block_radix_sort : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using cases = testing::Types<sort_case<unsigned, 3, 4, 40>, sort_case<double, 2, 5, 4, 4, 2>,
                             sort_case<event, 2, 8, 64, 1, 1, by_year_weight_kind>, sort_case<std::int8_t, 5, 3, 33>,
                             sort_case<float, 4, 4, 96>>;
#else
using cases =
    testing::Types<sort_case<unsigned, 1, 4, 32>, sort_case<unsigned, 11, 4, 256>, sort_case<int, 7, 5, 96>,
                   sort_case<std::int8_t, 5, 3, 33>, sort_case<truth, 4, 1, 64>, sort_case<color, 6, 4, 8, 4, 3>,
                   sort_case<std::uint64_t, 3, 8, 32>, sort_case<float, 4, 4, 16, 6>, sort_case<double, 3, 6, 64>,
                   sort_case<__half, 8, 4, 128>, sort_case<__nv_bfloat16, 5, 4, 70>, sort_case<int128, 2, 4, 64>,
                   sort_case<event, 2, 4, 64, 1, 1, by_year_weight_kind>, sort_case<int, 9, 4, 1>,
                   sort_case<int, 4, 4, 128, 1, 1, detail::identity_decomposer, false>, sort_case<float, 8, 4, 8, 4, 5>,
                   sort_case<std::uint16_t, 3, 4, 96>>;
#endif
TYPED_TEST_SUITE(block_radix_sort, cases);

TYPED_TEST(block_radix_sort, is_stable_whatever_the_keys) { test_all_keys<TypeParam>(); }
TYPED_TEST(block_radix_sort, looks_at_some_bits) { test_ranges<TypeParam>(); }
TYPED_TEST(block_radix_sort, leaves_items_that_are_not_valid) { test_partial_tiles<TypeParam>(); }

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

// Compares floats by <, and not by the words that the library computes from them.
TEST(block_radix_sort, floats_are_in_order) {
  using oracle = sort_case<float, 4, 4, 16, 6>;
  std::vector<float> keys(std::size_t{oracle::tile});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<float>((i * 7919) % 1000) * (i % 2 == 0 ? 0.25f : -4e7f);
  }
  const device_vector<float> in(keys);
  device_vector<float> out(keys.size());
  device_vector<int> values(keys.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_tile", 1, oracle::dimensions()}, sort_tile<oracle>, in.data(),
                                     call{up, whole, whole, whole}, out.data(), values.data()));
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
