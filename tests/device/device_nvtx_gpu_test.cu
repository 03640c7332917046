// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A profiler sees one NVTX range for each device call, with the name of the called function, and none for a size query.
// At the first range of a program, NVTX looks for a tool in the variable InitializeInjectionNvtx2_fnptr.
#include <nvtx3/nvToolsExt.h>

#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_copy.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_memcpy.cuh>
#include <strata/device/device_partition.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/device_top_k.cuh>
#include <strata/device/device_transform.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/device_call.cuh"

namespace {
std::vector<std::string>& ranges() {
  static std::vector<std::string> all;
  return all;
}
int depth = 0;

int push(const char* name) {
  ranges().push_back(name);
  return depth++;
}
int pop() { return --depth; }

int initialize(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &functions, &size) == 0) return 0;
  *functions[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
  *functions[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  return 1;
}
const bool is_injected = (InitializeInjectionNvtx2_fnptr = initialize) != nullptr;

using namespace device_test;

#define EXPECT_RANGE(function, ...)                                                           \
  {                                                                                           \
    SCOPED_TRACE(#function "(" #__VA_ARGS__ ")");                                             \
    ranges().clear();                                                                         \
    std::size_t bytes = 0;                                                                    \
    ASSERT_CUDA_SUCCESS(strata::function(nullptr, bytes, __VA_ARGS__));                       \
    EXPECT_EQ(std::vector<std::string>{}, ranges());                                          \
    const scratch storage(bytes);                                                             \
    ASSERT_CUDA_SUCCESS(strata::function(storage.data(), bytes, __VA_ARGS__));                \
    EXPECT_EQ(std::vector<std::string>{"strata::" #function}, ranges());                      \
    ranges().clear();                                                                         \
    ASSERT_CUDA_SUCCESS(strata::function(__VA_ARGS__));                                       \
    EXPECT_EQ(std::vector<std::string>{"strata::" #function}, ranges()) << "without storage"; \
    EXPECT_EQ(0, depth);                                                                      \
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());                                             \
  }

// Three kinds of functions have ranges of their name: one that has its own range, one that calls another form, and one
// that shares its code with another function.
TEST(device_nvtx, ranges_have_the_names_of_the_functions) {
  ASSERT_TRUE(is_injected);
  constexpr int n = 100;
  const device_vector<int> in(random_integers<int>(n, 0, 9));
  device_vector<int> data(in.to_host()), out(n);
  device_vector<std::int64_t> count(1);
  EXPECT_RANGE(DeviceReduce::Sum, in.data(), out.data(), n);
  EXPECT_RANGE(DeviceScan::InclusiveSum, data.data(), n);
  EXPECT_RANGE(DeviceHistogram::HistogramEven, in.data(), out.data(), 10, 0, 9, n);
  EXPECT_RANGE(DeviceSelect::Flagged, data.data(), in.data(), count.data(), n);
  EXPECT_RANGE(DeviceAdjacentDifference::SubtractLeft, data.data(), n);
  EXPECT_RANGE(DeviceTransform::Transform, in.data(), out.data(), n, strata::CastOp<int>{});
  EXPECT_RANGE(DeviceFor::ForEach, in.data(), in.data() + n, strata::CastOp<int>{});
  EXPECT_RANGE(DevicePartition::Flagged, in.data(), in.data(), out.data(), count.data(), n);
  EXPECT_RANGE(DeviceRunLengthEncode::NonTrivialRuns, in.data(), out.data(), data.data(), count.data(), n);
  EXPECT_RANGE(DeviceTopK::MaxKeysSorted, in.data(), out.data(), n, 1);
  const device_vector<const int*> inputs(std::vector<const int*>{in.data()});
  const device_vector<int*> outputs(std::vector<int*>{out.data()});
  EXPECT_RANGE(DeviceMemcpy::Batched, inputs.data(), outputs.data(), in.data(), 1);
  EXPECT_RANGE(DeviceCopy::Batched, inputs.data(), outputs.data(), in.data(), 1);
}

}  // namespace
