// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceReduce gives the same results as CUB's, also with iterators and operators of Thrust and libcu++. So a program
// may replace `cub::` by `strata::`.
#include <strata/device/device_reduce.cuh>

#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

#include <cstdint>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;

// Stand for the libraries in `call(library, storage, bytes, out)`.
struct by_strata {
  using reduce = strata::DeviceReduce;
};
struct by_cub {
  using reduce = cub::DeviceReduce;
};

template <class T, class Call>
void expect_the_same(const Call& call) {
  const T ours =
      result_of<T>([&](T* out, void* storage, std::size_t& bytes) { return call(by_strata{}, storage, bytes, out); });
  const T theirs =
      result_of<T>([&](T* out, void* storage, std::size_t& bytes) { return call(by_cub{}, storage, bytes, out); });
  EXPECT_EQ(theirs, ours);
}

template <class T>
class DeviceReduceCub : public ::testing::Test {};
using number_types = ::testing::Types<std::int8_t, float>;
TYPED_TEST_SUITE(DeviceReduceCub, number_types);

TYPED_TEST(DeviceReduceCub, sum_min_max) {
  using T = TypeParam;
  const std::vector<std::size_t> lengths = usual_sizes();
  const std::vector<T> items = random_integers<T>(lengths.back(), 0, 7);
  const device_vector<T> in(items);
  for (const std::size_t size : lengths) {
    SCOPED_TRACE(size);
    expect_the_same<T>([&](auto library, void* storage, std::size_t& bytes, T* out) {
      return decltype(library)::reduce::Sum(storage, bytes, in.data(), out, size);
    });
    expect_the_same<T>([&](auto library, void* storage, std::size_t& bytes, T* out) {
      return decltype(library)::reduce::Min(storage, bytes, in.data(), out, size);
    });
    expect_the_same<T>([&](auto library, void* storage, std::size_t& bytes, T* out) {
      return decltype(library)::reduce::Max(storage, bytes, in.data(), out, size);
    });
  }
}

struct half_of {
  __host__ __device__ std::int64_t operator()(int x) const { return x / 2; }
};

TEST(device_reduce_cub, transform_reduce_with_their_operators) {
  const std::vector<int> items = random_integers<int>(500000, -1000, 1000);
  const device_vector<int> in(items);
  for (const std::size_t size : sizes{0, 1, 1000, 500000}) {
    SCOPED_TRACE(size);
    expect_the_same<std::int64_t>([&](auto library, void* storage, std::size_t& bytes, std::int64_t* out) {
      return decltype(library)::reduce::TransformReduce(storage, bytes, in.data(), out, size, cuda::std::plus<>{},
                                                        half_of{}, std::int64_t{5});
    });
    expect_the_same<std::int64_t>([&](auto library, void* storage, std::size_t& bytes, std::int64_t* out) {
      return decltype(library)::reduce::Reduce(storage, bytes, in.data(), out, size, cuda::maximum<>{},
                                               std::int64_t{-5000});
    });
    expect_the_same<std::int64_t>([&](auto library, void* storage, std::size_t& bytes, std::int64_t* out) {
      return decltype(library)::reduce::Reduce(storage, bytes, in.data(), out, size, cuda::std::bit_xor<std::int64_t>{},
                                               std::int64_t{12});
    });
  }
}

TEST(device_reduce_cub, arg_min_and_arg_max) {
  // Size 0 is missing: CUB 3.0.1 then writes nothing, though its documentation says otherwise.
  for (const std::int64_t size : {1, 33, 4097, 1000000}) {
    SCOPED_TRACE(size);
    const auto items = random_integers<int>(static_cast<std::size_t>(size), -500, 500);
    const device_vector<int> in(items);
    device_vector<int> value(2);
    device_vector<std::int64_t> index(2);
    const auto both = [&](auto library, int which) {
      EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return decltype(library)::reduce::ArgMin(storage, bytes, in.data(), value.data() + which, index.data() + which,
                                                 size);
      }));
    };
    both(by_strata{}, 0);
    both(by_cub{}, 1);
    EXPECT_EQ(value.to_host()[1], value.to_host()[0]);
    EXPECT_EQ(index.to_host()[1], index.to_host()[0]);
    const auto both_max = [&](auto library, int which) {
      EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return decltype(library)::reduce::ArgMax(storage, bytes, in.data(), value.data() + which, index.data() + which,
                                                 size);
      }));
    };
    both_max(by_strata{}, 0);
    both_max(by_cub{}, 1);
    EXPECT_EQ(value.to_host()[1], value.to_host()[0]);
    EXPECT_EQ(index.to_host()[1], index.to_host()[0]);
  }
}

// Outputs may have CUB's type of pairs, which has the same members.
TEST(device_reduce_cub, pairs_may_be_theirs) {
  const std::vector<int> items = random_integers<int>(30000, -1000000, 1000000);
  const device_vector<int> in(items);
  using pair = cub::KeyValuePair<int, int>;
  const pair low = result_of<pair>([&](pair* out, void* storage, std::size_t& bytes) {
    return strata::DeviceReduce::ArgMin(storage, bytes, in.data(), out, 30000);
  });
  const auto expected = std::min_element(items.begin(), items.end());
  EXPECT_EQ(*expected, low.value);
  EXPECT_EQ(expected - items.begin(), low.key);
}

// ------------------------------------------------------------------ their iterators

template <class Iterator>
void expect_the_same_sum(Iterator in, std::size_t size) {
  expect_the_same<std::int64_t>([&](auto library, void* storage, std::size_t& bytes, std::int64_t* out) {
    return decltype(library)::reduce::Sum(storage, bytes, in, out, size);
  });
}

struct first_times_second {
  template <class Tuple>
  __host__ __device__ std::int64_t operator()(const Tuple& t) const {
    return static_cast<std::int64_t>(thrust::get<0>(t)) * thrust::get<1>(t);
  }
};

TEST(device_reduce_cub, iterators_of_thrust) {
  const std::vector<int> items = random_integers<int>(100000, -1000, 1000);
  const device_vector<int> in(items);
  const std::size_t size = items.size();
  expect_the_same_sum(thrust::counting_iterator<int>(5), size);
  expect_the_same_sum(thrust::constant_iterator<int>(5), size);
  expect_the_same_sum(thrust::make_transform_iterator(in.data(), half_of{}), size);
  expect_the_same_sum(
      thrust::make_transform_iterator(thrust::make_zip_iterator(in.data(), thrust::counting_iterator<int>(0)),
                                      first_times_second{}),
      size);
}

TEST(device_reduce_cub, output_may_be_discarded) {
  const device_vector<int> in(std::vector<int>(1000, 1));
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::DeviceReduce::Sum(storage, bytes, in.data(), thrust::make_discard_iterator(), 1000);
  }));
}

}  // namespace
