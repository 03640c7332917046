// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedScan writes a scan of each segment, and nothing else.
#include <strata/device/device_segmented_scan.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_segmented_scan_support.cuh"
#include "device/segment_shapes.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace {

using namespace device_test;
using strata::DeviceSegmentedScan;
using strata::FutureValue;

template <class T>
class device_segmented_scan_sum : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
// Sums have another type than their output, so conversions that are not explicit are found.
using sum_types = testing::Types<std::int8_t>;
#else
using sum_types = testing::Types<std::int8_t, std::int32_t, std::int64_t, double>;
#endif
TYPED_TEST_SUITE(device_segmented_scan_sum, sum_types);

TYPED_TEST(device_segmented_scan_sum, of_segments_of_any_lengths) {
  using T = TypeParam;
  expect_scans<false, T>(plain_add{}, T{},
                         [](auto&&... arguments) { return DeviceSegmentedScan::ExclusiveSegmentedSum(arguments...); });
  if constexpr (sizeof(T) == 4) {
    expect_scans<true, T>(plain_add{}, none{},
                          [](auto&&... arguments) { return DeviceSegmentedScan::InclusiveSegmentedSum(arguments...); });
  }
}

// Items of 600 bytes: a block of one warp can just hold them. Segments are shorter and longer than a warp.
TEST(device_segmented_scan, of_large_classes) {
  using large = strata_test::words<150>;
  const segment_shape shape = consecutive("0_to_40", {0, 1, 2, 3, 31, 0, 0, 33, 100});
  const std::vector<large> items = scan_items<large>::make(shape.items());
  const device_vector<large> in(items);
  const device_offsets offsets(shape);
  EXPECT_SAME_ITEMS((scanned<true>(shape, items, plain_add{}, none{}, shape.begins, items)),
                    scan_results<large>(items.size(), [&](large* out, auto&&... storage) {
                      return DeviceSegmentedScan::InclusiveSegmentedSum(
                          storage..., in.data(), out, offsets.begins.data(), offsets.ends.data(), shape.segments());
                    }));
}

// ------------------------------------------------------------------ places

TEST(device_segmented_scan, results_may_go_to_places_of_their_own) {
  std::mt19937_64 bits = strata_test::random_bits(9);
  // Segments overlap, their results do not.
  segment_shape shape{"overlapping", {}, {}};
  std::vector<offset> out_begins;
  offset next = 0;
  for (int i = 0; i < 400; ++i) {
    const auto begin = static_cast<offset>(bits() % 5000);
    const auto length = static_cast<offset>(bits() % (i % 20 == 0 ? 2000 : 20));
    shape.begins.push_back(begin);
    shape.ends.push_back(i % 7 == 3 ? begin - length : begin + length);
    out_begins.push_back(next += static_cast<offset>(bits() % 3));
    next += length;
  }
  const std::vector<int> items = scan_items<int>::make(shape.items());
  const device_vector<int> in(items);
  const device_offsets offsets(shape);
  const device_vector<offset> places(out_begins);
  const auto size = static_cast<std::size_t>(next);
  const auto expected = [&](auto is_inclusive, auto op, auto init) {
    return scanned<decltype(is_inclusive)::value>(shape, items, op, init, out_begins, poisoned<int>(size));
  };
  const auto actual = [&](const auto& call) {
    return scan_results<int>(size, [&](int* out, auto&&... storage) {
      return call(storage..., in.data(), out, offsets.begins.data(), offsets.ends.data(), places.data(),
                  shape.segments());
    });
  };
  using yes = std::true_type;
  using no = std::false_type;
  const auto larger = [](int a, int b) { return a > b ? a : b; };
  EXPECT_SAME_ITEMS(expected(no{}, plain_add{}, 0), actual([](auto&&... arguments) {
                      return DeviceSegmentedScan::ExclusiveSegmentedSum(arguments...);
                    }));
  EXPECT_SAME_ITEMS(expected(yes{}, plain_add{}, none{}), actual([](auto&&... arguments) {
                      return DeviceSegmentedScan::InclusiveSegmentedSum(arguments...);
                    }));
  EXPECT_SAME_ITEMS(expected(no{}, larger, 50), actual([](auto&&... arguments) {
                      return DeviceSegmentedScan::ExclusiveSegmentedScan(arguments..., strata::Max{}, 50);
                    }));
  EXPECT_SAME_ITEMS(expected(yes{}, larger, none{}), actual([](auto&&... arguments) {
                      return DeviceSegmentedScan::InclusiveSegmentedScan(arguments..., strata::Max{});
                    }));
  EXPECT_SAME_ITEMS(expected(yes{}, larger, 50), actual([](auto&&... arguments) {
                      return DeviceSegmentedScan::InclusiveSegmentedScanInit(arguments..., strata::Max{}, 50);
                    }));
}

