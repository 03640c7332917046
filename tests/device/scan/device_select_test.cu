// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: shapes

// DeviceSelect::If, Flagged and FlaggedIf with an output that is not the input.
#include <strata/device/device_select.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_select_support.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_select_test {

using namespace device_test;
using strata::DeviceSelect;
using strata_test::struct12;
using strata_test::struct16;
using struct24 = strata_test::words<3, std::uint64_t>;

/// Sizes around one tile in registers, around a tile for each multiprocessor of the host back end, and sizes that take
/// the pipeline there or on a GPU.
std::vector<std::size_t> lengths() {
  if (is_small()) return {0, 1, 2, 31, 33, 2049, 10003};
  std::vector<std::size_t> all = {0, 1, 2, 31, 33, 2047, 2048, 2049, 8191, 8193, 10003, 11520, 11521, 300001};
  if (!STRATA_HOST_SIMT) all.push_back(3000017);
  return all;
}

// ------------------------------------------------------------------ If

template <class T>
class DeviceSelectIf : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using item_types = ::testing::Types<float, struct12>;
#else
using item_types = ::testing::Types<std::uint8_t, std::int16_t, float, std::uint64_t, struct16, struct12, struct24>;
#endif
TYPED_TEST_SUITE(DeviceSelectIf, item_types);

TYPED_TEST(DeviceSelectIf, keeps_items_bit_by_bit) {
  using T = TypeParam;
  for (const std::size_t size : lengths()) {
    const std::vector<T> items = items_of_any_bits<T>(size + 1, size);
    const device_vector<T> in(items);
    // With shift 1, input and output begin one item behind a boundary.
    for (const std::size_t shift : sizes{0, 1}) {
      const std::vector<T> shifted(items.begin() + static_cast<std::ptrdiff_t>(shift),
                                   items.begin() + static_cast<std::ptrdiff_t>(shift + size));
      for (const unsigned density : densities) {
        if (shift == 1 && density != 512) continue;
        SCOPED_TRACE(testing::Message() << size << " items from " << shift << " on, " << density << " of 1024 kept");
        const keeps_some op{density};
        const std::vector<T> expected = only_kept(shifted, kept_by_items(shifted, op));
        ASSERT_NO_FATAL_FAILURE(
            expect_selects(expected, size, shift, [&](T* out, std::int64_t* num, auto&&... storage) {
              return DeviceSelect::If(storage..., in.data() + shift, out, num, static_cast<int>(size), op);
            }));
      }
    }
  }
}

TEST(device_select, long_inputs) {
  const std::size_t size = if_small<std::size_t>(30000, 3000017);
  const std::vector<float> items = items_of_any_bits<float>(size);
  const device_vector<float> in(items);
  const keeps_some op{300};
  expect_selects(only_kept(items, kept_by_items(items, op)), size, 0,
                 [&](float* out, std::int64_t* num, auto&&... storage) {
                   return DeviceSelect::If(storage..., in.data(), out, num, static_cast<int>(size), op);
                 });
}

// ------------------------------------------------------------------ Flagged

template <class Flag, class T>
void expect_selects_flagged() {
  for (const std::size_t size : lengths()) {
    const std::vector<T> items = items_of_any_bits<T>(size + 1, size);
    const std::vector<T> of_call(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(size));
    const device_vector<T> in(items);
    for (const pattern which : patterns) {
      if (size > 100000 && which != pattern::half && which != pattern::first_half) continue;
      SCOPED_TRACE(testing::Message() << size << " items, pattern " << static_cast<int>(which));
      const std::vector<char> keeps = kept_by(which, size, size + 1);
      std::vector<Flag> flags;
      for (std::size_t i = 0; i < size; ++i) {
        flags.push_back(static_cast<Flag>(keeps[i] ? 1 + i % 100 : 0));
      }
      const shifted_array<Flag> d_flags(flags, 0);
      ASSERT_NO_FATAL_FAILURE(
          expect_selects(only_kept(of_call, keeps), size, 0, [&](T* out, std::int64_t* num, auto&&... storage) {
            return DeviceSelect::Flagged(storage..., in.data(), d_flags.data(), out, num,
                                         static_cast<std::int64_t>(size));
          }));
      // Flags and items begin at different distances from a boundary.
      if (which != pattern::half) continue;
      const std::vector<T> others(items.begin() + 1, items.end());
      ASSERT_NO_FATAL_FAILURE(
          expect_selects(only_kept(others, keeps), size, 3, [&](T* out, std::int64_t* num, auto&&... storage) {
            return DeviceSelect::Flagged(storage..., in.data() + 1, d_flags.data(), out, num,
                                         static_cast<std::int64_t>(size));
          }));
    }
  }
}

