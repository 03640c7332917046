// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceSelect, DevicePartition, DeviceReduce::ReduceByKey and DeviceRunLengthEncode with CUB's. The necessary
// traffic is the inputs, read once, and the kept items, written once.

#include <cub/device/device_partition.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>
#include <strata/core/operators.hpp>
#include <strata/device/device_partition.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_select.cuh>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace select_benchmark {

/// True for half of all random integers.
struct is_even {
  template <class T>
  __host__ __device__ bool operator()(const T& x) const {
    return (x & 1) == 0;
  }
};

struct alignas(16) struct16 {
  std::uint64_t low, high;
  __host__ __device__ bool operator==(const struct16& other) const { return low == other.low && high == other.high; }
};

/// True for `quarters` of four random items.
struct are_below {
  unsigned quarters;
  __host__ __device__ bool operator()(std::int32_t x) const { return (static_cast<unsigned>(x) & 3) < quarters; }
  __host__ __device__ bool operator()(double x) const { return x < 0.25 * quarters; }
  __host__ __device__ bool operator()(const struct16& x) const { return (x.low & 3) < quarters; }
};

/// A bool that is true for OfThousand of a thousand random items.
template <unsigned OfThousand>
struct flag {
  bool is_set;
};

}  // namespace select_benchmark

template <unsigned OfThousand>
struct bench::random_value<select_benchmark::flag<OfThousand>> {
  static __device__ select_benchmark::flag<OfThousand> from(std::uint64_t bits) {
    return {(bits >> 32) % 1000 < OfThousand};
  }
};
template <>
struct bench::random_value<select_benchmark::struct16> {
  static __device__ select_benchmark::struct16 from(std::uint64_t bits) { return {bits, ~bits}; }
};

namespace {

using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;
using select_benchmark::are_below;
using select_benchmark::flag;
using select_benchmark::is_even;

struct use_strata {
  using select = strata::DeviceSelect;
  using partition = strata::DevicePartition;
  using reduce = strata::DeviceReduce;
  using encode = strata::DeviceRunLengthEncode;
  using sum = strata::Sum;
};
struct use_cub {
  using select = cub::DeviceSelect;
  using partition = cub::DevicePartition;
  using reduce = cub::DeviceReduce;
  using encode = cub::DeviceRunLengthEncode;
  using sum = cuda::std::plus<>;
};

/// The output of a library: up to `n` items of one kind, up to `seconds` of another, and their numbers. All libraries
/// start with the same bytes, so a place that only one of them writes shows.
template <class A, class B>
struct outputs {
  device_array<A> first;
  device_array<B> second;
  device_array<int> count;

  outputs(std::int64_t n, std::int64_t seconds, cudaStream_t stream)
      : first(static_cast<std::size_t>(n)), second(static_cast<std::size_t>(seconds)), count(2) {
    first.fill_bytes(0xa5, stream);
    second.fill_bytes(0xa5, stream);
    count.fill_bytes(0xa5, stream);
  }
};

/// A workload whose peers run `call(library, storage, bytes, outputs, stream)`. A call reads `input_bytes` bytes from
/// `input` on, and keeps `kept_bytes` of them.
template <class A, class B, class Call>
workload keep(const environment& env, std::int64_t n, std::int64_t seconds, const void* input, std::size_t input_bytes,
              double kept_bytes, Call call) {
  const outputs<A, B> ours(n, seconds, env.stream), theirs(n, seconds, env.stream);
  workload work;
  work.bytes = static_cast<double>(input_bytes) + kept_bytes;
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return call(use_strata{}, storage, bytes, ours, stream);
  }));
  work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return call(use_cub{}, storage, bytes, theirs, stream);
  }));
  work.peers.push_back(bench::copy_peer(input, input_bytes));
  const cudaStream_t stream = env.stream;
  work.verify = [=] {
    std::string text = bench::difference(ours.count, theirs.count, {}, stream);
    if (text.empty()) text = bench::difference(ours.first, theirs.first, {}, stream);
    if (text.empty()) text = bench::difference(ours.second, theirs.second, {}, stream);
    return text;
  };
  return work;
}

std::uint64_t seed_of(const environment& env, std::int64_t n) {
  return env.settings.seed + static_cast<std::uint64_t>(n);
}

