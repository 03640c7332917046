// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Merges. See calls.cuh.

struct merge_descending {
  __host__ __device__ bool operator()(int a, int b) const { return b < a; }
};

inline void device_merge(cub_calls::recorder& all) {
  constexpr int first_count = 7001, second_count = 3100;
  std::vector<int> host_first = cub_calls::numbers<int>(first_count, 2000, 1);
  std::vector<int> host_second = cub_calls::numbers<int>(second_count, 2000, 2);
  std::sort(host_first.begin(), host_first.end());
  std::sort(host_second.begin(), host_second.end());
  const device_vector<int> first(host_first), second(host_second);
  std::reverse(host_first.begin(), host_first.end());
  std::reverse(host_second.begin(), host_second.end());
  const device_vector<int> falling_first(host_first), falling_second(host_second);
  const device_vector<int> first_values(cub_calls::different_numbers<int>(first_count, 3));
  const device_vector<int> second_values(cub_calls::different_numbers<int>(second_count, 4));
  device_vector<int> keys(first_count + second_count), values(first_count + second_count);
  all.device(
      "DeviceMerge::MergeKeys: ascending",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceMerge::MergeKeys(storage, bytes, first.data(), first_count, second.data(), second_count,
                                           keys.data());
      },
      keys);
  keys.poison();
  all.device(
      "DeviceMerge::MergeKeys: a comparator of the user, a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceMerge::MergeKeys(storage, bytes, falling_first.data(), first_count, falling_second.data(),
                                           second_count, keys.data(), merge_descending{}, cudaStreamPerThread);
      },
      keys);
  keys.poison();
  all.device(
      "DeviceMerge::MergePairs: ascending",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceMerge::MergePairs(storage, bytes, first.data(), first_values.data(), first_count,
                                            second.data(), second_values.data(), second_count, keys.data(),
                                            values.data());
      },
      keys, values);
  keys.poison();
  all.device(
      "DeviceMerge::MergePairs: a comparator of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceMerge::MergePairs(storage, bytes, falling_first.data(), first_values.data(), first_count,
                                            falling_second.data(), second_values.data(), second_count, keys.data(),
                                            values.data(), merge_descending{});
      },
      keys, values);
}
