// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One call of each class in an environment, with the queries that CUB supports there. See calls.cuh.

struct is_below_500 {
  __host__ __device__ bool operator()(int x) const { return x < 500; }
};
struct plus_two {
  __host__ __device__ int operator()(int x) const { return x + 2; }
};
struct add_two {
  __device__ void operator()(int& x) const { x += 2; }
};
struct less_int {
  __host__ __device__ bool operator()(int a, int b) const { return a < b; }
};

inline void device_environment(cub_calls::recorder& all) {
  using cub_calls::num_items;
  namespace ex = cuda::std::execution;
  const device_vector<int> numbers(cub_calls::numbers<int>(num_items, 1000));
  const int* const d_in = numbers.data();
  device_vector<int> out(num_items), sum(1), count(1);
  const cuda::stream_ref stream(cudaStreamPerThread);
  const auto run_to_run = cuda::execution::require(cuda::execution::determinism::run_to_run);
  const auto gpu_to_gpu = cuda::execution::require(cuda::execution::determinism::gpu_to_gpu);
  cuda::device_memory_pool_ref pool = cuda::device_default_memory_pool(cuda::devices[0]);
  const ex::prop memory{cuda::mr::get_memory_resource, pool};
  const ex::prop on{cuda::get_stream, stream};

  all.device_in_one_call(
      "DeviceReduce::Sum: an empty environment",
      [&] { return lib::DeviceReduce::Sum(d_in, sum.data(), num_items, ex::env{}); }, sum);
  all.device_in_one_call(
      "DeviceReduce::Sum: cuda::stream_ref",
      [&] { return lib::DeviceReduce::Sum(d_in, sum.data(), num_items, stream); }, sum);
  all.device_in_one_call(
      "DeviceReduce::Sum: a stream and a memory resource",
      [&] {
        return lib::DeviceReduce::Sum(d_in, sum.data(), num_items, ex::env{stream, pool});
      },
      sum);
  all.device_in_one_call(
      "DeviceReduce::Sum: properties",
      [&] {
        return lib::DeviceReduce::Sum(d_in, sum.data(), num_items, ex::env{memory, on, gpu_to_gpu});
      },
      sum);
  all.device_in_one_call(
      "DeviceReduce::Reduce: what is required",
      [&] { return lib::DeviceReduce::Reduce(d_in, sum.data(), num_items, cuda::maximum<>{}, -1, gpu_to_gpu); }, sum);
  all.device_in_one_call(
      "DeviceReduce::Min: what is required",
      [&] {
        return lib::DeviceReduce::Min(d_in, sum.data(), num_items, ex::env{stream, run_to_run});
      },
      sum);
  all.device_in_one_call(
      "DeviceReduce::TransformReduce: an environment",
      [&] {
        return lib::DeviceReduce::TransformReduce(d_in, sum.data(), num_items, cuda::std::plus<>{}, plus_two{}, 3,
                                                  ex::env{stream});
      },
      sum);
  all.device_in_one_call(
      "DeviceScan::ExclusiveSum: an environment",
      [&] {
        return lib::DeviceScan::ExclusiveSum(d_in, out.data(), num_items, ex::env{stream, run_to_run, pool});
      },
      out);
  all.device_in_one_call(
      "DeviceScan::InclusiveScan: an environment",
      [&] { return lib::DeviceScan::InclusiveScan(d_in, out.data(), cuda::maximum<>{}, num_items, ex::env{stream}); },
      out);
  all.device_in_one_call(
      "DeviceSelect::If: an environment",
      [&] {
        return lib::DeviceSelect::If(d_in, out.data(), count.data(), num_items, is_below_500{}, ex::env{stream, pool});
      },
      cub_calls::first_of(out, count));
  all.device(
      "DeviceSelect::If: storage and an environment",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSelect::If(storage, bytes, d_in, out.data(), count.data(), num_items, is_below_500{},
                                     ex::env{stream});
      },
      cub_calls::first_of(out, count));
  all.device_in_one_call(
      "DevicePartition::If: an environment",
      [&] {
        return lib::DevicePartition::If(d_in, out.data(), count.data(), num_items, is_below_500{}, ex::env{stream});
      },
      out, count);
  all.device_in_one_call(
      "DeviceRadixSort::SortKeys: an environment",
      [&] {
        return lib::DeviceRadixSort::SortKeys(d_in, out.data(), num_items, 0, 32, ex::env{stream, pool});
      },
      out);
  all.device_in_one_call(
      "DeviceMergeSort::SortKeysCopy: an environment",
      [&] { return lib::DeviceMergeSort::SortKeysCopy(d_in, out.data(), num_items, less_int{}, ex::env{stream}); },
      out);
  all.device_in_one_call(
      "DeviceHistogram::HistogramEven: an environment",
      [&] { return lib::DeviceHistogram::HistogramEven(d_in, out.data(), 11, 0, 1000, num_items, ex::env{stream}); },
      out);
  all.device_in_one_call(
      "DeviceTransform::Transform: an environment",
      [&] { return lib::DeviceTransform::Transform(d_in, out.data(), num_items, plus_two{}, ex::env{stream}); }, out);
  all.device_in_one_call(
      "DeviceFor::ForEachN: an environment",
      [&] { return lib::DeviceFor::ForEachN(out.data(), num_items, add_two{}, ex::env{stream}); }, out);
  all.device_in_one_call(
      "DeviceAdjacentDifference::SubtractLeftCopy: an environment",
      [&] {
        return lib::DeviceAdjacentDifference::SubtractLeftCopy(d_in, out.data(), num_items, cuda::std::minus<>{},
                                                               ex::env{stream});
      },
      out);
}

inline void device_environment_top_k(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const device_vector<int> keys(cub_calls::different_numbers<int>(num_items));
  // One result, because CUB writes several in any order.
  device_vector<int> greatest(1), index(1);
  const auto needs = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                              cuda::execution::output_ordering::unsorted);
  const auto where = cuda::std::execution::env{cuda::stream_ref{cudaStreamPerThread}, needs};
  all.device(
      "DeviceTopK::MaxPairs: storage and an environment",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceTopK::MaxPairs(storage, bytes, keys.data(), greatest.data(), cuda::make_counting_iterator(0),
                                         index.data(), num_items, 1, where);
      },
      greatest, index);
  all.device(
      "DeviceTopK::MinPairs: storage and an environment",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceTopK::MinPairs(storage, bytes, keys.data(), greatest.data(), cuda::make_counting_iterator(0),
                                         index.data(), num_items, 1, where);
      },
      greatest, index);
  all.device(
      "DeviceTopK::MinKeys: storage and an environment",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceTopK::MinKeys(storage, bytes, keys.data(), greatest.data(), num_items, 1, where);
      },
      greatest);
  all.device_in_one_call(
      "DeviceTopK::MaxKeys: an environment",
      [&] { return lib::DeviceTopK::MaxKeys(keys.data(), greatest.data(), num_items, 1, where); }, greatest);
}