TEST(device_select, flagged_items_of_4_bytes) { expect_selects_flagged<char, float>(); }
#if !STRATA_TEST_FEW_TYPES
TEST(device_select, flags_wider_than_items) { expect_selects_flagged<std::int64_t, std::int16_t>(); }
TEST(device_select, flagged_items_of_24_bytes) { expect_selects_flagged<int, struct24>(); }
#endif

struct is_less {
  double limit;
  STRATA_HD bool operator()(double flag) const { return flag < limit; }
};

TEST(device_select, flagged_by_an_operator) {
  for (const std::size_t size : lengths()) {
    SCOPED_TRACE(size);
    const std::vector<std::uint64_t> items = items_of_any_bits<std::uint64_t>(size, 1);
    const std::vector<double> flags = random_reals<double>(size, 0, 1, 2);
    const device_vector<std::uint64_t> in(items);
    const device_vector<double> d_flags(flags);
    const is_less op{0.25};
    ASSERT_NO_FATAL_FAILURE(expect_selects(only_kept(items, kept_by_items(flags, op)), size, 0,
                                           [&](std::uint64_t* out, std::int64_t* num, auto&&... storage) {
                                             return DeviceSelect::FlaggedIf(storage..., in.data(), d_flags.data(), out,
                                                                            num, static_cast<unsigned>(size), op);
                                           }));
  }
}

// ------------------------------------------------------------------ iterators

struct is_multiple {
  std::int64_t of;
  STRATA_HD bool operator()(std::int64_t n) const { return n % of == 0; }
};
struct square {
  STRATA_HD std::int64_t operator()(int x) const { return static_cast<std::int64_t>(x) * x; }
};
const std::size_t many = if_small<std::size_t>(20000, 400003);

TEST(device_select, computed_items_into_outputs_that_are_written_once) {
  for (const std::size_t size : sizes{1000, many}) {
    std::vector<std::int64_t> expected;
    for (std::size_t n = 10; n < size + 10; ++n) {
      if (n % 3 == 0) expected.push_back(static_cast<std::int64_t>(n));
    }
    std::vector<unsigned> once(size);
    std::fill_n(once.begin(), expected.size(), 1u);
    device_vector<unsigned> written(std::vector<unsigned>(size, 0u));
    ASSERT_NO_FATAL_FAILURE(
        expect_selects(expected, size, 0, [&](std::int64_t* out, std::int64_t* num, auto&&... storage) {
          return DeviceSelect::If(storage..., counting<std::int64_t>(10),
                                  counted_output<std::int64_t>(out, written.data()), num, size, is_multiple{3});
        }));
    EXPECT_EQ(once, written.to_host());
  }
}

TEST(device_select, transformed_items_flagged_by_bits) {
  const std::vector<int> numbers = random_integers<int>(many, -100000, 100000);
  const std::vector<unsigned> words = random_integers<unsigned>(many / 32 + 1, 0, 0xffffffffll);
  const device_vector<int> in(numbers);
  const device_vector<unsigned> d_words(words);
  for (const std::size_t size : sizes{100, many}) {
    std::vector<std::int64_t> expected;
    for (std::size_t i = 0; i < size; ++i) {
      if ((words[i / 32] >> i % 32 & 1) != 0) expected.push_back(square{}(numbers[i]));
    }
    ASSERT_NO_FATAL_FAILURE(
        expect_selects(expected, size, 0, [&](std::int64_t* out, std::int64_t* num, auto&&... storage) {
          return DeviceSelect::Flagged(storage..., transforming<const int*, square>(in.data(), square{}),
                                       bits(d_words.data()), out, num, size);
        }));
  }
}

