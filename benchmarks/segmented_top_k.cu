// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceSegmentedTopK. Rivals:
//
//   cub   CUB's DeviceBatchedTopK, which exists since CUB 3.5 and gets sizes and k at compile time
//   loop  one call of DeviceTopK for each row
//   sort  a sort of all rows
//
// CUB's results are in no order, and among keys equal to the last result CUB takes any. The necessary traffic is the
// keys, read once, and the results, written once.

#include <cub/version.cuh>
#define STRATA_BENCHMARK_CUB_HAS_BATCHED_TOP_K (CUB_VERSION >= 300500)
#if STRATA_BENCHMARK_CUB_HAS_BATCHED_TOP_K
#include <cub/device/device_batched_topk.cuh>
#include <cuda/iterator>
#include <cuda/stream_ref>
#endif
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/device_segmented_top_k.cuh>
#include <strata/device/device_top_k.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <cstdint>
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

enum class keys_are { uniform, equal, ascending, clustered };

const char* name_of(keys_are which) {
  switch (which) {
    case keys_are::uniform:
      return "uniform";
    case keys_are::equal:
      return "equal";
    case keys_are::ascending:
      return "ascending";
    case keys_are::clustered:
      return "clustered";
  }
  return "";
}

/// `clustered`: a few keys of each row are random. All others, and so the k-th greatest, lie close together.
template <class Key>
__global__ void shape_keys(Key* keys, std::size_t size, keys_are which, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    const auto any = static_cast<std::uint32_t>(bench::random_bits(seed + i));
    if (which == keys_are::equal) keys[i] = static_cast<Key>(42);
    if (which == keys_are::ascending) keys[i] = static_cast<Key>(i);
    if (which == keys_are::clustered && any % 1024 != 0) keys[i] = static_cast<Key>(1000000 + any % 4096 / 64);
  }
}

struct row_begin {
  long long size;
  __host__ __device__ long long operator()(long long row) const { return row * size; }
};
using row_offsets =
    strata::TransformInputIterator<long long, row_begin, strata::CountingInputIterator<long long>, long long>;

#if STRATA_BENCHMARK_CUB_HAS_BATCHED_TOP_K
template <class T>
struct row_of {
  T* first;
  long long size;
  __host__ __device__ T* operator()(long long row) const { return first + row * size; }
};
template <class T>
auto rows_of(T* first, long long size) {
  return cuda::make_transform_iterator(cuda::make_counting_iterator(0ll), row_of<T>{first, size});
}
auto any_order(cudaStream_t stream) {
  return cuda::std::execution::env{
      cuda::stream_ref{stream},
      cuda::execution::require(cuda::execution::determinism::not_guaranteed, cuda::execution::tie_break::unspecified,
                               cuda::execution::output_ordering::unsorted)};
}
#endif

/// Sorts each row of `k` results, because CUB's are in no order.
template <class Key>
device_array<Key> sorted(const device_array<Key>& results, std::int64_t rows, int k, cudaStream_t stream) {
  const device_array<Key> result(results.size());
  const row_offsets begins(strata::CountingInputIterator<long long>(0), row_begin{k});
  bench::check(
      strata::DeviceSegmentedSort::SortKeysDescending(
          results.data(), result.data(), static_cast<std::int64_t>(results.size()), rows, begins, begins + 1, stream),
      "sorted");
  return result;
}

enum class form { keys, sorted, pairs };

/// Longest row that CUB 3.5 takes: a row must fit the shared memory of a block.
inline constexpr int most_of_cub = 8192;
inline constexpr std::int64_t most_rows_of_loop = 1024;

template <class Key, int Size, int K, form Form>
workload greatest(const environment& env, std::int64_t rows, keys_are which) {
  const std::int64_t n = rows * Size;
  const std::uint64_t seed = env.settings.seed + static_cast<std::uint64_t>(n);
  const auto in = bench::random_array<Key>(n, seed, env.stream);
  shape_keys<<<1024, 256, 0, env.stream>>>(in.data(), in.size(), which, seed);
  bench::check(cudaGetLastError(), "shape_keys");
  const auto values = bench::random_array<std::uint32_t>(Form == form::pairs ? n : 1, seed, env.stream);
  const auto results = static_cast<std::size_t>(rows * K);
  const device_array<Key> ours(results), theirs(results), by_loop(results), by_sort(in.size());
  const device_array<std::uint32_t> our_values(results), their_values(results);
  const cudaStream_t stream = env.stream;
  ours.fill_bytes(0xa5, stream);
  theirs.fill_bytes(0x5a, stream);
  workload work;
  work.bytes = static_cast<double>(in.bytes()) + static_cast<double>(ours.bytes()) * (Form == form::pairs ? 2 : 1);
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    const strata::SegmentsOfSize segments(rows, Size);
    const Key* const keys = in.data();
    if constexpr (Form == form::pairs) {
      return strata::DeviceSegmentedTopK::MaxPairs(storage, bytes, keys, ours.data(), values.data(), our_values.data(),
                                                   segments, K, s);
    } else if constexpr (Form == form::sorted) {
      return strata::DeviceSegmentedTopK::MaxKeysSorted(storage, bytes, keys, ours.data(), segments, K, s);
    } else {
      return strata::DeviceSegmentedTopK::MaxKeys(storage, bytes, keys, ours.data(), segments, K, s);
    }
  }));
