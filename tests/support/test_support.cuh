// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by tests of device code: device memory with guard bands, error checks, seeds, sizes, and calls with temporary
// storage. Types, operators and random values are in test_types.cuh.
//
// A test program built for a GPU exits with 77, "skipped", on a machine without one.
#pragma once

#include <strata/core/platform.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

#include "support/seed.hpp"

/// Expects that a CUDA call succeeds. A failure shows the name of the error. ASSERT returns from the (void) function,
/// EXPECT continues.
#define ASSERT_CUDA_SUCCESS(...) ASSERT_PRED_FORMAT1(::strata_test::is_success, (__VA_ARGS__))
#define EXPECT_CUDA_SUCCESS(...) EXPECT_PRED_FORMAT1(::strata_test::is_success, (__VA_ARGS__))
#define STRATA_TEST_SUCCESS(...) ASSERT_CUDA_SUCCESS(__VA_ARGS__)

namespace strata_test {

inline testing::AssertionResult is_success(const char* expression, cudaError_t error) {
  if (error == cudaSuccess) return testing::AssertionSuccess();
  return testing::AssertionFailure() << expression << "\n  returned " << cudaGetErrorName(error) << ": "
                                     << cudaGetErrorString(error);
}

// ---------------------------------------------------------------------------- size of the cases
/// True in builds that watch every access, which have fewer and smaller cases.
#if defined(STRATA_TEST_SMALL)
inline constexpr bool small_cases = true;
#else
inline constexpr bool small_cases = false;
#endif
/// True if cases should be small: in the builds above, or if STRATA_TEST_QUICK is set in the environment.
inline bool is_small() {
  static const bool is_quick = std::getenv("STRATA_TEST_QUICK") != nullptr;
  return small_cases || is_quick;
}

// ---------------------------------------------------------------------------- the device
/// On the host back end, sets the number of multiprocessors of the device during its lifetime.
class device_of_multiprocessors {
 public:
  explicit device_of_multiprocessors([[maybe_unused]] unsigned multiprocessors) {
#if STRATA_HOST_SIMT
    strata::simt::config().multiprocessors = multiprocessors;
#endif
  }
  ~device_of_multiprocessors() {
#if STRATA_HOST_SIMT
    strata::simt::config().multiprocessors = before_;
#endif
  }
  device_of_multiprocessors(const device_of_multiprocessors&) = delete;
  device_of_multiprocessors& operator=(const device_of_multiprocessors&) = delete;

#if STRATA_HOST_SIMT
 private:
  unsigned before_ = strata::simt::config().multiprocessors;
#endif
};

// ---------------------------------------------------------------------------- sizes
/// Returns 0, 1, and each unit with its two neighbours, up to `largest`, ascending and without duplicates.
inline std::vector<std::size_t> boundary_sizes(std::initializer_list<std::size_t> units,
                                               std::size_t largest = ~std::size_t{0}) {
  std::vector<std::size_t> sizes = {0, 1};
  for (std::size_t unit : units) {
    for (std::size_t size : {unit - 1, unit, unit + 1}) sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  sizes.erase(std::upper_bound(sizes.begin(), sizes.end(), largest), sizes.end());
  return sizes;
}

// ---------------------------------------------------------------------------- randomness
/// A generator that depends only on the seed and on `stream`.
inline std::mt19937_64 random_bits(std::uint64_t stream = 0) {
  std::seed_seq sequence{seed(), seed() >> 32, stream, stream >> 32};
  return std::mt19937_64(sequence);
}

/// Random integers, uniform in [low, high].
inline std::vector<int> random_integers(std::size_t count, int low, int high, std::uint64_t stream = 0) {
  std::mt19937_64 bits = random_bits(stream);
  std::uniform_int_distribution<int> value(low, high);
  std::vector<int> values(count);
  for (int& v : values) v = value(bits);
  return values;
}

// ---------------------------------------------------------------------------- device memory
/// `bytes` bytes of device memory, filled with 0xCD, between guard bands that the destructor checks. The memory begins
/// `misalignment` bytes after a multiple of 256.
class guarded_memory {
 public:
  static constexpr unsigned char poison = 0xCD;

  explicit guarded_memory(std::size_t bytes, std::size_t misalignment = 0) : bytes_(bytes), lead_(band + misalignment) {
    EXPECT_CUDA_SUCCESS(cudaMalloc(&base_, allocated()));
    EXPECT_CUDA_SUCCESS(cudaMemset(base_, guard, allocated()));
    fill(poison);
  }
  ~guarded_memory() {
    expect_guards_intact();
    EXPECT_CUDA_SUCCESS(cudaFree(base_));
  }
  guarded_memory(const guarded_memory&) = delete;
  guarded_memory& operator=(const guarded_memory&) = delete;

  void* data() const { return base_ + lead_; }
  std::size_t bytes() const { return bytes_; }

  void fill(unsigned char byte) const {
    if (bytes_ == 0) return;
    EXPECT_CUDA_SUCCESS(cudaMemset(data(), byte, bytes_));
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  }
  void write(const void* from) const {
    if (bytes_ == 0) return;
    EXPECT_CUDA_SUCCESS(cudaMemcpy(data(), from, bytes_, cudaMemcpyHostToDevice));
    // A copy from pageable memory may return before its bytes have arrived. A stream that does not wait for the default
    // stream could then read too early.
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  }
  /// Waits for the default stream.
  void read(void* to) const {
    if (bytes_ == 0) return;
    EXPECT_CUDA_SUCCESS(cudaMemcpy(to, data(), bytes_, cudaMemcpyDeviceToHost));
  }

  void expect_guards_intact() const {
    std::vector<unsigned char> all(allocated());
    ASSERT_CUDA_SUCCESS(cudaMemcpy(all.data(), base_, all.size(), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i == lead_) i += bytes_;
      ASSERT_EQ(guard, all[i]) << "byte " << static_cast<std::ptrdiff_t>(i - lead_) << " of " << bytes_
                               << " bytes of device memory was written";
    }
  }

 private:
  static constexpr std::size_t band = 1024;
  static constexpr unsigned char guard = 0x5A;
  std::size_t allocated() const { return lead_ + bytes_ + band; }

  std::size_t bytes_;
  std::size_t lead_;
  unsigned char* base_ = nullptr;
};

/// An array in device memory, between guard bands; poisoned, or a copy of a host array.
template <class T>
class device_vector {
 public:
  explicit device_vector(std::size_t size) : size_(size), memory_(size * sizeof(T)) {}
  explicit device_vector(const std::vector<T>& items) : device_vector(items.size()) { memory_.write(items.data()); }

  T* data() { return static_cast<T*>(memory_.data()); }
  const T* data() const { return static_cast<const T*>(memory_.data()); }
  std::size_t size() const { return size_; }

  std::vector<T> to_host() const {
    std::vector<T> items(size_);
    memory_.read(items.data());
    return items;
  }
  void assign(const std::vector<T>& items) {
    ASSERT_EQ(size_, items.size());
    memory_.write(items.data());
  }
  void poison() { memory_.fill(guarded_memory::poison); }
  void expect_guards_intact() const { memory_.expect_guards_intact(); }

 private:
  std::size_t size_;
  guarded_memory memory_;
};

/// True if every byte still has the value that device_vector(size) sets, so nothing was written.
template <class T>
bool is_poison(const T& item) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &item, sizeof(T));
  return std::all_of(bytes, bytes + sizeof(T), [](unsigned char byte) { return byte == guarded_memory::poison; });
}

