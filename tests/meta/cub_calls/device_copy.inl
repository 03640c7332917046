// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copies of many ranges of items. See calls.cuh.

struct range_at {
  int* items;
  const int* offsets;
  __host__ __device__ int* operator()(int range) { return items + offsets[range]; }  // not const
};
struct range_length {
  const int* offsets;
  __host__ __device__ int operator()(int range) const { return offsets[range + 1] - offsets[range]; }
};
struct always {
  int number;
  __host__ __device__ int operator()(int) const { return number; }
};
struct repeated_number {
  const int* numbers;
  __host__ __device__ auto operator()(int range) const {
    return thrust::make_transform_iterator(thrust::counting_iterator<int>(0), always{numbers[range]});
  }
};

inline void device_copy(cub_calls::recorder& all) {
  using cub_calls::num_items;
  constexpr int num_ranges = 500;
  device_vector<int> numbers(cub_calls::numbers<int>(num_items, 1000));
  const device_vector<int> offsets(cub_calls::segment_offsets<int>(num_ranges, num_items));
  device_vector<int> out(num_items);
  const thrust::counting_iterator<int> indices(0);
  const auto to = thrust::make_transform_iterator(indices, range_at{out.data(), offsets.data()});
  const auto from = thrust::make_transform_iterator(indices, range_at{numbers.data(), offsets.data()});
  const auto lengths = thrust::make_transform_iterator(indices, range_length{offsets.data()});
  all.device(
      "DeviceCopy::Batched: ranges of iterators",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceCopy::Batched(storage, bytes, from, to, lengths, num_ranges);
      },
      out);
  out.poison();
  all.device(
      "DeviceCopy::Batched: repeated numbers, a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceCopy::Batched(storage, bytes,
                                        thrust::make_transform_iterator(indices, repeated_number{numbers.data()}), to,
                                        lengths, num_ranges, cudaStreamPerThread);
      },
      out);
}
