// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls without temporary storage: each device function, on a stream, with a memory resource, and without either.
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_copy.cuh>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_memcpy.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/execution.cuh>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "device/device_operations.cuh"

namespace device_execution_test {

using namespace device_test;
using strata::DeviceAdjacentDifference;
using strata::DeviceHashJoin;
using strata::DeviceMerge;
using strata::DeviceMergeSort;
using strata::DevicePartition;
using strata::DeviceRadixSort;
using strata::DeviceReduce;
using strata::DeviceRunLengthEncode;
using strata::DeviceScan;
using strata::DeviceSegmentedMergeSort;
using strata::DeviceSegmentedRadixSort;
using strata::DeviceSegmentedReduce;
using strata::DeviceSegmentedScan;
using strata::DeviceSegmentedSort;
using strata::DeviceSelect;
using strata::DeviceTopK;

using item = std::uint32_t;

/// A memory resource that notes what it is asked for.
struct resource {
  enum class trouble { none, out_of_memory, throws };

  void* allocate(std::size_t bytes, cudaStream_t stream) {
    ++allocations;
    allocated_bytes = bytes;
    on = stream;
    if (has == trouble::throws) throw std::runtime_error("out of memory");
    void* memory = nullptr;
    if (has == trouble::none) {
      EXPECT_CUDA_SUCCESS(cudaMallocAsync(&memory, bytes, stream));
    }
    last = memory;
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes, cudaStream_t stream) {
    ++deallocations;
    EXPECT_EQ(last, memory);
    EXPECT_EQ(allocated_bytes, bytes);
    EXPECT_EQ(on, stream);
    EXPECT_CUDA_SUCCESS(cudaFreeAsync(memory, stream));
  }

  trouble has = trouble::none;
  int allocations = 0, deallocations = 0;
  std::size_t allocated_bytes = 0;
  void* last = nullptr;
  cudaStream_t on = nullptr;
};

constexpr int num_items = 700;
constexpr int num_segments = 7;
constexpr int segment_size = 100;

/// What the functions read and write, of which each uses some.
class arrays {
 public:
  arrays()
      : keys(num_items),
        values(num_items),
        keys_out(num_items),
        values_out(num_items),
        count(2),
        begins(segment_begins()),
        ends(begins.data() + 1) {}

  void reset() {
    keys.assign(random_integers<item>(num_items, 0, 50));
    values.assign(random_integers<item>(num_items, 0, 1000, 1));
    keys_out.poison();
    values_out.poison();
    count.poison();
    key_buffers = strata::DoubleBuffer<item>(keys.data(), keys_out.data());
    value_buffers = strata::DoubleBuffer<item>(values.data(), values_out.data());
  }
  std::vector<std::uint64_t> result() const {
    std::vector<std::uint64_t> all;
    for (const auto* array : {&keys, &values, &keys_out, &values_out}) append(all, array->to_host());
    append(all, count.to_host());
    append(all, std::vector<int>{key_buffers.selector, value_buffers.selector});
    return all;
  }

 private:
  static std::vector<int> segment_begins() {
    std::vector<int> all;
    for (int segment = 0; segment <= num_segments; ++segment) all.push_back(segment * segment_size);
    return all;
  }

 public:
  device_vector<item> keys, values, keys_out, values_out;
  device_vector<std::int64_t> count;
  device_vector<int> begins;
  const int* ends;
  strata::DoubleBuffer<item> key_buffers, value_buffers;
};

/// `form(storage...)(where...)` calls a function with these first and last arguments.
template <class Form>
void expect_all_forms_to_agree(const char* name, arrays& all, const Form& form) {
  SCOPED_TRACE(name);
  const stream on;
  const auto where = static_cast<cudaStream_t>(on);
  all.reset();
  const std::vector<std::uint64_t> before = all.result();
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) { return form(storage, bytes)(where); }));
  const std::vector<std::uint64_t> expected = all.result();
  ASSERT_NE(before, expected);

  const auto expect_the_same = [&](const char* last_argument, auto... last) {
    all.reset();
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    ASSERT_CUDA_SUCCESS(in_one_phase([&] { return form()(last...); }));
    EXPECT_EQ(expected, all.result()) << last_argument;
  };
  expect_the_same("neither");
  expect_the_same("a stream", where);
  resource memory;
  expect_the_same("an execution", strata::execution{where, memory});
  EXPECT_EQ(1, memory.allocations);
  EXPECT_EQ(1, memory.deallocations);
  EXPECT_EQ(where, memory.on);
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(form(static_cast<void*>(nullptr), bytes)(where));
  EXPECT_EQ(bytes, memory.allocated_bytes);
}

#define EXPECT_ALL_FORMS(function, ...)                                                       \
  expect_all_forms_to_agree(#function "(" #__VA_ARGS__ ")", all, [&](auto&&... storage) {     \
    return [&](const auto&... where) { return function(storage..., __VA_ARGS__, where...); }; \
  })

