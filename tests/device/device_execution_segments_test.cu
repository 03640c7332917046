// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares all forms of calls of sorts of segments: see execution_forms.cuh.
#include <cstddef>

#include "device/execution_forms.cuh"

namespace device_calls {

INSTANTIATE_TEST_SUITE_P(segmented_sorts, DeviceExecution,
                         ::testing::ValuesIn(joined({segmented_sorts<std::size_t, all_forms>()})), test_name);

}  // namespace device_calls
