// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Promises of all device calls: older errors stay, graphs can be replayed, and results do not depend on the device.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_operations.cuh"

namespace {

using namespace device_test;

std::size_t small_size() { return if_small<std::size_t>(1500, STRATA_HOST_SIMT ? 5000 : 150000); }
std::size_t large_size() { return if_small<std::size_t>(9000, STRATA_HOST_SIMT ? 40000 : 3000000); }

// This must be the first test of the program: work that is done once for each kernel must not clear an older error
// either.
TEST(device_operations, an_older_error_is_neither_returned_nor_cleared) {
  for (operation& call : all_operations(small_size(), large_size())) {
    SCOPED_TRACE(call.name());
    call.reset();
    ASSERT_EQ(cudaErrorInvalidDevice, cudaSetDevice(12345));
    EXPECT_EQ(cudaSuccess, call.run(nullptr));
    EXPECT_EQ(cudaErrorInvalidDevice, cudaGetLastError());
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  }
}

TEST(device_operations, graphs_of_them_may_be_replayed) {
  for (operation& call : all_operations(small_size(), large_size())) {
    SCOPED_TRACE(call.name());
    call.reset();
    ASSERT_CUDA_SUCCESS(call.run(nullptr));
    const std::vector<std::uint64_t> expected = call.result();
    graph recorded([&](cudaStream_t on) { return call.run(on); });
    ASSERT_CUDA_SUCCESS(recorded.status());
    const stream on;
    for (int replay = 0; replay < 3; ++replay) {
      // The third replay finds in the storage what the second one left there.
      if (replay < 2) call.reset();
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      ASSERT_TRUE(expected == call.result()) << "replay " << replay;
    }
  }
}

#if STRATA_HOST_SIMT
// The size of storage depends only on counts and types. So a size query may be answered on one device, and the call
// made on another one.
TEST(device_operations, storage_and_results_are_those_of_a_device_of_any_size) {
  for (operation& call : all_operations(small_size(), large_size())) {
    SCOPED_TRACE(call.name());
    call.reset();
    ASSERT_CUDA_SUCCESS(call.run(nullptr));
    const std::vector<std::uint64_t> expected = call.result();
    for (const unsigned multiprocessors : {1u, 3u, 64u}) {
      const strata_test::device_of_multiprocessors other(multiprocessors);
      call.reset();
      ASSERT_CUDA_SUCCESS(call.run(nullptr));
      ASSERT_TRUE(expected == call.result()) << multiprocessors << " multiprocessors";
    }
  }
}
#endif

}  // namespace
