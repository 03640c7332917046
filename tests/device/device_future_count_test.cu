// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls whose number of items lies in device memory: the same results as with the number itself, and nothing behind.
#include <strata/device/device_partition.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/engine/future_count.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "device/device_call.cuh"
#include "device/schedules.cuh"

namespace device_future_count_test {

using namespace device_test;
using strata::DevicePartition;
using strata::DeviceRadixSort;
using strata::DeviceReduce;
using strata::DeviceRunLengthEncode;
using strata::DeviceScan;
using strata::DeviceSelect;
using strata::FutureCount;

using item = std::uint32_t;

struct is_odd {
  STRATA_HD bool operator()(item x) const { return x % 2 != 0; }
};
struct half_of {
  STRATA_HD item operator()(item x) const { return x / 2; }
};
struct is_below_3 {
  STRATA_HD bool operator()(item x) const { return x < 3; }
};
/// Associative, not commutative.
struct last_not_7 {
  STRATA_HD item operator()(item a, item b) const { return b % 8 == 7 ? a : b; }
};

/// What all calls read and write.
struct arrays {
  explicit arrays(std::size_t n)
      : host(random_integers<item>(n + 1, 0, 9)),
        in(n + 1),
        values(n),
        out(n + 1),
        values_out(n),
        number(2),
        num_items(1) {
    in.assign(host);
    values.assign(random_integers<item>(n, 0, 1000, 1));
  }
  void reset() {
    in.assign(host);
    out.poison();
    values_out.poison();
    number.poison();
  }
  void set_count(std::int64_t count) { num_items.assign(std::vector<std::int64_t>{count}); }
  auto result() const { return std::make_tuple(in.to_host(), out.to_host(), values_out.to_host(), number.to_host()); }

  std::vector<item> host;
  device_vector<item> in, values, out, values_out;
  device_vector<std::int64_t> number, num_items;
};

/// For each actual number of items up to `n`: `call(count)(storage...)` with the number and with a FutureCount, also as
/// a graph that was captured once.
template <class Call>
void expect_same(const char* name, std::size_t n, const Call& call) {
  SCOPED_TRACE(std::string(name) + " of at most " + std::to_string(n));
  arrays all(n);
  const FutureCount<std::int64_t> future(all.num_items.data(), n);
  std::size_t bytes = 0, bytes_of_count = 0;
  ASSERT_CUDA_SUCCESS(call(all, future)(nullptr, bytes, nullptr));
  ASSERT_CUDA_SUCCESS(call(all, static_cast<std::int64_t>(n))(nullptr, bytes_of_count, nullptr));
  EXPECT_EQ(bytes_of_count, bytes);
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) {
    std::size_t given = bytes;
    return call(all, future)(storage.data(), given, on);
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream on;

  std::vector<std::size_t> counts = {n, n / 300, n - n / 1000};
  if (n < 1000000) {
    for (const std::size_t count : {std::size_t{0}, n / 2, std::size_t{1}, std::size_t{3}, n}) {
      if (count <= n) counts.push_back(count);
    }
  }
  std::uint64_t run = 0;
  for (const std::size_t count : counts) {
    SCOPED_TRACE(std::to_string(count) + " items");
    // What a replay has left behind must not pass for what the next one is waiting for.
    all.host = random_integers<item>(n + 1, 0, 9, ++run);
    all.reset();
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* temp, std::size_t& given) {
      return call(all, static_cast<std::int64_t>(count))(temp, given, nullptr);
    }));
    const auto expected = all.result();

    all.set_count(static_cast<std::int64_t>(count));
    all.reset();
    ASSERT_CUDA_SUCCESS(
        in_two_phases([&](void* temp, std::size_t& given) { return call(all, future)(temp, given, nullptr); }));
    ASSERT_TRUE(expected == all.result()) << "a call";
    all.reset();
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    ASSERT_TRUE(expected == all.result()) << "a replay";
  }
}

#define EXPECT_SAME(n, function, ...)                                     \
  expect_same(#function, n, [](arrays& a, auto count) {                   \
    return [&a, count](void* temp, std::size_t& bytes, cudaStream_t on) { \
      [[maybe_unused]] item* const in = a.in.data();                      \
      [[maybe_unused]] const item* const values = a.values.data();        \
      [[maybe_unused]] item* const out = a.out.data();                    \
      [[maybe_unused]] item* const values_out = a.values_out.data();      \
      [[maybe_unused]] std::int64_t* const number = a.number.data();      \
      return function(temp, bytes, __VA_ARGS__, on);                      \
    };                                                                    \
  })

/// One block, one round of tiles, several rounds, the pipeline; the host back end has few multiprocessors.
std::vector<std::size_t> max_counts(std::size_t largest_on_host = 100003) {
  const bool is_few = is_small() || STRATA_HOST_SIMT;
  return {0, 1, 700, is_few ? 9000u : 60000u, is_few ? largest_on_host : 3000003u};
}

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

