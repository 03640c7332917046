// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copies of many buffers of bytes. See calls.cuh.

struct buffer_at {
  char* bytes;
  const int* offsets;
  __host__ __device__ void* operator()(int buffer) { return bytes + offsets[buffer]; }  // not const
};
struct buffer_size {
  const int* offsets;
  __host__ __device__ int operator()(int buffer) const { return offsets[buffer + 1] - offsets[buffer]; }
};

inline void device_memcpy(cub_calls::recorder& all) {
  using cub_calls::num_items;
  constexpr int num_buffers = 500;
  device_vector<char> in(cub_calls::numbers<char>(num_items, 127));
  const device_vector<int> offsets(cub_calls::segment_offsets<int>(num_buffers, num_items));
  device_vector<char> out(num_items);
  const thrust::counting_iterator<int> indices(0);
  const auto from = thrust::make_transform_iterator(indices, buffer_at{in.data(), offsets.data()});
  const auto to = thrust::make_transform_iterator(indices, buffer_at{out.data(), offsets.data()});
  const auto sizes = thrust::make_transform_iterator(indices, buffer_size{offsets.data()});
  all.device(
      "DeviceMemcpy::Batched: buffers of iterators",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceMemcpy::Batched(storage, bytes, from, to, sizes, num_buffers);
      },
      out);
}
