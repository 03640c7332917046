// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "header_examples/expect_output.cuh"

#include "header_examples/distributed.cuh"  // written by meta/header_examples.py

#if STRATA_HOST_SIMT

namespace {

/// The examples have a rank for each device. The tests run them with two.
const unsigned two_devices = strata::simt::config().devices = 2;

TEST(header_examples, ranks_do_not_change_what_an_example_prints) {
  int (*const examples[])() = {header_example_distributed_exchange::run,   header_example_distributed_hash_join::run,
                               header_example_distributed_merge_sort::run, header_example_distributed_radix_sort::run,
                               header_example_distributed_reduce::run,     header_example_distributed_scan::run};
  for (const auto example : examples) {
    std::vector<std::string> printed;
    for (const unsigned devices : {1u, 3u, 8u}) {
      strata::simt::config().devices = devices;
      if (devices == 1) {
        testing::internal::CaptureStdout();
        EXPECT_EQ(example(), 0);
        printed = header_examples::lines_of(testing::internal::GetCapturedStdout());
      } else {
        header_examples::expect_output(example, printed);
      }
    }
  }
  strata::simt::config().devices = two_devices;
}

}  // namespace

#endif
