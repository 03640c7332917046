// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the sources of calls (*.inl). These are compiled with CUB and with strata, and record a list of named
// results. A test compares both lists.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/test_support.cuh"

namespace cub_calls {

using strata_test::device_vector;

inline constexpr int num_items = 20011;  // many tiles, the last one partial

/// Returns integers in [0, bound), always the same ones, so that both libraries get them.
template <class T>
std::vector<T> numbers(std::size_t count, unsigned bound, unsigned seed = 1) {
  std::vector<T> all(count);
  std::uint32_t state = 2654435761u * seed;
  for (T& number : all) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<T>((state >> 8) % bound);
  }
  return all;
}

/// The numbers 0 to count - 1, in random order.
template <class T>
std::vector<T> different_numbers(std::size_t count, unsigned seed = 1) {
  const std::vector<unsigned> other = numbers<unsigned>(count, 1u << 24, seed);
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<T>(i);
  for (std::size_t i = count; i > 1; --i) std::swap(all[i - 1], all[other[i - 1] % i]);
  return all;
}

/// Ascending offsets from 0 to `items`, some of whose `segments` are empty.
template <class T>
std::vector<T> segment_offsets(int segments, int items) {
  std::vector<T> all = numbers<T>(static_cast<std::size_t>(segments) + 1, static_cast<unsigned>(items), 7);
  all.front() = 0;
  all.back() = static_cast<T>(items);
  std::sort(all.begin(), all.end());
  all[2] = all[1];
  return all;
}

/// The first items of `items`, as many as the call wrote to `count`. The items after them may be anything.
template <class T, class Count>
struct counted {
  const device_vector<T>& items;
  const device_vector<Count>& count;
};
template <class T, class Count>
counted<T, Count> first_of(const device_vector<T>& items, const device_vector<Count>& count) {
  return {items, count};
}

/// The items of a DoubleBuffer after the call. The library chooses which of its two arrays holds them.
template <class Buffer>
struct current_items {
  Buffer& buffer;
  std::size_t count;
};
template <class Buffer>
current_items<Buffer> current(Buffer& buffer, std::size_t count = num_items) {
  return {buffer, count};
}

struct result {
  std::string name;
  std::vector<unsigned char> bytes;
};

class recorder {
 public:
  const std::vector<result>& results() const { return results_; }

  /// Makes `call(d_temp_storage, temp_storage_bytes)` twice, as a user does, and records its results.
  template <class Call, class... Results>
  void device(const char* name, const Call& call, const Results&... results) {
    void* d_temp_storage = nullptr;
    std::size_t temp_storage_bytes = 0;
    EXPECT_CUDA_SUCCESS(call(d_temp_storage, temp_storage_bytes)) << name;
    EXPECT_CUDA_SUCCESS(cudaMalloc(&d_temp_storage, temp_storage_bytes)) << name;
    EXPECT_CUDA_SUCCESS(call(d_temp_storage, temp_storage_bytes)) << name;
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize()) << name;
    EXPECT_CUDA_SUCCESS(cudaFree(d_temp_storage)) << name;
    keep(name, results...);
  }

  /// Makes `call()` of a function without temporary storage, and records its results.
  template <class Call, class... Results>
  void device_in_one_call(const char* name, const Call& call, const Results&... results) {
    EXPECT_CUDA_SUCCESS(call()) << name;
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize()) << name;
    keep(name, results...);
  }

  /// Runs `body(in, out)` in one block, with 4096 numbers in [0, 1000) and as many outputs, which are recorded.
  template <int X, int Y = 1, int Z = 1, class Body>
  void block(const char* name, const Body& body);

  /// Records a number that the host computes, or a constant.
  void value(const char* name, long long value) {
    result kept{name, {}};
    const auto* first = reinterpret_cast<const unsigned char*>(&value);
    kept.bytes.assign(first, first + sizeof(value));
    results_.push_back(std::move(kept));
  }

 private:
  /// Records results, in each of which the call must have written something. Whether it has written all that it must,
  /// the comparison of both libraries says: a result may have bytes that no library writes, or that look like poison.
  template <class... Results>
  void keep(const char* name, const Results&... results) {
    result kept{name, {}};
    (append_written(kept, results), ...);
    results_.push_back(std::move(kept));
  }

  template <class Result>
  static void append_written(result& to, const Result& items) {
    const auto begin = static_cast<std::ptrdiff_t>(to.bytes.size());
    append(to, items);
    const auto is_poison = [](unsigned char byte) { return byte == strata_test::guarded_memory::poison; };
    EXPECT_FALSE(std::all_of(to.bytes.begin() + begin, to.bytes.end(), is_poison))
        << to.name << ": nothing was written";
  }

  template <class T>
  static void append(result& to, const std::vector<T>& items) {
    const auto* first = reinterpret_cast<const unsigned char*>(items.data());
    to.bytes.insert(to.bytes.end(), first, first + items.size() * sizeof(T));
  }
  template <class T>
  static void append(result& to, const device_vector<T>& items) {
    append(to, items.to_host());
  }
  template <class T, class Count>
  static void append(result& to, const counted<T, Count>& items) {
    std::vector<T> all = items.items.to_host();
    const std::vector<Count> count = items.count.to_host();
    const auto valid = static_cast<std::size_t>(count[0]);
    EXPECT_LE(valid, all.size()) << to.name;
    if (valid < all.size()) all.erase(all.begin() + static_cast<std::ptrdiff_t>(valid), all.end());
    // No call has an item of 4 poisoned bytes as a result.
    if (sizeof(T) >= 4) {
      EXPECT_TRUE(std::none_of(all.begin(), all.end(), [](const T& item) { return strata_test::is_poison(item); }))
          << to.name << ": an item was not written";
    }
    append(to, all);
    append(to, count);
  }
  template <class Buffer>
  static void append(result& to, const current_items<Buffer>& items) {
    std::vector<std::remove_reference_t<decltype(*items.buffer.Current())>> all(items.count);
    EXPECT_CUDA_SUCCESS(
        cudaMemcpy(all.data(), items.buffer.Current(), items.count * sizeof(all[0]), cudaMemcpyDeviceToHost));
    append(to, all);
  }

  std::vector<result> results_;
};

