// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check, shapes

// ReproducibleSum: the order of additions depends only on the types and the number of items.
#include <strata/core/operators.hpp>
#include <strata/device/device_reduce.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "device/device_call.cuh"
#include "device/schedules.cuh"
#include "device/test_iterators.cuh"
#include "support/environments.hpp"
#include "support/test_types.cuh"

namespace device_reduce_reproducible {

using namespace device_test;
using strata::DeviceReduce;
namespace ex = cuda::strata_test::execution;

/// Sum of up to 32 values in the order of a warp: at distances 1, 2, 4, 8, 16.
template <class Accum>
Accum sum_of_lanes(std::vector<Accum> lanes) {
  for (std::size_t distance = 1; distance < lanes.size(); distance *= 2) {
    for (std::size_t lane = 0; lane + distance < lanes.size(); lane += 2 * distance) {
      lanes[lane] = lanes[lane] + lanes[lane + distance];
    }
  }
  return lanes[0];
}

/// The sum that include/strata/device/reduce/reproducible.cuh defines, computed sequentially.
template <class Accum, class T>
Accum expected_sum(const std::vector<T>& items) {
  if (items.empty()) return Accum{0};
  const std::size_t width = 16 / sizeof(T), row = 32 * width;
  std::size_t piece = 8 * row;
  while ((items.size() + piece - 1) / piece > 16384) piece *= 2;
  std::vector<Accum> pieces;
  for (std::size_t begin = 0; begin < items.size(); begin += piece) {
    const std::size_t end = std::min(begin + piece, items.size());
    std::vector<Accum> lanes;
    for (std::size_t lane = 0; lane < 32 && begin + lane * width < end; ++lane) {
      Accum sum{};
      for (std::size_t pack = begin + lane * width; pack < end; pack += row) {
        Accum of_pack = static_cast<Accum>(items[pack]);
        for (std::size_t i = pack + 1; i < std::min(pack + width, end); ++i) {
          of_pack = of_pack + static_cast<Accum>(items[i]);
        }
        sum = pack == begin + lane * width ? of_pack : sum + of_pack;
      }
      lanes.push_back(sum);
    }
    pieces.push_back(sum_of_lanes(lanes));
  }
  const std::size_t per_thread = (pieces.size() + 511) / 512;
  std::vector<Accum> threads, warps;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i % per_thread == 0) {
      threads.push_back(pieces[i]);
    } else {
      threads.back() = threads.back() + pieces[i];
    }
  }
  for (std::size_t begin = 0; begin < threads.size(); begin += 32) {
    const auto first = threads.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto left = static_cast<std::ptrdiff_t>(std::min<std::size_t>(32, threads.size() - begin));
    warps.push_back(sum_of_lanes(std::vector<Accum>(first, first + left)));
  }
  return Accum{0} + sum_of_lanes(warps);
}

/// Numbers of very different magnitudes: almost every order of additions gives another sum.
template <class T>
std::vector<T> wild_numbers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 bits = strata_test::random_bits(seed);
  std::vector<T> items(count);
  for (T& item : items) {
    const std::uint64_t random = bits();
    item = static_cast<T>(
        std::ldexp(static_cast<double>(random >> 12) / 4503599627370496.0 - 0.5, static_cast<int>(random % 40)));
  }
  return items;
}

template <class Accum, class In>
Accum sum_of(In in, std::size_t size) {
  return result_of<Accum>(
      [&](Accum* out, auto&&... storage) { return DeviceReduce::ReproducibleSum(storage..., in, out, size); });
}

template <class T>
bool have_same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
class ReproducibleSumOf : public testing::Test {};
using sum_types = testing::Types<float, double>;
TYPED_TEST_SUITE(ReproducibleSumOf, sum_types);

TYPED_TEST(ReproducibleSumOf, every_device_and_address_gives_the_documented_sum) {
  using T = TypeParam;
  std::vector<std::size_t> all_sizes = boundary_sizes(if_small<std::size_t>(1100, 1u << 16));
  for (const std::size_t size : {std::size_t{8193}, if_small<std::size_t>(70001, (1u << 24) + 4099),
                                 if_small<std::size_t>(140000, (1u << 25) + 1)}) {
    all_sizes.push_back(size);
  }
  for (const std::size_t size : all_sizes) {
    const std::vector<T> items = wild_numbers<T>(size + 3, size);
    const device_vector<T> in(items);
    for (const std::size_t shift : sizes{0, 1, 3}) {
      SCOPED_TRACE(testing::Message() << size << " items, shift " << shift);
      const auto first = items.begin() + static_cast<std::ptrdiff_t>(shift);
      const T expected = expected_sum<T>(std::vector<T>(first, first + static_cast<std::ptrdiff_t>(size)));
      const T found = sum_of<T>(in.data() + shift, size);
      ASSERT_TRUE(have_same_bits(expected, found)) << expected << " and " << found;
    }
  }
}

struct halved {
  STRATA_HD float operator()(float item) const { return item / 2; }
};
struct to_number {
  const float* items;
  STRATA_HD float operator()(std::size_t i) const { return items[i]; }
};

