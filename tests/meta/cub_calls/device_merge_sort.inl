// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Merge sorts of arrays. See calls.cuh.

struct descending {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) {  // neither const nor for the host
    return b < a;
  }
};
struct by_last_digit {
  __host__ __device__ bool operator()(int a, int b) const { return a % 10 < b % 10; }
};

inline void device_merge_sort(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const std::vector<int> host_keys = cub_calls::different_numbers<int>(num_items);
  const std::vector<short> host_values = cub_calls::numbers<short>(num_items, 30000);
  const device_vector<int> keys(host_keys);
  const device_vector<short> values(host_values);
  device_vector<int> sorted(num_items);
  device_vector<short> moved(num_items);
  const auto in_place = [&](const char* name, const auto& call) {
    moved.assign(host_values);
    all.device(
        name,
        [&](void* storage, std::size_t& bytes) {
          sorted.assign(host_keys);
          return call(storage, bytes);
        },
        sorted, moved);
  };
  in_place("DeviceMergeSort::SortKeys: a comparator that is neither const nor for the host",
           [&](void* storage, std::size_t& bytes) {
             return lib::DeviceMergeSort::SortKeys(storage, bytes, sorted.data(), num_items, descending{});
           });
  in_place("DeviceMergeSort::SortPairs: a comparator of the user", [&](void* storage, std::size_t& bytes) {
    return lib::DeviceMergeSort::SortPairs(storage, bytes, sorted.data(), moved.data(), num_items, descending{});
  });
  in_place("DeviceMergeSort::StableSortKeys: equal keys", [&](void* storage, std::size_t& bytes) {
    return lib::DeviceMergeSort::StableSortKeys(storage, bytes, sorted.data(), num_items, by_last_digit{});
  });
  in_place("DeviceMergeSort::StableSortPairs: equal keys, a stream", [&](void* storage, std::size_t& bytes) {
    return lib::DeviceMergeSort::StableSortPairs(storage, bytes, sorted.data(), moved.data(), num_items,
                                                 by_last_digit{}, cudaStreamPerThread);
  });
  all.device(
      "DeviceMergeSort::SortKeysCopy: cuda::std::less",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceMergeSort::SortKeysCopy(storage, bytes, keys.data(), sorted.data(), num_items,
                                                  cuda::std::less<>{});
      },
      sorted);
  sorted.poison();
  all.device(
      "DeviceMergeSort::SortPairsCopy: 64-bit count",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceMergeSort::SortPairsCopy(storage, bytes, keys.data(), values.data(), sorted.data(),
                                                   moved.data(), std::int64_t{num_items}, descending{});
      },
      sorted, moved);
  sorted.poison();
  all.device(
      "DeviceMergeSort::StableSortKeysCopy: keys of a transform iterator",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceMergeSort::StableSortKeysCopy(
            storage, bytes, thrust::make_transform_iterator(keys.data(), cuda::std::negate<int>{}), sorted.data(),
            num_items, by_last_digit{});
      },
      sorted);
}
