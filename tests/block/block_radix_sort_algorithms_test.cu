// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each algorithm of BlockRadixSort that can be selected must give the results of the default.
#include <strata/block/block_radix_sort.cuh>

#include <gtest/gtest.h>

#include <cstdint>

#include "block/radix_sort_cases.cuh"
#include "support/fp8.cuh"

namespace block_radix_sort_test {

#if STRATA_TEST_FEW_TYPES
using algorithms = testing::Types<algorithm_case<float, 4, 64, BLOCK_RADIX_SORT_THREAD_COUNTERS>,
                                  algorithm_case<__half, 4, 64, BLOCK_RADIX_SORT_MATCH>,
                                  algorithm_case<double, 3, 96, BLOCK_RADIX_SORT_MERGE>>;
#else
using algorithms = testing::Types<
    algorithm_case<unsigned, 3, 128, BLOCK_RADIX_SORT_THREAD_COUNTERS>,
    algorithm_case<float, 4, 64, BLOCK_RADIX_SORT_THREAD_COUNTERS>,
    algorithm_case<std::int64_t, 2, 96, BLOCK_RADIX_SORT_MATCH>, algorithm_case<float, 5, 160, BLOCK_RADIX_SORT_MATCH>,
    algorithm_case<__half, 4, 64, BLOCK_RADIX_SORT_MATCH>, algorithm_case<__nv_fp8_e4m3, 4, 32, BLOCK_RADIX_SORT_MATCH>,
    algorithm_case<int128, 2, 64, BLOCK_RADIX_SORT_MATCH>, algorithm_case<truth, 2, 64, BLOCK_RADIX_SORT_MATCH>,
    algorithm_case<event, 2, 64, BLOCK_RADIX_SORT_MATCH, by_year_weight_kind>,
    algorithm_case<int, 1, 64, BLOCK_RADIX_SORT_MERGE>, algorithm_case<unsigned, 16, 64, BLOCK_RADIX_SORT_MERGE>,
    algorithm_case<float, 23, 32, BLOCK_RADIX_SORT_MERGE>, algorithm_case<double, 7, 160, BLOCK_RADIX_SORT_MERGE>,
    algorithm_case<std::uint64_t, 3, 96, BLOCK_RADIX_SORT_MERGE>,
    algorithm_case<std::int8_t, 6, 64, BLOCK_RADIX_SORT_MERGE>,
    algorithm_case<__nv_fp8_e5m2, 4, 64, BLOCK_RADIX_SORT_MERGE>,
    algorithm_case<__nv_bfloat16, 5, 96, BLOCK_RADIX_SORT_MERGE>>;
#endif
template <class Case>
class block_radix_sort_algorithm : public testing::Test {};
TYPED_TEST_SUITE(block_radix_sort_algorithm, algorithms);

TYPED_TEST(block_radix_sort_algorithm, is_stable_whatever_the_keys) { test_all_keys<TypeParam>(); }
TYPED_TEST(block_radix_sort_algorithm, looks_at_some_bits) { test_ranges<TypeParam>(); }
TYPED_TEST(block_radix_sort_algorithm, leaves_items_that_are_not_valid) { test_partial_tiles<TypeParam>(); }

}  // namespace block_radix_sort_test
