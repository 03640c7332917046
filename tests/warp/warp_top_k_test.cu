// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Compares WarpTopK with a stable sort of the standard library.
#include <strata/warp/warp_top_k.cuh>

#include "block/top_k_cases.cuh"
#include "support/fp8.cuh"

namespace warp_top_k_test {

using namespace top_k_test;

constexpr int threads = 64;

template <class Key, int Items, int Lanes, bool HasValues>
STRATA_KERNEL void select(choice what, Key* keys, int* values, int* counts) {
  using Value = std::conditional_t<HasValues, int, strata::NullType>;
  using TopK = with_values<strata::WarpTopK<Key, Items, Lanes, Value>, HasValues>;
  STRATA_SHARED(temp_storage, typename TopK::TempStorage[threads / Lanes]);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / Lanes;
  Key own_keys[static_cast<std::size_t>(Items)];
  int own_values[static_cast<std::size_t>(Items)];
  for (int i = 0; i < Items; ++i) {
    own_keys[i] = keys[thread * Items + i];
    own_values[i] = values[thread * Items + i];
  }
  int count;
  if constexpr (HasValues) {
    count = call(TopK(temp_storage[warp]), what, own_keys, own_values);
  } else {
    count = call(TopK(temp_storage[warp]), what, own_keys);
  }
  for (int i = 0; i < Items; ++i) {
    keys[thread * Items + i] = own_keys[i];
    values[thread * Items + i] = own_values[i];
  }
  if (thread % Lanes == 0) counts[warp] = count;
}

template <class Key, int Items, int Lanes, bool HasValues>
void expect_selection() {
  expect_all<Key, HasValues>(
      threads / Lanes, Lanes * Items, [](const choice& what, Key* keys, int* values, int* counts) {
        return strata::launch({"select", 1, threads}, select<Key, Items, Lanes, HasValues>, what, keys, values, counts);
      });
}

TEST(warp_top_k, of_whole_warps) {
  ASSERT_NO_FATAL_FAILURE((expect_selection<float, 3, 32, true>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<std::uint8_t, 5, 32, false>()));
}

TEST(warp_top_k, of_logical_warps) {
  ASSERT_NO_FATAL_FAILURE((expect_selection<std::int64_t, 4, 8, true>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<float, 1, 16, false>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<std::int16_t, 7, 1, true>()));
}

TEST(warp_top_k, of_floats_of_8_bits) {
  ASSERT_NO_FATAL_FAILURE((expect_selection<__nv_fp8_e4m3, 5, 32, false>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<__nv_fp8_e5m2, 4, 8, true>()));
}

#if !STRATA_TEST_FEW_TYPES
TEST(warp_top_k, of_other_types) {
  ASSERT_NO_FATAL_FAILURE((expect_selection<double, 2, 32, true>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<__half, 4, 32, true>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<__nv_bfloat16, 4, 4, false>()));
  ASSERT_NO_FATAL_FAILURE((expect_selection<strata::detail::uint128, 2, 32, true>()));
}
#endif

}  // namespace warp_top_k_test
