// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the arguments of sorts and top-k: see device_arguments.cuh.
#define STRATA_DEBUG_LOG 1
#include <cstddef>
#include <string>
#include <vector>

#include "device/device_arguments.cuh"

namespace device_arguments_test {

template <class Count>
std::vector<device_call> calls() {
  using maker = only_with_storage;
  return joined({sorts<Count, maker>(), top_k_calls<Count, maker>(), segmented_sorts<Count, maker>()});
}
INSTANTIATE_TEST_SUITE_P(all, DeviceArguments, ::testing::ValuesIn(calls<i64>()), test_name);

// The log names an argument that the call has.
TEST(refused_sorts, are_logged_with_the_name_of_the_argument) {
  strata_test::debug_log log;
  strata_test::device_vector<int> items(std::vector<int>{3, 1, 2});
  std::size_t bytes = 0;
  const auto expect_refusal = [&](const char* name, const auto& call) {
    EXPECT_CUDA_SUCCESS(call(nullptr));
    const scratch storage(bytes);
    EXPECT_EQ(cudaErrorInvalidValue, call(storage.data()));
    const std::vector<std::string> lines = log.take_refusals();
    ASSERT_EQ(1u, lines.size());
    EXPECT_NE(std::string::npos, lines[0].find(std::string(": ") + name + " is null")) << lines[0];
  };
  expect_refusal("d_indices_out", [&](void* storage) {
    return strata::DeviceRadixSort::ArgSort(storage, bytes, items.data(), static_cast<int*>(nullptr), 3);
  });
  expect_refusal("a buffer of d_keys", [&](void* storage) {
    strata::DoubleBuffer<int> keys(nullptr, items.data());
    return strata::DeviceRadixSort::SortKeys(storage, bytes, keys, 3);
  });
  expect_refusal("d_keys_out", [&](void* storage) {
    return strata::DeviceRadixSort::SortKeys(storage, bytes, items.data(), static_cast<int*>(nullptr), 3);
  });
}

// Only the host back end tests a second type of counts: nvcc would take minutes for the kernels, and only host code
// depends on this type.
#if STRATA_HOST_SIMT && !STRATA_TEST_FEW_TYPES
TEST(device_arguments, counts_may_have_any_integer_type) { expect_same_results(calls<i64>(), calls<unsigned char>()); }
#endif

}  // namespace device_arguments_test
