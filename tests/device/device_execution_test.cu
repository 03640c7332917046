// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares all forms of calls of reductions, scans and selections: see execution_forms.cuh. Tests what an execution
// promises.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "device/execution_forms.cuh"

namespace device_calls {

INSTANTIATE_TEST_SUITE_P(arrays, DeviceExecution,
                         ::testing::ValuesIn(joined({reductions<std::size_t, all_forms>(),
                                                     scans<std::size_t, all_forms>(),
                                                     selections<std::size_t, all_forms>()})),
                         test_name);

/// A resource that always returns the same memory, which was allocated in advance.
struct reserved {
  void* allocate(std::size_t bytes, cudaStream_t) {
    EXPECT_LE(bytes, storage.bytes());
    return storage.data();
  }
  void deallocate(void* memory, std::size_t, cudaStream_t) { EXPECT_EQ(storage.data(), memory); }

  scratch storage{1 << 20};
};

// A call does all its work on the stream of its execution. So a graph that is captured from this stream alone holds all
// of it.
TEST(device_execution, work_is_done_on_the_stream_of_the_execution) {
  const device_vector<u32> in(std::vector<u32>(700, 1));
  device_vector<u32> out(700);
  const std::vector<u32> before = out.to_host();
  reserved memory;
  graph recorded([&](cudaStream_t on) {
    return DeviceScan::InclusiveSum(in.data(), out.data(), 700, execution{on, memory});
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(before, out.to_host());
  const stream on;
  ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
  on.synchronize();
  std::vector<u32> expected(700);
  std::iota(expected.begin(), expected.end(), 1u);
  EXPECT_EQ(expected, out.to_host());
}

TEST(device_execution, errors_of_the_memory_are_the_results_and_nothing_is_launched) {
  const std::vector<u32> before(700, 1);
  device_vector<u32> data(before);
  resource memory;
  memory.has = resource::trouble::out_of_memory;
  const execution<resource> where(nullptr, memory);
  EXPECT_EQ(cudaErrorMemoryAllocation, DeviceScan::InclusiveSum(data.data(), 700, where));
  EXPECT_EQ(1, memory.allocations);
  EXPECT_EQ(0, memory.deallocations);
  memory.has = resource::trouble::throws;
  EXPECT_THROW((void)DeviceScan::InclusiveSum(data.data(), 700, where), std::runtime_error);
  EXPECT_EQ(0, memory.deallocations);
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(before, data.to_host());
}

TEST(device_execution, arguments_are_checked_before_and_after_memory_is_taken) {
  const std::vector<u32> before(700, 1);
  device_vector<u32> data(before);
  resource memory;
  const execution<resource> where(nullptr, memory);
  EXPECT_EQ(cudaErrorInvalidValue, DeviceScan::InclusiveSum(data.data(), -1, where));
  EXPECT_EQ(0, memory.allocations);
  EXPECT_EQ(cudaErrorInvalidValue, DeviceScan::InclusiveSum(static_cast<u32*>(nullptr), 5, where));
  EXPECT_EQ(1, memory.allocations);
  EXPECT_EQ(1, memory.deallocations);
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(before, data.to_host());
}

}  // namespace device_calls
