// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceTopK. Rivals:
//
//   cub       CUB's DeviceTopK, which exists since CUB 3.3
//   cub_sort  CUB's sort of the whole input
//   sort      our sort of the whole input
//
// CUB's results are in no order. If ours are sorted, CUB sorts its k results in a second call. The necessary traffic is
// the keys, read once, and the results, written once.

#include <cub/device/device_radix_sort.cuh>
#include <cub/version.cuh>
#define STRATA_BENCHMARK_CUB_HAS_TOP_K (CUB_VERSION >= 300300)
#if STRATA_BENCHMARK_CUB_HAS_TOP_K
#include <cub/device/device_topk.cuh>  // and what its environment needs: where, differs from version to version
#include <cuda/stream_ref>
#endif
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_top_k.cuh>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

namespace {

using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;

enum class keys_are { uniform, bits, equal, ascending, few };

const char* name_of(keys_are which) {
  switch (which) {
    case keys_are::uniform:
      return "uniform";
    case keys_are::bits:
      return "bits";
    case keys_are::equal:
      return "equal";
    case keys_are::ascending:
      return "ascending";
    case keys_are::few:
      return "few";
  }
  return "";
}

template <class Key>
__global__ void shape_keys(Key* keys, std::size_t size, keys_are which, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    const auto any = static_cast<std::uint32_t>(bench::random_bits(seed + i));
    switch (which) {
      case keys_are::uniform:
        break;
      case keys_are::bits:
        // No NaN, because the libraries may order it differently.
        if constexpr (std::is_same_v<Key, float>)
          keys[i] = __uint_as_float((any & 0x7f800000u) == 0x7f800000u ? any ^ 0x00800000u : any);
        break;
      case keys_are::equal:
        keys[i] = static_cast<Key>(42);
        break;
      case keys_are::ascending:
        keys[i] = static_cast<Key>(i);
        break;
      case keys_are::few:
        keys[i] = static_cast<Key>(any % 5);
        break;
    }
  }
}

template <class Key>
device_array<Key> make_keys(const environment& env, std::int64_t n, keys_are which) {
  const std::uint64_t seed = env.settings.seed + static_cast<std::uint64_t>(n);
  auto keys = bench::random_array<Key>(n, seed, env.stream);
  shape_keys<<<1024, 256, 0, env.stream>>>(keys.data(), keys.size(), which, seed);
  bench::check(cudaGetLastError(), "shape_keys");
  return keys;
}

/// The first `count` items of an array.
template <class T>
device_array<T> front(const device_array<T>& all, std::size_t count, cudaStream_t stream) {
  const device_array<T> result(count);
  bench::check(cudaMemcpyAsync(result.data(), all.data(), result.bytes(), cudaMemcpyDeviceToDevice, stream), "front");
  return result;
}

/// Sorts results in descending order, to compare results that are in no order.
template <class T>
device_array<T> sorted(const device_array<T>& results, cudaStream_t stream) {
  const device_array<T> result(results.size());
  bench::check(strata::DeviceRadixSort::SortKeysDescending(results.data(), result.data(), results.size(), 0,
                                                           8 * int{sizeof(T)}, stream),
               "sorted");
  return result;
}

/// Sorts values by their keys in descending order. The sort is stable, so values of equal keys stay in their order.
template <class Key, class Value>
device_array<Value> sorted_values(const device_array<Key>& keys, const device_array<Value>& values,
                                  cudaStream_t stream) {
  const device_array<Key> by(keys.size());
  const device_array<Value> result(values.size());
  bench::check(strata::DeviceRadixSort::SortPairsDescending(keys.data(), by.data(), values.data(), result.data(),
                                                            keys.size(), 0, 8 * int{sizeof(Key)}, stream),
               "sorted_values");
  return result;
}

std::vector<std::string> rivals_of_keys() {
#if STRATA_BENCHMARK_CUB_HAS_TOP_K
  return {"cub", "cub_sort", "sort"};
#else
  return {"cub_sort", "sort"};
#endif
}

std::vector<std::string> rivals_of_pairs() {
#if STRATA_BENCHMARK_CUB_HAS_TOP_K
  return {"cub", "cub_sort"};
#else
  return {"cub_sort"};
#endif
}

#if STRATA_BENCHMARK_CUB_HAS_TOP_K
/// Allows CUB any order of the results, and any of several equal items.
auto any_order(cudaStream_t stream) {
  return cuda::std::execution::env{cuda::stream_ref{stream},
                                   cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                            cuda::execution::output_ordering::unsorted)};
}

