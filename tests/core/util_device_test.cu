// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/util_device.cuh>

#include <gtest/gtest.h>

#include "support/test_support.cuh"

namespace util_device_test {

TEST(util_device, versions_are_those_of_the_device) {
  int device = -1, ptx = -1, ptx_of_device = -1, sm = -1, sm_of_device = -1, major = -1, minor = -1;
  ASSERT_CUDA_SUCCESS(cudaGetDevice(&device));
  ASSERT_CUDA_SUCCESS(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  ASSERT_CUDA_SUCCESS(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  ASSERT_CUDA_SUCCESS(strata::PtxVersion(ptx));
  ASSERT_CUDA_SUCCESS(strata::PtxVersion(ptx_of_device, device));
  ASSERT_CUDA_SUCCESS(strata::SmVersion(sm));
  ASSERT_CUDA_SUCCESS(strata::SmVersion(sm_of_device, device));
  EXPECT_EQ(sm, 100 * major + 10 * minor);
  EXPECT_EQ(sm_of_device, sm);
  EXPECT_GE(ptx, 500);
  EXPECT_LE(ptx, sm);
  EXPECT_EQ(ptx % 10, 0);
  EXPECT_EQ(ptx_of_device, ptx);
}

TEST(util_device, a_device_that_does_not_exist_is_an_error_and_changes_nothing) {
  int device = -1, after = -1, ptx = -1, sm = -1;
  ASSERT_CUDA_SUCCESS(cudaGetDevice(&device));
  EXPECT_NE(strata::PtxVersion(ptx, 1000), cudaSuccess);
  EXPECT_NE(strata::SmVersion(sm, 1000), cudaSuccess);
  static_cast<void>(cudaGetLastError());
  ASSERT_CUDA_SUCCESS(cudaGetDevice(&after));
  EXPECT_EQ(after, device);
  EXPECT_EQ(ptx, -1);
  EXPECT_EQ(sm, -1);
}

}  // namespace util_device_test