// ---------------------------------------------------------------------------- two-phase calls
/// Makes both calls of a two-phase function, `call(void* d_temp_storage, size_t& bytes)`. The storage has exactly the
/// size that the first call returned. It is poisoned, lies between guard bands, and begins `misalignment` bytes after a
/// multiple of 256. Returns the first error, either of a call or of the execution.
template <class Call>
cudaError_t call_with_temp_storage(const Call& call, std::size_t misalignment = 0) {
  std::size_t bytes = 0;
  cudaError_t status = call(nullptr, bytes);
  if (status != cudaSuccess) return status;
  EXPECT_GT(bytes, 0u) << "the size query asks for nothing";
  const guarded_memory storage(bytes, misalignment);
  std::size_t given = bytes;
  status = call(storage.data(), given);
  EXPECT_EQ(bytes, given) << "the second call changed the number of bytes";
  const cudaError_t execution = cudaDeviceSynchronize();
  return status != cudaSuccess ? status : execution;
}

// ---------------------------------------------------------------------------- the program
class seed_printer : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& info) override {
    if (info.result()->Failed()) {
      std::printf("to repeat: STRATA_TEST_SEED=%llu --gtest_filter=%s.%s\n", static_cast<unsigned long long>(seed()),
                  info.test_suite_name(), info.name());
    }
  }
};

class device_environment : public testing::Environment {
  void SetUp() override {
#if !STRATA_HOST_SIMT
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
      std::printf("skipped: no CUDA device\n");
      std::fflush(stdout);
      std::_Exit(77);
    }
#endif
  }
};

// Runs before main(), so that tests can link GoogleTest's main().
inline const bool program_is_set_up = [] {
  testing::AddGlobalTestEnvironment(new device_environment);
  testing::UnitTest::GetInstance()->listeners().Append(new seed_printer);
  return true;
}();

}  // namespace strata_test
