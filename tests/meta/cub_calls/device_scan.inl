// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scans of arrays. See calls.cuh.

/// The function x -> a x + b of 32-bit words. Composition is associative and not commutative. There is no padding.
struct affine {
  unsigned a;
  unsigned b;
};
struct compose {
  __host__ __device__ affine operator()(const affine& f, const affine& g) const { return {f.a * g.a, f.b * g.a + g.b}; }
};
struct largest {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

inline void device_scan(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const std::vector<int> host_numbers = cub_calls::numbers<int>(num_items, 1000);
  const device_vector<int> numbers(host_numbers);
  const int* const d_in = numbers.data();
  device_vector<int> out(num_items);
  device_vector<int> data(num_items);
  device_vector<int> init(std::vector<int>{777});
  // Makes fresh data for both calls in place. The size query must not change it.
  const auto in_place = [&](const char* name, const auto& call) {
    all.device(
        name,
        [&](void* storage, std::size_t& bytes) {
          data.assign(host_numbers);
          return call(storage, bytes, data.data());
        },
        data);
  };

  all.device(
      "DeviceScan::ExclusiveSum: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::ExclusiveSum(storage, bytes, d_in, out.data(), num_items);
      },
      out);
  in_place("DeviceScan::ExclusiveSum: in place", [](void* storage, std::size_t& bytes, int* d_data) {
    return lib::DeviceScan::ExclusiveSum(storage, bytes, d_data, num_items);
  });
  out.poison();
  all.device(
      "CacheModifiedOutputIterator: the output of a scan",
      [&](void* storage, std::size_t& bytes) {
        lib::CacheModifiedOutputIterator<lib::STORE_CS, int> to(out.data());
        return lib::DeviceScan::ExclusiveSum(storage, bytes, d_in, to, num_items);
      },
      out);
  out.poison();
  all.device(
      "DeviceScan::InclusiveSum: pointers, a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::InclusiveSum(storage, bytes, d_in, out.data(), num_items, cudaStreamPerThread);
      },
      out);
  in_place("DeviceScan::InclusiveSum: in place", [](void* storage, std::size_t& bytes, int* d_data) {
    return lib::DeviceScan::InclusiveSum(storage, bytes, d_data, num_items);
  });

  out.poison();
  all.device(
      "DeviceScan::ExclusiveScan: an operator of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::ExclusiveScan(storage, bytes, d_in, out.data(), largest{}, -5, num_items);
      },
      out);
  in_place("DeviceScan::ExclusiveScan: in place", [](void* storage, std::size_t& bytes, int* d_data) {
    return lib::DeviceScan::ExclusiveScan(storage, bytes, d_data, largest{}, 100, num_items);
  });
  out.poison();
  all.device(
      "DeviceScan::ExclusiveScan: FutureValue",
      [&](void* storage, std::size_t& bytes) {
        const auto future = lib::FutureValue<int>(init.data());
        return lib::DeviceScan::ExclusiveScan(storage, bytes, d_in, out.data(), cuda::std::plus<>{}, future, num_items);
      },
      out);
  out.poison();
  all.device(
      "FutureValue: the type comes from the iterator",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::ExclusiveScan(storage, bytes, d_in, out.data(), cuda::std::plus<>{},
                                              lib::FutureValue(init.data()), num_items);
      },
      out);
  in_place("DeviceScan::ExclusiveScan: FutureValue, in place", [&](void* storage, std::size_t& bytes, int* d_data) {
    return lib::DeviceScan::ExclusiveScan(storage, bytes, d_data, cuda::std::plus<>{},
                                          lib::FutureValue<int>(init.data()), num_items);
  });
  out.poison();
  all.device(
      "DeviceScan::InclusiveScan: an operator of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::InclusiveScan(storage, bytes, d_in, out.data(), largest{}, num_items);
      },
      out);
  in_place("DeviceScan::InclusiveScan: in place", [](void* storage, std::size_t& bytes, int* d_data) {
    return lib::DeviceScan::InclusiveScan(storage, bytes, d_data, largest{}, num_items);
  });
  out.poison();
  all.device(
      "DeviceScan::InclusiveScan: explicit template arguments",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::InclusiveScan<const int*, int*, largest, int>(storage, bytes, d_in, out.data(),
                                                                              largest{}, num_items);
      },
      out);
  out.poison();
  all.device(
      "DeviceScan::InclusiveScanInit: cuda::maximum",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::InclusiveScanInit(storage, bytes, d_in, out.data(), cuda::maximum<>{}, 300, num_items);
      },
      out);

  std::vector<affine> host_functions;
  for (const int number : host_numbers) {
    host_functions.push_back({static_cast<unsigned>(number) | 1u, static_cast<unsigned>(number) * 7u});
  }
  const device_vector<affine> functions(host_functions);
  device_vector<affine> composed(num_items);
  all.device(
      "DeviceScan::InclusiveScan: a type of the user, not commutative",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::InclusiveScan(storage, bytes, functions.data(), composed.data(), compose{}, num_items);
      },
      composed);
  device_vector<long long> wide(num_items);
  all.device(
      "DeviceScan::ExclusiveScan: a wider initial value",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceScan::ExclusiveScan(storage, bytes, d_in, wide.data(), cuda::std::plus<>{}, 1LL << 40,
                                              std::size_t{num_items});
      },
      wide);
}
