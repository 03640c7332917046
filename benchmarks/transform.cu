// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceTransform and DeviceFor with CUB's: one input, the kernels `add` and `triad` of BabelStream with two
// inputs, and operators that store. The necessary traffic is the inputs, read once, and the output, written once.

#include <cub/device/device_for.cuh>
#include <cub/device/device_transform.cuh>
#include <cub/version.cuh>
#include <cuda/std/mdspan>
#include <cuda/std/tuple>
#include <strata/device/device_for.cuh>
#include <strata/device/device_transform.cuh>

#include <cstdint>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace transform_benchmark {

struct scale {
  template <class T>
  __host__ __device__ T operator()(const T& x) const {
    return static_cast<T>(x * 3 + 1);
  }
};
struct add {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};
struct triad {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b * 3);
  }
};

template <class T>
struct store_index {
  T* out;
  __device__ void operator()(std::int64_t i) const { out[i] = static_cast<T>(i * 3); }
  __device__ void operator()(int i) const { out[i] = static_cast<T>(i * 3); }
};
template <class T>
struct store_coordinates {
  T* out;
  __device__ void operator()(int number, int i, int j, int k) const { out[number] = static_cast<T>(i + 3 * j + 5 * k); }
};
/// True for one of mask + 1 items.
struct is_chosen {
  unsigned mask;
  template <class T>
  __host__ __device__ bool operator()(const T& x) const {
    return (static_cast<unsigned>(x) & mask) == 0;
  }
};
struct seven {
  __host__ __device__ std::int8_t operator()() const { return 7; }
};
/// Works in place. A second call leaves the items as they are, so repeated calls do the same work.
struct set_low_bit {
  template <class T>
  __device__ void operator()(T& x) const {
    x = static_cast<T>(x | 1);
  }
};

}  // namespace transform_benchmark

