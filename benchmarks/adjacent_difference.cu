// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceAdjacentDifference with CUB's, into another array and in place. The necessary traffic is the items,
// read once and written once.

#include <cub/device/device_adjacent_difference.cuh>
#include <strata/device/device_adjacent_difference.cuh>

#include <cstdint>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace adjacent_difference_benchmark {

struct quad {
  std::uint32_t word[4];
  friend __host__ __device__ bool operator==(const quad& a, const quad& b) {
    return a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.word[2] == b.word[2] && a.word[3] == b.word[3];
  }
};

struct difference {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return static_cast<T>(a - b);
  }
  __host__ __device__ quad operator()(const quad& a, const quad& b) const {
    return {{a.word[0] - b.word[0], a.word[1] - b.word[1], a.word[2] - b.word[2], a.word[3] - b.word[3]}};
  }
};

}  // namespace adjacent_difference_benchmark

template <>
struct bench::random_value<adjacent_difference_benchmark::quad> {
  static __device__ adjacent_difference_benchmark::quad from(std::uint64_t bits) {
    const auto low = static_cast<std::uint32_t>(bits), high = static_cast<std::uint32_t>(bits >> 32);
    return {{low, high, low ^ high, low * 3}};
  }
};

namespace {

using adjacent_difference_benchmark::difference;
using adjacent_difference_benchmark::quad;
using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;

struct use_strata {
  using differences = strata::DeviceAdjacentDifference;
};
struct use_cub {
  using differences = cub::DeviceAdjacentDifference;
};

/// A workload whose peers run `call(library, storage, bytes, out, stream)`.
template <class T, class Call>
workload of_both(const device_array<T>& in, const device_array<T>& ours, const device_array<T>& theirs, Call call) {
  workload work;
  work.bytes = 2.0 * static_cast<double>(in.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return call(use_strata{}, storage, bytes, ours.data(), stream);
  }));
  work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return call(use_cub{}, storage, bytes, theirs.data(), stream);
  }));
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  return work;
}

template <class T>
void add_type(bench::suite& suite, const char* type) {
  for (const int log_size : {10, 12, 14, 16, 18, 20, 22, 24, 26, 28}) {
    if (sizeof(T) == 16 && log_size > 26) continue;
    const std::int64_t n = std::int64_t{1} << log_size;
    const auto count = static_cast<std::uint32_t>(n);
    suite.add(
        {"DeviceAdjacentDifference::SubtractLeftCopy", type, "random", n, timing::batched, [=](const environment& env) {
           const auto in = bench::random_array<T>(n, env.settings.seed + count, env.stream);
           const device_array<T> ours(in.size()), theirs(in.size());
           ours.fill_bytes(0xa5, env.stream);
           theirs.fill_bytes(0x5a, env.stream);
           workload work =
               of_both(in, ours, theirs, [=](auto lib, void* storage, std::size_t& bytes, T* out, cudaStream_t s) {
                 return decltype(lib)::differences::SubtractLeftCopy(storage, bytes, in.data(), out, count,
                                                                     difference{}, s);
               });
           const cudaStream_t stream = env.stream;
           work.verify = [=] { return bench::difference(ours, theirs, {}, stream); };
           return work;
         }});
    // Each call changes its input, so only the results of a first call are compared.
    suite.add(
        {"DeviceAdjacentDifference::SubtractLeft", type, "random", n, timing::batched, [=](const environment& env) {
           const auto ours = bench::random_array<T>(n, env.settings.seed + count, env.stream);
           const auto theirs = bench::random_array<T>(n, env.settings.seed + count, env.stream);
           workload work =
               of_both(ours, ours, theirs, [=](auto lib, void* storage, std::size_t& bytes, T* data, cudaStream_t s) {
                 return decltype(lib)::differences::SubtractLeft(storage, bytes, data, count, difference{}, s);
               });
           for (const bench::peer& both : work.peers) {
             if (both.lib != "copy") bench::check(both.call(env.stream), both.lib.c_str());
           }
           const std::string found = bench::difference(ours, theirs, {}, env.stream);
           work.verify = [found] { return found; };
           return work;
         }});
  }
}

void add_cases(bench::suite& suite) {
  add_type<std::uint8_t>(suite, "u8");
  add_type<std::int32_t>(suite, "i32");
  add_type<double>(suite, "f64");
  add_type<quad>(suite, "struct16");
}

}  // namespace

int main(int argc, char** argv) { return bench::run("adjacent_difference", argc, argv, add_cases); }
