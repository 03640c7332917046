// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How device tests make calls. Temporary storage has exactly the size that the call asked for, lies between guard
// bands, and holds garbage, like memory that was used before.
#pragma once

#include <strata/core/chained_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

#include "support/test_support.cuh"

namespace device_test {

using strata_test::device_vector;
using strata_test::is_small;

/// A policy hub of one policy, which has the tuning rows of `Rows`.
template <class Rows>
struct one_policy_hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, Rows> {};
  using MaxPolicy = Policy;
};

template <class T>
T if_small(T small, T otherwise) {
  return is_small() ? small : otherwise;
}

// ------------------------------------------------------------------ temporary storage

enum class contents { zeros, ones, random };
inline constexpr contents all_contents[] = {contents::zeros, contents::ones, contents::random};

/// Temporary storage between guard bands, `misalignment` bytes above a multiple of 256.
class scratch : public strata_test::guarded_memory {
 public:
  explicit scratch(std::size_t bytes, std::size_t misalignment = 0) : guarded_memory(bytes, misalignment) {
    fill(contents::random);
  }

  void fill(contents what) const {
    if (what != contents::random) {
      guarded_memory::fill(what == contents::ones ? 0xff : 0);
      return;
    }
    static std::mt19937_64 bits = strata_test::random_bits(1000);
    std::vector<std::uint64_t> words(bytes() / 8 + 1);
    for (std::uint64_t& word : words) word = bits();
    write(words.data());
  }
  std::vector<unsigned char> read() const {
    std::vector<unsigned char> all(bytes());
    guarded_memory::read(all.data());
    return all;
  }
};

/// Asks `call(nullptr, bytes)` for the size of the storage, makes `call(storage, bytes)`, and waits for the device.
/// Returns the first error.
template <class Call>
cudaError_t in_two_phases(const Call& call, contents garbage, std::size_t misalignment = 0) {
  std::size_t bytes = 0;
  cudaError_t status = call(nullptr, bytes);
  if (status != cudaSuccess) return status;
  EXPECT_GT(bytes, 0u);
  const scratch storage(bytes, misalignment);
  storage.fill(garbage);
  std::size_t given = bytes;
  status = call(storage.data(), given);
  EXPECT_EQ(bytes, given) << "the call changed temp_storage_bytes";
  const cudaError_t execution = cudaDeviceSynchronize();
  return status != cudaSuccess ? status : execution;
}

/// Makes a two-phase call. The kind of garbage in the storage changes from call to call.
template <class Call>
cudaError_t in_two_phases(const Call& call) {
  static unsigned calls = 0;
  return in_two_phases(call, all_contents[calls++ % 3]);
}

/// Makes a call that may be refused, because of its arguments or because it gets one byte less storage than it asks
/// for.
template <class Call>
cudaError_t in_storage(bool is_one_byte_short, const Call& call) {
  std::size_t bytes = 0;
  const cudaError_t query = call(nullptr, bytes);
  if (query != cudaSuccess) return query;
  EXPECT_GT(bytes, 0u);
  const scratch storage(bytes);
  if (is_one_byte_short) --bytes;
  const cudaError_t status = call(storage.data(), bytes);
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  return status;
}

/// Makes `call()`, which has no storage arguments, and waits for the device. Returns the first error.
template <class Call>
cudaError_t in_one_phase(const Call& call) {
  const cudaError_t status = call();
  const cudaError_t execution = cudaDeviceSynchronize();
  return status != cudaSuccess ? status : execution;
}

/// Returns the item that `call(T* out, storage...)` writes, in two phases.
template <class T, class Call>
T result_of(const Call& call) {
  device_vector<T> out(1);
  EXPECT_CUDA_SUCCESS(
      in_two_phases([&](auto&&... storage) { return call(out.data(), std::forward<decltype(storage)>(storage)...); }));
  return out.to_host()[0];
}