TEST(device_segmented_scan, in_place_with_an_initial_value_from_the_device) {
  const device_vector<int> init(std::vector<int>{1000});
  for (const segment_shape& shape : shapes()) {
    const std::vector<int> items = scan_items<int>::make(shape.items());
    device_vector<int> data(items);
    const device_offsets offsets(shape);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedScan::ExclusiveSegmentedScan(storage, bytes, data.data(), data.data(),
                                                         offsets.begins.data(), offsets.ends.data(), shape.segments(),
                                                         strata::Sum{}, FutureValue(init.data()));
    }));
    ASSERT_SAME_ITEMS((scanned<false>(shape, items, plain_add{}, 1000, shape.begins, items)), data.to_host()) << shape;
  }
}

// ------------------------------------------------------------------ iterators and offset types

template <class Begin, class End, class Count>
void expect_offsets(const segment_shape& shape, const Begin* begins, const End* ends, Count count) {
  const std::vector<int> items = scan_items<int>::make(shape.items());
  const device_vector<int> in(items);
  device_vector<int> out(items.size());
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceSegmentedScan::ExclusiveSegmentedSum(storage, bytes, in.data(), out.data(), begins, ends, count);
  }));
  EXPECT_SAME_ITEMS((scanned<false>(shape, items, plain_add{}, 0, shape.begins, poisoned<int>(items.size()))),
                    out.to_host());
}

TEST(device_segmented_scan, offsets_of_any_integer_types) {
  const segment_shape shape = scattered(of_tiles(70, 40, 1), 2);
  const auto converted = [](const std::vector<offset>& from, auto to) {
    return device_vector<decltype(to)>(std::vector<decltype(to)>(from.begin(), from.end()));
  };
  const auto count = shape.begins.size();
  ASSERT_LT(count, std::size_t{255});
  segment_shape no_reversed = shape;
  for (std::size_t i = 0; i < count; ++i) {
    no_reversed.ends[i] = std::max(shape.begins[i], shape.ends[i]);
  }
  expect_offsets(no_reversed, converted(shape.begins, std::uint32_t{}).data(),
                 converted(no_reversed.ends, std::uint64_t{}).data(), static_cast<std::uint8_t>(count));
}

struct tens_from {
  offset start;
  STRATA_HD offset operator()(offset i) const { return start + 10 * i; }
};

// The input is a counting iterator, offsets have more than 32 bits, and the output is no pointer.
TEST(device_segmented_scan, iterators_that_are_no_pointers) {
  constexpr offset start = offset{1} << 40;
  constexpr offset segments = 700;
  std::vector<offset> expected;
  for (offset s = 0; s < segments; ++s) {
    offset sum = 0;
    for (offset i = 10 * s; i < 10 * s + 10; ++i) expected.push_back(2 * (sum += i));
  }
  using tens = transforming<counting<offset>, tens_from>;
  const tens begins(counting<offset>(0), {start});
  const tens ends(counting<offset>(1), {start});
  const tens out_begins(counting<offset>(0), {0});
  EXPECT_SAME_ITEMS(expected, scan_results<offset>(expected.size(), [&](offset* out, auto&&... storage) {
                      return DeviceSegmentedScan::InclusiveSegmentedSum(storage..., counting<offset>(-start),
                                                                        doubling_output<offset>(out), begins, ends,
                                                                        out_begins, segments);
                    }));
}

// ------------------------------------------------------------------ arguments

