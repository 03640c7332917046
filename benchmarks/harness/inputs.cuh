// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Makes random inputs on the device, and compares two results there.

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#else
#include <strata/simt/half.hpp>
#endif

#include <strata/core/launcher.cuh>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "harness/cuda.cuh"

namespace bench {

/// splitmix64: every bit of the result depends on every bit of the counter.
__host__ __device__ inline std::uint64_t random_bits(std::uint64_t counter) {
  counter += 0x9e3779b97f4a7c15u;
  counter = (counter ^ (counter >> 30)) * 0xbf58476d1ce4e5b9u;
  counter = (counter ^ (counter >> 27)) * 0x94d049bb133111ebu;
  return counter ^ (counter >> 31);
}

/// Turns 64 random bits into a value. Integers take every bit pattern. Floating-point numbers are uniform in [0, 1).
/// The 16-bit formats are uniform in [-1, 1), so that a sum of 2^28 items stays finite. Specialise it for a user's
/// type.
template <class T>
struct random_value {
  static_assert(std::is_integral_v<T>, "specialise bench::random_value for this type");
  static __device__ T from(std::uint64_t bits) { return static_cast<T>(bits); }
};
template <>
struct random_value<bool> {
  static __device__ bool from(std::uint64_t bits) { return (bits & 1) != 0; }
};
template <>
struct random_value<float> {
  static __device__ float from(std::uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-24f; }
};
template <>
struct random_value<double> {
  static __device__ double from(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
};
template <>
struct random_value<__half> {
  static __device__ __half from(std::uint64_t bits) {
    return __float2half(random_value<float>::from(bits) * 2.0f - 1.0f);
  }
};
template <>
struct random_value<__nv_bfloat16> {
  static __device__ __nv_bfloat16 from(std::uint64_t bits) {
    return __float2bfloat16(random_value<float>::from(bits) * 2.0f - 1.0f);
  }
};

namespace detail {

inline unsigned blocks_for(std::size_t items) {
  return static_cast<unsigned>(std::clamp<std::size_t>((items + 255) / 256, 1, 4096));
}

inline strata::launch_configuration threads_for(const char* name, std::size_t items, cudaStream_t stream) {
  strata::launch_configuration configuration{name, dim3(detail::blocks_for(items)), dim3(256)};
  configuration.stream = stream;
  return configuration;
}

template <class T>
__global__ void generate(T* out, std::size_t size, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    out[i] = random_value<T>::from(random_bits(seed + i));
  }
}

}  // namespace detail

template <class T>
device_array<T> random_array(std::int64_t size, std::uint64_t seed, cudaStream_t stream) {
  device_array<T> values(static_cast<std::size_t>(size));
  // The seed is hashed, so that neighbouring seeds do not give the same sequence shifted by one.
  check(strata::launch(detail::threads_for("generate", values.size(), stream), detail::generate<T>, values.data(),
                       values.size(), random_bits(seed)),
        "generate");
  return values;
}

namespace detail {

template <class Key>
__global__ void generate_runs(Key* keys, std::size_t size) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    // Each group of 16 items has the end of a run at a random place.
    const std::uint64_t group = i / 16;
    const bool is_behind = i % 16 >= random_bits(group) % 16;
    keys[i] = static_cast<Key>(group + (is_behind ? 1 : 0));
  }
}

}  // namespace detail

/// Keys in runs of equal ones, 16 long on average.
inline device_array<std::uint32_t> keys_in_runs(std::int64_t size, cudaStream_t stream) {
  device_array<std::uint32_t> keys(static_cast<std::size_t>(size));
  check(strata::launch(detail::threads_for("generate_runs", keys.size(), stream), detail::generate_runs<std::uint32_t>,
                       keys.data(), keys.size()),
        "generate_runs");
  return keys;
}

/// Floating-point results agree within absolute + relative * |expected|. All other results must be equal.
struct tolerance {
  double relative = 0;
  double absolute = 0;
};

namespace detail {

template <class T>
inline constexpr bool is_floating =
    std::is_floating_point_v<T> || std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

template <class T>
__host__ __device__ double to_double(const T& value) {
  if constexpr (is_floating<T> && sizeof(T) == 2) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

template <class T>
__device__ bool agree(const T& actual, const T& expected, tolerance allowed) {
  if constexpr (is_floating<T>) {
    const double a = to_double(actual);
    const double b = to_double(expected);
    // Written so that a NaN counts as a difference.
    return fabs(a - b) <= allowed.absolute + allowed.relative * fabs(b);
  } else {
    return actual == expected;
  }
}

struct disagreement {
  unsigned long long count;
  unsigned long long first;
};

template <class T>
__global__ void find_disagreement(const T* actual, const T* expected, std::size_t size, tolerance allowed,
                                  disagreement* found) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    if (!agree(actual[i], expected[i], allowed)) {
      atomicAdd(&found->count, 1ull);
      atomicMin(&found->first, static_cast<unsigned long long>(i));
    }
  }
}

}  // namespace detail

/// Returns an empty text if the arrays agree, otherwise the number of differences and the first one.
template <class T>
std::string difference(const device_array<T>& actual, const device_array<T>& expected, tolerance allowed,
                       cudaStream_t stream) {
  device_array<detail::disagreement> found(1);
  found.upload({{0, ~0ull}}, stream);
  check(strata::launch(detail::threads_for("find_disagreement", actual.size(), stream), detail::find_disagreement<T>,
                       actual.data(), expected.data(), actual.size(), allowed, found.data()),
        "find_disagreement");
  check(cudaStreamSynchronize(stream), "find_disagreement");
  const detail::disagreement result = found.value_at(0);
  if (result.count == 0) return "";
  std::string text = std::to_string(result.count) + " of " + std::to_string(actual.size()) +
                     " results differ, the first at " + std::to_string(result.first);
  if constexpr (std::is_arithmetic_v<T> || detail::is_floating<T>) {
    const std::size_t first = result.first;
    text += ": " + std::to_string(detail::to_double(actual.value_at(first))) + ", expected " +
            std::to_string(detail::to_double(expected.value_at(first)));
  }
  return text;
}

}  // namespace bench
