// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DistributedScan beside a loop over the items of all ranks.
#include <strata/distributed/distributed_scan.cuh>

#include <support/test_types.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "distributed/affine_map.cuh"
#include "distributed/rank_parts.hpp"
#include "distributed/ranks.hpp"

namespace distributed_scan_test {

using rank_parts::all_laws;
using rank_parts::parts_of;
using strata::DistributedScan;
using strata_test::device_vector;
using strata_test::rank_context;

/// Makes a call out of place and in place, and compares with this rank's part of `expected`.
template <class T, class Call>
void expect_scanned(const std::vector<T>& all, const std::vector<T>& expected, const std::vector<std::size_t>& parts,
                    const Call& call) {
  strata_test::on_ranks(static_cast<int>(parts.size()), [&](const rank_context& context) {
    device_vector<T> in(rank_parts::part(all, parts, context.rank));
    device_vector<T> out(in.size());
    const std::vector<T> wanted = rank_parts::part(expected, parts, context.rank);
    for (const bool is_in_place : {false, true}) {
      device_vector<T>& to = is_in_place ? in : out;
      ASSERT_CUDA_SUCCESS(strata_test::call_with_temp_storage([&](void* storage, std::size_t& bytes) {
        return call(storage, bytes, in.data(), to.data(), in.size(), context);
      }));
      ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
      const std::vector<T> found = to.to_host();
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(0, std::memcmp(&wanted[i], &found[i], sizeof(T))) << "item " << i << " in place " << is_in_place;
      }
    }
  });
}

TEST(DistributedScan, KeepsTheOrderOfRanks) {
  for (const int ranks : strata_test::rank_counts()) {
    for (const rank_parts::law how : all_laws) {
      const std::vector<std::size_t> parts = parts_of(how, ranks, 2500);
      const std::vector<affine_map> all = random_maps(rank_parts::sum(parts));
      std::vector<affine_map> exclusive, inclusive;
      affine_map before{7, 9};
      for (const affine_map& map : all) {
        exclusive.push_back(before);
        before = compose{}(before, map);
        inclusive.push_back(inclusive.empty() ? map : compose{}(inclusive.back(), map));
      }
      expect_scanned(all, exclusive, parts,
                     [](void* storage, std::size_t& bytes, affine_map* in, affine_map* out, std::size_t n,
                        const rank_context& context) {
                       return DistributedScan::ExclusiveScan(storage, bytes, in, out, n, compose{}, affine_map{7, 9},
                                                             context.comm, context.stream);
                     });
      expect_scanned(all, inclusive, parts,
                     [](void* storage, std::size_t& bytes, affine_map* in, affine_map* out, std::size_t n,
                        const rank_context& context) {
                       return DistributedScan::InclusiveScan(storage, bytes, in, out, n, compose{}, context.comm,
                                                             context.stream);
                     });
      if (HasFailure()) return;
    }
  }
}

template <class T>
class DistributedScanOf : public testing::Test {};
using number_types = testing::Types<int, std::uint8_t, double>;
TYPED_TEST_SUITE(DistributedScanOf, number_types);

TYPED_TEST(DistributedScanOf, AddsUp) {
  using T = TypeParam;
  for (const int ranks : strata_test::rank_counts()) {
    // Tiles in registers, and with more items the pipeline.
    for (const std::size_t items : {std::size_t{1}, std::size_t{1000}, std::size_t{60000}}) {
      const std::vector<std::size_t> parts = parts_of(rank_parts::law::random, ranks, items);
      const std::vector<int> random = strata_test::random_integers(rank_parts::sum(parts), 0, 9, items);
      const std::vector<T> all(random.begin(), random.end());
      std::vector<T> exclusive, inclusive;
      T sum{};
      for (const T item : all) {
        exclusive.push_back(sum);
        sum = static_cast<T>(sum + item);
        inclusive.push_back(sum);
      }
      expect_scanned(all, exclusive, parts,
                     [](void* storage, std::size_t& bytes, T* in, T* out, std::size_t n, const rank_context& context) {
                       return DistributedScan::ExclusiveSum(storage, bytes, in, out, n, context.comm, context.stream);
                     });
      expect_scanned(all, inclusive, parts,
                     [](void* storage, std::size_t& bytes, T* in, T* out, std::size_t n, const rank_context& context) {
                       return DistributedScan::InclusiveSum(storage, bytes, in, out, n, context.comm, context.stream);
                     });
      if (this->HasFailure()) return;
    }
  }
}

