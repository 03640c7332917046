// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of the device layer that were added in CUB 3.1 to 3.5. See calls.cuh.

struct is_above {
  int bound;
  __host__ __device__ bool operator()(int x) const { return x > bound; }
};
struct is_less_by_key {
  __host__ __device__ bool operator()(int a, int b) const { return a / 10 < b / 10; }
};
struct is_same_by_key {
  __host__ __device__ bool operator()(int a, int b) const { return a / 10 == b / 10; }
};
struct tripled {
  __host__ __device__ int operator()(int x) const { return 3 * x; }
};
struct sum_of_two {
  __host__ __device__ int operator()(int a, short b) const { return a + b; }
};
struct first_is_larger {
  __host__ __device__ bool operator()(int a, short b) const { return a > b; }
};
struct always_7 {
  __host__ __device__ int operator()() const { return 7; }
};

inline void device_find(cub_calls::recorder& all) {
  using cub_calls::num_items;
  constexpr int value_count = 7001;
  std::vector<int> sorted = cub_calls::numbers<int>(num_items, 5000),
                   sorted_values = cub_calls::numbers<int>(value_count, 5100, 2);
  const device_vector<int> numbers(cub_calls::numbers<int>(num_items, 1000)), values(sorted_values);
  std::sort(sorted.begin(), sorted.end());
  std::sort(sorted_values.begin(), sorted_values.end());
  const device_vector<int> range(sorted), ascending(sorted_values);
  device_vector<int> index(1), bounds(value_count);
  all.device(
      "DeviceFind::FindIf: temporary storage",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceFind::FindIf(storage, bytes, numbers.data(), index.data(), is_above{990}, num_items);
      },
      index);
  all.device_in_one_call(
      "DeviceFind::FindIf: without storage, nothing is found",
      [&] { return lib::DeviceFind::FindIf(numbers.data(), index.data(), is_above{1000}, num_items); }, index);
  const auto less = cuda::std::less<>{};
  all.device(
      "DeviceFind::LowerBound: temporary storage",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceFind::LowerBound(storage, bytes, range.data(), num_items, values.data(), value_count,
                                           bounds.data(), less);
      },
      bounds);
  bounds.poison();
  all.device_in_one_call(
      "DeviceFind::LowerBound: a comparator of the user",
      [&] {
        return lib::DeviceFind::LowerBound(range.data(), num_items, values.data(), value_count, bounds.data(),
                                           is_less_by_key{});
      },
      bounds);
  bounds.poison();
  all.device_in_one_call(
      "DeviceFind::UpperBound: without storage",
      [&] {
        return lib::DeviceFind::UpperBound(range.data(), num_items, values.data(), value_count, bounds.data(), less);
      },
      bounds);
  bounds.poison();
  all.device(
      "DeviceFind::LowerBoundSortedValues: temporary storage",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceFind::LowerBoundSortedValues(storage, bytes, range.data(), num_items, ascending.data(),
                                                       value_count, bounds.data(), less);
      },
      bounds);
  bounds.poison();
  all.device_in_one_call(
      "DeviceFind::UpperBoundSortedValues: without storage",
      [&] {
        return lib::DeviceFind::UpperBoundSortedValues(range.data(), num_items, ascending.data(), value_count,
                                                       bounds.data(), less);
      },
      bounds);
}

inline void device_transform_if(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const device_vector<int> numbers(cub_calls::numbers<int>(num_items, 1000));
  const device_vector<short> others(cub_calls::numbers<short>(num_items, 1000, 2));
  device_vector<int> out(num_items);
  all.device_in_one_call(
      "DeviceTransform::TransformIf: one input",
      [&] {
        return lib::DeviceTransform::TransformIf(numbers.data(), out.data(), num_items, is_above{500}, tripled{});
      },
      out);
  out.poison();
  all.device_in_one_call(
      "DeviceTransform::TransformIf: a tuple of inputs",
      [&] {
        return lib::DeviceTransform::TransformIf(cuda::std::make_tuple(numbers.data(), others.data()), out.data(),
                                                 num_items, first_is_larger{}, sum_of_two{});
      },
      out);
  out.poison();
  all.device_in_one_call(
      "DeviceTransform::Fill: a value", [&] { return lib::DeviceTransform::Fill(out.data(), num_items, 5); }, out);
  out.poison();
  all.device_in_one_call(
      "DeviceTransform::Generate: a generator",
      [&] { return lib::DeviceTransform::Generate(out.data(), num_items, always_7{}); }, out);
}