TEST(device_future_count, selections) {
  for (const std::size_t n : max_counts()) {
    EXPECT_SAME(n, DeviceSelect::If, in, out, number, count, is_odd{});
    EXPECT_SAME(n, DeviceSelect::If, in, number, count, is_odd{});
    EXPECT_SAME(n, DeviceSelect::Flagged, in, values, out, number, count);
    EXPECT_SAME(n, DeviceSelect::Flagged, in, values, number, count);
    EXPECT_SAME(n, DeviceSelect::FlaggedIf, in, values, out, number, count, is_odd{});
    EXPECT_SAME(n, DeviceSelect::Unique, in, out, number, count);
    EXPECT_SAME(n, DeviceSelect::UniqueByKey, in, values, out, values_out, number, count);
  }
}

TEST(device_future_count, partitions) {
  for (const std::size_t n : max_counts()) {
    EXPECT_SAME(n, DevicePartition::Flagged, in, values, out, number, count);
    EXPECT_SAME(n, DevicePartition::If, in, out, number, count, is_odd{});
    EXPECT_SAME(n, DevicePartition::If, in, out, values_out, a.values.data(), number, count, is_below_3{}, is_odd{});
  }
}

/// One block, one cluster, passes.
TEST(device_future_count, radix_sorts) {
  for (const std::size_t n : max_counts(30001)) {
    EXPECT_SAME(n, DeviceRadixSort::SortKeys, in, out, count, 0, 32);
    EXPECT_SAME(n, DeviceRadixSort::SortKeysDescending, in, out, count, 3, 3);
    EXPECT_SAME(n, DeviceRadixSort::ArgSort, in, out, count, 0, 32);
  }
}

TEST(device_future_count, radix_sorts_of_pairs) {
  for (const std::size_t n : max_counts(30001)) {
    EXPECT_SAME(n, DeviceRadixSort::SortPairs, in, out, values, values_out, count, 0, 32);
    EXPECT_SAME(n, DeviceRadixSort::SortPairsDescending, in, out, values, values_out, count, 1, 19);
  }
}

// If the host knows the number of items, such keys are counted.
TEST(device_future_count, radix_sorts_of_small_keys) {
  for (const std::size_t n : max_counts(30001)) {
    expect_same("bytes", n, [](arrays& a, auto count) {
      return [&a, count](void* temp, std::size_t& bytes, cudaStream_t on) {
        const auto* const in = reinterpret_cast<const std::uint8_t*>(a.in.data());
        auto* const out = reinterpret_cast<std::uint8_t*>(a.out.data());
        return DeviceRadixSort::SortKeys(temp, bytes, in, out, count, 0, 8, on);
      };
    });
  }
}

TEST(device_future_count, radix_sorts_in_two_buffers_select_the_one_with_the_result) {
  for (const std::size_t n : max_counts(30001)) {
    for (const int end_bit : {8, 32}) {  // an odd number of passes, an even one
      arrays all(n);
      const FutureCount<std::int64_t> future(all.num_items.data(), n);
      for (const std::size_t count : {n, n / 2, n / 300, std::size_t{0}}) {
        SCOPED_TRACE(std::to_string(count) + " of at most " + std::to_string(n) + ", " + std::to_string(end_bit));
        all.reset();
        all.set_count(static_cast<std::int64_t>(count));
        strata::DoubleBuffer<item> keys(all.in.data(), all.out.data());
        ASSERT_CUDA_SUCCESS(in_two_phases([&](void* temp, std::size_t& bytes) {
          return DeviceRadixSort::SortKeys(temp, bytes, keys, future, 0, end_bit);
        }));
        ASSERT_EQ(keys.Current(), end_bit == 8 ? all.out.data() : all.in.data());
        std::vector<item> expected(all.host.begin(), all.host.begin() + static_cast<std::ptrdiff_t>(count));
        std::sort(expected.begin(), expected.end());
        std::vector<item> sorted = (end_bit == 8 ? all.out : all.in).to_host();
        sorted.resize(count);
        ASSERT_TRUE(expected == sorted);
      }
    }
  }
}

TEST(device_future_count, runs) {
  for (const std::size_t n : max_counts()) {
    EXPECT_SAME(n, DeviceRunLengthEncode::Encode, in, out, values_out, number, count);
    EXPECT_SAME(n, DeviceReduce::ReduceByKey, in, out, values, values_out, number, strata::Sum{}, count);
  }
}

// A replay has the epoch of the replays before it, but other blocks take part.
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
    EXPECT_CUDA_SUCCESS(in_one_phase(
        [&] { return DeviceReduce::Sum(all.in.data(), all.out.data(), FutureCount(all.num_items.data(), 1000)); }));
    return all.out.to_host()[0];
  };
  EXPECT_EQ(0u, sum_of(-1));
  EXPECT_EQ(sum_of(1000), sum_of(1001));
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
