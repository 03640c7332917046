// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions of more items than 32 bits can count.
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_segmented_reduce.cuh>

#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/test_iterators.cuh"

namespace {

using namespace device_test;
using strata::DeviceReduce;
using strata::DeviceSegmentedReduce;

constexpr std::int64_t beyond_31_bits = (std::int64_t{1} << 31) + 3;
constexpr std::int64_t beyond_32_bits = (std::int64_t{1} << 32) + 5;

/// Device memory full of bytes 1, without guard bands, which are slow to check at this size.
class bytes {
 public:
  explicit bytes(std::int64_t size) {
    if (cudaMalloc(&data_, static_cast<std::size_t>(size)) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      data_ = nullptr;
      return;
    }
    EXPECT_CUDA_SUCCESS(cudaMemset(data_, 1, static_cast<std::size_t>(size)));
  }
  ~bytes() { EXPECT_CUDA_SUCCESS(cudaFree(data_)); }
  bytes(const bytes&) = delete;
  bytes& operator=(const bytes&) = delete;
  std::uint8_t* data() const { return data_; }
  void set(std::int64_t index, std::uint8_t value) {
    EXPECT_CUDA_SUCCESS(cudaMemcpy(data_ + index, &value, 1, cudaMemcpyHostToDevice));
  }

 private:
  std::uint8_t* data_ = nullptr;
};

TEST(device_reduce_large, sum_of_bytes) {
  for (const std::int64_t size : {beyond_31_bits - 4, beyond_31_bits, beyond_32_bits}) {
    bytes in(size + 1);
    if (in.data() == nullptr) GTEST_SKIP() << "not enough device memory";
    in.set(size - 1, 200);
    in.set(size, 99);
    in.set(size / 2, 50);
    EXPECT_EQ(size - 2 + 250, result_of<std::int64_t>([&](std::int64_t* out, auto&&... storage) {
                return DeviceReduce::Sum(storage..., in.data(), out, size);
              }));
    // From an odd address, and with an unsigned count.
    const auto count = static_cast<std::size_t>(size - 1);
    EXPECT_EQ(size - 3 + 250, result_of<std::int64_t>([&](std::int64_t* out, auto&&... storage) {
                return DeviceReduce::Sum(storage..., in.data() + 1, out, count);
              }));
  }
}

TEST(device_reduce_large, sum_with_a_32_bit_count_above_31_bits) {
  const auto size = static_cast<unsigned>(beyond_31_bits);
  EXPECT_EQ(3 * beyond_31_bits, result_of<std::int64_t>([&](std::int64_t* out, auto&&... storage) {
              return DeviceReduce::Sum(storage..., constant<int>(3), out, size);
            }));
}

struct last {
  STRATA_HD std::int64_t operator()(std::int64_t, std::int64_t b) const { return b; }
};

TEST(device_reduce_large, order_is_kept) {
  const std::int64_t size = beyond_32_bits;
  EXPECT_EQ(size - 1, result_of<std::int64_t>([&](std::int64_t* out, auto&&... storage) {
              return DeviceReduce::Reduce(storage..., counting<std::int64_t>(0), out, size, last{}, std::int64_t{-1});
            }));
}

TEST(device_reduce_large, indices_have_64_bits) {
  bytes in(beyond_32_bits);
  if (in.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  device_vector<std::uint8_t> value(1);
  device_vector<std::int64_t> index(1);
  for (const std::int64_t place : {beyond_32_bits - 1, beyond_32_bits - 100, beyond_31_bits}) {
    in.set(place, 9);
    in.set(beyond_32_bits - 1, 9);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceReduce::ArgMax(storage..., in.data(), value.data(), index.data(), beyond_32_bits);
    }));
    EXPECT_EQ(9, value.to_host()[0]);
    EXPECT_EQ(place, index.to_host()[0]);
  }
}

TEST(device_segmented_reduce_large, segments_of_one_size) {
  bytes in(beyond_32_bits + 1000);
  if (in.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  for (const std::int64_t size : {std::int64_t{100}, std::int64_t{1000003}, beyond_31_bits}) {
    const std::int64_t segments = beyond_32_bits / size;
    device_vector<std::int64_t> out(static_cast<std::size_t>(segments));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceSegmentedReduce::Sum(storage..., in.data(), out.data(), segments, size);
    }));
    EXPECT_EQ(std::vector<std::int64_t>(static_cast<std::size_t>(segments), size), out.to_host());
  }
}

