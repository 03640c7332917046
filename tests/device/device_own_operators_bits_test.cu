// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bitwise operators on types with their own &, | and ^.
#include "device/own_operators_tests.cuh"

namespace {

using namespace own_operators_test;

template <class Op>
class DeviceOwnBits : public device_own_operators {};
using bit_operators = ::testing::Types<strata::BitAnd, strata::BitOr, strata::BitXor>;
TYPED_TEST_SUITE(DeviceOwnBits, bit_operators);

TYPED_TEST(DeviceOwnBits, are_combined_in_order) {
  test_reductions<affine>(TypeParam{});
  test_reductions<permutation>(TypeParam{});
  test_scans<affine>(TypeParam{});
}

}  // namespace
