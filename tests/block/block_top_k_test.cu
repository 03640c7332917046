// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Compares BlockTopK with a stable sort of the standard library.
#include <strata/block/block_top_k.cuh>

#include "block/top_k_cases.cuh"
#include "support/fp8.cuh"

namespace block_top_k_test {

using namespace top_k_test;

template <class Key, int X, int Y, int Items, bool HasValues>
STRATA_KERNEL void select(choice what, Key* keys, int* values, int* counts) {
  using Value = std::conditional_t<HasValues, int, strata::NullType>;
  using TopK = with_values<strata::BlockTopK<Key, X, Items, Value, Y>, HasValues>;
  STRATA_SHARED(temp_storage, typename TopK::TempStorage);
  const int thread = static_cast<int>(threadIdx.x + threadIdx.y * X);
  const int first = (static_cast<int>(blockIdx.x) * X * Y + thread) * Items;
  Key own_keys[static_cast<std::size_t>(Items)];
  int own_values[static_cast<std::size_t>(Items)];
  for (int i = 0; i < Items; ++i) {
    own_keys[i] = keys[first + i];
    own_values[i] = values[first + i];
  }
  int count;
  if constexpr (HasValues) {
    count = call(TopK(temp_storage), what, own_keys, own_values);
  } else {
    count = call(TopK(temp_storage), what, own_keys);
  }
  for (int i = 0; i < Items; ++i) {
    keys[first + i] = own_keys[i];
    values[first + i] = own_values[i];
  }
  if (thread == 0) counts[blockIdx.x] = count;
}

template <class Key, int X, int Y, int Items, bool HasValues>
void expect_selection() {
  expect_all<Key, HasValues>(2, X * Y * Items, [](const choice& what, Key* keys, int* values, int* counts) {
    return strata::launch({"select", 2, dim3(X, Y)}, select<Key, X, Y, Items, HasValues>, what, keys, values, counts);
  });
}

TEST(block_top_k, of_pairs) {
  ASSERT_NO_FATAL_FAILURE((expect_selection<float, 64, 1, 3, true>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<std::int64_t, 32, 1, 2, true>()));
}

TEST(block_top_k, of_keys) {
  ASSERT_NO_FATAL_FAILURE((expect_selection<std::uint8_t, 96, 1, 4, false>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<std::int32_t, 16, 4, 5, false>()));
}

TEST(block_top_k, of_floats_of_8_bits) {
  ASSERT_NO_FATAL_FAILURE((expect_selection<__nv_fp8_e4m3, 64, 1, 3, true>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<__nv_fp8_e5m2, 96, 1, 4, false>()));
}

#if !STRATA_TEST_FEW_TYPES
TEST(block_top_k, of_other_types) {
  ASSERT_NO_FATAL_FAILURE((expect_selection<double, 128, 1, 2, true>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<__half, 64, 1, 8, true>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<__nv_bfloat16, 256, 1, 1, false>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<strata::detail::uint128, 64, 1, 2, true>()));
}
#endif

}  // namespace block_top_k_test
