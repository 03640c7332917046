// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Device calls keep the order of operands. Items have their own +, <, & ..., which are associative but not commutative,
// and strata's operators call them.
#pragma once

#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_segmented_scan.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_support.cuh"
#include "support/own_operators.cuh"

namespace own_operators_test {

using namespace device_test;
using strata_test::affine;
using strata_test::make_own_items;
using strata_test::permutation;
using strata_test::runs;
using strata_test::tagged;

/// With 64 multiprocessors, a warp adds up the sums of more than 32 blocks.
class device_own_operators : public ::testing::Test {
  strata_test::device_of_multiprocessors many_{64};
};

template <class T, class Op>
void test_reductions(Op op) {
  // From fewer items than a warp has lanes to several tiles for each block.
  for (const std::size_t size : sizes{31, 3001, if_small<std::size_t>(40000, 400003)}) {
    const std::vector<T> items = make_own_items<T>(size);
    const device_vector<T> in(items);
    const T expected = std::accumulate(items.begin() + 1, items.end(), items[0], op);
    EXPECT_EQ(expected, result_of<T>([&](T* out, auto&&... storage) {
                return strata::DeviceReduce::Reduce(storage..., in.data() + 1, out, size - 1, op, items[0]);
              }))
        << size;
    // From segments that one thread reduces to segments for several blocks.
    for (const std::size_t length : sizes{7, 33, 900, 20000}) {
      const std::size_t segments = std::min<std::size_t>(size / length, 40);
      if (segments == 0) continue;
      std::vector<T> sums;
      for (std::size_t s = 0; s < segments; ++s) {
        const auto begin = items.begin() + static_cast<std::ptrdiff_t>(s * length);
        sums.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(length), items[0], op));
      }
      EXPECT_SAME_ITEMS(sums, results_of<T>(static_cast<std::int64_t>(segments), [&](T* out, auto&&... storage) {
                          return strata::DeviceSegmentedReduce::Reduce(storage..., in.data(), out, segments, length, op,
                                                                       items[0]);
                        }));
    }
  }
}

template <class T, class Op>
void test_scans(Op op) {
  // More than 32 tiles: in one round, in two rounds, and in the pipeline.
  for (const std::size_t size : sizes{3001, 30000, if_small<std::size_t>(150000, 2000003)}) {
    const std::vector<T> items = make_own_items<T>(size);
    const device_vector<T> in(items);
    EXPECT_SAME_ITEMS(inclusive_scan<T>(items.data(), size, op), scan_results<T>(size, [&](T* out, auto&&... storage) {
                        return strata::DeviceScan::InclusiveScan(storage..., in.data(), out, op, size);
                      }));
    EXPECT_SAME_ITEMS(exclusive_scan(items.data(), size, op, items[0]),
                      scan_results<T>(size, [&](T* out, auto&&... storage) {
                        return strata::DeviceScan::ExclusiveScan(storage..., in.data(), out, op, items[0], size);
                      }));
  }
}

/// Scans and reductions by key, and segmented scans. Runs lie in one tile or span many.
template <class T, class Op>
void test_by_keys(Op op) {
  const std::size_t size = 30000;
  const std::vector<T> items = make_own_items<T>(size);
  const device_vector<T> in(items);
  std::vector<std::size_t> begins = {0, 1, 40, 1500, 4000, 28000};
  std::vector<int> keys;
  std::vector<T> scanned, sums;
  for (std::size_t run = 0; run < begins.size(); ++run) {
    const std::size_t length = (run + 1 < begins.size() ? begins[run + 1] : size) - begins[run];
    keys.insert(keys.end(), length, static_cast<int>(run));
    const std::vector<T> of_run = inclusive_scan<T>(items.data() + begins[run], length, op);
    scanned.insert(scanned.end(), of_run.begin(), of_run.end());
    sums.push_back(of_run.back());
  }
  const device_vector<int> in_keys(keys);
  EXPECT_SAME_ITEMS(scanned, scan_results<T>(size, [&](T* out, auto&&... storage) {
                      return strata::DeviceScan::InclusiveScanByKey(storage..., in_keys.data(), in.data(), out, op,
                                                                    size);
                    }));
  begins.push_back(size);
  const device_vector<std::size_t> offsets(begins);
  EXPECT_SAME_ITEMS(scanned, scan_results<T>(size, [&](T* out, auto&&... storage) {
                      return strata::DeviceSegmentedScan::InclusiveSegmentedScan(
                          storage..., in.data(), out, offsets.data(), offsets.data() + 1, sums.size(), op);
                    }));
  device_vector<int> unique(sums.size()), runs(1);
  EXPECT_SAME_ITEMS(sums, results_of<T>(static_cast<std::int64_t>(sums.size()), [&](T* out, auto&&... storage) {
                      return strata::DeviceReduce::ReduceByKey(storage..., in_keys.data(), unique.data(), in.data(),
                                                               out, runs.data(), op, size);
                    }));
}

}  // namespace own_operators_test