// Operators get values, even if iterators return proxies: an item_reference is no flag.
struct class_flag {
  int value;
  STRATA_HD explicit operator bool() const { return value > 0; }
};
TEST(device_select, flags_that_iterators_tell_by_proxies) {
  std::vector<class_flag> flags;
  for (const int value : random_integers<int>(3000, -1, 1)) flags.push_back({value});
  const std::vector<int> items = random_integers<int>(flags.size(), 0, 1000);
  const device_vector<class_flag> d_flags(flags);
  const device_vector<int> d_items(items);
  const auto is_positive = [](const class_flag& flag) { return flag.value > 0; };
  expect_selects(only_kept(items, kept_by_items(flags, is_positive)), items.size(), 0,
                 [&](int* out, std::int64_t* num, auto&&... storage) {
                   return DeviceSelect::Flagged(storage..., by_proxies<int>(d_items.data()),
                                                by_proxies<class_flag>(d_flags.data()), out, num, items.size());
                 });
}

// Flags are copied in bulk, items are read one by one.
TEST(device_select, flags_of_an_array_computed_and_flagged_items) {
  const std::vector<char> flags = kept_by(pattern::half, many, 4);
  const device_vector<char> d_flags(flags);
  for (const std::size_t size : sizes{100, many}) {
    std::vector<int> expected;
    for (std::size_t i = 0; i < size; ++i) {
      if (flags[i] != 0) expected.push_back(static_cast<int>(i) + 5);
    }
    ASSERT_NO_FATAL_FAILURE(expect_selects(expected, size, 0, [&](int* out, std::int64_t* num, auto&&... storage) {
      return DeviceSelect::Flagged(storage..., counting<int>(5), d_flags.data(), out, num, size);
    }));
  }
}

TEST(device_select, outputs_without_a_value_type_take_the_type_of_the_items) {
  for (const std::size_t size : sizes{0, 5, 10000}) {
    device_vector<int> out(size);
    device_vector<int> num(1);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceSelect::If(storage..., counting<int>(0), doubling_output<int>(out.data()),
                              doubling_output<int>(num.data()), size, is_multiple{2});
    }));
    const std::size_t kept = (size + 1) / 2;
    EXPECT_EQ(static_cast<int>(2 * kept), num.to_host()[0]);
    const std::vector<int> all = out.to_host();
    for (std::size_t i = 0; i < size; ++i) {
      if (i < kept) {
        ASSERT_EQ(static_cast<int>(4 * i), all[i]) << i << " of " << size;
      } else {
        ASSERT_TRUE(strata_test::is_poison(all[i])) << i << " of " << size;
      }
    }
  }
}

// ------------------------------------------------------------------ as a user calls it

struct is_even {
  STRATA_HD bool operator()(int n) const { return n % 2 == 0; }
};

TEST(device_select, writes_nothing_behind_the_selected_items) {
  const int n = 10;
  const device_vector<int> in(std::vector<int>{3, 1, 4, 1, 5, 9, 2, 6, 5, 8});
  device_vector<int> out(10), num_selected(1);
  const int* const d_in = in.data();
  int* const d_out = out.data();
  int* const d_num_selected = num_selected.data();
  const cudaStream_t stream = nullptr;
  void* d_temp = nullptr;

  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(strata::DeviceSelect::If(nullptr, bytes, d_in, d_out, d_num_selected, n, is_even{}));
  ASSERT_CUDA_SUCCESS(cudaMalloc(&d_temp, bytes));
  ASSERT_CUDA_SUCCESS(strata::DeviceSelect::If(d_temp, bytes, d_in, d_out, d_num_selected, n, is_even{}, stream));

  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  ASSERT_CUDA_SUCCESS(cudaFree(d_temp));
  EXPECT_EQ(4, num_selected.to_host()[0]);
  EXPECT_SAME_BYTES(with_front(std::vector<int>{4, 2, 6, 8}, poisoned<int>(10)), out.to_host());
}

}  // namespace device_select_test
