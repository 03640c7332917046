// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls whose number of items lies in device memory have the same results as with the number itself, and write nothing
// behind them.
#include <strata/device/device_partition.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_select.cuh>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "device/future_count.cuh"
#include "device/schedules.cuh"

namespace device_future_count_test {

using strata::DevicePartition;
using strata::DeviceRadixSort;
using strata::DeviceReduce;
using strata::DeviceRunLengthEncode;
using strata::DeviceScan;
using strata::DeviceSelect;

struct half_of {
  STRATA_HD item operator()(item x) const { return x / 2; }
};
/// Associative, not commutative.
struct last_not_7 {
  STRATA_HD item operator()(item a, item b) const { return b % 8 == 7 ? a : b; }
};

TEST(device_future_count, reductions) {
  for (const std::size_t n : max_counts()) {
    EXPECT_SAME(n, DeviceReduce::Sum, in, out, count);
    EXPECT_SAME(n, DeviceReduce::Min, in, out, count);
    EXPECT_SAME(n, DeviceReduce::Max, in, out, count);
    EXPECT_SAME(n, DeviceReduce::ArgMin, in, out, number, count);
    EXPECT_SAME(n, DeviceReduce::ArgMax, in, out, number, count);
    EXPECT_SAME(n, DeviceReduce::Reduce, in, out, count, last_not_7{}, item{5});
    EXPECT_SAME(n, DeviceReduce::TransformReduce, in, out, count, strata::Sum{}, half_of{}, item{5});
  }
}

TEST(device_future_count, scans) {
  for (const std::size_t n : max_counts()) {
    EXPECT_SAME(n, DeviceScan::ExclusiveSum, in, out, count);
    EXPECT_SAME(n, DeviceScan::ExclusiveSum, in + 1, out + 1, count);
    EXPECT_SAME(n, DeviceScan::InclusiveSum, in, count);
    EXPECT_SAME(n, DeviceScan::InclusiveScan, in, out, last_not_7{}, count);
    EXPECT_SAME(n, DeviceScan::ExclusiveScan, in, last_not_7{}, item{2}, count);
    EXPECT_SAME(n, DeviceScan::InclusiveScanInit, in, out, last_not_7{}, item{2}, count);
    EXPECT_SAME(n, DeviceScan::ExclusiveSumByKey, in, values, out, count, strata::Equality{});
    EXPECT_SAME(n, DeviceScan::InclusiveScanByKey, in, values, out, strata::Max{}, count, strata::Equality{});
  }
}

// All replays have the same epoch, but other blocks take part in each. A block must not mistake words of an earlier
// replay for words of its own.
TEST(device_future_count, graphs_may_be_replayed_with_other_counts_under_any_schedule) {
  for (const std::size_t n : {std::size_t{6000}, STRATA_HOST_SIMT ? large_for_schedules() : std::size_t{1} << 20}) {
    arrays all(n);
    const FutureCount<std::int64_t> count(all.num_items.data(), n);
    std::size_t bytes = 0;
    ASSERT_CUDA_SUCCESS(
        DeviceSelect::If(nullptr, bytes, all.in.data(), all.values_out.data(), all.number.data(), count, is_odd{}));
    const scratch storage(bytes), scan_storage(bytes);
    graph recorded([&](cudaStream_t on) {
      std::size_t given = bytes;
      const cudaError_t status =
          DeviceScan::InclusiveSum(scan_storage.data(), given, all.in.data(), all.out.data(), count, on);
      if (status != cudaSuccess) return status;
      return DeviceSelect::If(storage.data(), given, all.in.data(), all.values_out.data(), all.number.data(), count,
                              is_odd{}, on);
    });
    ASSERT_CUDA_SUCCESS(recorded.status());
    const stream on;
    under_all_schedules([&](std::size_t i) {
      const auto items = random_integers<std::size_t>(1, 0, static_cast<long long>(i % 3 == 0 ? n / 10 : n), i)[0];
      all.host = random_integers<item>(n + 1, 0, 9, 100 + i);
      all.reset();
      all.set_count(static_cast<std::int64_t>(items));
      ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      std::vector<item> sums(all.host.begin(), all.host.begin() + static_cast<std::ptrdiff_t>(items)), odd;
      for (const item x : sums) {
        if (is_odd{}(x)) odd.push_back(x);
      }
      std::partial_sum(sums.begin(), sums.end(), sums.begin());
      std::vector<item> out = all.out.to_host(), kept = all.values_out.to_host();
      out.resize(items);
      ASSERT_TRUE(sums == out) << "schedule " << i << ", " << items << " items";
      ASSERT_EQ(static_cast<std::int64_t>(odd.size()), all.number.to_host()[0]) << "schedule " << i;
      kept.resize(odd.size());
      ASSERT_TRUE(odd == kept) << "schedule " << i;
    });
  }
}

TEST(device_future_count, counts_of_any_integer_type) {
  arrays all(100);
  const device_vector<std::uint8_t> small(std::vector<std::uint8_t>{60});
  const device_vector<std::uint64_t> large(std::vector<std::uint64_t>{70});
  item sum60 = 0, sum70 = 0;
  for (std::size_t i = 0; i < 70; ++i) (i < 60 ? sum60 : sum70) += all.host[i];
  sum70 += sum60;
  ASSERT_CUDA_SUCCESS(
      in_one_phase([&] { return DeviceReduce::Sum(all.in.data(), all.out.data(), FutureCount(small.data(), 100)); }));
  EXPECT_EQ(sum60, all.out.to_host()[0]);
  ASSERT_CUDA_SUCCESS(in_one_phase(
      [&] { return DeviceReduce::Sum(all.in.data(), all.out.data(), FutureCount(large.data(), std::int8_t{100})); }));
  EXPECT_EQ(sum70, all.out.to_host()[0]);
}

#if !STRATA_DEBUG
TEST(device_future_count, counts_out_of_range_are_clamped) {
  arrays all(1000);
  const auto sum_of = [&](std::int64_t count) {
    all.set_count(count);
    all.out.poison();
    EXPECT_CUDA_SUCCESS(in_one_phase(
        [&] { return DeviceReduce::Sum(all.in.data(), all.out.data(), FutureCount(all.num_items.data(), 1000)); }));
    return all.out.to_host()[0];
  };
  item sum = 0;
  for (std::size_t i = 0; i < 1000; ++i) sum += all.host[i];
  EXPECT_EQ(0u, sum_of(-1));
  EXPECT_EQ(sum, sum_of(1000));
  EXPECT_EQ(sum, sum_of(1001));
}
#endif

TEST(device_future_count, wrong_arguments_are_refused) {
  arrays all(1000);
  all.reset();
  const auto before = all.result();
  const std::int64_t* const no_count = nullptr;
  EXPECT_EQ(cudaErrorInvalidValue, DeviceReduce::Sum(all.in.data(), all.out.data(), FutureCount(no_count, 1000)));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceScan::InclusiveSum(all.in.data(), FutureCount(no_count, 1000)));
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceRadixSort::SortKeys(all.in.data(), all.out.data(), FutureCount(no_count, 1000)));
  std::size_t bytes = 0;
  const FutureCount<std::int64_t> negative(all.num_items.data(), -1);
  EXPECT_EQ(cudaErrorInvalidValue, DeviceReduce::Sum(nullptr, bytes, all.in.data(), all.out.data(), negative));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceScan::InclusiveSum(nullptr, bytes, all.in.data(), negative));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceRadixSort::SortKeys(nullptr, bytes, all.in.data(), all.out.data(), negative));
  const FutureCount<std::int64_t> count(all.num_items.data(), 1000);
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceScan::InclusiveSumByKey(all.in.data(), all.values.data(), all.in.data(), count));
  std::int64_t* const read = all.num_items.data();
  EXPECT_EQ(cudaErrorInvalidValue, DeviceSelect::If(all.in.data(), read, count, is_odd{}));
  EXPECT_EQ(cudaErrorInvalidValue, DevicePartition::If(all.in.data(), all.out.data(), read, count, is_odd{}));
  EXPECT_EQ(cudaErrorInvalidValue, DevicePartition::If(all.in.data(), all.out.data(), all.values_out.data(),
                                                       all.values.data(), read - 1, count, is_odd{}, is_below_3{}));
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceRunLengthEncode::Encode(all.in.data(), all.out.data(), all.values_out.data(), read, count));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_TRUE(before == all.result());
}

}  // namespace device_future_count_test
