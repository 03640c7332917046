// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the name of the device before the tests of device/join/device_hash_join_host_test.cpp, which are compiled for
// Metal together with this file.
#include <strata/device/device_hash_join.hpp>

#include "metal/metal_join_support.hpp"

namespace {

static_assert(STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_METAL, "the class joins by Metal here");

struct device_line : testing::Environment {
  void SetUp() override { std::printf("device: %s\n", metal_test::device_name().c_str()); }
};
[[maybe_unused]] const auto* const line = testing::AddGlobalTestEnvironment(new device_line);

}  // namespace
