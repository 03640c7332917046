// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares the model of bank conflicts with real executions. The host back end counts conflicts itself. On a GPU a
// profiler does: benchmarks/bank_conflicts.py reads the lines that this test prints if STRATA_BANK_TABLE is set, and
// the profiler's counts in the same order.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "core/bank_cases.cuh"
#include "support/test_support.cuh"

namespace {

using bank_cases::bank_case;

// Wavefronts of loads and of stores, as the host back end counts them; -1 in a program that does not count.
struct counted {
  long long loads = -1;
  long long stores = -1;
};

counted count() {
  counted result;
#if STRATA_HOST_SIMT
  namespace simt = strata::simt;
  if (simt::runtime_flavour() != simt::flavour::check) return result;
  simt::bank_row rows[64];
  const int num_rows = simt::bank_rows(rows, 64);
  result = {0, 0};
  for (int i = 0; i < num_rows; ++i) {
    (rows[i].write ? result.stores : result.loads) += static_cast<long long>(rows[i].wavefronts);
  }
#endif
  return result;
}

void forget_counts() {
#if STRATA_HOST_SIMT
  strata::simt::reset_statistics();
#endif
}

TEST(bank_conflicts, of_every_case_are_what_the_model_says) {
  const bool prints = std::getenv("STRATA_BANK_TABLE") != nullptr;
  strata_test::device_vector<unsigned> out(32);
  for (const bank_case& c : bank_cases::all_cases()) {
    SCOPED_TRACE(testing::Message() << c.pattern << ", " << c.layout << ", " << c.element_bytes);
    forget_counts();
    ASSERT_CUDA_SUCCESS(c.run(out.data()));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    const counted host = count();
    if (host.loads >= 0) {
      EXPECT_EQ(c.model.wavefronts, host.loads);
      EXPECT_EQ(c.model.wavefronts, host.stores);
    }
    EXPECT_EQ(c.is_claimed_free, c.model.wavefronts == c.model.ideal);
    if (prints) {
      std::printf("bank_case;%s;%s;%d;%d;%d;%d;%lld\n", c.pattern, c.layout, c.element_bytes, c.instructions,
                  c.model.ideal, c.model.wavefronts, host.loads);
    }
    const std::vector<unsigned> sums = out.to_host();
    for (int lane = 0; lane < 32; ++lane) {
      ASSERT_EQ(c.sum_of_lane(lane), sums[static_cast<std::size_t>(lane)]);
    }
  }
}

}  // namespace