TEST(reproducible_sum, iterators_future_counts_and_wider_sums) {
  const std::size_t size = if_small<std::size_t>(20001, 3000001);
  const std::vector<float> items = wild_numbers<float>(size, 5);
  const device_vector<float> in(items);
  const float expected = expected_sum<float>(items);
  const strata::TransformInputIterator<float, to_number, strata::CountingInputIterator<std::size_t>> computed(
      strata::CountingInputIterator<std::size_t>(0), to_number{in.data()});
  EXPECT_TRUE(have_same_bits(expected, sum_of<float>(computed, size)));
  EXPECT_TRUE(have_same_bits(expected_sum<double>(items), sum_of<double>(in.data(), size)));

  // The count may have more pieces than its bound, because pieces double in size as the number of items grows.
  for (const std::size_t bound : {size, size + 1, 2 * size + 7}) {
    const device_vector<std::size_t> count(std::vector<std::size_t>{size});
    EXPECT_TRUE(have_same_bits(expected, result_of<float>([&](float* out, auto&&... storage) {
                                 return DeviceReduce::ReproducibleSum(storage..., in.data(), out,
                                                                      strata::FutureCount(count.data(), bound));
                               })));
  }
  const device_vector<int> none(std::vector<int>{0});
  EXPECT_EQ(0.0f, result_of<float>([&](float* out, auto&&... storage) {
              return DeviceReduce::ReproducibleSum(storage..., in.data(), out, strata::FutureCount(none.data(), 100));
            }));
}

#if STRATA_HOST_SIMT
TEST(reproducible_sum, small_and_large_devices_give_the_same_bits) {
  const std::size_t size = 50001;
  const std::vector<double> items = wild_numbers<double>(size, 6);
  const device_vector<double> in(items);
  const double expected = expected_sum<double>(items);
  for (const int multiprocessors : {1, 2, 7, 132}) {
    const strata_test::device_of_multiprocessors device(multiprocessors);
    EXPECT_TRUE(have_same_bits(expected, sum_of<double>(in.data(), size)));
  }
}
#endif

TEST(reproducible_sum, blocks_may_end_in_any_order) {
  const std::size_t size = if_small<std::size_t>(40001, 3000003);
  const std::vector<float> items = wild_numbers<float>(size, 7);
  const device_vector<float> in(items);
  const float expected = expected_sum<float>(items);
  under_all_schedules([&](std::size_t) { ASSERT_TRUE(have_same_bits(expected, sum_of<float>(in.data(), size))); });
}

TEST(reproducible_sum, a_graph_can_be_replayed_with_other_items) {
  const std::size_t size = 100007;
  device_vector<double> in(size);
  device_vector<double> out(1);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(DeviceReduce::ReproducibleSum(nullptr, bytes, in.data(), out.data(), size));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t where) {
    return DeviceReduce::ReproducibleSum(storage.data(), bytes, in.data(), out.data(), size, where);
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(1u, recorded.nodes());
  const stream where;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::vector<double> items = wild_numbers<double>(size, seed);
    in.assign(items);
    recorded.replay(where);
    where.synchronize();
    EXPECT_TRUE(have_same_bits(expected_sum<double>(items), out.to_host()[0]));
  }
}

// determinism::gpu_to_gpu in an environment chooses the reproducible sum.
TEST(reproducible_sum, is_the_sum_that_gpu_to_gpu_requires) {
  const std::size_t size = if_small<std::size_t>(30001, 3000001);
  const std::vector<float> items = wild_numbers<float>(size, 8);
  const device_vector<float> in(items);
  const auto gpu_to_gpu = ex::require(ex::determinism::gpu_to_gpu);
  const float expected = expected_sum<float>(items);
  device_vector<float> out(1);
  ASSERT_CUDA_SUCCESS(DeviceReduce::Sum(in.data(), out.data(), size, gpu_to_gpu));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_TRUE(have_same_bits(expected, out.to_host()[0]));
  out.poison();
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceReduce::Sum(storage, bytes, in.data(), out.data(), size, gpu_to_gpu);
  }));
  EXPECT_TRUE(have_same_bits(expected, out.to_host()[0]));
  out.poison();
  ASSERT_CUDA_SUCCESS(DeviceReduce::Reduce(in.data(), out.data(), size, strata::Sum{}, 0.0f, gpu_to_gpu));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_TRUE(have_same_bits(expected, out.to_host()[0]));
  const std::vector<float> halves = [&] {
    std::vector<float> all = items;
    for (float& item : all) item = halved{}(item);
    return all;
  }();
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceReduce::TransformReduce(storage, bytes, in.data(), out.data(), size, strata::Sum{}, halved{}, 0.0f,
                                         gpu_to_gpu);
  }));
  EXPECT_TRUE(have_same_bits(expected_sum<float>(halves), out.to_host()[0]));
  // Sums of integers do not depend on the order of additions, so they need no partial sums in storage.
  std::size_t of_ints = 0, of_floats = 0, fast = 0;
  int* const no_ints = nullptr;
  float* const no_floats = nullptr;
  ASSERT_CUDA_SUCCESS(DeviceReduce::Sum(nullptr, of_ints, no_ints, no_ints, 1 << 24, gpu_to_gpu));
  ASSERT_CUDA_SUCCESS(DeviceReduce::Sum(nullptr, of_floats, no_floats, no_floats, 1 << 24, gpu_to_gpu));
  ASSERT_CUDA_SUCCESS(DeviceReduce::Sum(nullptr, fast, no_floats, no_floats, 1 << 24));
  EXPECT_EQ(fast, of_ints);
  EXPECT_LT(fast + (4 << 14), of_floats + 512);
}

}  // namespace device_reduce_reproducible
