// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls without temporary storage: reductions, scans, selections and copies, and what an execution promises.
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_copy.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_memcpy.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/device/device_transpose.cuh>
#include <strata/iterator/counting_input_iterator.cuh>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "device/execution_forms.cuh"

namespace device_execution_test {

using strata::DeviceAdjacentDifference;
using strata::DeviceFor;
using strata::DevicePartition;
using strata::DeviceReduce;
using strata::DeviceRunLengthEncode;
using strata::DeviceScan;
using strata::DeviceSelect;
using strata::DeviceTopK;
using strata::DeviceTransform;

struct is_near {
  STRATA_HD bool operator()(item a, item b) const { return a / 4 == b / 4; }
};
struct half_of {
  STRATA_HD item operator()(item x) const { return x / 2; }
};
TEST(device_execution, reductions_and_scans) {
  arrays all;
  const item* const in = all.keys.data();
  item* const out = all.keys_out.data();
  const item* const keys = all.values.data();
  std::int64_t* const index = all.count.data();
  EXPECT_ALL_FORMS(DeviceReduce::Reduce, in, out, num_items, strata::Max{}, item{7});
  EXPECT_ALL_FORMS(DeviceReduce::Sum, in, out, num_items);
  EXPECT_ALL_FORMS(DeviceReduce::Min, in, out, num_items);
  EXPECT_ALL_FORMS(DeviceReduce::Max, in, out, num_items);
  EXPECT_ALL_FORMS(DeviceReduce::ArgMin, in, out, index, num_items);
  EXPECT_ALL_FORMS(DeviceReduce::ArgMax, in, out, index, num_items);
  EXPECT_ALL_FORMS(DeviceReduce::TransformReduce, in, out, num_items, strata::Sum{}, half_of{}, item{1});
  EXPECT_ALL_FORMS(DeviceReduce::ReduceByKey, in, out, keys, all.values_out.data(), index, strata::Sum{}, num_items);
  EXPECT_ALL_FORMS(strata::DeviceHistogram::HistogramEven, in, out, 9, 0, 9, num_items);
  EXPECT_ALL_FORMS(strata::DeviceHistogram::HistogramRange, in, out, 9, keys, num_items, 2, std::size_t{0});
  item* const outs[] = {out, out + 20};
  const int levels[] = {9, 5}, lower[] = {0, 0}, upper[] = {9, 100};
  EXPECT_ALL_FORMS((strata::DeviceHistogram::MultiHistogramEven<2, 2>), in, outs, levels, lower, upper, num_items / 2);
  const item* const channel_levels[] = {keys, keys};
  const int few_levels[] = {2, 2};
  EXPECT_ALL_FORMS((strata::DeviceHistogram::MultiHistogramRange<2, 2>), in, outs, few_levels, channel_levels,
                   num_items / 2);
  EXPECT_ALL_FORMS(DeviceRunLengthEncode::Encode, in, out, all.values_out.data(), index, num_items);
  EXPECT_ALL_FORMS(DeviceRunLengthEncode::NonTrivialRuns, in, out, all.values_out.data(), index, num_items);

  // In place, too, with a count that might be the size of temporary storage.
  std::size_t count = num_items;
  EXPECT_ALL_FORMS(DeviceScan::ExclusiveSum, in, out, count);
  EXPECT_ALL_FORMS(DeviceScan::ExclusiveSum, all.keys.data(), count);
  EXPECT_ALL_FORMS(DeviceScan::InclusiveSum, in, out, count);
  EXPECT_ALL_FORMS(DeviceScan::InclusiveSum, all.keys.data(), count);
  EXPECT_ALL_FORMS(DeviceScan::ExclusiveScan, in, out, strata::Max{}, item{9}, count);
  EXPECT_ALL_FORMS(DeviceScan::ExclusiveScan, all.keys.data(), strata::Max{}, item{9}, count);
  EXPECT_ALL_FORMS(DeviceScan::InclusiveScan, in, out, strata::Max{}, count);
  EXPECT_ALL_FORMS(DeviceScan::InclusiveScan, all.keys.data(), strata::Max{}, count);
  EXPECT_ALL_FORMS(DeviceScan::InclusiveScanInit, in, out, strata::Max{}, item{9}, count);
  EXPECT_ALL_FORMS(DeviceScan::ExclusiveSumByKey, keys, in, out, count, is_near{});
  EXPECT_ALL_FORMS(DeviceScan::ExclusiveScanByKey, keys, in, out, strata::Max{}, item{1}, count, is_near{});
  EXPECT_ALL_FORMS(DeviceScan::InclusiveSumByKey, keys, in, out, count, is_near{});
  EXPECT_ALL_FORMS(DeviceScan::InclusiveScanByKey, keys, in, out, strata::Max{}, count, is_near{});
}

TEST(device_execution, differences) {
  arrays all;
  const item* const in = all.keys.data();
  item* const out = all.keys_out.data();
  EXPECT_ALL_FORMS(DeviceAdjacentDifference::SubtractLeftCopy, in, out, num_items, strata::Difference{});
  EXPECT_ALL_FORMS(DeviceAdjacentDifference::SubtractLeft, all.keys.data(), num_items, strata::Difference{});
  EXPECT_ALL_FORMS(DeviceAdjacentDifference::SubtractRightCopy, in, out, num_items, strata::Difference{});
  EXPECT_ALL_FORMS(DeviceAdjacentDifference::SubtractRight, all.keys.data(), num_items, strata::Difference{});
}

struct write_to {
  item* out;
  STRATA_HD void operator()(item i) const { out[i] = i; }
};
struct increase {
  STRATA_HD void operator()(item& x) const { ++x; }
};

TEST(device_execution, transformations) {
  arrays all;
  const strata::CountingInputIterator<item> indices(0);
  const item* const in = all.keys.data();
  item* const out = all.keys_out.data();
  EXPECT_ALL_FORMS_WITHOUT_MEMORY(DeviceFor::Bulk, num_items, write_to{out});
  EXPECT_ALL_FORMS_WITHOUT_MEMORY(DeviceFor::ForEachN, all.keys.data(), num_items, increase{});
  EXPECT_ALL_FORMS_WITHOUT_MEMORY(DeviceFor::ForEach, all.keys.data(), all.keys.data() + num_items, increase{});
  EXPECT_ALL_FORMS_WITHOUT_MEMORY(DeviceFor::ForEachCopyN, indices, num_items, write_to{out});
  EXPECT_ALL_FORMS_WITHOUT_MEMORY(DeviceFor::ForEachCopy, indices, indices + num_items, write_to{out});
  EXPECT_ALL_FORMS_WITHOUT_MEMORY(DeviceTransform::Transform, in, out, num_items, half_of{});
  EXPECT_ALL_FORMS_WITHOUT_MEMORY(DeviceTransform::TransformStableArgumentAddresses, in, out, num_items, half_of{});
  EXPECT_ALL_FORMS_WITHOUT_MEMORY(strata::DeviceTranspose::Transpose, in, out, 20, 35);
  EXPECT_ALL_FORMS_WITHOUT_MEMORY(strata::DeviceTranspose::Transpose, in, out, 20, 30, 35, 20);
}

TEST(device_execution, selections) {
  arrays all;
  const item* const in = all.keys.data();
  item* const out = all.keys_out.data();
  const item* const flags = all.values.data();
  std::int64_t* const selected = all.count.data();
  EXPECT_ALL_FORMS(DeviceSelect::If, in, out, selected, num_items, is_odd{});
  EXPECT_ALL_FORMS(DeviceSelect::If, all.keys.data(), selected, num_items, is_odd{});
  EXPECT_ALL_FORMS(DeviceSelect::Flagged, in, flags, out, selected, num_items);
  EXPECT_ALL_FORMS(DeviceSelect::Flagged, all.keys.data(), flags, selected, num_items);
  EXPECT_ALL_FORMS(DeviceSelect::FlaggedIf, in, flags, out, selected, num_items, is_odd{});
  EXPECT_ALL_FORMS(DeviceSelect::FlaggedIf, all.keys.data(), flags, selected, num_items, is_odd{});
  EXPECT_ALL_FORMS(DevicePartition::If, in, out, selected, num_items, is_odd{});
  EXPECT_ALL_FORMS(DevicePartition::Flagged, in, flags, out, selected, num_items);
  EXPECT_ALL_FORMS(DeviceSelect::Unique, in, out, selected, num_items);
  EXPECT_ALL_FORMS(DeviceSelect::UniqueByKey, in, flags, out, all.values_out.data(), selected, num_items);
  EXPECT_ALL_FORMS(DeviceSelect::UniqueByKey, in, flags, out, all.values_out.data(), selected, num_items, is_near{});
}

TEST(device_execution, top_k) {
  arrays all;
  const item* const in = all.keys.data();
  item* const out = all.keys_out.data();
  const item* const values = all.values.data();
  std::size_t count = num_items, k = 33;
  EXPECT_ALL_FORMS(DeviceTopK::MaxKeys, in, out, count, k);
  EXPECT_ALL_FORMS(DeviceTopK::MinKeys, in, out, count, k);
  EXPECT_ALL_FORMS(DeviceTopK::MaxKeysSorted, in, out, count, k);
  EXPECT_ALL_FORMS(DeviceTopK::MinKeysSorted, in, out, count, k);
  EXPECT_ALL_FORMS(DeviceTopK::MaxPairs, in, out, values, all.values_out.data(), count, k);
  EXPECT_ALL_FORMS(DeviceTopK::MinPairs, in, out, values, all.values_out.data(), count, k);
  EXPECT_ALL_FORMS(DeviceTopK::MaxPairsSorted, in, out, values, all.values_out.data(), count, k);
  EXPECT_ALL_FORMS(DeviceTopK::MinPairsSorted, in, out, values, all.values_out.data(), count, k);
}

TEST(device_execution, batched_copies) {
  arrays all;
  const device_vector<const item*> inputs(std::vector<const item*>{all.keys.data(), all.values.data()});
  const device_vector<item*> outputs(std::vector<item*>{all.keys_out.data(), all.values_out.data()});
  const device_vector<int> lengths(std::vector<int>{num_items, 3});
  EXPECT_ALL_FORMS(strata::DeviceMemcpy::Batched, inputs.data(), outputs.data(), lengths.data(), 2);
  EXPECT_ALL_FORMS(strata::DeviceCopy::Batched, inputs.data(), outputs.data(), lengths.data(), 2);
}

/// Memory that is there already.
struct reserved {
  void* allocate(std::size_t bytes, cudaStream_t) {
    EXPECT_LE(bytes, storage.bytes());
    return storage.data();
  }
  void deallocate(void* memory, std::size_t, cudaStream_t) { EXPECT_EQ(storage.data(), memory); }

