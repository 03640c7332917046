// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Transformations of arrays. See calls.cuh.

struct scaled_sum {
  int factor;
  __host__ __device__ int operator()(int a, short b, int c) const { return factor * a + b - c; }
};
struct negated {
  __device__ int operator()(int a) const { return -a; }
};

inline void device_transform(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const device_vector<int> numbers(cub_calls::numbers<int>(num_items, 1000));
  const device_vector<short> others(cub_calls::numbers<short>(num_items, 1000, 2));
  device_vector<int> out(num_items);
  all.device_in_one_call(
      "DeviceTransform::Transform: a tuple of inputs",
      [&] {
        return lib::DeviceTransform::Transform(
            cuda::std::make_tuple(numbers.data(), others.data(), thrust::counting_iterator<int>(10)), out.data(),
            num_items, scaled_sum{3});
      },
      out);
  out.poison();
  all.device_in_one_call(
      "DeviceTransform::Transform: one input, a stream",
      [&] {
        return lib::DeviceTransform::Transform(numbers.data(), out.data(), num_items, negated{}, cudaStreamPerThread);
      },
      out);
  out.poison();
  all.device(
      "DeviceTransform::Transform: a tuple of inputs, temporary storage",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceTransform::Transform(storage, bytes,
                                               cuda::std::make_tuple(numbers.data(), others.data(), numbers.data()),
                                               out.data(), num_items, scaled_sum{5});
      },
      out);
  out.poison();
  all.device(
      "DeviceTransform::Transform: one input, temporary storage",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceTransform::Transform(storage, bytes, numbers.data(), out.data(), num_items, negated{});
      },
      out);
  out.poison();
  all.device_in_one_call(
      "DeviceTransform::TransformStableArgumentAddresses: a tuple of inputs",
      [&] {
        return lib::DeviceTransform::TransformStableArgumentAddresses(
            cuda::std::make_tuple(numbers.data(), others.data(), numbers.data()), out.data(), num_items, scaled_sum{7});
      },
      out);
  out.poison();
  all.device_in_one_call(
      "DeviceTransform::TransformStableArgumentAddresses: one input",
      [&] {
        return lib::DeviceTransform::TransformStableArgumentAddresses(numbers.data(), out.data(), num_items, negated{});
      },
      out);
}
