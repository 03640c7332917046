// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// In debug builds, each rank that refuses a call logs why.
#define STRATA_DEBUG_LOG 1

#include <strata/distributed/distributed_exchange.cuh>
#include <strata/distributed/distributed_hash_join.cuh>
#include <strata/distributed/distributed_merge_sort.cuh>
#include <strata/distributed/distributed_radix_sort.cuh>
#include <strata/distributed/distributed_reduce.cuh>
#include <strata/distributed/distributed_scan.cuh>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "distributed/ranks.hpp"
#include "support/debug_log.hpp"
#include "support/test_support.cuh"

namespace {

using strata_test::device_vector;
using strata_test::on_ranks;
using strata_test::rank_context;

/// Rank 1 of two makes `call(rank, in, out, count, num_out)` with a count of -1, and logs `own_lines` lines.
template <class Call>
void expect_refusals(const std::string& name, int refusing_ranks, const Call& call, int own_lines = 1) {
  strata_test::debug_log log;
  std::atomic<int> refused{0};
  on_ranks(2, [&](const rank_context& rank) {
    const device_vector<int> in(std::vector<int>(10, 0));
    device_vector<int> out(40);
    device_vector<std::int64_t> numbers(4);
    std::int64_t received = 0;
    const cudaError_t status = call(rank, in.data(), out.data(), rank.rank == 1 ? -1 : 10, numbers.data(), &received);
    rank.wait();
    if (status == cudaErrorInvalidValue) ++refused;
  });
  const std::vector<std::string> lines = log.take_refusals();
  const auto number_of = [&](const std::string& line) { return std::count(lines.begin(), lines.end(), line); };
  EXPECT_EQ(refusing_ranks, refused.load()) << name;
  EXPECT_EQ(static_cast<std::size_t>(refusing_ranks - 1 + own_lines), lines.size())
      << name << testing::PrintToString(lines);
  EXPECT_EQ(refusing_ranks - 1,
            number_of("strata::" + name +
                      ": a rank has refused its arguments, or values that its device has read: see that rank's log"))
      << testing::PrintToString(lines);
}

TEST(refusals, of_one_rank) {
  expect_refusals("DistributedReduce::Sum", 1, [](const rank_context& rank, auto in, auto out, int n, auto, auto) {
    return strata::DistributedReduce::Sum(in, out, n, rank.comm, rank.stream);
  });
  expect_refusals("DistributedScan::InclusiveSum", 1,
                  [](const rank_context& rank, auto in, auto out, int n, auto, auto) {
                    return strata::DistributedScan::InclusiveSum(in, out, n, rank.comm, rank.stream);
                  });
}

TEST(refusals, of_all_ranks) {
  expect_refusals("DistributedExchange::Items", 2,
                  [](const rank_context& rank, auto in, auto out, int n, auto, auto received) {
                    return strata::DistributedExchange::Items(in, in, n, out, 40, received, rank.comm, rank.stream);
                  });
  expect_refusals("DistributedHashJoin::Inner", 2,
                  [](const rank_context& rank, auto in, auto, int n, auto numbers, auto) {
                    const auto side = strata::join_side(in, n);
                    const strata::DistributedJoinCapacity room{40, 40};
                    return strata::DistributedHashJoin::Inner(side, side, strata::join_count(), numbers, room,
                                                              strata::JoinOptions<>{}, rank.comm, rank.stream);
                  });
}

TEST(refusals, of_sorts) {
  // The size query logs the refusal, too.
  expect_refusals(
      "DistributedRadixSort::SortKeys", 2,
      [](const rank_context& rank, auto in, auto out, int n, auto, auto received) {
        return strata::DistributedRadixSort::SortKeys(in, n, out, 40, received, rank.comm, rank.stream);
      },
      2);
  // The output of rank 1 is null instead.
  expect_refusals("DistributedRadixSort::SortKeys", 2,
                  [](const rank_context& rank, auto in, auto out, int n, auto, auto received) {
                    const std::int64_t count = n < 0 ? 10 : n;
                    return strata::DistributedRadixSort::SortKeys(in, count, n < 0 ? nullptr : out, 40, received,
                                                                  rank.comm, rank.stream);
                  });
}

}  // namespace
