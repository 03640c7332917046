// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Host back end only: stacks and memory must not depend on the size of a page. CMakeLists.txt also runs this program
// with pages of 64 KiB.
#include "simt/diagnosis.cuh"

#include <vector>

namespace {

using Pages = DiagnosisTest;

int use_stack(int kib) {
  volatile char large[1024];
  large[kib % 1024] = static_cast<char>(kib);
  const int below = kib > 1 ? use_stack(kib - 1) : 0;
  return below + large[kib % 1024];  // used after the call, so that compilers do not turn the recursion into a loop
}
STRATA_KERNEL void sums_on_the_stack(int* out, int kib) { out[threadIdx.x] = use_stack(kib); }

TEST_F(Pages, each_thread_has_the_stack_that_is_promised) {
  const int kib = static_cast<int>(simt::config().stack_bytes >> 10) * 5 / 8;  // frames are larger than their arrays
  expect_clean(strata::launch({"k", 1, 64}, sums_on_the_stack, out, kib));
  std::vector<int> got(64);
  ASSERT_EQ(cudaMemcpy(got.data(), out, 64 * sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(got, std::vector<int>(64, use_stack(kib)));
}

TEST_F(Pages, freed_memory_leaves_what_lies_around_it) {
  constexpr size_t bytes = 5000;  // no multiple of a page, so arrays begin at different offsets in pages of 4 KiB
  std::vector<int*> arrays(100);
  for (size_t i = 0; i < arrays.size(); ++i) {
    const int value = static_cast<int>(i) + 1;
    ASSERT_EQ(cudaMalloc(&arrays[i], bytes), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(arrays[i], &value, sizeof value, cudaMemcpyHostToDevice), cudaSuccess);
  }
  for (size_t i = 0; i < arrays.size(); i += 2) ASSERT_EQ(cudaFree(arrays[i]), cudaSuccess);
  for (size_t i = 1; i < arrays.size(); i += 2) {
    int value = 0;
    EXPECT_EQ(cudaMemcpy(&value, arrays[i], sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(value, static_cast<int>(i) + 1);
    EXPECT_EQ(cudaFree(arrays[i]), cudaSuccess);
  }
}

}  // namespace
