// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceScan gives the same results as CUB's, with the library's tuning, at random sizes and on a device that other
// kernels keep busy.
#include <strata/core/launcher.cuh>
#include <strata/device/device_scan.cuh>

#include <cub/device/device_scan.cuh>

#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_support.cuh"
#include "support/test_types.cuh"

namespace {

using namespace device_test;
using strata_test::join;
using strata_test::string_hash;

// Stand for the libraries in `call(library, storage, bytes, out)`.
struct by_strata {
  using scan = strata::DeviceScan;
};
struct by_cub {
  using scan = cub::DeviceScan;
};

// Sums of floats reach 2^23, where neighbouring floats differ by one, and each library adds in its own order.
constexpr double tolerance = 256;

// Compares on the device, because copying 2^24 items to the host is slow.
template <class T>
STRATA_KERNEL void compare(const T* a, const T* b, std::size_t count, unsigned long long* differences,
                           unsigned long long* first) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    bool is_same;
    if constexpr (std::is_floating_point_v<T>) {
      is_same = fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])) <= tolerance;
    } else {
      is_same = a[i] == b[i];
    }
    if (is_same) continue;
    atomicAdd(differences, 1ull);
    atomicMin(first, static_cast<unsigned long long>(i));
  }
}

template <class T>
void expect_the_same(const device_vector<T>& expected, const device_vector<T>& actual, std::size_t count) {
  device_vector<unsigned long long> counts(std::vector<unsigned long long>{0, ~0ull});
  ASSERT_CUDA_SUCCESS(strata::launch({"compare", dim3(264), dim3(512)}, compare<T>, expected.data(), actual.data(),
                                     count, counts.data(), counts.data() + 1));
  const auto found = counts.to_host();
  ASSERT_EQ(0u, found[0]) << "of " << count << " items differ, the first is " << found[1];
}

// ------------------------------------------------------------------ random sizes

constexpr std::size_t most = std::size_t{1} << 24;

template <class T>
std::vector<T> inputs(std::size_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    return random_reals<T>(count, 0.0, 1.0);
  } else {
    return scan_items<T>::make(count);
  }
}
template <class T>
using operator_for = std::conditional_t<std::is_same_v<T, string_hash>, join, strata::Sum>;

template <class T>
class DeviceScanCub : public ::testing::Test {};
#if defined(STRATA_TEST_FEW_TYPES)
using item_types = ::testing::Types<std::int8_t, string_hash>;
#else
using item_types = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, float, string_hash>;
#endif
TYPED_TEST_SUITE(DeviceScanCub, item_types);

TYPED_TEST(DeviceScanCub, scans_of_any_size_and_address_are_the_same) {
  using T = TypeParam;
  const operator_for<T> op{};
  const device_vector<T> in(inputs<T>(most + 64));
  const T init = inputs<T>(1)[0];
  std::mt19937_64 bits = strata_test::random_bits(11);
  const int repeats = if_small(10, 60);
  for (int i = 0; i < repeats; ++i) {
    // Sizes of all magnitudes, and the largest.
    const std::size_t size = i == 0 ? most : 1 + bits() % (std::size_t{1} << (4 + bits() % 21));
    const std::size_t start = bits() % 17;
    SCOPED_TRACE(testing::Message() << size << " items from " << start);
    device_vector<T> ours(size);
    device_vector<T> theirs(size);
    const auto both = [&](const auto& call) {
      EXPECT_CUDA_SUCCESS(in_two_phases(
          [&](void* storage, std::size_t& bytes) { return call(by_strata{}, storage, bytes, ours.data()); }));
      EXPECT_CUDA_SUCCESS(in_two_phases(
          [&](void* storage, std::size_t& bytes) { return call(by_cub{}, storage, bytes, theirs.data()); }));
      expect_the_same(theirs, ours, size);
    };
    both([&](auto library, void* storage, std::size_t& bytes, T* out) {
      return decltype(library)::scan::ExclusiveScan(storage, bytes, in.data() + start, out, op, init, size);
    });
    both([&](auto library, void* storage, std::size_t& bytes, T* out) {
      return decltype(library)::scan::InclusiveScan(storage, bytes, in.data() + start, out, op, size);
    });
    if (this->HasFatalFailure()) return;
  }
}

TEST(device_scan_cub, an_initial_value_of_the_future_is_the_same) {
  const std::size_t size = 3000000;
  const device_vector<int> in(random_integers<int>(size, -100, 100));
  device_vector<int> init(std::vector<int>{12345});
  device_vector<int> ours(size);
  device_vector<int> theirs(size);
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::DeviceScan::ExclusiveScan(storage, bytes, in.data(), ours.data(), strata::Sum{},
                                             strata::FutureValue<int, const int*>(init.data()), size);
  }));
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScan(storage, bytes, in.data(), theirs.data(), strata::Sum{},
                                          cub::FutureValue<int>(init.data()), size);
  }));
  expect_the_same(theirs, ours, size);
}

// ------------------------------------------------------------------ a busy device

// Each block stays resident for another number of cycles.
STRATA_KERNEL void occupy(unsigned seed, unsigned most_cycles) {
  unsigned x = seed ^ (blockIdx.x * 2654435761u);
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  const long long begin = clock64();
  while (clock64() - begin < x % most_cycles) {
  }
}

// Scans of random sizes run while kernels of another stream occupy random numbers of multiprocessors for random times.
// So blocks of a scan start late, and not together.
TEST(device_scan_cub, scans_are_right_on_a_busy_device) {
  const std::size_t largest = std::size_t{1} << 22;
  const device_vector<int> in(random_integers<int>(largest, -1000, 1000));
  device_vector<int> expected(largest);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(storage, bytes, in.data(), expected.data(), largest);
  }));
  std::size_t bytes = 0;
  device_vector<int> out(largest);
  ASSERT_CUDA_SUCCESS(strata::DeviceScan::InclusiveSum(nullptr, bytes, in.data(), out.data(), largest));
  const scratch storage(bytes);
  std::mt19937_64 bits = strata_test::random_bits(13);
  const stream others[] = {stream(), stream()};
  const stream on;
  const int scans = if_small(20, 10000);
  for (int i = 0; i < scans; ++i) {
    for (const stream& other : others) {
      if (bits() % 4 == 0) continue;
      const auto blocks = static_cast<unsigned>(1 + bits() % 2000);
      const auto threads = static_cast<unsigned>(32 * (1 + bits() % 32));
      const std::size_t shared = bits() % 3 == 0 ? 40000 : 0;
      ASSERT_CUDA_SUCCESS(strata::launch({"occupy", dim3(blocks), dim3(threads), shared, other}, occupy,
                                         static_cast<unsigned>(bits()), 200000u));
    }
    const std::size_t size = 1 + bits() % (std::size_t{1} << (8 + bits() % 15));
    ASSERT_CUDA_SUCCESS(strata::DeviceScan::InclusiveSum(storage.data(), bytes, in.data(), out.data(), size,
                                                         static_cast<cudaStream_t>(on)));
    on.synchronize();
    expect_the_same(expected, out, size);
    if (HasFatalFailure()) FAIL() << "scan " << i;
  }
  for (const stream& other : others) other.synchronize();
}

}  // namespace
