// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceReduce with CUB's. The necessary traffic is the input, read once. ReproducibleSum has another rival,
// `fast`: our sum that may differ between GPUs. CUB has a reproducible sum since 3.1.

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <cuda/std/functional>
#include <strata/core/operators.hpp>
#include <strata/device/device_reduce.cuh>
#if CUB_VERSION >= 300100
#include <cuda/std/execution>
#include <cuda/stream>
#endif

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

// ------------------------------------------------------------------ a user's types

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace reduce_benchmark {

/// A user's value of 16 bytes.
struct moments {
  std::int64_t total;
  std::int32_t low;
  std::int32_t high;
  friend __host__ __device__ bool operator==(const moments& a, const moments& b) {
    return a.total == b.total && a.low == b.low && a.high == b.high;
  }
};
static_assert(sizeof(moments) == 16);

__host__ __device__ inline moments merged(const moments& a, const moments& b) {
  return {a.total + b.total, a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/// An operator that strata does not know. So it keeps the order of the operands.
struct merge_moments {
  __host__ __device__ moments operator()(const moments& a, const moments& b) const { return merged(a, b); }
};

/// Computes what merge_moments computes, but is declared commutative below.
struct merge_moments_commutative {
  __host__ __device__ moments operator()(const moments& a, const moments& b) const { return merged(a, b); }
};

struct square {
  __host__ __device__ std::int64_t operator()(std::int32_t x) const { return std::int64_t{x} * std::int64_t{x}; }
};

}  // namespace reduce_benchmark

template <>
struct bench::random_value<reduce_benchmark::moments> {
  static __device__ reduce_benchmark::moments from(std::uint64_t bits) {
    // Only 24 bits of the total are random, so that a sum of 2^28 totals does not overflow.
    return {static_cast<std::int64_t>(bits >> 40), static_cast<std::int32_t>(bits),
            static_cast<std::int32_t>(bits >> 32)};
  }
};

template <class T>
struct strata::operator_traits<reduce_benchmark::merge_moments_commutative, T> {
  static constexpr bool commutative = true;
  static constexpr bool has_identity = false;
  static constexpr hardware_reduction hardware = hardware_reduction::none;
};

namespace {

using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;
using namespace reduce_benchmark;

// ------------------------------------------------------------------ peers

/// The results of the two libraries. They start with different bytes, so a result that is never written shows.
template <class T>
struct two_results {
  explicit two_results(const environment& env, std::size_t size = 1) : strata(size), cub(size) {
    strata.fill_bytes(0xa5, env.stream);
    cub.fill_bytes(0x5a, env.stream);
  }
  device_array<T> strata;
  device_array<T> cub;
};

/// Tolerance between two orders of summation, which round differently. Values in [0, 1) have a large sum, so the
/// relative error is small. The 16-bit formats are summed in [-1, 1), perhaps with 16-bit partial sums. There, the sum
/// and its error grow with sqrt(n).
template <class T>
bench::tolerance sum_tolerance(std::int64_t n) {
  const double root = std::sqrt(static_cast<double>(n));
  if (std::is_same_v<T, __half>) return {0, 0.1 * root};
  if (std::is_same_v<T, __nv_bfloat16>) return {0, 0.5 * root};
  return {sizeof(T) == 4 ? 1e-4 : 1e-10, 0};
}

struct use_strata {};
struct use_cub {};

/// A workload of one input and one result. Its peers run `call(library, storage, bytes, in, out, stream)`, where the
/// library is use_strata or use_cub.
template <class In, class Out, class Call>
workload reduction(const environment& env, std::int64_t n, bench::tolerance allowed, Call call) {
  const auto in = bench::random_array<In>(n, env.settings.seed + static_cast<std::uint64_t>(n), env.stream);
  const two_results<Out> out(env);
  workload work;
  work.bytes = static_cast<double>(in.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return call(use_strata{}, storage, bytes, in.data(), out.strata.data(), stream);
  }));
  work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return call(use_cub{}, storage, bytes, in.data(), out.cub.data(), stream);
  }));
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=] { return bench::difference(out.strata, out.cub, allowed, stream); };
  return work;
}

// ------------------------------------------------------------------ Sum

template <class In, class Out, class Count>
workload sum_of(const environment& env, Count n) {
  return reduction<In, Out>(env, n, sum_tolerance<In>(n),
                            [n](auto lib, void* storage, std::size_t& bytes, const In* in, Out* out, cudaStream_t s) {
                              if constexpr (std::is_same_v<decltype(lib), use_strata>) {
                                return strata::DeviceReduce::Sum(storage, bytes, in, out, n, s);
                              } else {
                                return cub::DeviceReduce::Sum(storage, bytes, in, out, n, s);
                              }
                            });
}

