// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums of types with their own +.
#include "device/own_operators_tests.cuh"

namespace {

using namespace own_operators_test;

template <class T>
class DeviceOwnSums : public device_own_operators {};
using summed_types = ::testing::Types<affine, runs, permutation>;
TYPED_TEST_SUITE(DeviceOwnSums, summed_types);

TYPED_TEST(DeviceOwnSums, are_reduced_in_order) { test_reductions<TypeParam>(strata::Sum{}); }
TYPED_TEST(DeviceOwnSums, are_scanned_in_order) { test_scans<TypeParam>(strata::Sum{}); }
TYPED_TEST(DeviceOwnSums, are_summed_by_key_in_order) { test_by_keys<TypeParam>(strata::Sum{}); }

}  // namespace
