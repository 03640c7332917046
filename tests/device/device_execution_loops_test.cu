// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares all forms of calls of loops, copies, merges, groups, searches and histograms: see execution_forms.cuh.
#include <cstddef>

#include "device/execution_forms.cuh"

namespace device_calls {

INSTANTIATE_TEST_SUITE_P(loops, DeviceExecution,
                         ::testing::ValuesIn(joined({transformations<std::size_t, all_forms>(),
                                                     loops<std::size_t, all_forms>(),
                                                     other_calls<std::size_t, all_forms>()})),
                         test_name);

}  // namespace device_calls
