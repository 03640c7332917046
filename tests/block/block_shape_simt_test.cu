// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Debug builds stop a block whose shape is not that of the primitive's template arguments.
#undef STRATA_DEBUG
#define STRATA_DEBUG 1
#include <strata/block/block_load.cuh>
#include <strata/block/block_reduce.cuh>
#include <strata/block/block_store.cuh>
#include <strata/core/launcher.cuh>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/test_support.cuh"

namespace block_shape_test {

using strata_test::device_vector;
using testing::HasSubstr;

STRATA_KERNEL void sum(int* out) {
  const int result = strata::BlockReduce<int, 64>().Sum(1);
  if (threadIdx.x == 0) *out = result;
}

STRATA_KERNEL void load(int* out) {
  int items[1];
  strata::BlockLoad<int, 8, 1, strata::BLOCK_LOAD_DIRECT, 4, 2>().Load(out, items);
}

STRATA_KERNEL void store(int* out) {
  const int items[1] = {3};
  strata::BlockStore<int, 64, 1>().Store(out, items);
}

class block_shape : public testing::Test {
 protected:
  void SetUp() override {
    strata::simt::config().quiet = true;
    strata::simt::clear_report();
  }
  void TearDown() override {
    strata::simt::config().quiet = false;
    strata::simt::clear_report();
  }
  device_vector<int> out{64};
};

TEST_F(block_shape, the_right_one_passes) {
  EXPECT_CUDA_SUCCESS(strata::launch({"sum", 1, 64}, sum, out.data()));
  EXPECT_EQ(out.to_host()[0], 64);
  EXPECT_CUDA_SUCCESS(strata::launch({"load", 1, dim3(8, 4, 2)}, load, out.data()));
  EXPECT_CUDA_SUCCESS(strata::launch({"store", 1, 64}, store, out.data()));
  EXPECT_STREQ(strata::simt::last_report().kind, "");
}

TEST_F(block_shape, a_smaller_block_is_refused_with_both_sizes) {
  EXPECT_NE(strata::launch({"sum", 1, 32}, sum, out.data()), cudaSuccess);
  EXPECT_STREQ(strata::simt::last_report().kind, "assertion");
  EXPECT_THAT(strata::simt::last_report().text,
              HasSubstr("BlockReduce was instantiated for blocks of 64 x 1 x 1 threads,"
                        " but this block has 32 x 1 x 1"));
}

TEST_F(block_shape, the_same_number_of_threads_in_another_shape_is_refused) {
  EXPECT_NE(strata::launch({"load", 1, dim3(4, 8, 2)}, load, out.data()), cudaSuccess);
  EXPECT_THAT(strata::simt::last_report().text, HasSubstr("BlockLoad was instantiated for blocks of 8 x 4 x 2 threads,"
                                                          " but this block has 4 x 8 x 2"));
}

TEST_F(block_shape, a_two_dimensional_block_is_refused_by_a_one_dimensional_primitive) {
  EXPECT_NE(strata::launch({"store", 1, dim3(64, 2)}, store, out.data()), cudaSuccess);
  EXPECT_THAT(strata::simt::last_report().text,
              HasSubstr("BlockStore was instantiated for blocks of 64 x 1 x 1 threads,"
                        " but this block has 64 x 2 x 1"));
}

}  // namespace block_shape_test
