// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceFind with CUB's, which exists since CUB 3.5. With an older CUB, there is no rival. The necessary
// traffic is:
//
//   FindIf                  the items up to the match
//   LowerBound              the values and the results
//   LowerBoundSortedValues  the values, the results and the range

#include <cub/version.cuh>
#if CUB_VERSION >= 300500
#include <cub/device/device_find.cuh>
#endif
#include <strata/device/device_find.cuh>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace find_benchmark {

template <class T>
struct is_equal {
  T value;
  __host__ __device__ bool operator()(const T& x) const { return x == value; }
};

/// A user's comparator, which neither library recognises as an ascending order of numbers.
struct is_less {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

/// Sorted items: item i is random in [i * span / size, (i + 1) * span / size).
template <class T>
__global__ void generate_sorted(T* items, std::size_t size, std::uint64_t span, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    const std::uint64_t begin = span * i / size, end = span * (i + 1) / size;
    items[i] = static_cast<T>(begin + (end == begin ? 0 : bench::random_bits(seed + i) % (end - begin)));
  }
}
/// Random items in [0, span), in no order.
template <class T>
__global__ void generate_within(T* items, std::size_t size, std::uint64_t span, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    items[i] = static_cast<T>(bench::random_bits(seed + i) % span);
  }
}
template <class T>
__global__ void set_item(T* items, std::size_t index, T value) {
  items[index] = value;
}

}  // namespace find_benchmark

namespace {

using namespace find_benchmark;
using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;

struct use_strata {
  using find = strata::DeviceFind;
};
#if CUB_VERSION >= 300500
struct use_cub {
  using find = cub::DeviceFind;
};
#endif

#if CUB_VERSION >= 300500
const std::vector<std::string> rivals = {"cub"};
#else
const std::vector<std::string> rivals;
#endif

/// A workload whose peers run `call(library, storage, bytes, out, stream)`.
template <class Out, class Call>
workload of_both(const environment& env, double bytes, std::size_t results, std::size_t copied_bytes, Call call) {
  const device_array<Out> ours(results), theirs(results);
  ours.fill_bytes(0xa5, env.stream);
  theirs.fill_bytes(0x5a, env.stream);
  workload work;
  work.bytes = bytes;
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& size, cudaStream_t stream) {
    return call(use_strata{}, storage, size, ours.data(), stream);
  }));
#if CUB_VERSION >= 300500
  work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& size, cudaStream_t stream) {
    return call(use_cub{}, storage, size, theirs.data(), stream);
  }));
#endif
  const device_array<char> source(copied_bytes);
  source.fill_bytes(0x77, env.stream);
  work.peers.push_back(bench::copy_peer(source.data(), source.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=, source_of_copies = source] {
#if CUB_VERSION >= 300500
    return bench::difference(ours, theirs, {}, stream);
#else
    static_cast<void>(stream);
    return std::string{};
#endif
  };
  return work;
}

// ------------------------------------------------------------------ FindIf

/// The only match lies at `share` of the input. With a share of 1, there is no match.
template <class T>
void add_find_if(bench::suite& suite, const char* type, const char* name, double share) {
  for (const int log_size : {10, 14, 16, 18, 20, 22, 24, 26, 28}) {
    const std::int64_t n = std::int64_t{1} << log_size;
    suite.add({"DeviceFind::FindIf", type, name, n, timing::batched,
               [=](const environment& env) {
                 const device_array<T> in(static_cast<std::size_t>(n));
                 in.fill_bytes(0, env.stream);
                 const auto place = static_cast<std::int64_t>(share * static_cast<double>(n));
                 if (place < n) {
                   set_item<<<1, 1, 0, env.stream>>>(in.data(), static_cast<std::size_t>(place), T{1});
                   bench::check(cudaGetLastError(), "set_item");
                 }
                 const auto tested = static_cast<double>(std::min(place + 1, n)) * sizeof(T);
                 return of_both<std::int64_t>(
                     env, tested, 1, static_cast<std::size_t>(tested),
                     [=](auto lib, void* storage, std::size_t& bytes, std::int64_t* out, cudaStream_t stream) {
                       return decltype(lib)::find::FindIf(storage, bytes, static_cast<const T*>(in.data()), out,
                                                          is_equal<T>{T{1}}, n, stream);
                     });
               },
               rivals});
  }
}

// ------------------------------------------------------------------ bounds

constexpr std::uint64_t span = std::uint64_t{1} << 31;

