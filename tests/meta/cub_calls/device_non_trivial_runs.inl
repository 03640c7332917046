// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs of more than one item. See calls.cuh.

inline void device_non_trivial_runs(cub_calls::recorder& all) {
  using cub_calls::first_of;
  using cub_calls::num_items;
  const device_vector<int> runs(cub_calls::numbers<int>(num_items, 3, 2));
  device_vector<int> offsets(num_items);
  device_vector<int> lengths(num_items);
  device_vector<int> num_runs(1);
  all.device(
      "DeviceRunLengthEncode::NonTrivialRuns: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRunLengthEncode::NonTrivialRuns(storage, bytes, runs.data(), offsets.data(), lengths.data(),
                                                          num_runs.data(), num_items);
      },
      first_of(offsets, num_runs), first_of(lengths, num_runs));
}