inline void device_select_unique(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const device_vector<int> numbers(cub_calls::numbers<int>(num_items, 20));
  device_vector<int> out(num_items), number(1);
  all.device(
      "DeviceSelect::Unique: an operator",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSelect::Unique(storage, bytes, numbers.data(), out.data(), number.data(), num_items,
                                         is_same_by_key{});
      },
      cub_calls::first_of(out, number), number);
  device_vector<int> data(cub_calls::numbers<int>(num_items, 3));
  all.device(
      "DeviceSelect::Unique: in place",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSelect::Unique(storage, bytes, data.data(), number.data(), num_items);
      },
      cub_calls::first_of(data, number), number);
  device_vector<int> more(cub_calls::numbers<int>(num_items, 20));
  all.device(
      "DeviceSelect::Unique: in place, an operator",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSelect::Unique(storage, bytes, more.data(), number.data(), num_items, is_same_by_key{});
      },
      cub_calls::first_of(more, number), number);
}

inline void device_reduce_by_comparator(cub_calls::recorder& all) {
  using cub_calls::num_items;
  const device_vector<int> numbers(cub_calls::numbers<int>(num_items, 1000));
  device_vector<int> extreme(1);
  device_vector<std::int64_t> index(1);
  all.device(
      "DeviceReduce::ArgMin: a comparator",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::ArgMin(storage, bytes, numbers.data(), extreme.data(), index.data(), num_items,
                                         is_less_by_key{});
      },
      extreme, index);
  all.device(
      "DeviceReduce::ArgMax: a comparator",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceReduce::ArgMax(storage, bytes, numbers.data(), extreme.data(), index.data(), num_items,
                                         is_less_by_key{});
      },
      extreme, index);
}

