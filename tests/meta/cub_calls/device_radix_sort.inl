// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Radix sorts of arrays of numbers. See calls.cuh.

inline void device_radix_sort_keys(cub_calls::recorder& all) {
  using cub_calls::current;
  using cub_calls::num_items;
  const std::vector<int> host_keys = cub_calls::numbers<int>(num_items, 1u << 24);
  const device_vector<int> keys(host_keys);
  const int* const d_in = keys.data();
  device_vector<int> out(num_items);
  device_vector<int> first(num_items);
  device_vector<int> second(num_items);
  lib::DoubleBuffer<int> buffer;
  // Makes fresh keys for both calls. The size query must not change them.
  const auto with_buffer = [&](const char* name, const auto& call) {
    all.device(
        name,
        [&](void* storage, std::size_t& bytes) {
          first.assign(host_keys);
          buffer = lib::DoubleBuffer<int>(first.data(), second.data());
          return call(storage, bytes);
        },
        current(buffer));
  };

  all.value("SortOrder: ascending", lib::SortOrder::Ascending < lib::SortOrder::Descending);
  all.device(
      "DeviceRadixSort::SortKeys: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortKeys(storage, bytes, d_in, out.data(), num_items);
      },
      out);
  all.device(
      "DeviceRadixSort::SortKeys: some bits, a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortKeys(storage, bytes, d_in, out.data(), num_items, 4, 17, cudaStreamPerThread);
      },
      out);
  all.device(
      "DeviceRadixSort::SortKeys: a size query of null pointers",
      [&](void* storage, std::size_t& bytes) {
        return storage == nullptr
                   ? lib::DeviceRadixSort::SortKeys<int, int>(nullptr, bytes, nullptr, nullptr, num_items)
                   : lib::DeviceRadixSort::SortKeys<int, int>(storage, bytes, d_in, out.data(), num_items);
      },
      out);
  with_buffer("DeviceRadixSort::SortKeys: DoubleBuffer", [&](void* storage, std::size_t& bytes) {
    return lib::DeviceRadixSort::SortKeys(storage, bytes, buffer, num_items);
  });
  with_buffer("DeviceRadixSort::SortKeys: DoubleBuffer, some bits", [&](void* storage, std::size_t& bytes) {
    return lib::DeviceRadixSort::SortKeys(storage, bytes, buffer, num_items, 8, 24);
  });
  all.device(
      "DeviceRadixSort::SortKeysDescending: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortKeysDescending(storage, bytes, d_in, out.data(), num_items);
      },
      out);
  with_buffer("DeviceRadixSort::SortKeysDescending: DoubleBuffer, some bits", [&](void* storage, std::size_t& bytes) {
    return lib::DeviceRadixSort::SortKeysDescending(storage, bytes, buffer, num_items, 3, 20);
  });
}

inline void device_radix_sort_pairs(cub_calls::recorder& all) {
  using cub_calls::current;
  using cub_calls::num_items;
  const std::vector<int> host_keys = cub_calls::numbers<int>(num_items, 5000);
  const std::vector<int> host_values = cub_calls::different_numbers<int>(num_items);
  const device_vector<int> keys(host_keys);
  const device_vector<int> values(host_values);
  const int* const d_keys = keys.data();
  const int* const d_values = values.data();
  device_vector<int> keys_out(num_items);
  device_vector<int> values_out(num_items);
  device_vector<int> more_keys(num_items);
  device_vector<int> more_values(num_items);
  lib::DoubleBuffer<int> key_buffer;
  lib::DoubleBuffer<int> value_buffer;
  const auto with_buffers = [&](const char* name, const auto& call) {
    all.device(
        name,
        [&](void* storage, std::size_t& bytes) {
          keys_out.assign(host_keys);
          values_out.assign(host_values);
          key_buffer.d_buffers[0] = keys_out.data();
          key_buffer.d_buffers[1] = more_keys.data();
          key_buffer.selector = 0;
          value_buffer = lib::DoubleBuffer<int>(values_out.data(), more_values.data());
          return call(storage, bytes);
        },
        current(key_buffer), current(value_buffer));
  };

  all.device(
      "DeviceRadixSort::SortPairs: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortPairs(storage, bytes, d_keys, keys_out.data(), d_values, values_out.data(),
                                               num_items);
      },
      keys_out, values_out);
  all.device(
      "DeviceRadixSort::SortPairs: some bits, explicit template arguments",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortPairs<int, int>(storage, bytes, d_keys, keys_out.data(), d_values,
                                                         values_out.data(), num_items, 2, 9);
      },
      keys_out, values_out);
  with_buffers("DeviceRadixSort::SortPairs: DoubleBuffer", [&](void* storage, std::size_t& bytes) {
    return lib::DeviceRadixSort::SortPairs(storage, bytes, key_buffer, value_buffer, num_items);
  });
  all.device(
      "DeviceRadixSort::SortPairsDescending: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRadixSort::SortPairsDescending(storage, bytes, d_keys, keys_out.data(), d_values,
                                                         values_out.data(), num_items);
      },
      keys_out, values_out);
  with_buffers("DeviceRadixSort::SortPairsDescending: DoubleBuffer, some bits, a stream",
               [&](void* storage, std::size_t& bytes) {
                 return lib::DeviceRadixSort::SortPairsDescending(storage, bytes, key_buffer, value_buffer, num_items,
                                                                  0, 11, cudaStreamPerThread);
               });
}
