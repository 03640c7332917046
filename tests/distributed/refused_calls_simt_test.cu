// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// If a rank refuses a call for which the host does not wait, debug builds of the other ranks stop with an assertion.
#define STRATA_DEBUG 1
#define STRATA_DEBUG_LOG 0

#include <strata/distributed/distributed_reduce.cuh>
#include <strata/distributed/distributed_scan.cuh>

#include <cstddef>
#include <vector>

#include "distributed/ranks.hpp"
#include "support/expect_assertion.cuh"
#include "support/test_support.cuh"

namespace {

using strata_test::device_vector;
using strata_test::is_poison;
using strata_test::on_ranks;
using strata_test::rank_context;

/// Rank 1 of two refuses the call.
template <class Call>
void expect_stop(const Call& call) {
  on_ranks(2, [&](const rank_context& rank) {
    const device_vector<int> in(std::vector<int>(10, 1));
    device_vector<int> out(10);
    if (rank.rank == 1) {
      EXPECT_EQ(cudaErrorInvalidValue, call(in.data(), out.data(), -1, rank));
    } else {
      strata_test::expect_assertion([&] { return call(in.data(), out.data(), 10, rank); },
                                    "rank 1 has refused its call");
    }
    for (const int item : out.to_host()) EXPECT_TRUE(is_poison(item)) << item;
  });
}

TEST(refused_calls, stop_reductions) {
  expect_stop([](const int* d_in, int* d_out, int count, const rank_context& rank) {
    return strata::DistributedReduce::Sum(d_in, d_out, count, rank.comm, rank.stream);
  });
}

TEST(refused_calls, stop_scans) {
  expect_stop([](const int* d_in, int* d_out, int count, const rank_context& rank) {
    return strata::DistributedScan::InclusiveSum(d_in, d_out, count, rank.comm, rank.stream);
  });
}

}  // namespace