struct larger_of_two {
  __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

inline void device_segmented_scan(cub_calls::recorder& all) {
  using cub_calls::num_items;
  constexpr int segments = 300;
  const device_vector<int> numbers(cub_calls::numbers<int>(num_items, 1000));
  const device_vector<int> offsets(cub_calls::segment_offsets<int>(segments, num_items));
  const int *const begins = offsets.data(), *const ends = offsets.data() + 1;
  device_vector<int> out(num_items);
  const auto larger = larger_of_two{};
#define STRATA_SCAN(name, ...) \
  out.poison();                \
  all.device(                  \
      name, [&](void* storage, std::size_t& bytes) { return lib::DeviceSegmentedScan::__VA_ARGS__; }, out)
  STRATA_SCAN("DeviceSegmentedScan::ExclusiveSegmentedSum: temporary storage",
              ExclusiveSegmentedSum(storage, bytes, numbers.data(), out.data(), begins, ends, segments));
  STRATA_SCAN("DeviceSegmentedScan::ExclusiveSegmentedSum: output offsets",
              ExclusiveSegmentedSum(storage, bytes, numbers.data(), out.data(), begins, ends, begins, segments));
  STRATA_SCAN("DeviceSegmentedScan::InclusiveSegmentedSum: temporary storage",
              InclusiveSegmentedSum(storage, bytes, numbers.data(), out.data(), begins, ends, segments));
  STRATA_SCAN("DeviceSegmentedScan::InclusiveSegmentedSum: output offsets",
              InclusiveSegmentedSum(storage, bytes, numbers.data(), out.data(), begins, ends, begins, segments));
  STRATA_SCAN("DeviceSegmentedScan::ExclusiveSegmentedScan: temporary storage",
              ExclusiveSegmentedScan(storage, bytes, numbers.data(), out.data(), begins, ends, segments, larger, 500));
  STRATA_SCAN(
      "DeviceSegmentedScan::ExclusiveSegmentedScan: output offsets",
      ExclusiveSegmentedScan(storage, bytes, numbers.data(), out.data(), begins, ends, begins, segments, larger, 500));
  STRATA_SCAN("DeviceSegmentedScan::InclusiveSegmentedScan: temporary storage",
              InclusiveSegmentedScan(storage, bytes, numbers.data(), out.data(), begins, ends, segments, larger));
  STRATA_SCAN(
      "DeviceSegmentedScan::InclusiveSegmentedScan: output offsets",
      InclusiveSegmentedScan(storage, bytes, numbers.data(), out.data(), begins, ends, begins, segments, larger));
  STRATA_SCAN(
      "DeviceSegmentedScan::InclusiveSegmentedScanInit: temporary storage",
      InclusiveSegmentedScanInit(storage, bytes, numbers.data(), out.data(), begins, ends, segments, larger, 500));
  STRATA_SCAN("DeviceSegmentedScan::InclusiveSegmentedScanInit: output offsets",
              InclusiveSegmentedScanInit(storage, bytes, numbers.data(), out.data(), begins, ends, begins, segments,
                                         larger, 500));
#undef STRATA_SCAN
  out.poison();
  all.device_in_one_call(
      "DeviceSegmentedScan::InclusiveSegmentedSum: without storage",
      [&] {
        return lib::DeviceSegmentedScan::InclusiveSegmentedSum(numbers.data(), out.data(), begins, ends, segments);
      },
      out);
}

/// Writes the linear index of each element to its place.
struct note_place {
  int* places;
  __device__ void operator()(int n, int i, int j) const { places[i * 7 + j] = n; }
};

inline void device_for_layouts(cub_calls::recorder& all) {
  using extents = cuda::std::extents<int, 5, 7>;
  device_vector<int> places(35);
  all.device_in_one_call(
      "DeviceFor::ForEachInLayout: layout_left",
      [&] {
        return lib::DeviceFor::ForEachInLayout(cuda::std::layout_left::mapping<extents>{}, note_place{places.data()});
      },
      places);
  places.poison();
  all.device(
      "DeviceFor::ForEachInLayout: temporary storage, layout_right",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceFor::ForEachInLayout(storage, bytes, cuda::std::layout_right::mapping<extents>{},
                                               note_place{places.data()});
      },
      places);
}

inline void device_copy_arrays(cub_calls::recorder& all) {
  using extents = cuda::std::extents<int, 40, cuda::std::dynamic_extent>;
  using right = cuda::std::mdspan<const int, extents>;
  const device_vector<int> numbers(cub_calls::numbers<int>(4000, 1000));
  device_vector<int> out(4000);
  device_vector<double> wide(4000);
  const right in(numbers.data(), 100);
  all.device(
      "DeviceCopy::Copy: temporary storage, the same layout",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceCopy::Copy(storage, bytes, in, cuda::std::mdspan<int, extents>(out.data(), 100));
      },
      out);
  out.poison();
  all.device_in_one_call(
      "DeviceCopy::Copy: another layout",
      [&] {
        return lib::DeviceCopy::Copy(in, cuda::std::mdspan<int, extents, cuda::std::layout_left>(out.data(), 100));
      },
      out);
  all.device_in_one_call(
      "DeviceCopy::Copy: another type",
      [&] { return lib::DeviceCopy::Copy(in, cuda::std::mdspan<double, extents>(wide.data(), 100)); }, wide);
  using strides = cuda::std::layout_stride::mapping<cuda::std::extents<int, 10, 20>>;
  const strides apart(cuda::std::extents<int, 10, 20>{}, cuda::std::array<int, 2>{100, 3});
  device_vector<int> dense(200);
  all.device_in_one_call(
      "DeviceCopy::Copy: strides",
      [&] {
        return lib::DeviceCopy::Copy(
            cuda::std::mdspan<const int, cuda::std::extents<int, 10, 20>, cuda::std::layout_stride>(numbers.data(),
                                                                                                    apart),
            cuda::std::mdspan<int, cuda::std::extents<int, 10, 20>>(dense.data()));
      },
      dense);
}