  scratch storage{1 << 20};
};

// A graph is recorded of what is done on its stream, and of nothing else.
TEST(device_execution, work_is_done_on_the_stream_of_the_execution) {
  arrays all;
  all.reset();
  const std::vector<std::uint64_t> before = all.result();
  reserved memory;
  graph recorded([&](cudaStream_t on) {
    return DeviceScan::InclusiveSum(all.keys.data(), all.keys_out.data(), num_items, strata::execution{on, memory});
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(before, all.result());
  const stream on;
  ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
  on.synchronize();
  EXPECT_NE(before, all.result());
}

TEST(device_execution, errors_of_the_memory_are_the_results_and_nothing_is_launched) {
  arrays all;
  all.reset();
  const std::vector<std::uint64_t> before = all.result();
  resource memory;
  memory.has = resource::trouble::out_of_memory;
  const strata::execution<resource> where(nullptr, memory);
  EXPECT_EQ(cudaErrorMemoryAllocation, DeviceScan::InclusiveSum(all.keys.data(), num_items, where));
  EXPECT_EQ(1, memory.allocations);
  EXPECT_EQ(0, memory.deallocations);
  memory.has = resource::trouble::throws;
  EXPECT_THROW((void)DeviceScan::InclusiveSum(all.keys.data(), num_items, where), std::runtime_error);
  EXPECT_EQ(0, memory.deallocations);
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(before, all.result());
}

TEST(device_execution, arguments_are_checked_before_and_after_memory_is_taken) {
  arrays all;
  all.reset();
  const std::vector<std::uint64_t> before = all.result();
  resource memory;
  const strata::execution<resource> where(nullptr, memory);
  EXPECT_EQ(cudaErrorInvalidValue, DeviceScan::InclusiveSum(all.keys.data(), -1, where));
  EXPECT_EQ(0, memory.allocations);
  EXPECT_EQ(cudaErrorInvalidValue, DeviceScan::InclusiveSum(static_cast<int*>(nullptr), 5, where));
  EXPECT_EQ(1, memory.allocations);
  EXPECT_EQ(1, memory.deallocations);
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(before, all.result());
}

}  // namespace device_execution_test
