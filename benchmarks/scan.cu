// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceScan with CUB's. The necessary traffic is the input, read once, and the output, written once.

#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>
#include <strata/core/operators.hpp>
#include <strata/device/device_scan.cuh>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace scan_benchmark {

/// The function x -> factor * x + summand, modulo 2^64, a value of 16 bytes.
struct affine {
  std::uint64_t factor;
  std::uint64_t summand;
  friend __host__ __device__ bool operator==(const affine& a, const affine& b) {
    return a.factor == b.factor && a.summand == b.summand;
  }
};

/// Applies `a`, then `b`, so the order of operands matters.
struct compose {
  __host__ __device__ affine operator()(const affine& a, const affine& b) const {
    return {a.factor * b.factor, b.factor * a.summand + b.summand};
  }
};

}  // namespace scan_benchmark

template <>
struct bench::random_value<scan_benchmark::affine> {
  static __device__ scan_benchmark::affine from(std::uint64_t bits) {
    // Products of odd factors never become 0.
    return {bits | 1, bench::random_bits(bits)};
  }
};

namespace {

using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;
using namespace scan_benchmark;

/// Tolerance between two orders of summation, which round differently. Values in [0, 1) have a large sum, so the
/// relative error is small. The 16-bit formats are summed in [-1, 1). There, the sum and its error grow with sqrt(n).
template <class T>
bench::tolerance sum_tolerance(std::int64_t n) {
  const double root = std::sqrt(static_cast<double>(n));
  if (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>) return {0, 0.5 * root + 1};
  return {sizeof(T) == 4 ? 1e-4 : 1e-10, 0};
}

struct use_strata {};
struct use_cub {};

/// A workload of one input and one output. Its peers run `call(library, storage, bytes, in, out, stream)`, where the
/// library is use_strata or use_cub.
template <class T, class Call>
workload scan(const environment& env, std::int64_t n, bench::tolerance allowed, Call call) {
  const auto in = bench::random_array<T>(n, env.settings.seed + static_cast<std::uint64_t>(n), env.stream);
  const device_array<T> ours(static_cast<std::size_t>(n)), theirs(static_cast<std::size_t>(n));
  // Different bytes, so that an item that is never written shows.
  ours.fill_bytes(0xa5, env.stream);
  theirs.fill_bytes(0x5a, env.stream);
  workload work;
  work.bytes = 2 * static_cast<double>(in.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return call(use_strata{}, storage, bytes, in.data(), ours.data(), stream);
  }));
  work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return call(use_cub{}, storage, bytes, in.data(), theirs.data(), stream);
  }));
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=] { return bench::difference(ours, theirs, allowed, stream); };
  return work;
}

template <class T>
void add_sum(bench::suite& suite, const char* type, std::initializer_list<int> log_sizes, timing how = timing::batched,
             const char* data_case = "uniform") {
  for (const int log_size : log_sizes) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      return scan<T>(env, n, sum_tolerance<T>(n),
                     [n](auto lib, void* storage, std::size_t& bytes, const T* in, T* out, cudaStream_t s) {
                       if constexpr (std::is_same_v<decltype(lib), use_strata>) {
                         return strata::DeviceScan::ExclusiveSum(storage, bytes, in, out, n, s);
                       } else {
                         return cub::DeviceScan::ExclusiveSum(storage, bytes, in, out, n, s);
                       }
                     });
    };
    suite.add({"DeviceScan::ExclusiveSum", type, data_case, n, how, prepare});
  }
}

void add_struct_scan(bench::suite& suite) {
  for (const int log_size : {16, 20, 24, 26, 28}) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      return scan<affine>(
          env, n, {}, [n](auto lib, void* storage, std::size_t& bytes, const affine* in, affine* out, cudaStream_t s) {
            if constexpr (std::is_same_v<decltype(lib), use_strata>) {
              return strata::DeviceScan::InclusiveScan(storage, bytes, in, out, compose{}, n, s);
            } else {
              return cub::DeviceScan::InclusiveScan(storage, bytes, in, out, compose{}, n, s);
            }
          });
    };
    suite.add({"DeviceScan::InclusiveScan", "struct16", "compose", n, timing::batched, prepare});
  }
}

void add_sum_by_key(bench::suite& suite) {
  for (const int log_size : {16, 20, 24, 28}) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      const auto keys = bench::keys_in_runs(n, env.stream);
      workload work = scan<std::int32_t>(env, n, {},
                                         [n, keys](auto lib, void* storage, std::size_t& bytes, const std::int32_t* in,
                                                   std::int32_t* out, cudaStream_t s) {
                                           if constexpr (std::is_same_v<decltype(lib), use_strata>) {
                                             return strata::DeviceScan::ExclusiveSumByKey(
                                                 storage, bytes, keys.data(), in, out, n, strata::Equality{}, s);
                                           } else {
                                             return cub::DeviceScan::ExclusiveSumByKey(
                                                 storage, bytes, keys.data(), in, out, n, cuda::std::equal_to<>{}, s);
                                           }
                                         });
      work.bytes += static_cast<double>(keys.bytes());
      return work;
    };
    suite.add({"DeviceScan::ExclusiveSumByKey", "u32:i32", "runs=16", n, timing::batched, prepare});
  }
}

void add_cases(bench::suite& suite) {
  add_sum<std::int32_t>(suite, "i32", {10, 13, 16, 18, 20, 22, 24, 26, 28});
  add_sum<float>(suite, "f32", {16, 20, 24, 26, 28});
  add_sum<std::int64_t>(suite, "i64", {16, 20, 22, 24, 26, 28});
  add_sum<double>(suite, "f64", {16, 20, 24, 26, 28});
  add_sum<std::int8_t>(suite, "i8", {16, 20, 24, 28});
  add_sum<std::int16_t>(suite, "i16", {16, 20, 24, 28});
  add_sum<__half>(suite, "f16", {16, 20, 24, 28});
  add_sum<__nv_bfloat16>(suite, "bf16", {16, 20, 24, 28});
  add_struct_scan(suite);
  add_sum_by_key(suite);
  add_sum<std::int32_t>(suite, "i32", {10, 13, 16, 18, 20}, timing::single_call);
  add_sum<std::int32_t>(suite, "i32", {10, 20}, timing::host_call, "host_call");
}

}  // namespace

int main(int argc, char** argv) { return bench::run("scan", argc, argv, add_cases); }