/// The type of n is `int`, as in most calls and on CUB's faster path. Only 2^30 items have a 64-bit n.
template <class In, class Out = In>
void add_sum(bench::suite& suite, const char* type, std::initializer_list<int> log_sizes, timing how = timing::batched,
             const char* data_case = "uniform") {
  for (const int log_size : log_sizes) {
    const std::int64_t n = std::int64_t{1} << log_size;
    const auto prepare = [n](const environment& env) {
      return n < (std::int64_t{1} << 30) ? sum_of<In, Out>(env, static_cast<int>(n)) : sum_of<In, Out>(env, n);
    };
    suite.add({"DeviceReduce::Sum", type, data_case, n, how, prepare});
  }
}

#if CUB_VERSION >= 300100
const std::vector<std::string> reproducible_rivals = {"cub", "fast"};
#else
const std::vector<std::string> reproducible_rivals = {"fast"};
#endif

template <class T>
void add_reproducible_sum(bench::suite& suite, const char* type) {
  for (const int log_size : {13, 16, 18, 20, 22, 24, 26, 28}) {
    const std::int64_t n = std::int64_t{1} << log_size;
    suite.add(
        {"DeviceReduce::ReproducibleSum", type, "uniform", n, timing::batched,
         [n](const environment& env) {
           const auto in = bench::random_array<T>(n, env.settings.seed + static_cast<std::uint64_t>(n), env.stream);
           const two_results<T> out(env);
           const device_array<T> fast(1);
           const cudaStream_t stream = env.stream;
           workload work;
           work.bytes = static_cast<double>(in.bytes());
           work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
             return strata::DeviceReduce::ReproducibleSum(storage, bytes, in.data(), out.strata.data(), n, s);
           }));
#if CUB_VERSION >= 300100
           // CUB takes its storage from the stream-ordered allocator, so it is not asked for a size.
           work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
             if (storage == nullptr) {
               bytes = 1;
               return cudaSuccess;
             }
             return cub::DeviceReduce::Sum(
                 in.data(), out.cub.data(), n,
                 cuda::std::execution::env{cuda::stream_ref(s),
                                           cuda::execution::require(cuda::execution::determinism::gpu_to_gpu)});
           }));
           work.peers.back().verify = [=] { return bench::difference(out.cub, fast, sum_tolerance<T>(n), stream); };
#endif
           work.peers.push_back(bench::storage_peer("fast", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
             return strata::DeviceReduce::Sum(storage, bytes, in.data(), fast.data(), n, s);
           }));
           work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
           work.verify = [=] { return bench::difference(out.strata, fast, sum_tolerance<T>(n), stream); };
           return work;
         },
         reproducible_rivals});
  }
}

// ------------------------------------------------------------------ Reduce

template <class Operator>
void add_struct_reduce(bench::suite& suite, const char* data_case) {
  for (const int log_size : {20, 22, 24, 26, 28}) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      return reduction<moments, moments>(
          env, n, {},
          [n](auto lib, void* storage, std::size_t& bytes, const moments* in, moments* out, cudaStream_t s) {
            const moments nothing = {0, INT32_MAX, INT32_MIN};
            if constexpr (std::is_same_v<decltype(lib), use_strata>) {
              return strata::DeviceReduce::Reduce(storage, bytes, in, out, n, Operator{}, nothing, s);
            } else {
              return cub::DeviceReduce::Reduce(storage, bytes, in, out, n, Operator{}, nothing, s);
            }
          });
    };
    suite.add({"DeviceReduce::Reduce", "struct16", data_case, n, timing::batched, prepare});
  }
}

// ------------------------------------------------------------------ TransformReduce, ArgMin

void add_transform_reduce(bench::suite& suite) {
  for (const int log_size : {20, 24, 28}) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      return reduction<std::int32_t, std::int64_t>(
          env, n, {},
          [n](auto lib, void* storage, std::size_t& bytes, const std::int32_t* in, std::int64_t* out, cudaStream_t s) {
            const cuda::std::plus<> add{};
            if constexpr (std::is_same_v<decltype(lib), use_strata>) {
              return strata::DeviceReduce::TransformReduce(storage, bytes, in, out, n, add, square{}, std::int64_t{0},
                                                           s);
            } else {
              return cub::DeviceReduce::TransformReduce(storage, bytes, in, out, n, add, square{}, std::int64_t{0}, s);
            }
          });
    };
    suite.add({"DeviceReduce::TransformReduce", "i32", "square", n, timing::batched, prepare});
  }
}

