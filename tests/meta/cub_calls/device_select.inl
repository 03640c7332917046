// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Selections and run lengths. See calls.cuh.

struct below {
  int bound;
  __host__ __device__ explicit below(int number) : bound(number) {}
  __host__ __device__ bool operator()(const int& number) const { return number < bound; }
};
struct is_odd {
  __device__ bool operator()(int number) { return (number & 1) != 0; }  // not const
};
struct same_half {
  __host__ __device__ bool operator()(int a, int b) const { return a / 2 == b / 2; }
};

inline void device_select(cub_calls::recorder& all) {
  using cub_calls::first_of;
  using cub_calls::num_items;
  const std::vector<int> host_numbers = cub_calls::numbers<int>(num_items, 1000);
  const device_vector<int> numbers(host_numbers);
  const int* const d_in = numbers.data();
  const device_vector<char> flags(cub_calls::numbers<char>(num_items, 2, 5));
  device_vector<int> out(num_items);
  device_vector<int> data(num_items);
  device_vector<int> num_selected(1);
  const auto in_place = [&](const char* name, const auto& call) {
    num_selected.poison();
    all.device(
        name,
        [&](void* storage, std::size_t& bytes) {
          data.assign(host_numbers);
          return call(storage, bytes, data.data());
        },
        first_of(data, num_selected));
  };

  all.device(
      "DeviceSelect::Flagged: flags of char",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSelect::Flagged(storage, bytes, d_in, flags.data(), out.data(), num_selected.data(),
                                          num_items);
      },
      first_of(out, num_selected));
  in_place("DeviceSelect::Flagged: in place", [&](void* storage, std::size_t& bytes, int* d_data) {
    return lib::DeviceSelect::Flagged(storage, bytes, d_data, flags.data(), num_selected.data(), num_items);
  });
  all.device(
      "DeviceSelect::If: a predicate of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSelect::If(storage, bytes, d_in, out.data(), num_selected.data(), num_items, below(700));
      },
      first_of(out, num_selected));
  in_place("DeviceSelect::If: in place, a predicate that is neither const nor for the host",
           [&](void* storage, std::size_t& bytes, int* d_data) {
             return lib::DeviceSelect::If(storage, bytes, d_data, num_selected.data(), num_items, is_odd{});
           });
  all.device(
      "DeviceSelect::If: indices from a counting iterator, a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSelect::If(storage, bytes, thrust::counting_iterator<int>(0), out.data(), num_selected.data(),
                                     num_items, below(3000), cudaStreamPerThread);
      },
      first_of(out, num_selected));
  all.device(
      "DeviceSelect::FlaggedIf: numbers as flags",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSelect::FlaggedIf(storage, bytes, thrust::counting_iterator<int>(7), d_in, out.data(),
                                            num_selected.data(), num_items, below(100));
      },
      first_of(out, num_selected));
  in_place("DeviceSelect::FlaggedIf: in place", [&](void* storage, std::size_t& bytes, int* d_data) {
    return lib::DeviceSelect::FlaggedIf(storage, bytes, d_data, d_in, num_selected.data(), num_items, below(900));
  });

  const device_vector<int> runs(cub_calls::numbers<int>(num_items, 3, 2));
  device_vector<int> values(num_items);
  all.device(
      "DeviceSelect::Unique: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSelect::Unique(storage, bytes, runs.data(), out.data(), num_selected.data(), num_items);
      },
      first_of(out, num_selected));
  all.device(
      "DeviceSelect::UniqueByKey: equal keys",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSelect::UniqueByKey(storage, bytes, runs.data(), d_in, out.data(), values.data(),
                                              num_selected.data(), num_items);
      },
      first_of(out, num_selected), first_of(values, num_selected));
  all.device(
      "DeviceSelect::UniqueByKey: an equality of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSelect::UniqueByKey(storage, bytes, runs.data(), d_in, out.data(), values.data(),
                                              num_selected.data(), num_items, same_half{});
      },
      first_of(out, num_selected), first_of(values, num_selected));
}

inline void device_run_length_encode(cub_calls::recorder& all) {
  using cub_calls::first_of;
  using cub_calls::num_items;
  const device_vector<int> runs(cub_calls::numbers<int>(num_items, 3, 2));
  device_vector<int> unique(num_items);
  device_vector<int> lengths(num_items);
  device_vector<int> num_runs(1);
  all.device(
      "DeviceRunLengthEncode::Encode: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRunLengthEncode::Encode(storage, bytes, runs.data(), unique.data(), lengths.data(),
                                                  num_runs.data(), num_items);
      },
      first_of(unique, num_runs), first_of(lengths, num_runs));
  lengths.poison();
  all.device(
      "DeviceRunLengthEncode::Encode: values are discarded",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceRunLengthEncode::Encode(storage, bytes, runs.data(), thrust::discard_iterator<>(),
                                                  lengths.data(), num_runs.data(), num_items);
      },
      first_of(lengths, num_runs));
}
