// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceTransform, DeviceFor and DeviceAdjacentDifference write the same as CUB's, with random sizes and alignments,
// and with what CUB's users pass: cuda::std::tuple, Thrust's iterators and vectors, operators of libcu++.
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_transform.cuh>

#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_adjacent_difference.cuh>
#include <cub/device/device_for.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/std/functional>
#include <cuda/std/tuple>

#include <cstdint>
#include <vector>

#include "device/device_call.cuh"

namespace device_transform_cub_test {

using namespace device_test;

struct by_strata {
  using transform = strata::DeviceTransform;
  using loop = strata::DeviceFor;
  using differences = strata::DeviceAdjacentDifference;
};
struct by_cub {
  using transform = cub::DeviceTransform;
  using loop = cub::DeviceFor;
  using differences = cub::DeviceAdjacentDifference;
};

struct weighted {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return static_cast<T>(3 * a - b);
  }
};
struct increase {
  template <class T>
  __device__ void operator()(T& x) const {
    x = static_cast<T>(x + 7);
  }
};
struct store_square {
  int* out;
  __device__ void operator()(int i) const { out[i] = i * i; }
};

/// Sizes and offsets of arrays.
struct shape {
  int size, a, b, out;
};
std::vector<shape> shapes() {
  std::mt19937_64 bits = strata_test::random_bits(77);
  std::vector<shape> all;
  for (int i = 0; i < if_small(10, 60); ++i) {
    const int size = static_cast<int>(bits() % (1u << (1 + bits() % 21)));
    const bool is_shifted = bits() % 2 == 0;
    const auto offset = [&] { return is_shifted ? static_cast<int>(bits() % 17) : 0; };
    all.push_back({size, offset(), offset(), offset()});
  }
  return all;
}

/// Expects that `call(library, out)` writes the same with both libraries.
template <class T, class Call>
void expect_the_same(const std::vector<T>& before, const Call& call) {
  device_vector<T> ours(before), theirs(before);
  ASSERT_CUDA_SUCCESS(call(by_strata{}, ours.data()));
  ASSERT_CUDA_SUCCESS(call(by_cub{}, theirs.data()));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  ASSERT_EQ(theirs.to_host(), ours.to_host());
  ours.expect_guards_intact();
}

template <class T>
class DeviceTransformCub : public testing::Test {};
using number_types = testing::Types<std::uint8_t, std::int16_t, int, std::uint64_t>;
TYPED_TEST_SUITE(DeviceTransformCub, number_types);

TYPED_TEST(DeviceTransformCub, random_sizes_and_alignments) {
  using T = TypeParam;
  for (const shape& s : shapes()) {
    SCOPED_TRACE(testing::Message() << s.size << " items from " << s.a << " and " << s.b << " to " << s.out);
    const auto items = [&](int shift, unsigned stream) {
      return random_integers<T>(static_cast<std::size_t>(s.size + shift), 0, 100, stream);
    };
    const device_vector<T> a(items(s.a, 1)), b(items(s.b, 2));
    const std::vector<T> before = items(s.out + 3, 3);
    const T* const in = a.data() + s.a;
    ASSERT_NO_FATAL_FAILURE(expect_the_same(before, [&](auto library, T* out) {
      return decltype(library)::transform::Transform(cuda::std::make_tuple(in, b.data() + s.b), out + s.out, s.size,
                                                     weighted{});
    }));
    ASSERT_NO_FATAL_FAILURE(expect_the_same(before, [&](auto library, T* out) {
      return decltype(library)::transform::TransformStableArgumentAddresses(in, out + s.out, s.size,
                                                                            cuda::std::negate<>{});
    }));
    ASSERT_NO_FATAL_FAILURE(expect_the_same(before, [&](auto library, T* out) {
      return decltype(library)::loop::ForEachN(out + s.out, s.size, increase{});
    }));
    ASSERT_NO_FATAL_FAILURE(expect_the_same(before, [&](auto library, T* out) {
      return in_two_phases([&](void* storage, std::size_t& bytes) {
        return decltype(library)::differences::SubtractLeftCopy(storage, bytes, in, out + s.out, s.size, weighted{});
      });
    }));
    ASSERT_NO_FATAL_FAILURE(expect_the_same(before, [&](auto library, T* out) {
      return in_two_phases([&](void* storage, std::size_t& bytes) {
        return decltype(library)::differences::SubtractRightCopy(storage, bytes, in, out + s.out, s.size);
      });
    }));
    ASSERT_NO_FATAL_FAILURE(expect_the_same(before, [&](auto library, T* out) {
      return in_two_phases([&](void* storage, std::size_t& bytes) {
        return decltype(library)::differences::SubtractLeft(storage, bytes, out + s.out, s.size, cuda::std::minus<>{});
      });
    }));
    ASSERT_NO_FATAL_FAILURE(expect_the_same(before, [&](auto library, T* out) {
      return in_two_phases([&](void* storage, std::size_t& bytes) {
        return decltype(library)::differences::SubtractRight(storage, bytes, out + s.out, s.size, weighted{});
      });
    }));
  }
}

TEST(device_transform_cub, iterators_and_vectors_of_thrust) {
  const thrust::device_vector<int> in(100003, 5);
  thrust::device_vector<int> ours(100003), theirs(100003);
  const auto transform = [&](auto library, thrust::device_vector<int>& out) {
    ASSERT_CUDA_SUCCESS(decltype(library)::transform::Transform(
        cuda::std::make_tuple(thrust::make_counting_iterator(3), in.begin()), out.begin(), 100003, weighted{}));
    ASSERT_CUDA_SUCCESS(decltype(library)::loop::ForEach(out.begin() + 1, out.end(), increase{}));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  };
  transform(by_strata{}, ours);
  transform(by_cub{}, theirs);
  EXPECT_TRUE(ours == theirs);
}

TEST(device_transform_cub, indices) {
  for (const int size : {0, 1, 511, 512, 513, 1000003}) {
    SCOPED_TRACE(size);
    ASSERT_NO_FATAL_FAILURE(expect_the_same(
        std::vector<int>(static_cast<std::size_t>(size) + 1),
        [&](auto library, int* out) { return decltype(library)::loop::Bulk(size, store_square{out}); }));
  }
}

}  // namespace device_transform_cub_test