struct is_near {
  STRATA_HD bool operator()(item a, item b) const { return a / 4 == b / 4; }
};
struct half_of {
  STRATA_HD item operator()(item x) const { return x / 2; }
};
struct its_number {
  STRATA_HD strata::RadixFields<item&> operator()(item& x) const { return {x}; }
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

TEST(device_execution, sorts) {
  arrays all;
  item* const in = all.keys.data();
  item* const out = all.keys_out.data();
  const item* const values = all.values.data();
  std::size_t count = num_items;
  EXPECT_ALL_FORMS(DeviceRadixSort::SortKeys, in, out, count, 0, 32);
  EXPECT_ALL_FORMS(DeviceRadixSort::SortKeys, in, out, count, its_number{});
  EXPECT_ALL_FORMS(DeviceRadixSort::SortKeys, all.key_buffers, count, 2, 5);
  EXPECT_ALL_FORMS(DeviceRadixSort::SortKeysDescending, in, out, count, 0, 32);
  EXPECT_ALL_FORMS(DeviceRadixSort::SortPairs, in, out, values, all.values_out.data(), count, 0, 32);
  EXPECT_ALL_FORMS(DeviceRadixSort::SortPairsDescending, all.key_buffers, all.value_buffers, count, 0, 32);
  EXPECT_ALL_FORMS(DeviceRadixSort::ArgSort, in, all.values_out.data(), count, 0, 32);
  EXPECT_ALL_FORMS(DeviceRadixSort::ArgSortDescending, in, all.values_out.data(), count, 0, 32);

  const item* const keys = in;
  EXPECT_ALL_FORMS(DeviceMerge::MergeKeys, keys, 300, keys + 300, 400, out, ascending{});
  EXPECT_ALL_FORMS(DeviceMerge::MergePairs, keys, values, 300, keys + 300, values + 300, 400, out,
                   all.values_out.data(), ascending{});
  EXPECT_ALL_FORMS(DeviceMergeSort::SortKeys, in, count, ascending{});
  EXPECT_ALL_FORMS(DeviceMergeSort::SortKeysCopy, in, out, count, ascending{});
  EXPECT_ALL_FORMS(DeviceMergeSort::SortPairs, in, all.values.data(), count, ascending{});
  EXPECT_ALL_FORMS(DeviceMergeSort::SortPairsCopy, in, values, out, all.values_out.data(), count, ascending{});
  EXPECT_ALL_FORMS(DeviceMergeSort::StableSortKeys, in, count, ascending{});
  EXPECT_ALL_FORMS(DeviceMergeSort::StableSortKeysCopy, in, out, count, ascending{});
  EXPECT_ALL_FORMS(DeviceMergeSort::StableSortPairs, in, all.values.data(), count, ascending{});
  EXPECT_ALL_FORMS(DeviceMergeSort::StableSortPairsCopy, in, values, out, all.values_out.data(), count, ascending{});
}

TEST(device_execution, segments) {
  arrays all;
  item* const in = all.keys.data();
  item* const out = all.keys_out.data();
  const item* const values = all.values.data();
  item* const values_out = all.values_out.data();
  const int* const begins = all.begins.data();
  std::size_t count = num_items, segments = num_segments, size = segment_size;
#define BY_OFFSETS count, segments, begins, all.ends
  EXPECT_ALL_FORMS(DeviceSegmentedReduce::Sum, in, out, num_segments, begins, all.ends);
  EXPECT_ALL_FORMS(DeviceSegmentedReduce::Sum, in, out, num_segments, segment_size);
  EXPECT_ALL_FORMS(DeviceSegmentedReduce::Reduce, in, out, num_segments, begins, all.ends, strata::Max{}, item{3});
  EXPECT_ALL_FORMS(DeviceSegmentedReduce::Min, in, out, num_segments, segment_size);
  EXPECT_ALL_FORMS(DeviceSegmentedReduce::Max, in, out, num_segments, segment_size);
  using pair = strata::KeyValuePair<int, item>;
  EXPECT_ALL_FORMS(DeviceSegmentedReduce::ArgMin, in, reinterpret_cast<pair*>(out), num_segments, segment_size);
  EXPECT_ALL_FORMS(DeviceSegmentedReduce::ArgMax, in, reinterpret_cast<pair*>(out), num_segments, begins, all.ends);
  EXPECT_ALL_FORMS(DeviceSegmentedScan::ExclusiveSegmentedSum, in, out, begins, all.ends, segments);
  EXPECT_ALL_FORMS(DeviceSegmentedScan::InclusiveSegmentedSum, in, out, begins, all.ends, begins, segments);
  EXPECT_ALL_FORMS(DeviceSegmentedScan::ExclusiveSegmentedScan, in, out, begins, all.ends, segments, strata::Max{},
                   item{1});
  EXPECT_ALL_FORMS(DeviceSegmentedScan::InclusiveSegmentedScan, in, out, begins, all.ends, segments, strata::Max{});
  EXPECT_ALL_FORMS(DeviceSegmentedScan::InclusiveSegmentedScanInit, in, out, begins, all.ends, segments, strata::Max{},
                   item{1});

  EXPECT_ALL_FORMS(DeviceSegmentedRadixSort::SortKeys, in, out, BY_OFFSETS, 0, 32);
  EXPECT_ALL_FORMS(DeviceSegmentedRadixSort::SortKeysDescending, all.key_buffers, BY_OFFSETS, 0, 32);
  EXPECT_ALL_FORMS(DeviceSegmentedRadixSort::SortPairs, in, out, values, values_out, BY_OFFSETS, 0, 32);
  EXPECT_ALL_FORMS(DeviceSegmentedRadixSort::SortPairsDescending, in, out, values, values_out, BY_OFFSETS, 0, 32);

  EXPECT_ALL_FORMS(DeviceSegmentedMergeSort::SortKeys, in, BY_OFFSETS, ascending{});
  EXPECT_ALL_FORMS(DeviceSegmentedMergeSort::SortKeys, in, segments, size, ascending{});
  EXPECT_ALL_FORMS(DeviceSegmentedMergeSort::SortKeysCopy, in, out, BY_OFFSETS, ascending{});
  EXPECT_ALL_FORMS(DeviceSegmentedMergeSort::SortPairs, in, all.values.data(), segments, size, ascending{});
  EXPECT_ALL_FORMS(DeviceSegmentedMergeSort::SortPairsCopy, in, values, out, values_out, BY_OFFSETS, ascending{});
  EXPECT_ALL_FORMS(DeviceSegmentedMergeSort::SortIndices, in, values_out, segments, size, ascending{});
  EXPECT_ALL_FORMS(DeviceSegmentedMergeSort::StableSortKeys, in, segments, size, ascending{});
  EXPECT_ALL_FORMS(DeviceSegmentedMergeSort::StableSortKeysCopy, in, out, segments, size, ascending{});
  EXPECT_ALL_FORMS(DeviceSegmentedMergeSort::StableSortPairs, in, all.values.data(), segments, size, ascending{});
  EXPECT_ALL_FORMS(DeviceSegmentedMergeSort::StableSortPairsCopy, in, values, out, values_out, BY_OFFSETS, ascending{});

  EXPECT_ALL_FORMS(DeviceSegmentedSort::SortKeys, in, out, BY_OFFSETS);
  EXPECT_ALL_FORMS(DeviceSegmentedSort::SortKeysDescending, in, out, segments, size);
  EXPECT_ALL_FORMS(DeviceSegmentedSort::SortPairs, all.key_buffers, all.value_buffers, BY_OFFSETS);
  EXPECT_ALL_FORMS(DeviceSegmentedSort::SortPairsDescending, in, out, values, values_out, segments, size);
  EXPECT_ALL_FORMS(DeviceSegmentedSort::StableSortKeys, in, out, BY_OFFSETS);
  EXPECT_ALL_FORMS(DeviceSegmentedSort::StableSortKeysDescending, in, out, BY_OFFSETS);
  EXPECT_ALL_FORMS(DeviceSegmentedSort::StableSortPairs, in, out, values, values_out, BY_OFFSETS);
  EXPECT_ALL_FORMS(DeviceSegmentedSort::StableSortPairsDescending, in, out, values, values_out, BY_OFFSETS);
  EXPECT_ALL_FORMS(DeviceSegmentedSort::SortIndices, in, values_out, BY_OFFSETS);
  EXPECT_ALL_FORMS(DeviceSegmentedSort::SortIndicesDescending, in, values_out, segments, size);
}

// In the order of the probe rows, results are the same in each call.
TEST(device_execution, joins) {
  arrays all;
  const item* const keys = all.keys.data();
  const item* const probe_keys = all.values.data();
  const auto build = strata::join_side(keys, 20);
  const auto probe = strata::join_side(probe_keys, num_items);
  const auto pairs = strata::join_pairs(all.keys_out.data(), all.values_out.data(), num_items);
  std::int64_t* const count = all.count.data();
  const strata::OrderedJoinOptions<> options;
  EXPECT_ALL_FORMS(DeviceHashJoin::Inner, build, probe, pairs, count, options);
  EXPECT_ALL_FORMS(DeviceHashJoin::Left, build, probe, pairs, count, options);
  EXPECT_ALL_FORMS(DeviceHashJoin::Full, build, probe, pairs, count, options);
  EXPECT_ALL_FORMS(DeviceHashJoin::Semi, build, probe, pairs, count, options);
  EXPECT_ALL_FORMS(DeviceHashJoin::Anti, build, probe, pairs, count, options);

  using Table = strata::JoinTable<item, item, strata::JoinHash, strata::Equality, strata::JoinOrder::probe>;
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(Table::MemoryBytes(build, bytes));
  const scratch table_memory(bytes);
  Table table(table_memory.data(), bytes, build);
  all.reset();  // to have keys to build from, which are the same afterwards
  ASSERT_CUDA_SUCCESS(table.Build(20));
  EXPECT_ALL_FORMS(table.Inner, probe, pairs, count);
  EXPECT_ALL_FORMS(table.Left, probe, pairs, count);
  EXPECT_ALL_FORMS(table.Full, probe, pairs, count);
  EXPECT_ALL_FORMS(table.Semi, probe, pairs, count);
  EXPECT_ALL_FORMS(table.Anti, probe, pairs, count);
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
