// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Arrays of more items than 31 bits can count, filled and checked on the device.
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"

namespace device_test {

/// Plain device memory without guard bands, which are slow to check at this size.
template <class T>
class array {
 public:
  explicit array(std::size_t size) {
    if (cudaMalloc(&data_, size * sizeof(T)) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      data_ = nullptr;
    }
  }
  ~array() { EXPECT_CUDA_SUCCESS(cudaFree(data_)); }
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

inline constexpr dim3 blocks{1056};
inline constexpr dim3 threads{512};

template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), Arguments... arguments) {
  ASSERT_CUDA_SUCCESS(strata::launch({"check", blocks, threads}, kernel, arguments...));
}

// The factor is odd, so no two item numbers of 32 bits have the same key.
inline constexpr std::uint32_t factor = 0x9e3779b1u;
constexpr std::uint32_t inverse_of(std::uint32_t odd) {
  std::uint32_t result = odd;  // Right in 3 bits; each step doubles them.
  for (int step = 0; step < 5; ++step) result *= 2 - odd * result;
  return result;
}
inline constexpr std::uint32_t inverse = inverse_of(factor);
static_assert(factor * inverse == 1, "");

template <class Key>
STRATA_HD Key key_of_item(std::size_t i) {
  const auto low = static_cast<std::uint32_t>(i);
  return static_cast<Key>((low * factor + static_cast<std::uint32_t>(i >> 32)) >> (32 - 8 * sizeof(Key)));
}

template <class Use>
STRATA_D void for_all(std::size_t count, const Use& use) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    use(i);
  }
}

template <class Key>
STRATA_KERNEL void fill_keys(Key* keys, std::size_t count) {
  for_all(count, [&](std::size_t i) { keys[i] = key_of_item<Key>(i); });
}
STRATA_KERNEL void fill_places(std::uint32_t* values, std::size_t count) {
  for_all(count, [&](std::size_t i) { values[i] = static_cast<std::uint32_t>(i); });
}

/// Counts wrong pairs among the sorted items `first` to `end - 1`: keys that do not belong to their values, neighbours
/// in the wrong order, and values from elsewhere. If there are none, each item is there once.
STRATA_KERNEL void count_wrong_pairs(const std::uint8_t* keys, const std::uint32_t* values, std::size_t first,
                                     std::size_t end, unsigned long long* wrong) {
  for_all(end - first, [&](std::size_t i) {
    bool is_right = values[i] >= first && values[i] < end && keys[i] == key_of_item<std::uint8_t>(values[i]);
    if (i > 0) {
      is_right = is_right && (keys[i - 1] < keys[i] || (keys[i - 1] == keys[i] && values[i - 1] < values[i]));
    }
    if (!is_right) atomicAdd(wrong, 1ull);
  });
}

class counter {
 public:
  counter() : count_(std::vector<unsigned long long>{0}) {}
  unsigned long long* data() { return count_.data(); }
  unsigned long long get() const { return count_.to_host()[0]; }

 private:
  device_vector<unsigned long long> count_;
};

/// Makes the two-phase call `call(storage, bytes)`, which must succeed. Returns false if there is no memory for the
/// storage.
template <class Call>
bool ran(const Call& call) {
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(call(nullptr, bytes));
  const array<unsigned char> storage(bytes);
  if (storage.data() == nullptr) return false;
  EXPECT_CUDA_SUCCESS(call(storage.data(), bytes));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  return true;
}
#define SKIP_UNLESS(has_memory) \
  if (!(has_memory)) GTEST_SKIP() << "not enough device memory"

}  // namespace device_test