TEST(device_segmented_scan, bad_arguments_are_errors) {
  const device_vector<int> in(std::vector<int>(100, 1));
  const device_vector<int> init(std::vector<int>{5});
  device_vector<int> out(100);
  const device_offsets offsets(consecutive("four", {25, 25, 25, 25}));
  const offset* const begins = offsets.begins.data();
  const offset* const ends = offsets.ends.data();
  const offset* const no_offsets = nullptr;
  int* const nothing = nullptr;
  const auto scan = [](void* storage, std::size_t& bytes, const int* from, int* to, const offset* first,
                       const offset* last, int segments, int* initial) {
    return DeviceSegmentedScan::ExclusiveSegmentedScan(storage, bytes, from, to, first, last, segments, strata::Sum{},
                                                       FutureValue(initial));
  };
  std::size_t bytes = 0;
  int* const future = const_cast<int*>(init.data());
  ASSERT_CUDA_SUCCESS(scan(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, 4, nullptr));
  std::size_t none_bytes = 0;
  ASSERT_CUDA_SUCCESS(scan(nullptr, none_bytes, nullptr, nullptr, nullptr, nullptr, 0, nullptr));
  EXPECT_GT(none_bytes, 0u);
  EXPECT_LE(none_bytes, bytes);
  const scratch storage(bytes);
  const auto call = [&](const int* from, int* to, const offset* first, const offset* last, int segments, int* initial) {
    return scan(storage.data(), bytes, from, to, first, last, segments, initial);
  };
  EXPECT_EQ(cudaErrorInvalidValue, call(nothing, out.data(), begins, ends, 4, future));
  EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), nothing, begins, ends, 4, future));
  EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), out.data(), no_offsets, ends, 4, future));
  EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), out.data(), begins, no_offsets, 4, future));
  EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), out.data(), begins, ends, 4, nothing));
  EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), out.data(), begins, ends, -1, future));
  for (const offset* const some : {begins, ends}) {
    int* const over_offsets = reinterpret_cast<int*>(const_cast<offset*>(some) + 3);
    EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), over_offsets, begins, ends, 4, future));
  }
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceSegmentedScan::InclusiveSegmentedSum(storage.data(), bytes, out.data(),
                                                       reinterpret_cast<std::int64_t*>(out.data()), begins, ends, 4))
      << "in place, items and results have one size";
  EXPECT_EQ(cudaErrorInvalidValue, DeviceSegmentedScan::InclusiveSegmentedSum(storage.data(), bytes, out.data(),
                                                                              out.data(), begins, ends, begins, 4))
      << "in place, without offsets of the output";
  EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), out.data(), begins, ends, 4, out.data()))
      << "the first result would be written over the initial value";
  std::size_t too_few = bytes - 1;
  EXPECT_EQ(cudaErrorInvalidValue, scan(storage.data(), too_few, in.data(), out.data(), begins, ends, 4, future));
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceSegmentedScan::ExclusiveSegmentedScan(storage.data(), bytes, in.data(), out.data(), begins, ends,
                                                        no_offsets, 4, strata::Sum{}, 0));
  graph recorded([&](cudaStream_t on) {
    return DeviceSegmentedScan::ExclusiveSegmentedScan(storage.data(), bytes, in.data(), out.data(), begins, ends, 0,
                                                       strata::Sum{}, FutureValue(future), on);
  });
  EXPECT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(0u, recorded.nodes());
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  for (const int item : out.to_host()) EXPECT_TRUE(strata_test::is_poison(item));
  EXPECT_EQ(cudaSuccess, call(in.data(), out.data(), begins, ends, 4, future));
  EXPECT_EQ(5 + 24, out.to_host()[24]);
}

// ------------------------------------------------------------------ the documented call

cudaError_t sums_in_rows(const int* in, int* out, const int* rows, int num_rows) {
  using strata::DeviceSegmentedScan;
  std::size_t bytes = 0;
  cudaError_t status = DeviceSegmentedScan::ExclusiveSegmentedSum(nullptr, bytes, in, out, rows, rows + 1, num_rows);
  if (status != cudaSuccess) return status;
  void* temp = nullptr;
  status = cudaMalloc(&temp, bytes);
  if (status != cudaSuccess) return status;
  status = DeviceSegmentedScan::ExclusiveSegmentedSum(temp, bytes, in, out, rows, rows + 1, num_rows);
  const cudaError_t freed = cudaFree(temp);
  return status != cudaSuccess ? status : freed;
}

TEST(device_segmented_scan, sums_segments_of_which_one_is_empty) {
  const device_vector<int> in(std::vector<int>{8, 6, 7, 5, 3, 0, 9});
  const device_vector<int> rows(std::vector<int>{0, 2, 2, 5, 7});
  device_vector<int> out(7);
  ASSERT_CUDA_SUCCESS(sums_in_rows(in.data(), out.data(), rows.data(), 4));
  EXPECT_EQ((std::vector<int>{0, 8, 0, 7, 12, 0, 0}), out.to_host());
}

}  // namespace
