// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Radix sorts of keys with several fields, which a decomposer returns. See calls.cuh.

struct reading {
  float level;
  int station;
};
struct by_station_and_level {
  __host__ __device__ cuda::std::tuple<int&, float&> operator()(reading& key) const { return {key.station, key.level}; }
};

inline void device_radix_sort_fields(cub_calls::recorder& all) {
  using cub_calls::current;
  using cub_calls::num_items;
  const std::vector<int> numbers = cub_calls::numbers<int>(num_items, 1000);
  std::vector<reading> host_keys;
  for (const int number : numbers) host_keys.push_back({static_cast<float>(number % 100) - 50.0f, number / 30});
  const std::vector<int> host_values = cub_calls::different_numbers<int>(num_items);
  const device_vector<reading> keys(host_keys);
  const device_vector<int> values(host_values);
  const reading* const d_keys = keys.data();
  const int* const d_values = values.data();
  device_vector<reading> keys_out(num_items);
  device_vector<int> values_out(num_items);
  device_vector<reading> more_keys(num_items);
  device_vector<int> more_values(num_items);
  lib::DoubleBuffer<reading> key_buffer;
  lib::DoubleBuffer<int> value_buffer;
  const auto fill_buffers = [&] {
    keys_out.assign(host_keys);
    values_out.assign(host_values);
    key_buffer = lib::DoubleBuffer<reading>(keys_out.data(), more_keys.data());
    value_buffer = lib::DoubleBuffer<int>(values_out.data(), more_values.data());
  };
  const by_station_and_level decomposer;

  all.device(
      "DeviceRadixSort::SortKeys: a decomposer",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortKeys(storage, bytes, d_keys, keys_out.data(), num_items, decomposer);
      },
      keys_out);
  all.device(
      "DeviceRadixSort::SortKeys: a decomposer, some bits, DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffers();
        return lib::DeviceRadixSort::SortKeys(storage, bytes, key_buffer, num_items, decomposer, 32, 64);
      },
      current(key_buffer));
  all.device(
      "DeviceRadixSort::SortKeysDescending: a decomposer, some bits",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortKeysDescending(storage, bytes, d_keys, keys_out.data(), num_items, decomposer,
                                                        0, 36);
      },
      keys_out);
  all.device(
      "DeviceRadixSort::SortKeysDescending: a decomposer, DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffers();
        return lib::DeviceRadixSort::SortKeysDescending(storage, bytes, key_buffer, num_items, decomposer);
      },
      current(key_buffer));
  all.device(
      "DeviceRadixSort::SortPairs: a decomposer",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortPairs(storage, bytes, d_keys, keys_out.data(), d_values, values_out.data(),
                                               num_items, decomposer);
      },
      keys_out, values_out);
  all.device(
      "DeviceRadixSort::SortPairs: a decomposer, some bits, DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffers();
        return lib::DeviceRadixSort::SortPairs(storage, bytes, key_buffer, value_buffer, num_items, decomposer, 20, 40,
                                               cudaStreamPerThread);
      },
      current(key_buffer), current(value_buffer));
  all.device(
      "DeviceRadixSort::SortPairsDescending: a decomposer, some bits",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortPairsDescending(storage, bytes, d_keys, keys_out.data(), d_values,
                                                         values_out.data(), num_items, decomposer, 16, 48);
      },
      keys_out, values_out);
  all.device(
      "DeviceRadixSort::SortPairsDescending: a decomposer, DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffers();
        return lib::DeviceRadixSort::SortPairsDescending(storage, bytes, key_buffer, value_buffer, num_items,
                                                         decomposer);
      },
      current(key_buffer), current(value_buffer));
  all.device(
      "DeviceRadixSort::SortKeys: a decomposer, some bits",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortKeys(storage, bytes, d_keys, keys_out.data(), num_items, decomposer, 8, 60);
      },
      keys_out);
  all.device(
      "DeviceRadixSort::SortKeys: a decomposer, DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffers();
        return lib::DeviceRadixSort::SortKeys(storage, bytes, key_buffer, num_items, decomposer);
      },
      current(key_buffer));
  all.device(
      "DeviceRadixSort::SortKeysDescending: a decomposer",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortKeysDescending(storage, bytes, d_keys, keys_out.data(), num_items, decomposer);
      },
      keys_out);
  all.device(
      "DeviceRadixSort::SortKeysDescending: a decomposer, some bits, DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffers();
        return lib::DeviceRadixSort::SortKeysDescending(storage, bytes, key_buffer, num_items, decomposer, 4, 44);
      },
      current(key_buffer));
  all.device(
      "DeviceRadixSort::SortPairs: a decomposer, some bits",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortPairs(storage, bytes, d_keys, keys_out.data(), d_values, values_out.data(),
                                               num_items, decomposer, 12, 52);
      },
      keys_out, values_out);
  all.device(
      "DeviceRadixSort::SortPairs: a decomposer, DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffers();
        return lib::DeviceRadixSort::SortPairs(storage, bytes, key_buffer, value_buffer, num_items, decomposer);
      },
      current(key_buffer), current(value_buffer));
  all.device(
      "DeviceRadixSort::SortPairsDescending: a decomposer",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortPairsDescending(storage, bytes, d_keys, keys_out.data(), d_values,
                                                         values_out.data(), num_items, decomposer);
      },
      keys_out, values_out);
  all.device(
      "DeviceRadixSort::SortPairsDescending: a decomposer, some bits, DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffers();
        return lib::DeviceRadixSort::SortPairsDescending(storage, bytes, key_buffer, value_buffer, num_items,
                                                         decomposer, 24, 56);
      },
      current(key_buffer), current(value_buffer));
}
