// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceMemcpy and DeviceCopy write the same as CUB's.
#include <strata/device/device_copy.cuh>
#include <strata/device/device_memcpy.cuh>

#include <cub/device/device_copy.cuh>
#include <cub/device/device_memcpy.cuh>

#include <cstdint>
#include <random>
#include <vector>

#include "device/test_iterators.cuh"
#include "device/transform/device_batched_copy_support.cuh"

namespace device_memcpy_cub_test {

using namespace device_test;

struct by_strata {
  using memcpy = strata::DeviceMemcpy;
  using copy = strata::DeviceCopy;
};
struct by_cub {
  using memcpy = cub::DeviceMemcpy;
  using copy = cub::DeviceCopy;
};

template <class T>
struct as_iterator {
  STRATA_HD strided<T> operator()(T* first) const { return strided<T>(first, 1); }
};

/// Compares the whole pool of destinations after the call of each library.
template <class T, class Call>
void expect_the_same(const buffer_places& places, const Call& call) {
  SCOPED_TRACE(places.name);
  buffer_pools<T> pools(places);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) { return call(by_cub{}, pools, storage...); }));
  const std::vector<T> theirs = pools.out.to_host();
  pools.out.poison();
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) { return call(by_strata{}, pools, storage...); }));
  ASSERT_EQ(theirs, pools.out.to_host());
}

/// Random batches: from few long to many short buffers.
std::vector<buffer_places> random_batches() {
  std::vector<buffer_places> batches;
  std::mt19937_64 bits = strata_test::random_bits(4711);
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::size_t count = bits() % (std::size_t{1} << bits() % 18) + 1;
    const std::size_t largest = (std::size_t{1} << 26) / count;
    batches.push_back(scattered_buffers("batch " + std::to_string(i), sizes_of_all_scales(count, largest, bits()),
                                        bits() % 33, bits()));
  }
  return batches;
}

TEST(device_memcpy_cub, random_buffers) {
  for (const buffer_places& places : random_batches()) {
    expect_the_same<unsigned char>(places, [](auto library, auto& pools, void* storage, std::size_t& bytes) {
      return decltype(library)::memcpy::Batched(storage, bytes, pools.inputs.data(), pools.outputs.data(),
                                                pools.sizes.data(), pools.count());
    });
  }
}

TEST(device_copy_cub, random_ranges_of_pointers) {
  for (const buffer_places& places : random_batches()) {
    expect_the_same<std::uint32_t>(places, [](auto library, auto& pools, void* storage, std::size_t& bytes) {
      return decltype(library)::copy::Batched(storage, bytes, pools.inputs.data(), pools.outputs.data(),
                                              pools.sizes.data(), pools.count());
    });
  }
}

TEST(device_copy_cub, random_ranges_of_iterators) {
  for (const buffer_places& places : random_batches()) {
    expect_the_same<std::uint32_t>(places, [](auto library, auto& pools, void* storage, std::size_t& bytes) {
      const transforming<const std::uint32_t* const*, as_iterator<const std::uint32_t>> inputs(pools.inputs.data(), {});
      return decltype(library)::copy::Batched(storage, bytes, inputs, pools.outputs.data(), pools.sizes.data(),
                                              pools.count());
    });
  }
}

}  // namespace device_memcpy_cub_test