inline constexpr int block_items = 4096;

/// The rank of the calling thread in its block.
__device__ inline int thread() {
  return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
/// Loads items of the calling thread, in blocked arrangement.
template <class T, int Items>
__device__ void take(const int* in, T (&items)[Items]) {
  for (int i = 0; i < Items; ++i) items[i] = static_cast<T>(in[thread() * Items + i]);
}
template <class T, int Items>
__device__ void keep(int* out, const T (&items)[Items], int offset = 0) {
  for (int i = 0; i < Items; ++i) out[offset + thread() * Items + i] = static_cast<int>(items[i]);
}
/// Stores the first `valid` items of the block. The other ones are unspecified.
template <class T, int Items>
__device__ void keep_some(int* out, const T (&items)[Items], int valid) {
  for (int i = 0; i < Items; ++i) {
    if (thread() * Items + i < valid) out[thread() * Items + i] = static_cast<int>(items[i]);
  }
}
/// Stores all items but the first one of the block, which is unspecified.
template <class T, int Items>
__device__ void keep_but_first(int* out, const T (&items)[Items]) {
  for (int i = 0; i < Items; ++i) {
    if (thread() > 0 || i > 0) out[thread() * Items + i] = static_cast<int>(items[i]);
  }
}
/// Stores an aggregate that all threads have, after the items of the block.
__device__ inline void keep_aggregate(int* out, int aggregate) { out[2048 + thread()] = aggregate; }

template <class Body>
__global__ void run(Body body, const int* in, int* out) {
  body(in, out);
}

template <int X, int Y, int Z, class Body>
void recorder::block(const char* name, const Body& body) {
  static const std::vector<int> items = numbers<int>(block_items, 1000);
  const device_vector<int> in(items);
  device_vector<int> out(block_items);
  run<<<1, dim3(X, Y, Z)>>>(body, in.data(), out.data());
  EXPECT_CUDA_SUCCESS(cudaGetLastError()) << name;
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize()) << name;
  keep(name, out);
}

/// Expects that both libraries have made the same calls, with the same bytes as results.
inline void expect_the_same(const recorder& cub, const recorder& strata) {
  ASSERT_EQ(cub.results().size(), strata.results().size());
  ASSERT_FALSE(cub.results().empty());
  for (std::size_t i = 0; i < cub.results().size(); ++i) {
    const result& theirs = cub.results()[i];
    const result& ours = strata.results()[i];
    ASSERT_EQ(theirs.name, ours.name);
    ASSERT_EQ(theirs.bytes.size(), ours.bytes.size()) << ours.name;
    const auto [their, our] = std::mismatch(theirs.bytes.begin(), theirs.bytes.end(), ours.bytes.begin());
    if (their == theirs.bytes.end()) continue;
    ADD_FAILURE() << ours.name << ": byte " << their - theirs.bytes.begin() << " of " << ours.bytes.size() << " is "
                  << int{*our} << ", with CUB " << int{*their};
  }
}

}  // namespace cub_calls

/// Defines the test of a section, which is a function of this name in the namespaces of both libraries.
#define STRATA_COMPARE_CUB_CALLS(section)              \
  TEST(cub_calls, section) {                           \
    cub_calls::recorder with_cub;                      \
    of_cub::section(with_cub);                         \
    cub_calls::recorder with_strata;                   \
    of_strata::section(with_strata);                   \
    cub_calls::expect_the_same(with_cub, with_strata); \
  }
