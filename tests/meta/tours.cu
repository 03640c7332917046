// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The calls of the reading tours in include/strata/README.md. tours.py records what the host back end executes in them.
// Each call is compiled alone, with TOUR_<class> defined. Its number of items is in the range that the tour describes,
// but as small as possible, because this is compiled without optimisation.
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA

#if defined(TOUR_DeviceReduce)
#include <strata/device/device_reduce.cuh>
#elif defined(TOUR_DeviceScan)
#include <strata/device/device_scan.cuh>
#elif defined(TOUR_DeviceRadixSort)
#include <strata/device/device_radix_sort.cuh>
#elif defined(TOUR_DeviceSegmentedMergeSort)
#include <strata/device/device_segmented_merge_sort.cuh>
#elif defined(TOUR_DeviceHashJoin)
#include <strata/device/device_hash_join.hpp>
#elif defined(TOUR_DeviceTopK)
#include <strata/device/device_top_k.cuh>
#elif defined(TOUR_DeviceHistogram)
#include <strata/device/device_histogram.cuh>
#else
#error "define TOUR_<class> for one of these classes"
#endif

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void must_succeed(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

template <class T>
T* device_array(std::size_t size) {
  void* array = nullptr;
  must_succeed(cudaMalloc(&array, size * sizeof(T)));
  return static_cast<T*>(array);
}

/// Pseudo-random items below `bound`.
template <class T>
T* device_items(std::size_t size, unsigned bound) {
  std::vector<T> items(size);
  unsigned random = 1;
  for (T& item : items) {
    random = random * 1664525u + 1013904223u;
    item = static_cast<T>((random >> 4) % bound);
  }
  T* const array = device_array<T>(size);
  must_succeed(cudaMemcpy(array, items.data(), size * sizeof(T), cudaMemcpyHostToDevice));
  return array;
}

template <class Call>
void run(Call call) {
  std::size_t bytes = 0;
  must_succeed(call(nullptr, bytes));
  must_succeed(call(device_array<char>(bytes), bytes));
  must_succeed(cudaDeviceSynchronize());
}

}  // namespace

int main() {
#if defined(TOUR_DeviceReduce)
  constexpr int size = 1 << 18;
  const int* const in = device_items<int>(size, 1000);
  int* const out = device_array<int>(1);
  run([&](void* storage, std::size_t& bytes) { return strata::DeviceReduce::Sum(storage, bytes, in, out, size); });
#elif defined(TOUR_DeviceScan)
  constexpr int size = 1 << 18;
  const int* const in = device_items<int>(size, 1000);
  int* const out = device_array<int>(size);
  run([&](void* storage, std::size_t& bytes) {
    return strata::DeviceScan::ExclusiveSum(storage, bytes, in, out, size);
  });
#elif defined(TOUR_DeviceRadixSort)
  // More items than one launch sorts. All digits run the same code, so only one is sorted by.
  constexpr int size = (1 << 22) + 1;
  const unsigned* const keys_in = device_items<unsigned>(size, 1000);
  const unsigned* const values_in = device_items<unsigned>(size, 1000);
  unsigned* const keys_out = device_array<unsigned>(size);
  unsigned* const values_out = device_array<unsigned>(size);
  run([&](void* storage, std::size_t& bytes) {
    return strata::DeviceRadixSort::SortPairs(storage, bytes, keys_in, keys_out, values_in, values_out, size, 0, 8);
  });
#elif defined(TOUR_DeviceSegmentedMergeSort)
  constexpr int segments = 2000, segment_size = 100;
  int* const keys = device_items<int>(segments * segment_size, 1000);
  int offsets[segments + 1];
  for (int i = 0; i <= segments; ++i) offsets[i] = i * segment_size;
  int* const begin = device_array<int>(segments + 1);
  must_succeed(cudaMemcpy(begin, offsets, sizeof offsets, cudaMemcpyHostToDevice));
  run([&](void* storage, std::size_t& bytes) {
    return strata::DeviceSegmentedMergeSort::SortKeys(storage, bytes, keys, segments * segment_size, segments, begin,
                                                      begin + 1, strata::Less{});
  });
#elif defined(TOUR_DeviceHashJoin)
  constexpr int rows = 1 << 16, capacity = 4 * rows;
  const auto build = strata::join_side(device_items<unsigned>(rows, 2 * rows), rows);
  const auto probe = strata::join_side(device_items<unsigned>(rows, 2 * rows), rows);
  const auto pairs = strata::join_pairs(device_array<int>(capacity), device_array<int>(capacity), capacity);
  std::int64_t* const num_out = device_array<std::int64_t>(1);
  run([&](void* storage, std::size_t& bytes) {
    return strata::DeviceHashJoin::Inner(storage, bytes, build, probe, pairs, num_out);
  });
#elif defined(TOUR_DeviceTopK)
  // So many bytes that the call samples them.
  constexpr int size = 1 << 22, k = 100;
  const unsigned* const in = device_items<unsigned>(size, 1u << 28);
  unsigned* const out = device_array<unsigned>(k);
  run([&](void* storage, std::size_t& bytes) { return strata::DeviceTopK::MaxKeys(storage, bytes, in, out, size, k); });
#elif defined(TOUR_DeviceHistogram)
  constexpr int size = 1 << 18, levels = 257;
  const float* const samples = device_items<float>(size, 1000);
  int* const histogram = device_array<int>(levels - 1);
  run([&](void* storage, std::size_t& bytes) {
    return strata::DeviceHistogram::HistogramEven(storage, bytes, samples, histogram, levels, 0.0f, 1000.0f, size);
  });
#endif
}
