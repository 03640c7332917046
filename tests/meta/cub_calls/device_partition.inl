// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Partitions. See calls.cuh.

struct partition_below {
  int bound;
  __host__ __device__ explicit partition_below(int number) : bound(number) {}
  __host__ __device__ bool operator()(const int& number) const { return number < bound; }
};

inline void device_partition(cub_calls::recorder& all) {
  using cub_calls::first_of;
  using cub_calls::num_items;
  const device_vector<int> numbers(cub_calls::numbers<int>(num_items, 1000));
  const int* const d_in = numbers.data();
  const device_vector<char> flags(cub_calls::numbers<char>(num_items, 2, 5));
  device_vector<int> out(num_items);
  device_vector<int> num_selected(1);
  all.device(
      "DevicePartition::Flagged: flags of char",
      [&](void* storage, std::size_t& bytes) {
        return lib::DevicePartition::Flagged(storage, bytes, d_in, flags.data(), out.data(), num_selected.data(),
                                             num_items);
      },
      out, num_selected);
  out.poison();
  all.device(
      "DevicePartition::If: a predicate of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DevicePartition::If(storage, bytes, d_in, out.data(), num_selected.data(), num_items,
                                        partition_below(300));
      },
      out, num_selected);
  device_vector<int> second(num_items);
  device_vector<int> rest(num_items);
  device_vector<int> counts(2);
  const auto counted = [&](std::size_t part) {
    const std::vector<int> both = counts.to_host();
    return static_cast<std::size_t>(part == 2 ? num_items - both[0] - both[1] : both[part]);
  };
  // The lengths of the three parts are known only after the call.
  all.device(
      "DevicePartition::If: three parts, a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DevicePartition::If(storage, bytes, d_in, out.data(), second.data(), rest.data(), counts.data(),
                                        num_items, partition_below(200), partition_below(600), cudaStreamPerThread);
      },
      counts);
  const device_vector<int>* const parts[] = {&out, &second, &rest};
  for (std::size_t part = 0; part < 3; ++part) {
    std::vector<int> items = parts[part]->to_host();
    items.resize(counted(part));
    long long hash = 0;
    for (const int item : items) hash = (hash * 31 + item) % 1000000007;
    all.value("DevicePartition::If: a part of three", hash);
  }
}