template <class T>
void add_if(bench::suite& suite, const char* type, std::initializer_list<int> log_sizes) {
  for (const int log_size : log_sizes) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      const auto in = bench::random_array<T>(n, seed_of(env, n), env.stream);
      return keep<T, char>(env, n, 1, in.data(), in.bytes(), 0.5 * static_cast<double>(in.bytes()),
                           [n, in](auto lib, void* storage, std::size_t& bytes, const auto& out, cudaStream_t s) {
                             using select = typename decltype(lib)::select;
                             return select::If(storage, bytes, in.data(), out.first.data(), out.count.data(), n,
                                               is_even{}, s);
                           });
    };
    suite.add({"DeviceSelect::If", type, "half", n, timing::batched, prepare});
  }
}

template <unsigned OfThousand>
void add_flagged(bench::suite& suite, const char* share, std::initializer_list<int> log_sizes) {
  for (const int log_size : log_sizes) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      const auto in = bench::random_array<std::int32_t>(n, seed_of(env, n), env.stream);
      const auto flags = bench::random_array<flag<OfThousand>>(n, seed_of(env, n) + 1, env.stream);
      workload work = keep<std::int32_t, char>(
          env, n, 1, in.data(), in.bytes(), 1e-3 * OfThousand * static_cast<double>(in.bytes()),
          [n, in, flags](auto lib, void* storage, std::size_t& bytes, const auto& out, cudaStream_t s) {
            using select = typename decltype(lib)::select;
            return select::Flagged(storage, bytes, in.data(), reinterpret_cast<const bool*>(flags.data()),
                                   out.first.data(), out.count.data(), n, s);
          });
      work.bytes += static_cast<double>(flags.bytes());
      return work;
    };
    suite.add({"DeviceSelect::Flagged", "i32:bool", share, n, timing::batched, prepare});
  }
}

template <class T>
void add_partition_if(bench::suite& suite, const char* type, std::initializer_list<int> log_sizes) {
  for (const int log_size : log_sizes) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      const auto in = bench::random_array<T>(n, seed_of(env, n), env.stream);
      return keep<T, char>(env, n, 1, in.data(), in.bytes(), static_cast<double>(in.bytes()),
                           [n, in](auto lib, void* storage, std::size_t& bytes, const auto& out, cudaStream_t s) {
                             using partition = typename decltype(lib)::partition;
                             return partition::If(storage, bytes, in.data(), out.first.data(), out.count.data(), n,
                                                  are_below{2}, s);
                           });
    };
    suite.add({"DevicePartition::If", type, "half", n, timing::batched, prepare});
  }
}

void add_partition_flagged(bench::suite& suite) {
  for (const int log_size : {10, 14, 16, 18, 20, 24, 28}) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      const auto in = bench::random_array<std::int32_t>(n, seed_of(env, n), env.stream);
      const auto flags = bench::random_array<bool>(n, seed_of(env, n) + 1, env.stream);
      workload work = keep<std::int32_t, char>(
          env, n, 1, in.data(), in.bytes(), static_cast<double>(in.bytes()),
          [n, in, flags](auto lib, void* storage, std::size_t& bytes, const auto& out, cudaStream_t s) {
            using partition = typename decltype(lib)::partition;
            return partition::Flagged(storage, bytes, in.data(), flags.data(), out.first.data(), out.count.data(), n,
                                      s);
          });
      work.bytes += static_cast<double>(flags.bytes());
      return work;
    };
    suite.add({"DevicePartition::Flagged", "i32:bool", "half", n, timing::batched, prepare});
  }
}

void add_partition_in_three(bench::suite& suite) {
  for (const int log_size : {10, 14, 16, 18, 20, 24, 28}) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      const auto in = bench::random_array<std::int32_t>(n, seed_of(env, n), env.stream);
      return keep<std::int32_t, std::int32_t>(
          env, n, 2 * std::int64_t{n}, in.data(), in.bytes(), static_cast<double>(in.bytes()),
          [n, in](auto lib, void* storage, std::size_t& bytes, const auto& out, cudaStream_t s) {
            using partition = typename decltype(lib)::partition;
            return partition::If(storage, bytes, in.data(), out.first.data(), out.second.data(), out.second.data() + n,
                                 out.count.data(), n, are_below{1}, are_below{2}, s);
          });
    };
    suite.add({"DevicePartition::If", "i32", "three parts", n, timing::batched, prepare});
  }
}