TEST(DistributedScan, ReplaysInGraphs) {
  for (const int ranks : strata_test::rank_counts()) {
    strata_test::on_ranks(ranks, [&](const rank_context& context) {
      device_vector<int> in(std::vector<int>(500, 0)), out(500);
      std::size_t bytes = 0;
      ASSERT_CUDA_SUCCESS(DistributedScan::InclusiveSum(nullptr, bytes, in.data(), out.data(), 500, context.comm));
      const strata_test::guarded_memory storage(bytes);
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t executable = nullptr;
      ASSERT_CUDA_SUCCESS(cudaStreamBeginCapture(context.stream, cudaStreamCaptureModeThreadLocal));
      EXPECT_CUDA_SUCCESS(DistributedScan::InclusiveSum(storage.data(), bytes, in.data(), out.data(), 500, context.comm,
                                                        context.stream));
      ASSERT_CUDA_SUCCESS(cudaStreamEndCapture(context.stream, &graph));
      ASSERT_CUDA_SUCCESS(cudaGraphInstantiate(&executable, graph, 0));
      for (int run = 1; run < 4; ++run) {
        in.assign(std::vector<int>(500, run));
        ASSERT_CUDA_SUCCESS(cudaGraphLaunch(executable, context.stream));
        ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
        const std::vector<int> found = out.to_host();
        for (int i = 0; i < 500; ++i) {
          ASSERT_EQ(run * (500 * context.rank + i + 1), found[static_cast<std::size_t>(i)]);
        }
      }
      EXPECT_CUDA_SUCCESS(cudaGraphExecDestroy(executable));
      EXPECT_CUDA_SUCCESS(cudaGraphDestroy(graph));
    });
  }
}

#if !defined(STRATA_DEBUG) || !STRATA_DEBUG
TEST(DistributedScan, WritesNothingWhereARankRefuses) {
  for (const int ranks : strata_test::rank_counts()) {
    for (int fault = 0; fault < 5; ++fault) {
      strata_test::on_ranks(ranks, [&](const rank_context& context) {
        const bool is_wrong = context.rank + 1 == ranks;
        const device_vector<int> in(std::vector<int>(10, 1));
        device_vector<int> out(11);
        const int* const d_in = is_wrong && fault == 0 ? nullptr : in.data();
        int* const d_out = is_wrong && fault == 1 ? nullptr : out.data();
        const int* const d_from = is_wrong && fault == 4 ? out.data() + 1 : d_in;
        const int count = is_wrong && fault == 2 ? -1 : 10;
        std::size_t bytes = 0;
        ASSERT_CUDA_SUCCESS(
            DistributedScan::ExclusiveSum(nullptr, bytes, d_from, d_out, count, context.comm, context.stream));
        const strata_test::guarded_memory storage(bytes);
        std::size_t given = is_wrong && fault == 3 ? bytes - 1 : bytes;
        EXPECT_EQ(is_wrong ? cudaErrorInvalidValue : cudaSuccess,
                  DistributedScan::ExclusiveSum(storage.data(), given, d_from, d_out, count, context.comm,
                                                context.stream))
            << "fault " << fault;
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
        for (const int item : out.to_host()) ASSERT_TRUE(strata_test::is_poison(item));
      });
    }
  }
}
#endif

}  // namespace distributed_scan_test
