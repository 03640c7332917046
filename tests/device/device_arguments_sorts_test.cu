// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The table of arguments: sorts and top-k.
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

// The host back end checks all types of counts: kernels for all of them would take nvcc minutes, and only the host
// reads the type of a count.
#if STRATA_HOST_SIMT && !STRATA_TEST_FEW_TYPES
TEST(device_arguments, counts_may_have_any_integer_type) { expect_same_results(calls<i64>(), calls<unsigned char>()); }
#endif

}  // namespace device_arguments_test
