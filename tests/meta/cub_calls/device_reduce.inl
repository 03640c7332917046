// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions of arrays, of segments and by key. See calls.cuh.

struct smaller_of {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
struct larger_int {
  __device__ int operator()(int a, int b) { return a > b ? a : b; }  // not const, and not for the host
};
struct times_sixty {
  __host__ __device__ int operator()(int segment) const { return segment * 60; }
};
struct squared {
  __host__ __device__ long long operator()(int a) const { return static_cast<long long>(a) * a; }
};

inline void device_reduce(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const device_vector<int> numbers(cub_calls::numbers<int>(num_items, 1000));
  const int* const d_in = numbers.data();
  device_vector<int> sum(1);
  device_vector<long long> wide_sum(1);

  all.device(
      "DeviceReduce::Reduce: an operator of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Reduce(storage, bytes, d_in, sum.data(), num_items, smaller_of{}, 500);
      },
      sum);
  all.device(
      "DeviceReduce::Reduce: an operator that is neither const nor for the host",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Reduce(storage, bytes, d_in, sum.data(), num_items, larger_int{}, -1);
      },
      sum);
  all.device(
      "DeviceReduce::Reduce: cuda::std::plus, another type of initial value",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Reduce(storage, bytes, d_in, wide_sum.data(), num_items, cuda::std::plus<>{},
                                         1LL << 40);
      },
      wide_sum);
  all.device(
      "DeviceReduce::Reduce: explicit template arguments",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Reduce<const int*, int*, cuda::maximum<>, int, int>(storage, bytes, d_in, sum.data(),
                                                                                      num_items, cuda::maximum<>{}, 0);
      },
      sum);
  all.device(
      "DeviceReduce::Sum: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Sum(storage, bytes, d_in, sum.data(), num_items);
      },
      sum);
  all.device(
      "DeviceReduce::Sum: a wider result",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Sum(storage, bytes, d_in, wide_sum.data(), std::int64_t{num_items});
      },
      wide_sum);
  all.device(
      "DeviceReduce::Sum: a stream",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Sum(storage, bytes, d_in, sum.data(), num_items, cudaStreamPerThread);
      },
      sum);
  all.device(
      "DeviceReduce::Sum: a counting iterator, unsigned count",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Sum(storage, bytes, thrust::counting_iterator<int>(3), wide_sum.data(), 1000u);
      },
      wide_sum);
  all.device(
      "DeviceReduce::Sum: a transform iterator",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Sum(storage, bytes, thrust::make_transform_iterator(d_in, squared{}), wide_sum.data(),
                                      num_items);
      },
      wide_sum);
  all.device(
      "CacheModifiedInputIterator: the input of a sum",
      [&](void* storage, std::size_t& bytes) {
        lib::CacheModifiedInputIterator<lib::LOAD_LDG, int> items(d_in);
        return lib::DeviceReduce::Sum(storage, bytes, items + 5, sum.data(), num_items - 5);
      },
      sum);
  all.device(
      "DeviceReduce::Sum: no items",
      [&](void* storage, std::size_t& bytes) { return lib::DeviceReduce::Sum(storage, bytes, d_in, sum.data(), 0); },
      sum);
  all.device(
      "DeviceReduce::Min: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Min(storage, bytes, d_in, sum.data(), num_items);
      },
      sum);
  all.device(
      "DeviceReduce::Max: pointers",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Max(storage, bytes, d_in, sum.data(), num_items);
      },
      sum);

  device_vector<int> extreme(1);
  device_vector<std::int64_t> index(1);
  all.device(
      "DeviceReduce::ArgMin: value and index",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::ArgMin(storage, bytes, d_in, extreme.data(), index.data(), num_items);
      },
      extreme, index);
  all.device(
      "DeviceReduce::ArgMax: value and index",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::ArgMax(storage, bytes, d_in, extreme.data(), index.data(), num_items);
      },
      extreme, index);

  device_vector<lib::KeyValuePair<int, int>> pair(1);
  all.device(
      "DeviceReduce::ArgMin: a KeyValuePair",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::ArgMin(storage, bytes, d_in, pair.data(), num_items);
      },
      pair);
  all.device(
      "DeviceReduce::ArgMax: a KeyValuePair",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::ArgMax(storage, bytes, d_in, pair.data(), num_items);
      },
      pair);
  const lib::ArgIndexInputIterator<const int*, int> indexed(d_in);
  using indexed_item = lib::KeyValuePair<int, int>;
  all.device(
      "ArgIndexInputIterator: the input of a reduction",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Reduce(storage, bytes, indexed + 100, pair.data(), num_items - 100, lib::ArgMin{},
                                         indexed_item{1, 100000});
      },
      pair);
  all.device(
      "ArgMax: an operator of DeviceReduce",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::Reduce(storage, bytes, indexed, pair.data(), num_items, lib::ArgMax{},
                                         indexed_item(1, -1));
      },
      pair);

  all.device(
      "DeviceReduce::TransformReduce: a transformation of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::TransformReduce(storage, bytes, d_in, wide_sum.data(), num_items, cuda::std::plus<>{},
                                                  squared{}, 0LL);
      },
      wide_sum);
}

