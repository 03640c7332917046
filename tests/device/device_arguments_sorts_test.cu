// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the arguments of sorts and top-k: see device_arguments.cuh.
#define STRATA_DEBUG_LOG 1
#include <vector>

#include "device/device_arguments.cuh"

namespace device_arguments_test {

template <class Count>
std::vector<device_call> calls() {
  using maker = only_with_storage;
  return joined({sorts<Count, maker>(), top_k_calls<Count, maker>(), segmented_sorts<Count, maker>()});
}
INSTANTIATE_TEST_SUITE_P(all, DeviceArguments, ::testing::ValuesIn(calls<i64>()), test_name);

// Only the host back end tests a second type of counts: nvcc would take minutes for the kernels, and only host code
// depends on this type.
#if STRATA_HOST_SIMT && !STRATA_TEST_FEW_TYPES
TEST(device_arguments, counts_may_have_any_integer_type) { expect_same_results(calls<i64>(), calls<unsigned char>()); }
#endif

}  // namespace device_arguments_test
