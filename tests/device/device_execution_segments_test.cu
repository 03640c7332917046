// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls for segments without temporary storage.
#include <strata/device/device_segmented_sort.cuh>

#include <cstddef>
#include <cstdint>

#include "device/execution_forms.cuh"

namespace device_execution_test {

using strata::DeviceSegmentedMergeSort;
using strata::DeviceSegmentedRadixSort;
using strata::DeviceSegmentedReduce;
using strata::DeviceSegmentedScan;
using strata::DeviceSegmentedSort;

TEST(device_execution_segments, all_forms_agree) {
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

}  // namespace device_execution_test
