// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Selections, runs and segmented scans of more items than 32 bits can count, with more results than 31 bits can count.
// Inputs are arrays and iterators. Results are checked on the device.
#include <strata/core/launcher.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/device_select.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/large_arrays.cuh"
#include "device/test_iterators.cuh"

namespace {

using namespace device_test;

constexpr std::int64_t items = (std::int64_t{1} << 32) + 5;
constexpr std::int64_t half = (items + 1) / 2;

/// A byte that differs from byte_of(i + 1).
STRATA_HD std::uint8_t byte_of(std::uint64_t i) {
  const std::uint64_t mixed = i * 0x9e3779b97f4a7c15ull;
  return static_cast<std::uint8_t>((mixed >> 56 << 1) | (i & 1));
}

/// Selects every other item.
struct is_even {
  STRATA_HD std::uint8_t operator()(std::int64_t i) const { return i % 2 == 0 ? 1 : 0; }
};
/// Bytes in runs of two.
struct pair_byte {
  STRATA_HD std::uint8_t operator()(std::int64_t i) const { return byte_of(static_cast<std::uint64_t>(i) / 2); }
};
struct single_byte {
  STRATA_HD std::uint8_t operator()(std::int64_t i) const { return byte_of(static_cast<std::uint64_t>(i)); }
};
/// Items whose exclusive sums are byte_of(i) - byte_of(0), modulo 256.
struct difference {
  STRATA_HD std::uint8_t operator()(std::int64_t i) const {
    return static_cast<std::uint8_t>(single_byte{}(i + 1) - single_byte{}(i));
  }
};

template <class Function>
STRATA_KERNEL void fill(std::uint8_t* to, std::size_t count, Function function) {
  for_all(count, [&](std::size_t i) { to[i] = function(static_cast<std::int64_t>(i)); });
}
template <class Function>
STRATA_KERNEL void count_wrong(const std::uint8_t* from, std::size_t count, Function function,
                               unsigned long long* wrong) {
  for_all(count, [&](std::size_t i) {
    if (from[i] != function(static_cast<std::int64_t>(i))) atomicAdd(wrong, 1ull);
  });
}

template <class Function>
void expect_items(const std::uint8_t* from, std::int64_t count, Function function) {
  device_vector<unsigned long long> wrong(std::vector<unsigned long long>{0});
  run(count_wrong<Function>, from, static_cast<std::size_t>(count), function, wrong.data());
  EXPECT_EQ(0u, wrong.to_host()[0]);
}

struct evens_of_single {
  STRATA_HD std::uint8_t operator()(std::int64_t i) const { return single_byte{}(2 * i); }
};
struct twos {
  STRATA_HD std::uint8_t operator()(std::int64_t i) const { return i == half - 1 ? 1 : 2; }
};

template <class Function>
transforming<counting<std::int64_t>, Function> made_by(Function function) {
  return {counting<std::int64_t>(0), function};
}

/// An array of bytes that `function` has filled. If memory is short, data() is null.
template <class Function>
struct filled : array<std::uint8_t> {
  explicit filled(Function function) : array<std::uint8_t>(static_cast<std::size_t>(items)) {
    if (data() != nullptr) run(fill<Function>, data(), static_cast<std::size_t>(items), function);
  }
};

class device_select_large : public testing::Test {
 protected:
  void SetUp() override {
    if (out_.data() == nullptr || other_out_.data() == nullptr) {
      GTEST_SKIP() << "not enough device memory";
    }
  }
  std::int64_t count() const { return count_.to_host()[0]; }

  array<std::uint8_t> out_{static_cast<std::size_t>(half)};
  array<std::uint8_t> other_out_{static_cast<std::size_t>(half)};
  device_vector<std::int64_t> count_{1};
};

TEST_F(device_select_large, flagged_items_of_arrays) {
  const filled<single_byte> in(single_byte{});
  const filled<is_even> flags(is_even{});
  if (in.data() == nullptr || flags.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return strata::DeviceSelect::Flagged(storage..., in.data(), flags.data(), out_.data(), count_.data(), items);
  }));
  EXPECT_EQ(half, count());
  expect_items(out_.data(), half, evens_of_single{});
}

TEST_F(device_select_large, flagged_items_of_iterators) {
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return strata::DeviceSelect::Flagged(storage..., made_by(single_byte{}), made_by(is_even{}), out_.data(),
                                         count_.data(), items);
  }));
  EXPECT_EQ(half, count());
  expect_items(out_.data(), half, evens_of_single{});
}

TEST_F(device_select_large, unique_items) {
  const filled<pair_byte> in(pair_byte{});
  if (in.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return strata::DeviceSelect::Unique(storage..., in.data(), out_.data(), count_.data(), items);
  }));
  EXPECT_EQ(half, count());
  expect_items(out_.data(), half, single_byte{});
}

TEST_F(device_select_large, sums_of_runs) {
  const filled<pair_byte> keys(pair_byte{});
  if (keys.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return strata::DeviceReduce::ReduceByKey(storage..., keys.data(), out_.data(), constant<std::uint8_t>(1),
                                             other_out_.data(), count_.data(), strata::Sum{}, items);
  }));
  EXPECT_EQ(half, count());
  expect_items(out_.data(), half, single_byte{});
  expect_items(other_out_.data(), half, twos{});
}

TEST_F(device_select_large, lengths_of_runs) {
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return strata::DeviceRunLengthEncode::Encode(storage..., made_by(pair_byte{}), out_.data(), other_out_.data(),
                                                 count_.data(), items);
  }));
  EXPECT_EQ(half, count());
  expect_items(out_.data(), half, single_byte{});
  expect_items(other_out_.data(), half, twos{});
}

/// Exclusive sums in the three segments of the test below.
struct sums_in_segments {
  std::int64_t second, third;
  STRATA_HD std::uint8_t operator()(std::int64_t i) const {
    const std::int64_t begin = i >= third ? third : i >= second ? second : 0;
    return static_cast<std::uint8_t>(single_byte{}(i)-single_byte{}(begin));
  }
};

TEST_F(device_select_large, sums_in_segments) {
  const array<std::uint8_t> out(static_cast<std::size_t>(items));
  const filled<difference> in(difference{});
  if (in.data() == nullptr || out.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  // The second segment has more items than 31 bits can count. The third one begins behind 2^32.
  const std::int64_t second = 1000003, third = items - 3;
  const device_vector<std::int64_t> begins(std::vector<std::int64_t>{0, second, third, items});
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return strata::DeviceSegmentedScan::ExclusiveSegmentedSum(storage..., in.data(), out.data(), begins.data(),
                                                              begins.data() + 1, 3);
  }));
  expect_items(out.data(), items, sums_in_segments{second, third});
}

}  // namespace
