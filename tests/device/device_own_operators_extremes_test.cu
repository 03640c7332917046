// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Extremes of types with their own <, and calls that name no operator.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

#include "device/own_operators_tests.cuh"

namespace {

using namespace own_operators_test;

template <class Op>
class DeviceOwnExtremes : public device_own_operators {};
using extremes = ::testing::Types<strata::Min, strata::Max>;
TYPED_TEST_SUITE(DeviceOwnExtremes, extremes);

TYPED_TEST(DeviceOwnExtremes, are_the_first_of_equal_items) {
  test_reductions<tagged>(TypeParam{});
  test_scans<tagged>(TypeParam{});
  test_by_keys<tagged>(TypeParam{});
}

/// Calls without an operator use the type's own `+` and `<`.
TEST_F(device_own_operators, are_those_of_sums_and_extremes) {
  const std::size_t size = 40000;
  const std::vector<runs> strings = make_own_items<runs>(size);
  const device_vector<runs> in(strings);
  const runs whole = std::accumulate(strings.begin(), strings.end(), runs{});
  EXPECT_EQ(whole, result_of<runs>([&](runs* out, auto&&... storage) {
              return strata::DeviceReduce::Sum(storage..., in.data(), out, size);
            }));
  EXPECT_SAME_ITEMS(inclusive_scan<runs>(strings.data(), size, std::plus<>{}),
                    scan_results<runs>(size, [&](runs* out, auto&&... storage) {
                      return strata::DeviceScan::InclusiveSum(storage..., in.data(), out, size);
                    }));
  EXPECT_SAME_ITEMS(exclusive_scan(strings.data(), size, std::plus<>{}, runs{}),
                    scan_results<runs>(size, [&](runs* out, auto&&... storage) {
                      return strata::DeviceScan::ExclusiveSum(storage..., in.data(), out, size);
                    }));

  const std::vector<tagged> items = make_own_items<tagged>(size);
  const device_vector<tagged> tags(items);
  const auto key_is_less = [](const tagged& a, const tagged& b) { return a.key < b.key; };
  const auto least = std::min_element(items.begin(), items.end(), key_is_less);
  const auto most = std::max_element(items.begin(), items.end(), key_is_less);
  EXPECT_EQ(*least, result_of<tagged>([&](tagged* out, auto&&... storage) {
    return strata::DeviceReduce::Min(storage..., tags.data(), out, size);
  }));
  EXPECT_EQ(*most, result_of<tagged>([&](tagged* out, auto&&... storage) {
    return strata::DeviceReduce::Max(storage..., tags.data(), out, size);
  }));
  // Items with equal keys are not less than each other, but `==` tells them apart. The first one must be found.
  using pair = strata::KeyValuePair<long long, tagged>;
  const auto first_least = result_of<pair>(
      [&](pair* out, auto&&... storage) { return strata::DeviceReduce::ArgMin(storage..., tags.data(), out, size); });
  EXPECT_EQ(least - items.begin(), first_least.key);
  const auto first_most = result_of<pair>(
      [&](pair* out, auto&&... storage) { return strata::DeviceReduce::ArgMax(storage..., tags.data(), out, size); });
  EXPECT_EQ(most - items.begin(), first_most.key);
}

}  // namespace
