// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Only the device knows where buffers lie. In debug builds, it checks that no source overlaps its destination.
#define STRATA_DEBUG 1
#include <strata/device/device_memcpy.cuh>

#include <cstddef>
#include <vector>

#include "device/device_call.cuh"
#include "support/expect_assertion.cuh"

namespace {

using namespace device_test;

cudaError_t copy_up_by(std::size_t distance) {
  device_vector<char> memory(std::vector<char>(200, 'a'));
  const device_vector<const char*> inputs({memory.data()});
  const device_vector<char*> outputs({memory.data() + distance});
  const device_vector<int> sizes(std::vector<int>{100});
  return in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::DeviceMemcpy::Batched(storage, bytes, inputs.data(), outputs.data(), sizes.data(), 1);
  });
}

TEST(device_memcpy_assertions, buffers_must_not_overlap) {
  EXPECT_CUDA_SUCCESS(copy_up_by(100));
  strata_test::expect_assertion([] { return copy_up_by(99); }, "the source and the destination of buffer 0 overlap");
}

}  // namespace