/// A peer that makes two calls one after the other.
bench::peer in_turn(bench::peer first, bench::peer second) {
  const auto call = [first, second](cudaStream_t stream) {
    const cudaError_t error = first.call(stream);
    return error == cudaSuccess ? second.call(stream) : error;
  };
  return {first.lib, call};
}

/// CUB's peer. `expected` are all items of the input, sorted.
template <bool IsSorted, class Key>
bench::peer cub_top_k(const device_array<Key>& in, const device_array<Key>& expected, int n, int k,
                      cudaStream_t stream) {
  const device_array<Key> out(static_cast<std::size_t>(k)), in_order(IsSorted ? out.size() : 0);
  out.fill_bytes(0x5a, stream);
  bench::peer result = bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    return cub::DeviceTopK::MaxKeys(storage, bytes, in.data(), out.data(), n, k, any_order(s));
  });
  if constexpr (IsSorted) {
    result = in_turn(result, bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
                       return cub::DeviceRadixSort::SortKeysDescending(storage, bytes, out.data(), in_order.data(), k,
                                                                       0, 8 * int{sizeof(Key)}, s);
                     }));
  }
  result.verify = [=] {
    return bench::difference(IsSorted ? in_order : sorted(out, stream), front(expected, out.size(), stream), {},
                             stream);
  };
  return result;
}

/// CUB's peer for pairs. Values are not compared, because CUB may keep any of several pairs with the last key.
template <bool IsSorted, class Key, class Value>
bench::peer cub_top_k_pairs(const device_array<Key>& in, const device_array<Value>& values,
                            const device_array<Key>& expected, int n, int k, cudaStream_t stream) {
  const device_array<Key> out(static_cast<std::size_t>(k)), in_order(IsSorted ? out.size() : 0);
  const device_array<Value> out_values(out.size()), values_in_order(in_order.size());
  out.fill_bytes(0x5a, stream);
  bench::peer result = bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    return cub::DeviceTopK::MaxPairs(storage, bytes, in.data(), out.data(), values.data(), out_values.data(), n, k,
                                     any_order(s));
  });
  if constexpr (IsSorted) {
    result = in_turn(result, bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
                       return cub::DeviceRadixSort::SortPairsDescending(storage, bytes, out.data(), in_order.data(),
                                                                        out_values.data(), values_in_order.data(), k, 0,
                                                                        8 * int{sizeof(Key)}, s);
                     }));
  }
  result.verify = [=] {
    return bench::difference(IsSorted ? in_order : sorted(out, stream), front(expected, out.size(), stream), {},
                             stream);
  };
  return result;
}
#endif

template <class Key, bool IsSorted>
workload greatest(const environment& env, int n, int k, keys_are which) {
  const auto in = make_keys<Key>(env, n, which);
  const device_array<Key> ours(static_cast<std::size_t>(k)), theirs(in.size()), by_sort(in.size());
  const cudaStream_t stream = env.stream;
  ours.fill_bytes(0xa5, stream);
  theirs.fill_bytes(0x5a, stream);
  workload work;
  work.bytes = static_cast<double>(in.bytes()) + static_cast<double>(ours.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    if constexpr (IsSorted) {
      return strata::DeviceTopK::MaxKeysSorted(storage, bytes, in.data(), ours.data(), n, k, s);
    } else {
      return strata::DeviceTopK::MaxKeys(storage, bytes, in.data(), ours.data(), n, k, s);
    }
  }));
#if STRATA_BENCHMARK_CUB_HAS_TOP_K
  work.peers.push_back(cub_top_k<IsSorted>(in, theirs, n, k, stream));
#endif
  work.peers.push_back(bench::storage_peer("cub_sort", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    return cub::DeviceRadixSort::SortKeysDescending(storage, bytes, in.data(), theirs.data(), n, 0,
                                                    8 * int{sizeof(Key)}, s);
  }));
  work.peers.push_back(bench::storage_peer("sort", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    return strata::DeviceRadixSort::SortKeysDescending(storage, bytes, in.data(), by_sort.data(), n, 0,
                                                       8 * int{sizeof(Key)}, s);
  }));
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  work.verify = [=] {
    return bench::difference(IsSorted ? ours : sorted(ours, stream), front(theirs, ours.size(), stream), {}, stream);
  };
  return work;
}