namespace {

using namespace transform_benchmark;
using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;

struct use_strata {
  using transform = strata::DeviceTransform;
  using loop = strata::DeviceFor;
};
struct use_cub {
  using transform = cub::DeviceTransform;
  using loop = cub::DeviceFor;
};

/// A workload whose peers run `call(library, out, stream)`, which reads `input_bytes` bytes. An output may also be the
/// input.
template <class T, class Call>
workload of_both(const environment& env, double input_bytes, const device_array<T>& ours, const device_array<T>& theirs,
                 Call call) {
  workload work;
  work.bytes = input_bytes + static_cast<double>(ours.bytes());
  work.peers.push_back({"strata", [=](cudaStream_t stream) { return call(use_strata{}, ours.data(), stream); }});
  work.peers.push_back({"cub", [=](cudaStream_t stream) { return call(use_cub{}, theirs.data(), stream); }});
  work.peers.push_back(bench::copy_peer(ours.data(), ours.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=] { return bench::difference(ours, theirs, {}, stream); };
  return work;
}

template <class T>
device_array<T> poisoned(std::int64_t n, int byte, cudaStream_t stream) {
  const device_array<T> array(static_cast<std::size_t>(n));
  array.fill_bytes(byte, stream);
  return array;
}

/// Adds transforms of all sizes. `make_inputs(a, b)` returns the input argument of the call.
template <class T, class MakeInputs, class Op>
void add_transform(bench::suite& suite, const char* type, const char* name, int inputs, MakeInputs make_inputs, Op op) {
  for (const int log_size : {10, 14, 16, 18, 20, 22, 24, 26, 28}) {
    const std::int64_t n = std::int64_t{1} << log_size;
    suite.add({"DeviceTransform::Transform", type, name, n, timing::batched, [=](const environment& env) {
                 const std::uint64_t seed = env.settings.seed + static_cast<std::uint64_t>(n);
                 const auto a = bench::random_array<T>(n, seed, env.stream);
                 const auto b = bench::random_array<T>(inputs > 1 ? n : 1, seed + 1, env.stream);
                 return of_both(env, static_cast<double>(a.bytes()) * inputs, poisoned<T>(n, 0xa5, env.stream),
                                poisoned<T>(n, 0x5a, env.stream), [=](auto lib, T* out, cudaStream_t stream) {
                                  return decltype(lib)::transform::Transform(make_inputs(a.data(), b.data()), out,
                                                                             static_cast<int>(n), op, stream);
                                });
               }});
  }
}

template <class T>
void add_type(bench::suite& suite, const char* type) {
  const auto first = [](const T* a, const T*) { return a; };
  const auto both = [](const T* a, const T* b) { return cuda::std::make_tuple(a, b); };
  add_transform<T>(suite, type, "scale", 1, first, scale{});
  add_transform<T>(suite, type, "add", 2, both, add{});
  add_transform<T>(suite, type, "triad", 2, both, triad{});
}

template <class T>
void add_for(bench::suite& suite, const char* type) {
  for (const int log_size : {10, 14, 16, 18, 20, 22, 24, 26, 28}) {
    const std::int64_t n = std::int64_t{1} << log_size;
    suite.add({"DeviceFor::Bulk", type, "store", n, timing::batched, [=](const environment& env) {
                 return of_both(env, 0.0, poisoned<T>(n, 0xa5, env.stream), poisoned<T>(n, 0x5a, env.stream),
                                [=](auto lib, T* out, cudaStream_t stream) {
                                  return decltype(lib)::loop::Bulk(static_cast<int>(n), store_index<T>{out}, stream);
                                });
               }});
    suite.add({"DeviceFor::ForEachN", type, "store", n, timing::batched, [=](const environment& env) {
                 const auto ours = bench::random_array<T>(n, env.settings.seed, env.stream);
                 const auto theirs = bench::random_array<T>(n, env.settings.seed, env.stream);
                 return of_both(
                     env, static_cast<double>(ours.bytes()), ours, theirs, [=](auto lib, T* data, cudaStream_t stream) {
                       return decltype(lib)::loop::ForEachN(data, static_cast<int>(n), set_low_bit{}, stream);
                     });
               }});
  }
}

template <class T>
void add_extents(bench::suite& suite, const char* type) {
  for (const int log_size : {10, 16, 20, 24, 28}) {
    const std::int64_t n = std::int64_t{1} << log_size;
    suite.add({"DeviceFor::ForEachInExtents", type, "store", n, timing::batched, [=](const environment& env) {
                 return of_both(env, 0.0, poisoned<T>(n, 0xa5, env.stream), poisoned<T>(n, 0x5a, env.stream),
                                [=](auto lib, T* out, cudaStream_t stream) {
                                  return decltype(lib)::loop::ForEachInExtents(
                                      cuda::std::dextents<int, 3>(static_cast<int>(n >> 8), 8, 32),
                                      store_coordinates<T>{out}, stream);
                                });
               }});
  }
}

// The calls below exist in CUB since 3.2.
#if CUB_VERSION >= 300200
template <class T>
void add_transform_if(bench::suite& suite, const char* type, const char* name, unsigned mask) {
  for (const int log_size : {14, 16, 20, 22, 24, 28}) {
    const std::int64_t n = std::int64_t{1} << log_size;
    suite.add({"DeviceTransform::TransformIf", type, name, n, timing::batched, [=](const environment& env) {
                 const auto in = bench::random_array<T>(n, env.settings.seed, env.stream);
                 return of_both(env, static_cast<double>(in.bytes()), poisoned<T>(n, 0, env.stream),
                                poisoned<T>(n, 0, env.stream), [=](auto lib, T* out, cudaStream_t stream) {
                                  return decltype(lib)::transform::TransformIf(static_cast<const T*>(in.data()), out,
                                                                               static_cast<int>(n), is_chosen{mask},
                                                                               scale{}, stream);
                                });
               }});
  }
}

template <class T>
void add_fill(bench::suite& suite, const char* type) {
  for (const int log_size : {14, 16, 20, 22, 24, 28}) {
    const std::int64_t n = std::int64_t{1} << log_size;
    const auto add = [&](const char* name, auto call) {
      suite.add({name, type, "constant", n, timing::batched, [=](const environment& env) {
                   return of_both(env, 0.0, poisoned<T>(n, 0xa5, env.stream), poisoned<T>(n, 0x5a, env.stream), call);
                 }});
    };
    add("DeviceTransform::Fill", [n](auto lib, T* out, cudaStream_t stream) {
      return decltype(lib)::transform::Fill(out, static_cast<int>(n), T{7}, stream);
    });
    add("DeviceTransform::Generate", [n](auto lib, T* out, cudaStream_t stream) {
      return decltype(lib)::transform::Generate(out, static_cast<int>(n), seven{}, stream);
    });
  }
}

template <class T>
void add_newer(bench::suite& suite, const char* type) {
  add_transform_if<T>(suite, type, "all", 0);
  add_transform_if<T>(suite, type, "half", 1);
  add_transform_if<T>(suite, type, "one_in_16", 15);
  add_fill<T>(suite, type);
}
#else
template <class T>
void add_newer(bench::suite&, const char*) {}
#endif

void add_cases(bench::suite& suite) {
  add_type<std::int8_t>(suite, "i8");
  add_type<std::int32_t>(suite, "i32");
  add_type<double>(suite, "f64");
  add_for<std::int8_t>(suite, "i8");
  add_for<std::int32_t>(suite, "i32");
  add_for<std::int64_t>(suite, "i64");
  add_extents<std::int8_t>(suite, "i8");
  add_extents<std::int32_t>(suite, "i32");
  add_newer<std::int8_t>(suite, "i8");
  add_newer<std::int32_t>(suite, "i32");
  add_newer<std::int64_t>(suite, "i64");
}

}  // namespace

int main(int argc, char** argv) { return bench::run("transform", argc, argv, add_cases); }
