// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scans of more items than 31 bits can count, checked on the device.
#include <strata/core/launcher.cuh>
#include <strata/device/device_scan.cuh>

#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/test_iterators.cuh"

namespace {

using namespace device_test;
using strata::DeviceScan;

constexpr std::int64_t beyond_31_bits = (std::int64_t{1} << 31) + 5;
constexpr std::int64_t beyond_32_bits = (std::int64_t{1} << 32) + 5;

/// Plain device memory without guard bands, which are slow to check at this size.
class bytes {
 public:
  explicit bytes(std::int64_t size) {
    if (cudaMalloc(&data_, static_cast<std::size_t>(size)) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      data_ = nullptr;
    }
  }
  ~bytes() { EXPECT_CUDA_SUCCESS(cudaFree(data_)); }
  bytes(const bytes&) = delete;
  bytes& operator=(const bytes&) = delete;
  std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* data_ = nullptr;
};

STRATA_HD std::uint8_t mixed(std::uint64_t i) {
  i *= 0x9e3779b97f4a7c15ull;
  return static_cast<std::uint8_t>(i >> 56);
}

// Item i is mixed(i + 1) - mixed(i) modulo 256. So each sum is a difference of two values of mixed(), which the device
// can check without a scan.
STRATA_KERNEL void fill_with_differences(std::uint8_t* to, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    const auto at = static_cast<std::uint64_t>(i);
    to[i] = static_cast<std::uint8_t>(mixed(at + 1) - mixed(at));
  }
}
STRATA_KERNEL void count_wrong_sums(const std::uint8_t* sums, std::int64_t count, std::uint8_t init,
                                    std::uint64_t first, unsigned long long* wrong) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    const auto at = static_cast<std::uint64_t>(i) + first;
    if (sums[i] != static_cast<std::uint8_t>(init + mixed(at))) atomicAdd(wrong, 1ull);
  }
}

constexpr dim3 blocks{1056};
constexpr dim3 threads{512};

unsigned long long wrong_sums(const std::uint8_t* sums, std::int64_t count, std::uint8_t init, std::uint64_t first) {
  device_vector<unsigned long long> wrong(std::vector<unsigned long long>{0});
  EXPECT_CUDA_SUCCESS(
      strata::launch({"count_wrong_sums", blocks, threads}, count_wrong_sums, sums, count, init, first, wrong.data()));
  return wrong.to_host()[0];
}

TEST(device_scan_large, sums_of_bytes) {
  for (const std::int64_t size : {beyond_31_bits, beyond_32_bits}) {
    bytes in(size + 1);
    bytes out(size + 1);
    if (in.data() == nullptr || out.data() == nullptr) GTEST_SKIP() << "not enough device memory";
    ASSERT_CUDA_SUCCESS(
        strata::launch({"fill_with_differences", blocks, threads}, fill_with_differences, in.data(), size + 1));
    // The sum before item i is mixed(i) - mixed(0).
    EXPECT_CUDA_SUCCESS(in_two_phases(
        [&](auto&&... storage) { return DeviceScan::ExclusiveSum(storage..., in.data(), out.data(), size); }));
    EXPECT_EQ(0u, wrong_sums(out.data(), size, static_cast<std::uint8_t>(-mixed(0)), 0)) << size;
    // From and to odd addresses, with an unsigned count.
    const auto count = static_cast<std::size_t>(size);
    EXPECT_CUDA_SUCCESS(in_two_phases(
        [&](auto&&... storage) { return DeviceScan::InclusiveSum(storage..., in.data() + 1, out.data() + 1, count); }));
    EXPECT_EQ(0u, wrong_sums(out.data() + 1, size, static_cast<std::uint8_t>(-mixed(1)), 2)) << size;
    // In place.
    EXPECT_CUDA_SUCCESS(
        in_two_phases([&](auto&&... storage) { return DeviceScan::InclusiveSum(storage..., in.data(), size); }));
    EXPECT_EQ(0u, wrong_sums(in.data(), size, static_cast<std::uint8_t>(-mixed(0)), 1)) << size;
  }
}

struct low_byte_difference {
  STRATA_HD std::uint8_t operator()(std::int64_t i) const {
    const auto at = static_cast<std::uint64_t>(i);
    return static_cast<std::uint8_t>(mixed(at + 1) - mixed(at));
  }
};

TEST(device_scan_large, sums_of_what_an_iterator_makes) {
  bytes out(beyond_32_bits);
  if (out.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  const transforming<counting<std::int64_t>, low_byte_difference> in(counting<std::int64_t>(0), low_byte_difference{});
  EXPECT_CUDA_SUCCESS(in_two_phases(
      [&](auto&&... storage) { return DeviceScan::InclusiveSum(storage..., in, out.data(), beyond_32_bits); }));
  EXPECT_EQ(0u, wrong_sums(out.data(), beyond_32_bits, static_cast<std::uint8_t>(-mixed(0)), 1));
}

TEST(device_scan_large, sum_with_a_32_bit_count_above_31_bits) {
  bytes out(beyond_31_bits);
  if (out.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  const transforming<counting<std::int64_t>, low_byte_difference> in(counting<std::int64_t>(0), low_byte_difference{});
  EXPECT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceScan::ExclusiveSum(storage..., in, out.data(), static_cast<unsigned>(beyond_31_bits));
  }));
  EXPECT_EQ(0u, wrong_sums(out.data(), beyond_31_bits, static_cast<std::uint8_t>(-mixed(0)), 0));
}

}  // namespace
