// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: shapes

// DeviceRadixSort in one launch, for sizes that the resident blocks of a device hold together.
#include <strata/core/radix_key.hpp>
#include <strata/device/device_radix_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/radix_sort/device_radix_sort_support.cuh"
#include "device/radix_sort/device_radix_sort_tuned.cuh"

namespace device_radix_sort_grid_test {

using namespace device_test;
using strata::DeviceRadixSort;

// The number of blocks is below, at and above the size of a group. On the host back end, 32 blocks of 256 threads are
// resident, and 16 blocks form a group.
TEST(device_radix_sort_grid, keys_of_any_pattern_in_any_number_of_blocks) {
  using hub = radix_grid_hub<3>;
  for (const std::size_t size : {257u, 511u, 512u, 513u, 1000u, 2000u, 4096u, 4097u, 9000u}) {
    for (const pattern how : all_patterns) {
      if (size != 9000 && how != pattern::random && how != pattern::equal) continue;
      SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
      const auto keys = make_keys<std::uint32_t>(size, how);
      expect_sorted<hub, false>(keys, 0, 32);
      expect_sorted<hub, true>(keys, 0, 32);
    }
  }
}

// A block has 512 threads, two for each of the 256 digit values. Tiles are full or nearly full.
TEST(device_radix_sort_grid, two_threads_a_digit) {
  using hub = radix_grid_hub<4, 512>;
  for (const std::size_t size : {300u, 2049u, 8192u, 20000u}) {
    for (const pattern how : {pattern::random, pattern::mostly_one}) {
      expect_sorted<hub, false>(make_keys<double>(size, how), 0, 64);
    }
  }
}

TEST(device_radix_sort_grid, more_than_the_device_holds) {
  using hub = radix_grid_hub<1>;
  expect_sorted<hub, false>(make_keys<std::uint32_t>(if_small<std::size_t>(9000, 300000), pattern::random), 0, 16);
}

TEST(device_radix_sort_grid, more_than_the_policy_wants) {
  using hub = radix_grid_hub<2, 256, 2000>;
  expect_sorted<hub, false>(make_keys<std::uint32_t>(2000, pattern::random), 0, 32);
  expect_sorted<hub, false>(make_keys<std::uint32_t>(2001, pattern::random), 0, 32);
}

TEST(device_radix_sort_grid, any_bits) {
  using hub = radix_grid_hub<2>;
  const auto keys = make_keys<std::int32_t>(1500, pattern::random);
  for (int begin = 0; begin <= 32; begin += is_small() ? 6 : 1) {
    for (int end = begin; end <= 32; end += is_small() ? 9 : 3) {
      expect_sorted<hub, false>(keys, begin, end);
    }
  }
}

// A pass whose digit is equal in all keys moves nothing. Such passes come first, last and in between.
TEST(device_radix_sort_grid, any_digits_are_constant) {
  using hub = radix_grid_hub<2>;
  for (const std::uint32_t constant :
       {0x000000ffu, 0x0000ff00u, 0xff000000u, 0xff00ff00u, 0x00ffffffu, 0xffffff00u, 0xffff00ffu, 0x00ff00ffu}) {
    for (const std::uint32_t digits : {0u, 0x12345678u, ~0u}) {
      SCOPED_TRACE(testing::Message() << "constant " << constant << ", digits " << digits);
      auto keys = make_keys<std::uint32_t>(1300, pattern::random);
      for (std::uint32_t& key : keys) key = (key & ~constant) | (digits & constant);
      expect_sorted<hub, false>(keys, 0, 32);
    }
  }
}

struct words_24 {
  std::uint64_t word[3];
};

TEST(device_radix_sort_grid, pairs_are_stable) {
  for (const pattern how : {pattern::random, pattern::few, pattern::low_byte, pattern::equal}) {
    for (const std::size_t size : {std::size_t{513}, std::size_t{5000}}) {
      expect_stable_pairs<radix_grid_hub<2>, false, std::uint16_t, std::uint32_t>(size, how);
      expect_stable_pairs<radix_grid_hub<2>, true, std::uint16_t, std::uint32_t>(size, how);
    }
    expect_stable_pairs<radix_grid_hub<2>, false, std::uint32_t, words_24>(1800, how);
  }
}

// Sixteen keys of 8 bytes and their values do not fit in the registers of a thread.
TEST(device_radix_sort_grid, values_that_registers_do_not_hold) {
  using hub = radix_grid_hub<16>;
  for (const pattern how : {pattern::random, pattern::few, pattern::low_byte, pattern::equal}) {
    for (const std::size_t size : {std::size_t{257}, std::size_t{5000}, if_small<std::size_t>(20000, 200000)}) {
      expect_stable_pairs<hub, false, std::uint64_t, std::uint64_t>(size, how);
      expect_stable_pairs<hub, true, std::uint64_t, words_24>(size, how);
    }
  }
}

// Passes that move nothing come first, last, or between others. The number of other passes decides in which buffer the
// result would end.
TEST(device_radix_sort_grid, any_digits_of_such_pairs_are_constant) {
  using hub = radix_grid_hub<16>;
  const std::size_t size = 3000;
  const auto random = make_keys<std::uint64_t>(size, pattern::random);
  const auto values = make_values<std::uint64_t>(size);
  for (const std::uint64_t moving : {0xffull, 0xff00ull, 0xff00ffull, 0xff000000ff00ull, 0xff00000000000000ull}) {
    SCOPED_TRACE(testing::Message() << "digits " << moving);
    auto keys = random;
    for (std::uint64_t& key : keys) key &= moving;
    for (const bool is_in_place : {false, true}) {
      const device_vector<std::uint64_t> in(keys), values_in(values);
      device_vector<std::uint64_t> out(keys), values_out(values);
      ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return tuned_sort_pairs<hub, false>(storage, bytes, is_in_place ? out.data() : in.data(), out.data(),
                                            is_in_place ? values_out.data() : values_in.data(), values_out.data(), size,
                                            0, 64);
      }));
      const auto order = expected_order<false>(keys, 0, 64);
      expect_gathered(keys, order, out.to_host());
      expect_gathered(values, order, values_out.to_host());
    }
  }
}

