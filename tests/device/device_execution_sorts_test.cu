// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of sorts and merges without temporary storage.
#include <strata/device/device_merge.cuh>

#include <cstddef>
#include <cstdint>

#include "device/execution_forms.cuh"

namespace device_execution_test {

using strata::DeviceMerge;
using strata::DeviceMergeSort;
using strata::DeviceRadixSort;

struct its_number {
  STRATA_HD strata::RadixFields<item&> operator()(item& x) const { return {x}; }
};

TEST(device_execution_sorts, all_forms_agree) {
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

}  // namespace device_execution_test
