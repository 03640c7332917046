// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A function for each item. See calls.cuh.

struct square_in_place {
  __device__ void operator()(int& item) const { item *= item; }
};
struct write_index {
  int* out;
  __device__ void operator()(int i) const { out[i] = 3 * i; }
};
struct count_large {
  int* count;
  __device__ void operator()(int item) const {
    if (item > 700) atomicAdd(count, 1);
  }
};

struct note_indices {
  int* out;
  __device__ void operator()(int number, int i, int j, int k) const { out[number] = 100 * i + 10 * j + k; }
};
struct note_index {
  int* out;
  __device__ void operator()(int number, int i) const { out[number] = 2 * i; }
};

inline void device_for(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const std::vector<int> host_numbers = cub_calls::numbers<int>(num_items, 1000);
  device_vector<int> numbers(host_numbers);
  device_vector<int> out(num_items);
  device_vector<int> count(1);
  all.device(
      "DeviceFor::Bulk: temporary storage",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceFor::Bulk(storage, bytes, num_items, write_index{out.data()});
      },
      out);
  out.poison();
  all.device_in_one_call(
      "DeviceFor::Bulk: a stream",
      [&] { return lib::DeviceFor::Bulk(num_items, write_index{out.data()}, cudaStreamPerThread); }, out);
  all.device(
      "DeviceFor::ForEachN: temporary storage",
      [&](void* storage, std::size_t& bytes) {
        numbers.assign(host_numbers);
        return lib::DeviceFor::ForEachN(storage, bytes, numbers.data(), num_items, square_in_place{});
      },
      numbers);
  numbers.assign(host_numbers);
  all.device_in_one_call(
      "DeviceFor::ForEachN: pointers",
      [&] { return lib::DeviceFor::ForEachN(numbers.data(), num_items, square_in_place{}); }, numbers);
  all.device(
      "DeviceFor::ForEach: temporary storage",
      [&](void* storage, std::size_t& bytes) {
        numbers.assign(host_numbers);
        return lib::DeviceFor::ForEach(storage, bytes, numbers.data(), numbers.data() + num_items, square_in_place{});
      },
      numbers);
  numbers.assign(host_numbers);
  all.device_in_one_call(
      "DeviceFor::ForEach: pointers",
      [&] { return lib::DeviceFor::ForEach(numbers.data(), numbers.data() + num_items, square_in_place{}); }, numbers);
  numbers.assign(host_numbers);
  all.device(
      "DeviceFor::ForEachCopyN: temporary storage",
      [&](void* storage, std::size_t& bytes) {
        count.assign({0});
        return lib::DeviceFor::ForEachCopyN(storage, bytes, numbers.data(), num_items, count_large{count.data()});
      },
      count);
  count.assign({0});
  all.device_in_one_call(
      "DeviceFor::ForEachCopyN: pointers",
      [&] { return lib::DeviceFor::ForEachCopyN(numbers.data(), num_items, count_large{count.data()}); }, count);
  all.device(
      "DeviceFor::ForEachCopy: temporary storage",
      [&](void* storage, std::size_t& bytes) {
        count.assign({0});
        return lib::DeviceFor::ForEachCopy(storage, bytes, numbers.data(), numbers.data() + num_items,
                                           count_large{count.data()});
      },
      count);
  count.assign({0});
  all.device_in_one_call(
      "DeviceFor::ForEachCopy: a counting iterator",
      [&] {
        const thrust::counting_iterator<int> first(0);
        return lib::DeviceFor::ForEachCopy(first, first + num_items, count_large{count.data()});
      },
      count);
  device_vector<int> indices(24);
  all.device_in_one_call(
      "DeviceFor::ForEachInExtents: extents of three dimensions",
      [&] {
        return lib::DeviceFor::ForEachInExtents(cuda::std::extents<int, 2, cuda::std::dynamic_extent, 4>(3),
                                                note_indices{indices.data()});
      },
      indices);
  indices.poison();
  all.device(
      "DeviceFor::ForEachInExtents: temporary storage, extents of one dimension",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceFor::ForEachInExtents(storage, bytes, cuda::std::extents<int, 24>{},
                                                note_index{indices.data()});
      },
      indices);
}
