// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceSegmentedReduce gives the same results as CUB's.
#include <strata/device/device_segmented_reduce.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/functional>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/segment_shapes.cuh"

namespace {

using namespace device_test;

struct by_strata {
  using reduce = strata::DeviceSegmentedReduce;
};
struct by_cub {
  using reduce = cub::DeviceSegmentedReduce;
};

template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}
template <class Key, class Value>
bool same(const cub::KeyValuePair<Key, Value>& a, const cub::KeyValuePair<Key, Value>& b) {
  return a.key == b.key && a.value == b.value;
}

template <class T, class Call>
void expect_the_same(std::int64_t segments, const Call& call) {
  const auto with = [&](auto library) {
    return results_of<T>(segments,
                         [&](T* out, void* storage, std::size_t& bytes) { return call(library, storage, bytes, out); });
  };
  const std::vector<T> ours = with(by_strata{});
  const std::vector<T> theirs = with(by_cub{});
  ASSERT_EQ(theirs.size(), ours.size());
  for (std::size_t s = 0; s < ours.size(); ++s) ASSERT_TRUE(same(theirs[s], ours[s])) << s;
}

TEST(device_segmented_reduce_cub, every_function) {
  for (segment_shape shape : segment_shapes()) {
    SCOPED_TRACE(shape.name);
    // CUB does not define the result of a segment that ends before it begins.
    for (std::size_t s = 0; s < shape.begins.size(); ++s) {
      shape.ends[s] = std::max(shape.begins[s], shape.ends[s]);
    }
    const std::vector<int> items = random_integers<int>(shape.items() + 10, -1000, 1000);
    const device_vector<int> in(items);
    const device_vector<std::int64_t> begins(shape.begins);
    const device_vector<std::int64_t> ends(shape.ends);
    const std::int64_t n = shape.segments();
    const std::int64_t* const b = begins.data();
    const std::int64_t* const e = ends.data();
    expect_the_same<int>(n, [&](auto library, void* storage, std::size_t& bytes, int* out) {
      return decltype(library)::reduce::Sum(storage, bytes, in.data(), out, n, b, e);
    });
    expect_the_same<int>(n, [&](auto library, void* storage, std::size_t& bytes, int* out) {
      return decltype(library)::reduce::Min(storage, bytes, in.data(), out, n, b, e);
    });
    expect_the_same<int>(n, [&](auto library, void* storage, std::size_t& bytes, int* out) {
      return decltype(library)::reduce::Max(storage, bytes, in.data(), out, n, b, e);
    });
    expect_the_same<std::int64_t>(n, [&](auto library, void* storage, std::size_t& bytes, std::int64_t* out) {
      return decltype(library)::reduce::Reduce(storage, bytes, in.data(), out, n, b, e, cuda::maximum<>{},
                                               std::int64_t{-5});
    });
    using pair = cub::KeyValuePair<int, int>;
    expect_the_same<pair>(n, [&](auto library, void* storage, std::size_t& bytes, pair* out) {
      return decltype(library)::reduce::ArgMin(storage, bytes, in.data(), out, n, b, e);
    });
    expect_the_same<pair>(n, [&](auto library, void* storage, std::size_t& bytes, pair* out) {
      return decltype(library)::reduce::ArgMax(storage, bytes, in.data(), out, n, b, e);
    });
  }
}

struct times_100 {
  __host__ __device__ int operator()(int i) const { return 100 * i; }
};

TEST(device_segmented_reduce_cub, iterators_of_thrust) {
  const auto begins = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), times_100{});
  for (const std::int64_t segments : {10, 1000}) {
    expect_the_same<int>(segments, [&](auto library, void* storage, std::size_t& bytes, int* out) {
      return decltype(library)::reduce::Sum(storage, bytes, thrust::counting_iterator<int>(0), out, segments, begins,
                                            begins + 1);
    });
  }
}

}  // namespace
