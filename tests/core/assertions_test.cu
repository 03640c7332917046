// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define STRATA_DEBUG 1
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/expect_assertion.cuh"
#include "support/test_support.cuh"

namespace {

using strata_test::device_vector;
using strata_test::expect_assertion;

STRATA_KERNEL void halve_even_numbers(const int* in, int* out) {
  const int number = in[threadIdx.x];
  STRATA_ASSERT(number % 2 == 0, "%d is odd, position %u", number, threadIdx.x);
  STRATA_ASSERT(out != nullptr, "nowhere to write");
  out[threadIdx.x] = number / 2;
}

cudaError_t halve(const std::vector<int>& items) {
  const device_vector<int> in(items);
  device_vector<int> out(items.size());
  const cudaError_t status = strata::launch({"halve_even_numbers", 1, static_cast<unsigned>(items.size())},
                                            halve_even_numbers, in.data(), out.data());
  if (status == cudaSuccess) {
    EXPECT_EQ(out.to_host()[1], items[1] / 2);
  }
  return status;
}

TEST(assertions, that_hold_change_nothing) { EXPECT_CUDA_SUCCESS(halve({2, 4, 6})); }

TEST(assertions, that_fail_stop_the_kernel_and_say_why) {
  expect_assertion([] { return halve({2, 4, 6, 7}); }, "7 is odd, position 3");
}

// ---------------------------------------------------------------------------- log
TEST(debug_log, says_how_each_kernel_was_launched_and_with_what_result) {
  testing::internal::CaptureStderr();
  EXPECT_CUDA_SUCCESS(halve({2, 4, 6}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "strata: halve_even_numbers<<<1 x 1 x 1, 3 x 1 x 1, 0 bytes>>>: no error\n");

  testing::internal::CaptureStderr();
  // CUDA and the host back end return different errors: invalid configuration or invalid argument.
  const cudaError_t refused =
      strata::launch({"too_many_threads", dim3(2, 3), 2048, 64}, halve_even_numbers, nullptr, nullptr);
  EXPECT_NE(refused, cudaSuccess);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            std::string("strata: too_many_threads<<<2 x 3 x 1, 2048 x 1 x 1, 64 bytes>>>: ") +
                cudaGetErrorString(refused) +
                "\nstrata: kernel too_many_threads failed: " + cudaGetErrorString(refused) + "\n");
  static_cast<void>(cudaGetLastError());
}

}  // namespace
