// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A rank whose calls of NCCL fail, each in turn: all ranks end with an error, soon, and write nothing out of bounds.
#include <strata/distributed/distributed_exchange.cuh>
#include <strata/distributed/distributed_hash_join.cuh>
#include <strata/distributed/distributed_merge_sort.cuh>
#include <strata/distributed/distributed_radix_sort.cuh>
#include <strata/distributed/distributed_reduce.cuh>
#include <strata/distributed/distributed_scan.cuh>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "distributed/ranks.hpp"

namespace failing_ranks_test {

using strata_test::device_vector;
using strata_test::rank_context;

constexpr std::size_t items = 300;

/// What the calls of a rank read and write.
struct arrays {
  device_vector<unsigned> in{std::vector<unsigned>(items, 3)};
  device_vector<int> destinations{std::vector<int>(items, 0)};
  device_vector<unsigned> out{8 * items}, values_out{8 * items};
  device_vector<long long> rows_out{8 * items};
  device_vector<unsigned long long> total{1};
  std::int64_t num_out = 0;
};

/// Makes the call over and over, with another failure each time, until none happens. `call(arrays, context)`.
template <class Call>
void expect_errors(const char* name, const Call& call) {
  SCOPED_TRACE(name);
  for (const int ranks : {2, 3}) {
    for (int failing = 0; failing < ranks; failing += ranks - 1) {
      int failures = 0;
      for (;; ++failures) {
        ASSERT_LT(failures, 100) << "the call does not end";
        std::vector<cudaError_t> results(static_cast<std::size_t>(ranks), cudaSuccess);
        strata::simt::fail_nccl_call(failing, failures);
        const auto begin = std::chrono::steady_clock::now();
        strata_test::on_ranks(ranks, [&](const rank_context& context) {
          arrays of_rank;
          cudaError_t status = call(of_rank, context);
          if (status == cudaSuccess) status = cudaStreamSynchronize(context.stream);
          results[static_cast<std::size_t>(context.rank)] = status;
          // A rank that sees an error says so to the others.
          if (status != cudaSuccess) throw strata_test::abort_rank{};
        });
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
        if (!strata::simt::nccl_call_has_failed()) {
          for (const cudaError_t result : results) EXPECT_CUDA_SUCCESS(result);
          break;
        }
        EXPECT_NE(cudaSuccess, results[static_cast<std::size_t>(failing)]) << "failure " << failures;
      }
      EXPECT_GT(failures, 0) << "no call of NCCL has failed";
    }
  }
  strata::simt::fail_nccl_call(-1, 0);
}

TEST(FailingRanks, EndAllCalls) {
  strata::simt::limit_nccl_waits(10);
  expect_errors("reduce", [](arrays& a, const rank_context& context) {
    return strata::DistributedReduce::Sum(a.in.data(), a.out.data(), items, context.comm, context.stream);
  });
  expect_errors("scan", [](arrays& a, const rank_context& context) {
    return strata::DistributedScan::InclusiveSum(a.in.data(), a.out.data(), items, context.comm, context.stream);
  });
  expect_errors("exchange", [](arrays& a, const rank_context& context) {
    return strata::DistributedExchange::Items(a.in.data(), a.destinations.data(), items, a.out.data(), 8 * items,
                                              &a.num_out, context.comm, context.stream);
  });
  expect_errors("exchange, fixed", [](arrays& a, const rank_context& context) {
    return strata::DistributedExchange::ItemsFixed(a.in.data(), a.destinations.data(), items, a.out.data(), items,
                                                   reinterpret_cast<std::int64_t*>(a.rows_out.data()), context.comm,
                                                   context.stream);
  });
  expect_errors("radix sort", [](arrays& a, const rank_context& context) {
    return strata::DistributedRadixSort::SortPairs(a.in.data(), a.in.data(), items, a.out.data(), a.values_out.data(),
                                                   8 * items, &a.num_out, context.comm, context.stream);
  });
  expect_errors("merge sort", [](arrays& a, const rank_context& context) {
    return strata::DistributedMergeSort::SortKeys(a.in.data(), items, a.out.data(), 8 * items, &a.num_out,
                                                  strata::Less{}, context.comm, context.stream);
  });
  expect_errors("join", [](arrays& a, const rank_context& context) {
    const auto build = strata::join_side(a.in.data(), 5), probe = strata::join_side(a.in.data(), 6);
    return strata::DistributedHashJoin::Inner(build, probe,
                                              strata::join_pairs(a.rows_out.data(), a.rows_out.data() + 4 * items,
                                                                 4 * items),
                                              a.total.data(), strata::DistributedJoinCapacity{items, items},
                                              strata::JoinOptions<>{}, context.comm, context.stream);
  });
}

}  // namespace failing_ranks_test
