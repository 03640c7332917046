// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Differences of neighbours. See calls.cuh.

struct distance_of {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) {  // not const
    return a < b ? b - a : a - b;
  }
};

inline void device_adjacent_difference(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const std::vector<int> host_numbers = cub_calls::numbers<int>(num_items, 1000);
  const device_vector<int> numbers(host_numbers);
  device_vector<int> out(num_items);
  const auto in_place = [&](const char* name, const auto& call) {
    all.device(
        name,
        [&](void* storage, std::size_t& bytes) {
          out.assign(host_numbers);
          return call(storage, bytes);
        },
        out);
  };
  all.device(
      "DeviceAdjacentDifference::SubtractLeftCopy: an operator of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceAdjacentDifference::SubtractLeftCopy(storage, bytes, numbers.data(), out.data(), num_items,
                                                               distance_of{});
      },
      out);
  out.poison();
  all.device(
      "DeviceAdjacentDifference::SubtractLeftCopy: differences",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceAdjacentDifference::SubtractLeftCopy(storage, bytes, numbers.data(), out.data(), num_items);
      },
      out);
  in_place("DeviceAdjacentDifference::SubtractLeft: an operator of the user", [&](void* storage, std::size_t& bytes) {
    return lib::DeviceAdjacentDifference::SubtractLeft(storage, bytes, out.data(), num_items, distance_of{});
  });
  out.poison();
  all.device(
      "DeviceAdjacentDifference::SubtractRightCopy: a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceAdjacentDifference::SubtractRightCopy(storage, bytes, numbers.data(), out.data(), num_items,
                                                                distance_of{}, cudaStreamPerThread);
      },
      out);
  in_place("DeviceAdjacentDifference::SubtractRight: differences", [&](void* storage, std::size_t& bytes) {
    return lib::DeviceAdjacentDifference::SubtractRight(storage, bytes, out.data(), num_items);
  });
}