inline void device_reduce_by_key(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const device_vector<int> numbers(cub_calls::numbers<int>(num_items, 1000));
  const int* const d_in = numbers.data();
  const device_vector<int> keys(cub_calls::numbers<int>(num_items, 3, 2));  // short runs
  device_vector<int> unique(num_items);
  device_vector<int> aggregates(num_items);
  device_vector<int> num_runs(1);
  all.device(
      "DeviceReduce::ReduceByKey: an operator of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::ReduceByKey(storage, bytes, keys.data(), unique.data(), d_in, aggregates.data(),
                                              num_runs.data(), smaller_of{}, num_items);
      },
      cub_calls::first_of(unique, num_runs), cub_calls::first_of(aggregates, num_runs));
  aggregates.poison();
  all.device(
      "DeviceReduce::ReduceByKey: keys are discarded",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::ReduceByKey(storage, bytes, keys.data(), thrust::discard_iterator<>(), d_in,
                                              aggregates.data(), num_runs.data(), cuda::std::plus<>{}, num_items);
      },
      cub_calls::first_of(aggregates, num_runs));
}

inline void device_segmented_reduce(cub_calls::recorder& all) {
  using cub_calls::num_items;
  constexpr int num_segments = 300;
  const device_vector<int> numbers(cub_calls::numbers<int>(num_items, 1000));
  const int* const d_in = numbers.data();
  const device_vector<int> offsets(cub_calls::segment_offsets<int>(num_segments, num_items));
  const int* const d_offsets = offsets.data();
  device_vector<int> results(num_segments);
  device_vector<lib::KeyValuePair<int, int>> pairs(num_segments);
  all.device(
      "DeviceSegmentedReduce::Reduce: an operator of the user",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedReduce::Reduce(storage, bytes, d_in, results.data(), num_segments, d_offsets,
                                                  d_offsets + 1, smaller_of{}, 12345);
      },
      results);
  all.device(
      "DeviceSegmentedReduce::Sum: begin and end offsets",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedReduce::Sum(storage, bytes, d_in, results.data(), num_segments, d_offsets,
                                               d_offsets + 1);
      },
      results);
  all.device(
      "DeviceSegmentedReduce::Sum: offsets of iterators, a stream",
      [&](void* storage, std::size_t& bytes) {
        const auto begins = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), times_sixty{});
        return lib::DeviceSegmentedReduce::Sum(storage, bytes, d_in, results.data(), num_segments, begins, begins + 1,
                                               cudaStreamPerThread);
      },
      results);
  all.device(
      "DeviceSegmentedReduce::Min: begin and end offsets",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedReduce::Min(storage, bytes, d_in, results.data(), num_segments, d_offsets,
                                               d_offsets + 1);
      },
      results);
  all.device(
      "DeviceSegmentedReduce::Max: begin and end offsets",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedReduce::Max(storage, bytes, d_in, results.data(), num_segments, d_offsets,
                                               d_offsets + 1);
      },
      results);
  all.device(
      "DeviceSegmentedReduce::ArgMin: a KeyValuePair",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedReduce::ArgMin(storage, bytes, d_in, pairs.data(), num_segments, d_offsets,
                                                  d_offsets + 1);
      },
      pairs);
  all.device(
      "DeviceSegmentedReduce::ArgMax: a KeyValuePair",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedReduce::ArgMax(storage, bytes, d_in, pairs.data(), num_segments, d_offsets,
                                                  d_offsets + 1);
      },
      pairs);
}
