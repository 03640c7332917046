// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scans by key. See calls.cuh.

struct largest {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct same_tens {
  __host__ __device__ bool operator()(int a, int b) const { return a / 10 == b / 10; }
};

inline void device_scan_by_key(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const device_vector<int> numbers(cub_calls::numbers<int>(num_items, 1000));
  const int* const d_in = numbers.data();
  std::vector<int> host_keys = cub_calls::numbers<int>(num_items, 1000, 3);
  for (std::size_t i = 0; i < host_keys.size(); ++i) host_keys[i] = static_cast<int>(i) / 40 + host_keys[i] % 2;
  const device_vector<int> keys(host_keys);
  device_vector<int> out(num_items);
  all.device(
      "DeviceScan::ExclusiveSumByKey: equal keys",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::ExclusiveSumByKey(storage, bytes, keys.data(), d_in, out.data(), num_items);
      },
      out);
  out.poison();
  all.device(
      "DeviceScan::ExclusiveSumByKey: an equality of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::ExclusiveSumByKey(storage, bytes, keys.data(), d_in, out.data(), num_items,
                                                  same_tens{});
      },
      out);
  out.poison();
  all.device(
      "DeviceScan::InclusiveSumByKey: an equality of the user, a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::InclusiveSumByKey(storage, bytes, keys.data(), d_in, out.data(), num_items, same_tens{},
                                                  cudaStreamPerThread);
      },
      out);
  out.poison();
  all.device(
      "DeviceScan::ExclusiveScanByKey: an operator of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::ExclusiveScanByKey(storage, bytes, keys.data(), d_in, out.data(), largest{}, 50,
                                                   num_items);
      },
      out);
  out.poison();
  all.device(
      "DeviceScan::ExclusiveScanByKey: an operator and an equality of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::ExclusiveScanByKey(storage, bytes, keys.data(), d_in, out.data(), largest{}, 50,
                                                   num_items, same_tens{});
      },
      out);
  out.poison();
  all.device(
      "DeviceScan::InclusiveScanByKey: an operator and an equality of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::InclusiveScanByKey(storage, bytes, keys.data(), d_in, out.data(), largest{}, num_items,
                                                   same_tens{});
      },
      out);
  out.poison();
  all.device(
      "DeviceScan::InclusiveScanByKey: cuda::std::plus, the count of explicit type",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::InclusiveScanByKey<const int*, const int*, int*, cuda::std::plus<>,
                                                   cuda::std::equal_to<>, std::uint32_t>(
            storage, bytes, keys.data(), d_in, out.data(), cuda::std::plus<>{}, num_items);
      },
      out);
}