template <class T>
workload arg_min(const environment& env, std::int64_t n) {
  const two_results<std::int64_t> index(env);
  workload work = reduction<T, T>(
      env, n, {}, [n, index](auto lib, void* storage, std::size_t& bytes, const T* in, T* out, cudaStream_t s) {
        if constexpr (std::is_same_v<decltype(lib), use_strata>) {
          return strata::DeviceReduce::ArgMin(storage, bytes, in, out, index.strata.data(), n, s);
        } else {
          return cub::DeviceReduce::ArgMin(storage, bytes, in, out, index.cub.data(), n, s);
        }
      });
  const cudaStream_t stream = env.stream;
  work.verify = [index, stream, same_value = work.verify] {
    const std::string wrong_value = same_value();
    if (!wrong_value.empty()) return "value: " + wrong_value;
    const std::string wrong_index = bench::difference(index.strata, index.cub, {}, stream);
    return wrong_index.empty() ? wrong_index : "index: " + wrong_index;
  };
  return work;
}

// CUB takes comparators since 3.4.
#if CUB_VERSION >= 300400
struct is_farther {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return b < a;
  }
};

template <class T>
workload arg_min_by_comparator(const environment& env, std::int64_t n) {
  const two_results<std::int64_t> index(env);
  workload work = reduction<T, T>(
      env, n, {}, [n, index](auto lib, void* storage, std::size_t& bytes, const T* in, T* out, cudaStream_t s) {
        if constexpr (std::is_same_v<decltype(lib), use_strata>) {
          return strata::DeviceReduce::ArgMin(storage, bytes, in, out, index.strata.data(), n, is_farther{}, s);
        } else {
          return cub::DeviceReduce::ArgMin(storage, bytes, in, out, index.cub.data(), n, is_farther{}, s);
        }
      });
  const cudaStream_t stream = env.stream;
  work.verify = [index, stream, same_value = work.verify] {
    const std::string wrong_value = same_value();
    return wrong_value.empty() ? bench::difference(index.strata, index.cub, {}, stream) : wrong_value;
  };
  return work;
}
#endif

template <class T>
void add_arg_min(bench::suite& suite, const char* type) {
  for (const int log_size : {16, 20, 24, 28}) {
    const std::int64_t n = std::int64_t{1} << log_size;
    const auto prepare = [n](const environment& env) { return arg_min<T>(env, n); };
    suite.add({"DeviceReduce::ArgMin", type, "uniform", n, timing::batched, prepare});
#if CUB_VERSION >= 300400
    const auto compared = [n](const environment& env) { return arg_min_by_comparator<T>(env, n); };
    suite.add({"DeviceReduce::ArgMin", type, "comparator", n, timing::batched, compared});
#endif
  }
}

void add_cases(bench::suite& suite) {
  const auto sizes = {13, 16, 18, 20, 22, 24, 26, 28, 30};
  add_sum<std::int32_t>(suite, "i32", sizes);
  add_sum<float>(suite, "f32", sizes);
  add_sum<std::int64_t>(suite, "i64", sizes);
  add_sum<double>(suite, "f64", sizes);

  add_reproducible_sum<float>(suite, "f32");
  add_reproducible_sum<double>(suite, "f64");

  const auto narrow_sizes = {16, 20, 24, 28};
  add_sum<std::int8_t, std::int32_t>(suite, "i8", narrow_sizes);
  add_sum<__half>(suite, "f16", narrow_sizes);
  add_sum<__nv_bfloat16>(suite, "bf16", narrow_sizes);

  add_struct_reduce<merge_moments>(suite, "custom_op");
  add_struct_reduce<merge_moments_commutative>(suite, "commutative");
  add_transform_reduce(suite);
  add_arg_min<std::int32_t>(suite, "i32");
  add_arg_min<float>(suite, "f32");

  const auto latency_sizes = {10, 13, 16, 18, 20};
  add_sum<std::int32_t>(suite, "i32", latency_sizes, timing::single_call);
  add_sum<double>(suite, "f64", latency_sizes, timing::single_call);
  add_sum<std::int32_t>(suite, "i32", {10, 13, 20}, timing::host_call, "host_call");
}

}  // namespace

int main(int argc, char** argv) { return bench::run("reduce", argc, argv, add_cases); }
