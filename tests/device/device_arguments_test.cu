// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the arguments of reductions, scans, selections and loops: see device_arguments.cuh. Also tests checks that all
// calls share: how far iterators reach, and whether arrays overlap.
#define STRATA_DEBUG_LOG 1
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include "device/device_arguments.cuh"

namespace device_arguments_test {

template <class Count>
std::vector<device_call> calls() {
  using maker = only_with_storage;
  return joined({reductions<Count, maker>(), scans<Count, maker>(), selections<Count, maker>(),
                 transformations<Count, maker>(), other_calls<Count, maker>()});
}
INSTANTIATE_TEST_SUITE_P(all, DeviceArguments, ::testing::ValuesIn(calls<i64>()), test_name);

// Only the host back end tests a second type of counts: nvcc would take minutes for the kernels, and only host code
// depends on this type.
#if STRATA_HOST_SIMT && !STRATA_TEST_FEW_TYPES
TEST(device_arguments, counts_may_have_any_integer_type) { expect_same_results(calls<i64>(), calls<unsigned char>()); }
#endif

/// An iterator that cannot be advanced by more than 127.
struct narrow_iterator {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = u32;
  using difference_type = signed char;
  using pointer = const u32*;
  using reference = u32;

  const u32* items;

  STRATA_HD narrow_iterator operator+(std::ptrdiff_t distance) const { return {items + distance}; }
  STRATA_HD u32 operator[](std::ptrdiff_t i) const { return items[i]; }
  STRATA_HD u32 operator*() const { return *items; }
};

TEST(device_arguments, inputs_must_be_able_to_reach_all_items) {
  const device_vector<u32> items(std::vector<u32>(200, 1));
  device_vector<u32> out(200);
  const narrow_iterator narrow{items.data()};
  const auto expect_128_at_most = [&](const auto& call) {
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* temp, std::size_t& bytes) { return call(temp, bytes, 128); }));
    std::size_t bytes = 12345;
    EXPECT_EQ(cudaErrorInvalidValue, call(nullptr, bytes, 129));
    EXPECT_EQ(12345u, bytes);
  };
  expect_128_at_most([&](void* temp, std::size_t& bytes, int count) {
    return strata::DeviceReduce::Sum(temp, bytes, narrow, out.data(), count);
  });
  expect_128_at_most([&](void* temp, std::size_t& bytes, int count) {
    return strata::DeviceScan::InclusiveSum(temp, bytes, narrow, out.data(), count);
  });
  expect_128_at_most([&](void* temp, std::size_t& bytes, int count) {
    return strata::DeviceRadixSort::SortKeys(temp, bytes, narrow, out.data(), count);
  });
  expect_128_at_most([&](void* temp, std::size_t& bytes, int count) {
    return strata::DeviceMergeSort::SortKeysCopy(temp, bytes, narrow, out.data(), count, is_less{});
  });
  expect_128_at_most([&](void* temp, std::size_t& bytes, int count) {
    return strata::DeviceSegmentedReduce::Sum(temp, bytes, narrow, out.data(), 1, count);
  });
}

// ------------------------------------------------------------------ arithmetic

const u32* at(std::uintptr_t address) { return reinterpret_cast<const u32*>(address); }

TEST(device_arguments, nothing_overflows_near_the_last_address) {
  using namespace strata::detail;
  constexpr std::uintptr_t end = ~std::uintptr_t{0} - 3;
  EXPECT_TRUE(arrays_overlap(at(end - 400), 200, at(end - 4), 1));
  EXPECT_FALSE(arrays_overlap(at(end - 400), 200, at(4), 1));
  EXPECT_FALSE(arrays_overlap(at(end - 400), 100, at(end), 1));
  EXPECT_TRUE(arrays_overlap(at(4), ~std::size_t{0}, at(end - 8), 1));
  EXPECT_TRUE(arrays_overlap(at(end - 8), 1, at(4), ~std::size_t{0}));
  EXPECT_FALSE(arrays_overlap(at(0), 100, at(end), 1));
  // Matrices of rows of 8 bytes, 16 bytes apart. `high` would reach beyond the last address.
  const strided_bytes high{end - 64, 1000, 8, 16}, low{16, 1000, 8, 16};
  EXPECT_FALSE(have_common_bytes(high, low));
  EXPECT_FALSE(have_common_bytes(low, high));
  EXPECT_TRUE(have_common_bytes(high, strided_bytes{end - 48 + 4, 1, 8, 8}));
  EXPECT_FALSE(have_common_bytes(high, strided_bytes{end - 48 + 8, 1000, 8, 16}));
  EXPECT_TRUE(have_common_bytes(high, strided_bytes{end - 48 + 8, 1000, 9, 16}));
}

TEST(device_arguments, matrices_have_the_common_bytes_that_their_elements_have) {
  using strata::detail::strided_bytes;
  std::mt19937_64 bits = strata_test::random_bits(3);
  const auto below = [&](std::uint64_t limit) { return bits() % limit; };
  for (int i = 0; i < 20000; ++i) {
    const auto make = [&] {
      const std::uintptr_t width = 1 + below(4);
      return strided_bytes{100 + below(40), below(4), width, width + below(4)};
    };
    const strided_bytes a = make();
    strided_bytes b = make();
    // The check is exact only if the pitches of two matrices with gaps are equal.
    if (!a.is_dense() && !b.is_dense()) b.pitch = a.pitch, b.width = std::min(b.width, a.pitch);
    std::vector<char> has(256);
    bool expected = false;
    for (std::uintptr_t row = 0; row < a.rows; ++row) {
      for (std::uintptr_t byte = 0; byte < a.width; ++byte) has[a.begin + row * a.pitch + byte] = 1;
    }
    for (std::uintptr_t row = 0; row < b.rows; ++row) {
      for (std::uintptr_t byte = 0; byte < b.width; ++byte) {
        expected = expected || has[b.begin + row * b.pitch + byte] != 0;
      }
    }
    ASSERT_EQ(expected, have_common_bytes(a, b));
  }
}

}  // namespace device_arguments_test
