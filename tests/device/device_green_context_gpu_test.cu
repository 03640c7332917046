// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Device calls in a green context, which has only a part of the multiprocessors, directly and in a captured graph. Also
// calls beside a kernel that occupies a multiprocessor until the test ends it.
#include <strata/core/detail/driver_functions.cuh>

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "device/device_operations.cuh"

namespace {

using namespace device_test;

// The library has its own copies of these declarations of <cuda.h>. They must be equal.
using strata::detail::driver_resource;
static_assert(sizeof(driver_resource) == sizeof(CUdevResource_v1), "");
static_assert(offsetof(driver_resource, multiprocessors) == offsetof(CUdevResource_v1, sm.smCount), "");
static_assert(strata::detail::driver_multiprocessor_resource == CU_DEV_RESOURCE_TYPE_SM, "");
static_assert(strata::detail::driver_max_dynamic_shared_bytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, "");
static_assert(sizeof(cudaError_t) == sizeof(CUresult), "");

constexpr std::size_t small_size = 150000, large_size = 3000000;

/// True if the work of a stream ends within `milliseconds`.
bool ends_within(cudaStream_t on, int milliseconds) {
  for (int i = 0; i < milliseconds; ++i) {
    if (cudaStreamQuery(on) != cudaErrorNotReady) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return cudaStreamQuery(on) != cudaErrorNotReady;
}

/// Ends the program if work on a stream does not end: a kernel that hangs cannot be stopped, so no further test could
/// run.
void expect_end(cudaStream_t on, const std::string& what) {
  if (ends_within(on, 600000)) return;
  std::printf("FAILED: %s did not end within ten minutes\n", what.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

template <class Function>
Function* driver(const char* name) {
  Function* const function = strata::detail::driver_function<Function>(name, CUDA_VERSION);
  EXPECT_NE(nullptr, function) << name;
  return function;
}

/// A stream of a green context of at least `multiprocessors` multiprocessors.
class green_stream {
 public:
  explicit green_stream(unsigned multiprocessors) {
    CUdevResource all, part, rest;
    CUdevResourceDesc description;
    CUdevice device;
    unsigned groups = 1;
    EXPECT_EQ(CUDA_SUCCESS, driver<decltype(cuDeviceGet)>("cuDeviceGet")(&device, 0));
    EXPECT_EQ(CUDA_SUCCESS, driver<decltype(cuDeviceGetDevResource)>("cuDeviceGetDevResource")(
                                device, &all, CU_DEV_RESOURCE_TYPE_SM));
    EXPECT_EQ(CUDA_SUCCESS, driver<decltype(cuDevSmResourceSplitByCount)>("cuDevSmResourceSplitByCount")(
                                &part, &groups, &all, &rest, 0, multiprocessors));
    EXPECT_EQ(CUDA_SUCCESS,
              driver<decltype(cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc")(&description, &part, 1));
    EXPECT_EQ(CUDA_SUCCESS, driver<decltype(cuGreenCtxCreate)>("cuGreenCtxCreate")(&context_, description, device,
                                                                                   CU_GREEN_CTX_DEFAULT_STREAM));
    EXPECT_EQ(CUDA_SUCCESS, driver<decltype(cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate")(
                                &stream_, context_, CU_STREAM_NON_BLOCKING, 0));
    multiprocessors_ = static_cast<int>(part.sm.smCount);
  }
  ~green_stream() {
    EXPECT_CUDA_SUCCESS(cudaStreamDestroy(stream_));
    EXPECT_EQ(CUDA_SUCCESS, driver<decltype(cuGreenCtxDestroy)>("cuGreenCtxDestroy")(context_));
  }
  green_stream(const green_stream&) = delete;
  green_stream& operator=(const green_stream&) = delete;

  operator cudaStream_t() const { return stream_; }
  int multiprocessors() const { return multiprocessors_; }

 private:
  CUgreenCtx context_ = nullptr;
  CUstream stream_ = nullptr;
  int multiprocessors_ = 0;
};

/// A call, and its result on the whole device.
struct known_operation {
  operation call;
  std::vector<std::uint64_t> expected;
};
std::vector<known_operation>& known_operations() {
  static std::vector<known_operation> all = [] {
    std::vector<known_operation> known;
    for (operation& call : all_operations(small_size, large_size)) {
      call.reset();
      EXPECT_CUDA_SUCCESS(call.run(nullptr));
      EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
      std::vector<std::uint64_t> expected = call.result();
      known.push_back({std::move(call), std::move(expected)});
    }
    return known;
  }();
  return all;
}

class device_green_context : public testing::TestWithParam<unsigned> {};

TEST_P(device_green_context, multiprocessors_are_those_of_the_context) {
  const green_stream on(GetParam());
  EXPECT_GE(on.multiprocessors(), static_cast<int>(GetParam()));
  EXPECT_EQ(on.multiprocessors(), strata::detail::green_context_multiprocessors(on));
  const stream ordinary;
  EXPECT_EQ(0, strata::detail::green_context_multiprocessors(ordinary));
  EXPECT_EQ(0, strata::detail::green_context_multiprocessors(nullptr));
}

TEST_P(device_green_context, calls_end_with_the_right_result) {
  const green_stream on(GetParam());
  for (known_operation& known : known_operations()) {
    SCOPED_TRACE(known.call.name());
    known.call.reset();
    ASSERT_CUDA_SUCCESS(known.call.run(on));
    expect_end(on, known.call.name());
    ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(on));
    ASSERT_TRUE(known.expected == known.call.result());
  }
}

TEST_P(device_green_context, captured_calls_end_with_the_right_result) {
  const green_stream on(GetParam());
  for (known_operation& known : known_operations()) {
    SCOPED_TRACE(known.call.name());
    known.call.reset();
    cudaGraph_t recorded;
    cudaGraphExec_t executable;
    ASSERT_CUDA_SUCCESS(cudaStreamBeginCapture(on, cudaStreamCaptureModeGlobal));
    ASSERT_CUDA_SUCCESS(known.call.run(on));
    ASSERT_CUDA_SUCCESS(cudaStreamEndCapture(on, &recorded));
    ASSERT_CUDA_SUCCESS(cudaGraphInstantiate(&executable, recorded, 0));
    for (int replay = 0; replay < 2; ++replay) {
      ASSERT_CUDA_SUCCESS(cudaGraphLaunch(executable, on));
      expect_end(on, known.call.name() + ", captured,");
      ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(on));
      ASSERT_TRUE(known.expected == known.call.result());
    }
    ASSERT_CUDA_SUCCESS(cudaGraphExecDestroy(executable));
    ASSERT_CUDA_SUCCESS(cudaGraphDestroy(recorded));
  }
}

INSTANTIATE_TEST_SUITE_P(multiprocessors, device_green_context, testing::Values(8u, 16u, 66u));

/// Each block occupies a whole multiprocessor until `*is_over` is not 0.
__global__ void hold_multiprocessor(const volatile int* is_over) {
  extern __shared__ char all_of_it[];
  if (threadIdx.x == 0) all_of_it[0] = 1;
  while (*is_over == 0) __nanosleep(1000);
}

class multiprocessor_holder {
 public:
  explicit multiprocessor_holder(int blocks) {
    EXPECT_CUDA_SUCCESS(cudaHostAlloc(&is_over_, sizeof(int), cudaHostAllocMapped));
    *is_over_ = 0;
    int bytes = 0;
    EXPECT_CUDA_SUCCESS(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    EXPECT_CUDA_SUCCESS(cudaFuncSetAttribute(hold_multiprocessor, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    hold_multiprocessor<<<static_cast<unsigned>(blocks), 1024, static_cast<std::size_t>(bytes), stream_>>>(is_over_);
    EXPECT_CUDA_SUCCESS(cudaGetLastError());
  }
  ~multiprocessor_holder() {
    release();
    EXPECT_CUDA_SUCCESS(cudaFreeHost(is_over_));
  }
  void release() {
    *static_cast<volatile int*>(is_over_) = 1;
    stream_.synchronize();
  }

 private:
  int* is_over_ = nullptr;
  stream stream_;
};

bool begins_with(const std::string& text, const char* begin) { return text.rfind(begin, 0) == 0; }

// Another kernel fills a part of the device. A call whose blocks wait for each other starts only when there is room for
// all of them, so it may wait for that kernel. All other calls must not wait, and all results are right afterwards.
TEST(device_beside_a_kernel_that_does_not_end, calls_end_when_they_have_room) {
  for (known_operation& known : known_operations()) {
    SCOPED_TRACE(known.call.name());
    known.call.reset();
    const bool must_end = begins_with(known.call.name(), "reduce of") ||
                          begins_with(known.call.name(), "segmented reduce") ||
                          begins_with(known.call.name(), "segmented radix sort") ||
                          known.call.name() == "scan of " + std::to_string(small_size);
    const stream on;
    bool has_ended;
    {
      multiprocessor_holder holder(1);
      ASSERT_CUDA_SUCCESS(known.call.run(on));
      has_ended = ends_within(on, must_end ? 60000 : 100);
    }
    expect_end(on, known.call.name() + " beside a kernel that has ended");
    ASSERT_TRUE(known.expected == known.call.result());
    std::printf("%s %s\n", known.call.name().c_str(), has_ended ? "has ended beside it" : "has waited for it");
    if (must_end) EXPECT_TRUE(has_ended);
  }
}

}  // namespace