inline void device_segments_of_one_length(cub_calls::recorder& all) {
  constexpr int segments = 70, length = 250;
  const device_vector<int> numbers(cub_calls::numbers<int>(segments * length, 1000));
  const int* const d_in = numbers.data();
  device_vector<int> out(segments);
  all.device(
      "DeviceSegmentedReduce::Reduce: segments of one length",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedReduce::Reduce(storage, bytes, d_in, out.data(), segments, length, larger_of_two{},
                                                  -1);
      },
      out);
  all.device(
      "DeviceSegmentedReduce::Sum: segments of one length",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedReduce::Sum(storage, bytes, d_in, out.data(), segments, length);
      },
      out);
  all.device(
      "DeviceSegmentedReduce::Min: segments of one length",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedReduce::Min(storage, bytes, d_in, out.data(), segments, length);
      },
      out);
  all.device(
      "DeviceSegmentedReduce::Max: segments of one length",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedReduce::Max(storage, bytes, d_in, out.data(), segments, length);
      },
      out);
  device_vector<cuda::std::pair<int, int>> pairs(segments);
  all.device(
      "DeviceSegmentedReduce::ArgMin: segments of one length",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedReduce::ArgMin(storage, bytes, d_in, pairs.data(), segments, length);
      },
      pairs);
  all.device(
      "DeviceSegmentedReduce::ArgMax: segments of one length",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceSegmentedReduce::ArgMax(storage, bytes, d_in, pairs.data(), segments, length);
      },
      pairs);
}

template <class T>
struct row_begin {
  T* first;
  int stride;
  __host__ __device__ T* operator()(int row) const { return first + row * stride; }
};
template <class T>
auto row_begins(T* first, int stride) {
  return cuda::make_transform_iterator(cuda::make_counting_iterator(0), row_begin<T>{first, stride});
}

inline void device_batched_top_k(cub_calls::recorder& all) {
  // One result for each segment, because CUB writes several in any order.
  constexpr int segments = 70, size = 250;
  std::vector<int> sizes(segments);
  for (int s = 0; s < segments; ++s) sizes[static_cast<std::size_t>(s)] = 1 + s * 37 % size;
  const device_vector<int> keys(cub_calls::different_numbers<int>(segments * size)), d_sizes(sizes);
  const device_vector<int> values(cub_calls::numbers<int>(segments * size, 1000));
  device_vector<int> out(segments), values_out(segments);
  const auto d_keys = row_begins(keys.data(), size), d_values = row_begins(values.data(), size);
  const auto d_out = row_begins(out.data(), 1), d_values_out = row_begins(values_out.data(), 1);
  const auto where = cuda::std::execution::env{
      cuda::stream_ref{cudaStreamPerThread},
      cuda::execution::require(cuda::execution::determinism::not_guaranteed, cuda::execution::tie_break::unspecified,
                               cuda::execution::output_ordering::unsorted)};
  namespace args = cuda::args;
  all.device(
      "DeviceBatchedTopK::MaxKeys: constants",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceBatchedTopK::MaxKeys(storage, bytes, d_keys, d_out, args::constant<size>{},
                                               args::constant<1>{}, args::constant<segments>{}, where);
      },
      out);
  all.device(
      "DeviceBatchedTopK::MinKeys: sizes of segments, an integer",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceBatchedTopK::MinKeys(storage, bytes, d_keys, d_out,
                                               args::deferred_sequence{d_sizes.data(), args::bounds<1, size>()}, 1,
                                               segments, where);
      },
      out);
  all.device_in_one_call(
      "DeviceBatchedTopK::MaxPairs: immediate numbers",
      [&] {
        return lib::DeviceBatchedTopK::MaxPairs(
            d_keys, d_out, d_values, d_values_out, args::immediate{size, args::bounds<1, 256>()},
            args::immediate{1, args::bounds<1, 8>()}, args::immediate{segments}, where);
      },
      out, values_out);
  all.device(
      "DeviceBatchedTopK::MinPairs: bounds of the host",
      [&](void* storage, std::size_t& bytes) {
        return lib::DeviceBatchedTopK::MinPairs(
            storage, bytes, d_keys, d_out, d_values, d_values_out,
            args::deferred_sequence{d_sizes.data(), args::bounds<1, size>(), args::bounds(1, size)},
            args::constant<1>{}, segments, where);
      },
      out, values_out);
}