template <class T>
device_array<T> sorted_array(std::int64_t size, std::uint64_t seed, cudaStream_t stream) {
  device_array<T> items(static_cast<std::size_t>(size));
  generate_sorted<<<bench::detail::blocks_for(items.size()), 256, 0, stream>>>(items.data(), items.size(), span, seed);
  bench::check(cudaGetLastError(), "generate_sorted");
  return items;
}
template <class T>
device_array<T> any_array(std::int64_t size, std::uint64_t seed, cudaStream_t stream) {
  device_array<T> items(static_cast<std::size_t>(size));
  generate_within<<<bench::detail::blocks_for(items.size()), 256, 0, stream>>>(items.data(), items.size(), span, seed);
  bench::check(cudaGetLastError(), "generate_within");
  return items;
}

/// Searches for 2^log_values values in 2^log_range items.
template <class T>
void add_lower_bound(bench::suite& suite, const char* type, int log_range, int log_values, bool are_sorted) {
  const std::int64_t items = std::int64_t{1} << log_range, n = std::int64_t{1} << log_values;
  const std::string name = (are_sorted ? "sorted_values range=2^" : "random range=2^") + std::to_string(log_range);
  suite.add({"DeviceFind::LowerBound", type, name, n, timing::batched,
             [=](const environment& env) {
               const std::uint64_t seed = env.settings.seed;
               const auto range = sorted_array<T>(items, seed + 1, env.stream);
               const auto values =
                   are_sorted ? sorted_array<T>(n, seed + 2, env.stream) : any_array<T>(n, seed + 2, env.stream);
               const double bytes = static_cast<double>(n) * (sizeof(T) + sizeof(int));
               return of_both<int>(env, bytes, values.size(), values.bytes(),
                                   [=](auto lib, void* storage, std::size_t& size, int* out, cudaStream_t stream) {
                                     return decltype(lib)::find::LowerBound(
                                         storage, size, static_cast<const T*>(range.data()), static_cast<int>(items),
                                         static_cast<const T*>(values.data()), static_cast<int>(n), out, is_less{},
                                         stream);
                                   });
             },
             rivals});
}

template <class T>
void add_sorted_values(bench::suite& suite, const char* type, int log_range, int log_values) {
  const std::int64_t items = std::int64_t{1} << log_range, n = std::int64_t{1} << log_values;
  const std::string name = "range=2^" + std::to_string(log_range);
  suite.add(
      {"DeviceFind::LowerBoundSortedValues", type, name, n, timing::batched,
       [=](const environment& env) {
         const std::uint64_t seed = env.settings.seed;
         const auto range = sorted_array<T>(items, seed + 1, env.stream);
         const auto values = sorted_array<T>(n, seed + 2, env.stream);
         const double bytes = static_cast<double>(n) * (sizeof(T) + sizeof(int)) + static_cast<double>(range.bytes());
         return of_both<int>(env, bytes, values.size(), values.bytes() + range.bytes(),
                             [=](auto lib, void* storage, std::size_t& size, int* out, cudaStream_t stream) {
                               return decltype(lib)::find::LowerBoundSortedValues(
                                   storage, size, static_cast<const T*>(range.data()), static_cast<int>(items),
                                   static_cast<const T*>(values.data()), static_cast<int>(n), out, is_less{}, stream);
                             });
       },
       rivals});
}

template <class T>
void add_bounds(bench::suite& suite, const char* type) {
  for (const int log_range : {8, 12, 16, 20, 24, 28}) {
    for (const int log_values : {8, 12, 16, 20, 24}) add_lower_bound<T>(suite, type, log_range, log_values, false);
    add_lower_bound<T>(suite, type, log_range, 20, true);
  }
  for (const int log_size : {12, 16, 20, 24, 27}) {
    add_sorted_values<T>(suite, type, log_size, log_size);
    add_sorted_values<T>(suite, type, log_size, log_size - 3);
    add_sorted_values<T>(suite, type, log_size, log_size - 8);
    add_sorted_values<T>(suite, type, log_size - 6, log_size);
  }
}

void add_cases(bench::suite& suite) {
  const auto find_if = [&suite](auto item, const char* type) {
    using T = decltype(item);
    add_find_if<T>(suite, type, "no_match", 1.0);
    add_find_if<T>(suite, type, "match_at_half", 0.5);
    add_find_if<T>(suite, type, "match_at_once", 0.0);
  };
  find_if(std::int8_t{}, "i8");
  find_if(std::int32_t{}, "i32");
  find_if(double{}, "f64");
  add_bounds<std::int32_t>(suite, "i32");
  add_bounds<std::int64_t>(suite, "i64");
}

}  // namespace

int main(int argc, char** argv) { return bench::run("find", argc, argv, add_cases); }
