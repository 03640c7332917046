// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: DeviceHashJoin, JoinTable: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceScan: each policy in the chain of PolicyHub::MaxPolicy must name itself in its ChainedPolicy
// expect: scans by key, selections, partitions and runs: each policy in the chain of PolicyHub::MaxPolicy must
// expect: DeviceReduce: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceRadixSort: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceSegmentedRadixSort: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceSegmentedSort: each policy in the chain of PolicyHub::MaxPolicy must have, beside the rows of merge
// expect: merge sorts: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceSegmentedReduce: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceSegmentedScan: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceMerge: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceHistogram: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceTopK: PolicyHub must derive from top_k_policy_hub, and each policy in the chain of
// expect: DeviceTransform, DeviceFor, DeviceAdjacentDifference: each policy in the chain of PolicyHub::MaxPolicy must
// expect: DeviceCopy, DeviceMemcpy: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceTranspose: each policy in the chain of PolicyHub::MaxPolicy must name itself
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_copy.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/device_top_k.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/device/device_transpose.cuh>

struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};
struct same {
  STRATA_HD int operator()(int a) const { return a; }
};

// No hub; a policy without a row; one whose row has another type; one that does not name itself.
#if defined(STRATA_BAD)
struct no_hub {};
struct without_row {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {};
  using MaxPolicy = Policy;
};
struct other_row {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr int tuning = 0;
  };
  using MaxPolicy = Policy;
};
struct other_policy {
  struct Policy : strata::reduce_policy_hub<int>::Policy750 {};
  using MaxPolicy = Policy;
};
#else
using no_hub = strata::default_policy_hub;
using without_row = no_hub;
using other_row = no_hub;
struct other_policy {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, strata::reduce_policy_hub<int>::Policy750> {};
  using MaxPolicy = Policy;
};
#endif

void all(std::size_t& bytes, const int* in, int* out) {
  using namespace strata;
  void* const none = nullptr;
  const auto side = join_side(in, 10);
  TunedDeviceScan<no_hub>::ExclusiveSum(none, bytes, in, out, 10);
  TunedDeviceSelect<without_row>::Unique(none, bytes, in, out, out, 10);
  TunedDeviceReduce<other_policy>::Sum(none, bytes, in, out, 10);
  TunedDeviceRadixSort<without_row>::SortKeys(none, bytes, in, out, 10);
  TunedDeviceSegmentedRadixSort<without_row>::SortKeys(none, bytes, in, out, 10, 1, in, in);
  TunedDeviceMergeSort<without_row>::SortKeys(none, bytes, out, 10, is_less{});
  TunedDeviceSegmentedSort<without_row>::SortKeys(none, bytes, in, out, 10, 1, in, in);
  TunedDeviceSegmentedReduce<other_row>::Sum(none, bytes, in, out, 1, in, in);
  static_cast<void>(TunedDeviceSegmentedScan<other_row>::InclusiveSegmentedSum(none, bytes, in, out, in, in, 1));
  TunedDeviceMerge<other_row>::MergeKeys(none, bytes, in, 10, in, 10, out);
  TunedDeviceHistogram<other_row>::HistogramEven(none, bytes, in, out, 10, 0, 9, 10);
  TunedDeviceTopK<without_row>::MaxKeys(none, bytes, in, out, 10, 2);
  TunedDeviceTransform<other_row>::Transform(none, bytes, in, out, 10, same{});
  TunedDeviceCopy<without_row>::Batched(none, bytes, &in, &out, in, 1);
  static_cast<void>(TunedDeviceTranspose<without_row>::Transpose(none, bytes, in, out, 3, 3));
  TunedDeviceHashJoin<without_row>::Inner(none, bytes, side, side, join_count(), nullptr);
  TunedJoinTable<without_row, int>::MemoryBytes(side, bytes);
}
