// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Selections, partitions and runs whose number of items lies in device memory.
#include <strata/device/device_partition.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_select.cuh>

#include <cstddef>
#include <cstdint>

#include "device/future_count.cuh"

namespace device_future_count_test {

using strata::DevicePartition;
using strata::DeviceReduce;
using strata::DeviceRunLengthEncode;
using strata::DeviceSelect;

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

TEST(device_future_count, runs) {
  for (const std::size_t n : max_counts()) {
    EXPECT_SAME(n, DeviceRunLengthEncode::Encode, in, out, values_out, number, count);
    EXPECT_SAME(n, DeviceReduce::ReduceByKey, in, out, values, values_out, number, strata::Sum{}, count);
  }
}

}  // namespace device_future_count_test