TEST(device_segmented_reduce_large, segments_by_offsets) {
  bytes in(beyond_32_bits);
  if (in.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  // Lengths 0, 1, 2, ..., 92,681. The longest segments begin beyond 2^31.
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t length = 0; offsets.back() + length <= beyond_32_bits; ++length) {
    offsets.push_back(offsets.back() + length);
  }
  // Two more segments, of which the last one begins beyond 2^32.
  offsets.push_back(beyond_32_bits - 3);
  offsets.push_back(beyond_32_bits);
  const device_vector<std::int64_t> d_offsets(offsets);
  const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
  device_vector<std::int64_t> out(static_cast<std::size_t>(segments));
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceSegmentedReduce::Sum(storage..., in.data(), out.data(), segments, d_offsets.data(),
                                      d_offsets.data() + 1);
  }));
  const auto sums = out.to_host();
  for (std::size_t s = 0; s < sums.size(); ++s) {
    ASSERT_EQ(offsets[s + 1] - offsets[s], sums[s]) << s;
  }
}

// 20,000 segments of at least 70,000 items have more chunks than temporary storage has room for.
TEST(device_segmented_reduce_large, many_long_segments) {
  constexpr std::int64_t segments = 20000;
  std::vector<std::int64_t> begins(segments);
  std::vector<std::int64_t> ends(segments);
  std::vector<std::int64_t> expected(segments);
  for (std::int64_t s = 0; s < segments; ++s) {
    const auto i = static_cast<std::size_t>(s);
    const std::int64_t length = 70000 + s;
    begins[i] = 3 * s;
    ends[i] = 3 * s + length;
    expected[i] = length * 3 * s + length * (length - 1) / 2;
  }
  const device_vector<std::int64_t> d_begins(begins);
  const device_vector<std::int64_t> d_ends(ends);
  device_vector<std::int64_t> out(segments);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceSegmentedReduce::Sum(storage..., counting<std::int64_t>(0), out.data(), segments, d_begins.data(),
                                      d_ends.data());
  }));
  EXPECT_EQ(expected, out.to_host());
}

struct items_before_segment {
  std::int64_t empty_segments;
  std::int64_t length;
  STRATA_HD std::int64_t operator()(std::int64_t segment) const {
    return segment < empty_segments ? 0 : (segment - empty_segments) * length;
  }
};

TEST(device_segmented_reduce_large, very_many_segments) {
  constexpr std::int64_t segments = 50000000;
  device_vector<int> out(segments);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceSegmentedReduce::Sum(storage..., counting<int>(0), out.data(), segments, 3);
  }));
  const std::vector<int> sums = out.to_host();
  for (std::size_t s = 0; s < sums.size(); ++s) {
    ASSERT_EQ(static_cast<int>(9 * s + 3), sums[s]);
  }
}

// There are more segments than 32 bits can count. Nearly all of them are empty, so that the call takes only
// milliseconds.
TEST(device_segmented_reduce_large, more_segments_than_32_bits_count_most_of_them_empty) {
  constexpr std::int64_t segments = (std::int64_t{1} << 32) + 2000000, full = 3000000, length = 200;
  bytes out(segments);
  if (out.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  const transforming offsets(counting<std::int64_t>(0), items_before_segment{segments - full, length});
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceSegmentedReduce::Sum(storage..., constant<int>(1), out.data(), segments, offsets, offsets + 1);
  }));
  // Each byte was 1 before the call, so an empty segment without a result would change the sum.
  EXPECT_EQ(full * length, result_of<std::int64_t>([&](std::int64_t* sum, auto&&... storage) {
              return DeviceReduce::Sum(storage..., out.data(), sum, segments);
            }));
  std::vector<std::uint8_t> last(full + 1000);
  ASSERT_CUDA_SUCCESS(
      cudaMemcpy(last.data(), out.data() + segments - full - 1000, last.size(), cudaMemcpyDeviceToHost));
  std::vector<std::uint8_t> expected(1000, 0);
  expected.resize(last.size(), static_cast<std::uint8_t>(length));
  EXPECT_EQ(expected, last);
}

}  // namespace