/// Returns the `count` items that `call(T* out, storage...)` writes. Guard bands beside them show writes out of bounds.
template <class T, class Call>
std::vector<T> results_of(std::int64_t count, const Call& call) {
  device_vector<T> out(static_cast<std::size_t>(count));
  EXPECT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) { return call(out.data(), storage...); }));
  return out.to_host();
}

/// Returns the item that `call(T* out)`, which has no storage arguments, writes.
template <class T, class Call>
T result_without_storage(const Call& call) {
  device_vector<T> out(1);
  EXPECT_CUDA_SUCCESS(in_one_phase([&] { return call(out.data()); }));
  return out.to_host()[0];
}

// ------------------------------------------------------------------ sizes and data

using sizes = std::initializer_list<std::size_t>;

/// Ascending sizes from 0 to `largest`: powers of two and three times powers of two, with their neighbours. Warps,
/// blocks and tiles end there.
inline std::vector<std::size_t> boundary_sizes(std::size_t largest) {
  std::vector<std::size_t> all = {0, 1, 2, 3};
  for (std::size_t power = 4; power <= largest; power *= 2) {
    for (const std::size_t near : {power, power / 2 * 3}) {
      for (const std::size_t size : {near - 1, near, near + 1}) {
        if (size > all.back() && size <= largest) all.push_back(size);
      }
    }
  }
  return all;
}

/// boundary_sizes, and one size with many tiles for each block.
inline std::vector<std::size_t> usual_sizes() {
  std::vector<std::size_t> all = boundary_sizes(if_small<std::size_t>(1u << 14, 1u << 17));
  all.push_back(if_small((1u << 16) + 3, (1u << 20) + 3));
  return all;
}

/// Uniform random integers from `low` to `high`, converted to T.
template <class T>
std::vector<T> random_integers(std::size_t count, long long low, long long high, std::uint64_t stream = 0) {
  std::mt19937_64 bits = strata_test::random_bits(stream);
  std::uniform_int_distribution<long long> value(low, high);
  std::vector<T> items(count);
  for (T& item : items) item = static_cast<T>(value(bits));
  return items;
}

template <class T>
std::vector<T> random_reals(std::size_t count, double low, double high, std::uint64_t stream = 0) {
  std::mt19937_64 bits = strata_test::random_bits(stream);
  std::uniform_real_distribution<double> value(low, high);
  std::vector<T> items(count);
  for (T& item : items) item = static_cast<T>(value(bits));
  return items;
}

// ------------------------------------------------------------------ streams and graphs

class stream {
 public:
  stream() { EXPECT_CUDA_SUCCESS(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~stream() { EXPECT_CUDA_SUCCESS(cudaStreamDestroy(stream_)); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void synchronize() const { EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A graph of what `issue(stream)` launches, captured instead of executed.
class graph {
 public:
  template <class Issue>
  explicit graph(const Issue& issue) {
    const stream recorder;
    EXPECT_CUDA_SUCCESS(cudaStreamBeginCapture(recorder, cudaStreamCaptureModeThreadLocal));
    status_ = issue(static_cast<cudaStream_t>(recorder));
    EXPECT_CUDA_SUCCESS(cudaStreamEndCapture(recorder, &graph_));
  }
  ~graph() {
    if (executable_ != nullptr) {
      EXPECT_CUDA_SUCCESS(cudaGraphExecDestroy(executable_));
    }
    if (graph_ != nullptr) {
      EXPECT_CUDA_SUCCESS(cudaGraphDestroy(graph_));
    }
  }
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  /// Returns what `issue` returned.
  cudaError_t status() const { return status_; }

  std::size_t nodes() const {
    std::size_t count = 0;
    EXPECT_CUDA_SUCCESS(cudaGraphGetNodes(graph_, nullptr, &count));
    return count;
  }
  void replay(cudaStream_t where) {
    if (executable_ == nullptr) {
      ASSERT_CUDA_SUCCESS(cudaGraphInstantiate(&executable_, graph_, 0));
    }
    ASSERT_CUDA_SUCCESS(cudaGraphLaunch(executable_, where));
  }

 private:
  cudaError_t status_ = cudaSuccess;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace device_test