/// Top k of pairs with 4-byte values. The rivals sort pairs.
template <bool IsSorted>
workload greatest_pairs(const environment& env, int n, int k) {
  const auto in = make_keys<float>(env, n, keys_are::uniform);
  const auto values = bench::random_array<std::uint32_t>(n, env.settings.seed, env.stream);
  const device_array<float> ours(static_cast<std::size_t>(k)), theirs(in.size());
  const device_array<std::uint32_t> our_values(ours.size()), their_values(in.size());
  const cudaStream_t stream = env.stream;
  workload work;
  work.bytes = static_cast<double>(in.bytes()) + 2 * static_cast<double>(ours.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    if constexpr (IsSorted) {
      return strata::DeviceTopK::MaxPairsSorted(storage, bytes, in.data(), ours.data(), values.data(),
                                                our_values.data(), n, k, s);
    } else {
      return strata::DeviceTopK::MaxPairs(storage, bytes, in.data(), ours.data(), values.data(), our_values.data(), n,
                                          k, s);
    }
  }));
#if STRATA_BENCHMARK_CUB_HAS_TOP_K
  work.peers.push_back(cub_top_k_pairs<IsSorted>(in, values, theirs, n, k, stream));
#endif
  work.peers.push_back(bench::storage_peer("cub_sort", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    return cub::DeviceRadixSort::SortPairsDescending(storage, bytes, in.data(), theirs.data(), values.data(),
                                                     their_values.data(), n, 0, 32, s);
  }));
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  work.verify = [=] {
    const std::string text =
        bench::difference(IsSorted ? ours : sorted(ours, stream), front(theirs, ours.size(), stream), {}, stream);
    if (!text.empty()) return text;
    return bench::difference(IsSorted ? our_values : sorted_values(ours, our_values, stream),
                             front(their_values, ours.size(), stream), {}, stream);
  };
  return work;
}

template <bool IsSorted>
void add_pairs(bench::suite& suite) {
  for (const int log_size : {16, 20, 24, 28}) {
    const auto prepare = [=](const environment& env) { return greatest_pairs<IsSorted>(env, 1 << log_size, 1000); };
    bench::benchmark_case what{IsSorted ? "DeviceTopK::MaxPairsSorted" : "DeviceTopK::MaxPairs",
                               "f32:u32",
                               "uniform k=1000",
                               1 << log_size,
                               timing::batched,
                               prepare};
    what.rivals = rivals_of_pairs();
    suite.add(what);
  }
}

constexpr int ranks[] = {1, 32, 1000, 100000, 1 << 20};

template <class Key, bool IsSorted = false>
void add_keys(bench::suite& suite, const char* type, keys_are which,
              std::initializer_list<int> log_sizes = {16, 20, 24, 28}) {
  for (const int log_size : log_sizes) {
    const int n = 1 << log_size;
    for (const int k : ranks) {
      if (k >= n) continue;
      const auto prepare = [=](const environment& env) { return greatest<Key, IsSorted>(env, n, k, which); };
      bench::benchmark_case what{IsSorted ? "DeviceTopK::MaxKeysSorted" : "DeviceTopK::MaxKeys",
                                 type,
                                 std::string(name_of(which)) + " k=" + std::to_string(k),
                                 n,
                                 timing::batched,
                                 prepare};
      what.rivals = rivals_of_keys();
      suite.add(what);
    }
  }
}

void add_cases(bench::suite& suite) {
  for (const keys_are which :
       {keys_are::uniform, keys_are::bits, keys_are::equal, keys_are::ascending, keys_are::few}) {
    add_keys<float>(suite, "f32", which);
  }
  add_keys<std::uint64_t>(suite, "u64", keys_are::uniform);
  add_keys<std::int32_t>(suite, "i32", keys_are::uniform, {20, 24});
  add_keys<std::uint8_t>(suite, "u8", keys_are::uniform, {28});
  add_keys<float, true>(suite, "f32", keys_are::uniform);
  // k is half of the input: too many keys to collect candidates first.
  const auto half = [](const environment& env) {
    return greatest<float, false>(env, 1 << 28, 1 << 27, keys_are::uniform);
  };
  bench::benchmark_case what{"DeviceTopK::MaxKeys", "f32", "uniform k=n/2", 1 << 28, timing::batched, half};
  what.rivals = rivals_of_keys();
  suite.add(what);
  add_pairs<true>(suite);
  add_pairs<false>(suite);
}

}  // namespace

int main(int argc, char** argv) { return bench::run("top_k", argc, argv, add_cases); }