void add_unique(bench::suite& suite) {
  for (const int log_size : {16, 20, 24, 28}) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      const auto keys = bench::keys_in_runs(n, env.stream);
      return keep<std::uint32_t, char>(
          env, n, 1, keys.data(), keys.bytes(), static_cast<double>(keys.bytes()) / 16,
          [n, keys](auto lib, void* storage, std::size_t& bytes, const auto& out, cudaStream_t s) {
            using select = typename decltype(lib)::select;
            return select::Unique(storage, bytes, keys.data(), out.first.data(), out.count.data(), n, s);
          });
    };
    suite.add({"DeviceSelect::Unique", "u32", "runs=16", n, timing::batched, prepare});
  }
}

void add_encode(bench::suite& suite) {
  for (const int log_size : {16, 20, 24, 28}) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      const auto keys = bench::keys_in_runs(n, env.stream);
      return keep<std::uint32_t, std::int32_t>(
          env, n, n, keys.data(), keys.bytes(), static_cast<double>(keys.bytes()) / 8,
          [n, keys](auto lib, void* storage, std::size_t& bytes, const auto& out, cudaStream_t s) {
            using encode = typename decltype(lib)::encode;
            return encode::Encode(storage, bytes, keys.data(), out.first.data(), out.second.data(), out.count.data(), n,
                                  s);
          });
    };
    suite.add({"DeviceRunLengthEncode::Encode", "u32", "runs=16", n, timing::batched, prepare});
  }
}

void add_non_trivial_runs(bench::suite& suite) {
  for (const int log_size : {16, 20, 24, 28}) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      const auto keys = bench::keys_in_runs(n, env.stream);
      return keep<std::int32_t, std::int32_t>(
          env, n, n, keys.data(), keys.bytes(), static_cast<double>(keys.bytes()) / 8,
          [n, keys](auto lib, void* storage, std::size_t& bytes, const auto& out, cudaStream_t s) {
            using encode = typename decltype(lib)::encode;
            return encode::NonTrivialRuns(storage, bytes, keys.data(), out.first.data(), out.second.data(),
                                          out.count.data(), n, s);
          });
    };
    suite.add({"DeviceRunLengthEncode::NonTrivialRuns", "u32", "runs=16", n, timing::batched, prepare});
  }
}

void add_reduce_by_key(bench::suite& suite) {
  for (const int log_size : {16, 20, 24, 28}) {
    const int n = 1 << log_size;
    const auto prepare = [n](const environment& env) {
      const auto keys = bench::keys_in_runs(n, env.stream);
      const auto values = bench::random_array<std::int32_t>(n, seed_of(env, n), env.stream);
      workload work = keep<std::uint32_t, std::int32_t>(
          env, n, n, keys.data(), keys.bytes(), static_cast<double>(keys.bytes()) / 8,
          [n, keys, values](auto lib, void* storage, std::size_t& bytes, const auto& out, cudaStream_t s) {
            using library = decltype(lib);
            return library::reduce::ReduceByKey(storage, bytes, keys.data(), out.first.data(), values.data(),
                                                out.second.data(), out.count.data(), typename library::sum{}, n, s);
          });
      work.bytes += static_cast<double>(values.bytes());
      return work;
    };
    suite.add({"DeviceReduce::ReduceByKey", "u32:i32", "runs=16", n, timing::batched, prepare});
  }
}

void add_cases(bench::suite& suite) {
  add_if<std::int32_t>(suite, "i32", {16, 20, 24, 28});
  add_if<std::int8_t>(suite, "i8", {16, 20, 24, 28});
  add_if<std::int64_t>(suite, "i64", {16, 20, 24, 28});
  add_flagged<500>(suite, "half", {16, 20, 24, 28});
  add_flagged<100>(suite, "selected=10%", {16, 20, 22, 24, 26, 28});
  add_flagged<10>(suite, "selected=1%", {16, 20, 22, 24, 26, 28});
  add_flagged<1>(suite, "selected=0.1%", {16, 20, 22, 24, 26, 28});
  add_unique(suite);
  add_partition_if<std::int32_t>(suite, "i32", {10, 12, 14, 16, 17, 18, 19, 20, 22, 24, 26, 28});
  add_partition_if<double>(suite, "f64", {10, 14, 16, 18, 20, 22, 24, 28});
  add_partition_if<select_benchmark::struct16>(suite, "struct16", {10, 14, 16, 18, 20, 22, 24, 28});
  add_partition_flagged(suite);
  add_partition_in_three(suite);
  add_encode(suite);
  add_non_trivial_runs(suite);
  add_reduce_by_key(suite);
}

}  // namespace

int main(int argc, char** argv) { return bench::run("select", argc, argv, add_cases); }