// The library's policy chooses the algorithm. Sizes go from above the capacity of one block to the capacity of all
// blocks, and beyond.
TEST(device_radix_sort_grid, all_that_the_device_holds) {
#if STRATA_HOST_SIMT
  const std::vector<std::size_t> sizes = {20000, 65535, 65536, 65537};
#else
  const std::vector<std::size_t> sizes = {20000,          1u << 16,           (1u << 18) + 1, 1u << 20,
                                          132 * 512 * 32, 132 * 512 * 32 + 1, 3000000};
#endif
  for (const std::size_t size : sizes) {
    if (is_small() && size == 65535) continue;
    SCOPED_TRACE(testing::Message() << size << " keys");
    const auto keys = make_keys<std::uint32_t>(size, pattern::random);
    const device_vector<std::uint32_t> in(keys);
    device_vector<std::uint32_t> out(size);
    ASSERT_CUDA_SUCCESS(in_two_phases(
        [&](auto&&... storage) { return DeviceRadixSort::SortKeys(storage..., in.data(), out.data(), size); }));
    expect_gathered(keys, expected_order<false>(keys, 0, 32), out.to_host());
  }
}

// The library's policy chooses the algorithm. The size is above the capacity of one block.
TEST(device_radix_sort_grid, between_two_buffers) {
  const std::size_t size = if_small<std::size_t>(17000, 60000);
  for (const pattern how : {pattern::random, pattern::low_byte, pattern::equal}) {
    for (const int end : {8, 13, 24}) {
      SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how) << ", to " << end);
      const auto keys = make_keys<std::uint32_t>(size, how);
      const auto values = make_values<std::uint32_t>(size);
      device_vector<std::uint32_t> a(keys), b(std::vector<std::uint32_t>(size, 1));
      device_vector<std::uint32_t> c(values), d(std::vector<std::uint32_t>(size, 1));
      strata::DoubleBuffer<std::uint32_t> d_keys(a.data(), b.data());
      strata::DoubleBuffer<std::uint32_t> d_values(c.data(), d.data());
      ASSERT_CUDA_SUCCESS(in_two_phases(
          [&](auto&&... storage) { return DeviceRadixSort::SortPairs(storage..., d_keys, d_values, size, 0, end); }));
      const auto order = expected_order<false>(keys, 0, end);
      expect_gathered(keys, order, (d_keys.selector == 0 ? a : b).to_host());
      expect_gathered(values, order, (d_keys.selector == 0 ? c : d).to_host());
    }
  }
}

}  // namespace device_radix_sort_grid_test