#if STRATA_BENCHMARK_CUB_HAS_BATCHED_TOP_K
  if constexpr (Size <= most_of_cub) {
    bench::peer cub = bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
      const auto keys = rows_of<const Key>(in.data(), Size);
      const auto keys_out = rows_of<Key>(theirs.data(), K);
      if constexpr (Form == form::pairs) {
        return cub::DeviceBatchedTopK::MaxPairs(
            storage, bytes, keys, keys_out, rows_of<const std::uint32_t>(values.data(), Size),
            rows_of<std::uint32_t>(their_values.data(), K), cuda::args::constant<Size>{}, cuda::args::constant<K>{},
            rows, any_order(s));
      } else {
        return cub::DeviceBatchedTopK::MaxKeys(storage, bytes, keys, keys_out, cuda::args::constant<Size>{},
                                               cuda::args::constant<K>{}, rows, any_order(s));
      }
    });
    cub.verify = [=] {
      return bench::difference(sorted(theirs, rows, K, stream),
                               Form == form::sorted ? ours : sorted(ours, rows, K, stream), {}, stream);
    };
    work.peers.push_back(cub);
  }
#endif
  if constexpr (Form == form::keys) {
    if (rows <= most_rows_of_loop) {
      work.peers.push_back(bench::storage_peer("loop", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
        for (std::int64_t row = 0; row < (storage == nullptr ? 1 : rows); ++row) {
          const cudaError_t error =
              strata::DeviceTopK::MaxKeys(storage, bytes, in.data() + row * Size, by_loop.data() + row * K, Size, K, s);
          if (error != cudaSuccess) return error;
        }
        return cudaSuccess;
      }));
    }
  }
  work.peers.push_back(bench::storage_peer("sort", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    const row_offsets begins(strata::CountingInputIterator<long long>(0), row_begin{Size});
    return strata::DeviceSegmentedSort::SortKeysDescending(storage, bytes, in.data(), by_sort.data(), n, rows, begins,
                                                           begins + 1, s);
  }));
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  work.verify = [=] {
    const device_array<Key> expected(results);
    bench::check(cudaMemcpy2DAsync(expected.data(), K * sizeof(Key), by_sort.data(), Size * sizeof(Key),
                                   K * sizeof(Key), static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, stream),
                 "first of each row");
    return bench::difference(Form == form::sorted ? ours : sorted(ours, rows, K, stream), expected, {}, stream);
  };
  return work;
}

template <class Key, int Size, int K, form Form = form::keys>
void add(bench::suite& suite, const char* type, std::int64_t rows, keys_are which = keys_are::uniform) {
  const char* const names[] = {"DeviceSegmentedTopK::MaxKeys", "DeviceSegmentedTopK::MaxKeysSorted",
                               "DeviceSegmentedTopK::MaxPairs"};
  const auto prepare = [=](const environment& env) { return greatest<Key, Size, K, Form>(env, rows, which); };
  bench::benchmark_case what{names[static_cast<int>(Form)],
                             Form == form::pairs ? std::string(type) + ":u32" : type,
                             std::string(name_of(which)) + " rows=" + std::to_string(rows) + " k=" + std::to_string(K),
                             rows * Size,
                             timing::batched,
                             prepare};
#if STRATA_BENCHMARK_CUB_HAS_BATCHED_TOP_K
  if (Size <= most_of_cub) what.rivals.push_back("cub");
#endif
  if (Form == form::keys && rows <= most_rows_of_loop) what.rivals.push_back("loop");
  what.rivals.push_back("sort");
  suite.add(what);
}

template <form Form>
void add_rows(bench::suite& suite) {
  add<float, 64, 8, Form>(suite, "f32", 1 << 20);
  add<float, 256, 8, Form>(suite, "f32", 1 << 18);
  add<float, 1024, 32, Form>(suite, "f32", 65536);
  add<float, 4096, 64, Form>(suite, "f32", 4096);
  add<float, 8192, 128, Form>(suite, "f32", 1024);
  add<float, 32768, 2048, Form>(suite, "f32", 64);
  add<float, 131072, 2048, Form>(suite, "f32", 8);
  add<float, 131072, 2048, Form>(suite, "f32", 256);
  add<float, 1 << 20, 2048, Form>(suite, "f32", 64);
}

void add_cases(bench::suite& suite) {
  add_rows<form::keys>(suite);
  add_rows<form::sorted>(suite);
  add_rows<form::pairs>(suite);
  for (const keys_are which : {keys_are::equal, keys_are::ascending, keys_are::clustered}) {
    add<float, 256, 8>(suite, "f32", 1 << 18, which);
    add<float, 1024, 32>(suite, "f32", 65536, which);
    add<float, 8192, 128>(suite, "f32", 1024, which);
    add<float, 131072, 2048>(suite, "f32", 256, which);
  }
  // The logits of one token, and of a batch of 32.
  add<float, 131072, 64>(suite, "f32", 1);
  add<float, 131072, 64>(suite, "f32", 32);
}

}  // namespace

int main(int argc, char** argv) { return bench::run("segmented_top_k", argc, argv, add_cases); }
