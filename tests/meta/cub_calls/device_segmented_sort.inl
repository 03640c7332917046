// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sorts of segments. See calls.cuh.

inline void device_segmented_sort_keys(cub_calls::recorder& all) {
  using cub_calls::current;
  using cub_calls::num_items;
  constexpr int num_segments = 200;
  const std::vector<int> host_keys = cub_calls::numbers<int>(num_items, 3000);
  const device_vector<int> keys(host_keys);
  const int* const d_keys = keys.data();
  const device_vector<int> offsets(cub_calls::segment_offsets<int>(num_segments, num_items));
  const int* const d_offsets = offsets.data();
  device_vector<int> keys_out(num_items);
  device_vector<int> more_keys(num_items);
  lib::DoubleBuffer<int> key_buffer;
  const auto fill_buffer = [&] {
    keys_out.assign(host_keys);
    key_buffer = lib::DoubleBuffer<int>(keys_out.data(), more_keys.data());
  };

  all.device(
      "DeviceSegmentedSort::SortKeys: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedSort::SortKeys(storage, bytes, d_keys, keys_out.data(), num_items, num_segments,
                                                  d_offsets, d_offsets + 1);
      },
      keys_out);
  all.device(
      "DeviceSegmentedSort::SortKeys: DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffer();
        return lib::DeviceSegmentedSort::SortKeys(storage, bytes, key_buffer, num_items, num_segments, d_offsets,
                                                  d_offsets + 1);
      },
      current(key_buffer));
  all.device(
      "DeviceSegmentedSort::SortKeysDescending: pointers, a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedSort::SortKeysDescending(storage, bytes, d_keys, keys_out.data(), num_items,
                                                            num_segments, d_offsets, d_offsets + 1,
                                                            cudaStreamPerThread);
      },
      keys_out);
  all.device(
      "DeviceSegmentedSort::SortKeysDescending: DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffer();
        return lib::DeviceSegmentedSort::SortKeysDescending(storage, bytes, key_buffer, num_items, num_segments,
                                                            d_offsets, d_offsets + 1);
      },
      current(key_buffer));
  all.device(
      "DeviceSegmentedSort::StableSortKeys: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedSort::StableSortKeys(storage, bytes, d_keys, keys_out.data(), num_items,
                                                        num_segments, d_offsets, d_offsets + 1);
      },
      keys_out);
  all.device(
      "DeviceSegmentedSort::StableSortKeys: DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffer();
        return lib::DeviceSegmentedSort::StableSortKeys(storage, bytes, key_buffer, num_items, num_segments, d_offsets,
                                                        d_offsets + 1);
      },
      current(key_buffer));
  all.device(
      "DeviceSegmentedSort::StableSortKeysDescending: pointers, a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedSort::StableSortKeysDescending(storage, bytes, d_keys, keys_out.data(), num_items,
                                                                  num_segments, d_offsets, d_offsets + 1,
                                                                  cudaStreamPerThread);
      },
      keys_out);
  all.device(
      "DeviceSegmentedSort::StableSortKeysDescending: DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffer();
        return lib::DeviceSegmentedSort::StableSortKeysDescending(storage, bytes, key_buffer, num_items, num_segments,
                                                                  d_offsets, d_offsets + 1);
      },
      current(key_buffer));
}

inline void device_segmented_sort_pairs(cub_calls::recorder& all) {
  using cub_calls::current;
  using cub_calls::num_items;
  constexpr int num_segments = 200;
  // All keys differ, because a sort that is not stable may place equal keys in any order.
  const std::vector<int> host_keys = cub_calls::different_numbers<int>(num_items, 3);
  const device_vector<int> keys(host_keys);
  const int* const d_keys = keys.data();
  const device_vector<int> offsets(cub_calls::segment_offsets<int>(num_segments, num_items));
  const int* const d_offsets = offsets.data();
  device_vector<int> keys_out(num_items);
  device_vector<int> more_keys(num_items);
  lib::DoubleBuffer<int> key_buffer;
  const std::vector<int> host_values = cub_calls::different_numbers<int>(num_items);
  const device_vector<int> values(host_values);
  const int* const d_values = values.data();
  device_vector<int> values_out(num_items);
  device_vector<int> more_values(num_items);
  lib::DoubleBuffer<int> value_buffer;
  const auto fill_buffers = [&] {
    keys_out.assign(host_keys);
    values_out.assign(host_values);
    key_buffer = lib::DoubleBuffer<int>(keys_out.data(), more_keys.data());
    value_buffer = lib::DoubleBuffer<int>(values_out.data(), more_values.data());
  };

  all.device(
      "DeviceSegmentedSort::SortPairs: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedSort::SortPairs(storage, bytes, d_keys, keys_out.data(), d_values, values_out.data(),
                                                   num_items, num_segments, d_offsets, d_offsets + 1);
      },
      keys_out, values_out);
  all.device(
      "DeviceSegmentedSort::SortPairs: DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffers();
        return lib::DeviceSegmentedSort::SortPairs(storage, bytes, key_buffer, value_buffer, num_items, num_segments,
                                                   d_offsets, d_offsets + 1);
      },
      current(key_buffer), current(value_buffer));
  all.device(
      "DeviceSegmentedSort::SortPairsDescending: pointers, a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedSort::SortPairsDescending(storage, bytes, d_keys, keys_out.data(), d_values,
                                                             values_out.data(), num_items, num_segments, d_offsets,
                                                             d_offsets + 1, cudaStreamPerThread);
      },
      keys_out, values_out);
  all.device(
      "DeviceSegmentedSort::SortPairsDescending: DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffers();
        return lib::DeviceSegmentedSort::SortPairsDescending(storage, bytes, key_buffer, value_buffer, num_items,
                                                             num_segments, d_offsets, d_offsets + 1);
      },
      current(key_buffer), current(value_buffer));
  all.device(
      "DeviceSegmentedSort::StableSortPairs: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedSort::StableSortPairs(storage, bytes, d_keys, keys_out.data(), d_values,
                                                         values_out.data(), num_items, num_segments, d_offsets,
                                                         d_offsets + 1);
      },
      keys_out, values_out);
  all.device(
      "DeviceSegmentedSort::StableSortPairs: DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffers();
        return lib::DeviceSegmentedSort::StableSortPairs(storage, bytes, key_buffer, value_buffer, num_items,
                                                         num_segments, d_offsets, d_offsets + 1);
      },
      current(key_buffer), current(value_buffer));
  all.device(
      "DeviceSegmentedSort::StableSortPairsDescending: pointers, a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedSort::StableSortPairsDescending(storage, bytes, d_keys, keys_out.data(), d_values,
                                                                   values_out.data(), num_items, num_segments,
                                                                   d_offsets, d_offsets + 1, cudaStreamPerThread);
      },
      keys_out, values_out);
  all.device(
      "DeviceSegmentedSort::StableSortPairsDescending: DoubleBuffer",
      [&](void* storage, std::size_t& bytes) {
        fill_buffers();
        return lib::DeviceSegmentedSort::StableSortPairsDescending(storage, bytes, key_buffer, value_buffer, num_items,
                                                                   num_segments, d_offsets, d_offsets + 1);
      },
      current(key_buffer), current(value_buffer));
}
