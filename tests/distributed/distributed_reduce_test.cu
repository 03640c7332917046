// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DistributedReduce beside a loop over the items of all ranks.
#include <strata/distributed/distributed_reduce.cuh>

#include <support/test_types.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "distributed/affine_map.cuh"
#include "distributed/ranks.hpp"
#include "distributed/rank_parts.hpp"

namespace distributed_reduce_test {

using rank_parts::all_laws;
using rank_parts::parts_of;
using strata::DistributedReduce;
using strata_test::device_vector;
using strata_test::rank_context;

template <class T>
std::vector<T> part(const std::vector<T>& all, const std::vector<std::size_t>& parts, int rank) {
  return rank_parts::part(all, parts, rank);
}

TEST(DistributedReduce, KeepsTheOrderOfRanks) {
  for (const int ranks : strata_test::rank_counts()) {
    for (const rank_parts::law how : all_laws) {
      const std::vector<std::size_t> parts = parts_of(how, ranks, 3000);
      const std::vector<affine_map> all = random_maps(rank_parts::sum(parts));
      affine_map expected{3, 4};
      for (const affine_map& map : all) expected = compose{}(expected, map);
      strata_test::on_ranks(ranks, [&](const rank_context& context) {
        const device_vector<affine_map> in(part(all, parts, context.rank));
        device_vector<affine_map> out(1);
        ASSERT_CUDA_SUCCESS(strata_test::call_with_temp_storage([&](void* storage, std::size_t& bytes) {
          return DistributedReduce::Reduce(storage, bytes, in.data(), out.data(), in.size(), compose{},
                                           affine_map{3, 4}, context.comm, context.stream);
        }));
        ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
        EXPECT_EQ(expected.factor, out.to_host()[0].factor);
        EXPECT_EQ(expected.offset, out.to_host()[0].offset);
      });
      if (HasFailure()) return;
    }
  }
}

template <class T>
class DistributedReduceOf : public testing::Test {};
using number_types = testing::Types<int, float, std::uint8_t>;
TYPED_TEST_SUITE(DistributedReduceOf, number_types);

TYPED_TEST(DistributedReduceOf, FindsSumsAndExtremes) {
  using T = TypeParam;
  for (const int ranks : strata_test::rank_counts()) {
    for (const rank_parts::law how : all_laws) {
      const std::vector<std::size_t> parts = parts_of(how, ranks, 2000);
      const std::vector<int> random = strata_test::random_integers(rank_parts::sum(parts), 2, 90, 5);
      const std::vector<T> all(random.begin(), random.end());
      long long sum = 0;
      for (const int number : random) sum += number;
      // The first of several.
      const auto least = std::min_element(random.begin(), random.end());
      const auto most = std::max_element(random.begin(), random.end());
      const T min = all.empty() ? std::numeric_limits<T>::max() : static_cast<T>(*least);
      const T max = all.empty() ? std::numeric_limits<T>::lowest() : static_cast<T>(*most);
      strata_test::on_ranks(ranks, [&](const rank_context& context) {
        const device_vector<T> in(part(all, parts, context.rank));
        device_vector<T> out(5);
        device_vector<long long> indices(2);
        device_vector<double> wide_sum(1);
        const auto n = in.size();
        T* const d_out = out.data();
        const auto comm = context.comm;
        const auto stream = context.stream;
        ASSERT_CUDA_SUCCESS(DistributedReduce::Sum(in.data(), wide_sum.data(), n, comm, stream));
        ASSERT_CUDA_SUCCESS(DistributedReduce::Min(in.data(), d_out + 1, n, comm, stream));
        ASSERT_CUDA_SUCCESS(DistributedReduce::Max(in.data(), d_out + 2, n, comm, stream));
        ASSERT_CUDA_SUCCESS(DistributedReduce::ArgMin(in.data(), d_out + 3, indices.data(), n, comm, stream));
        ASSERT_CUDA_SUCCESS(DistributedReduce::ArgMax(in.data(), d_out + 4, indices.data() + 1, n, comm, stream));
        ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(stream));
        const std::vector<T> found = out.to_host();
        EXPECT_EQ(static_cast<double>(sum), wide_sum.to_host()[0]);
        EXPECT_EQ(min, found[1]);
        EXPECT_EQ(max, found[2]);
        EXPECT_EQ(min, found[3]);
        EXPECT_EQ(max, found[4]);
        EXPECT_EQ(all.empty() ? 1 : least - random.begin(), indices.to_host()[0]);
        EXPECT_EQ(all.empty() ? 1 : most - random.begin(), indices.to_host()[1]);
      });
      if (this->HasFailure()) return;
    }
  }
}

TEST(DistributedReduce, TakesNaNAsOthersDo) {
  for (const int ranks : strata_test::rank_counts()) {
    strata_test::on_ranks(ranks, [&](const rank_context& context) {
      const float nan = std::numeric_limits<float>::quiet_NaN();
      // Rank 0 has nothing but NaN.
      const float number = context.rank == 0 ? nan : 5.0f - static_cast<float>(context.rank);
      const device_vector<float> in(std::vector<float>{nan, number, nan});
      device_vector<float> out(1);
      ASSERT_CUDA_SUCCESS(DistributedReduce::Min(in.data(), out.data(), 3, context.comm, context.stream));
      ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
      if (ranks == 1) {
        EXPECT_TRUE(out.to_host()[0] != out.to_host()[0]);
      } else {
        EXPECT_EQ(6.0f - static_cast<float>(ranks), out.to_host()[0]);
      }
    });
  }
}

/// All ranks get the same bits, in each run.
TEST(DistributedReduce, IsDeterministic) {
  for (const int ranks : strata_test::rank_counts()) {
    std::vector<float> sums(static_cast<std::size_t>(3 * ranks));
    strata_test::on_ranks(ranks, [&](const rank_context& context) {
      const auto stream = static_cast<std::uint64_t>(context.rank);
      const std::vector<int> random = strata_test::random_integers(999, -1000, 1000, stream);
      std::vector<float> items(random.begin(), random.end());
      for (float& item : items) item *= 1.1f;
      const device_vector<float> in(items);
      device_vector<float> out(1);
      for (int run = 0; run < 3; ++run) {
        ASSERT_CUDA_SUCCESS(DistributedReduce::Sum(in.data(), out.data(), 999, context.comm, context.stream));
        ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
        sums[static_cast<std::size_t>(3 * context.rank + run)] = out.to_host()[0];
      }
    });
    for (const float sum : sums) EXPECT_EQ(sums[0], sum);
  }
}

TEST(DistributedReduce, ReplaysInGraphs) {
  for (const int ranks : strata_test::rank_counts()) {
    strata_test::on_ranks(ranks, [&](const rank_context& context) {
      device_vector<int> in(std::vector<int>(500, 0)), out(1);
      std::size_t bytes = 0;
      ASSERT_CUDA_SUCCESS(DistributedReduce::Sum(nullptr, bytes, in.data(), out.data(), 500, context.comm));
      const strata_test::guarded_memory storage(bytes);
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t executable = nullptr;
      ASSERT_CUDA_SUCCESS(cudaStreamBeginCapture(context.stream, cudaStreamCaptureModeThreadLocal));
      EXPECT_CUDA_SUCCESS(DistributedReduce::Sum(storage.data(), bytes, in.data(), out.data(), 500, context.comm,
                                                 context.stream));
      ASSERT_CUDA_SUCCESS(cudaStreamEndCapture(context.stream, &graph));
      ASSERT_CUDA_SUCCESS(cudaGraphInstantiate(&executable, graph, 0));
      for (int run = 1; run < 4; ++run) {
        in.assign(std::vector<int>(500, run + context.rank));
        ASSERT_CUDA_SUCCESS(cudaGraphLaunch(executable, context.stream));
        ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
        EXPECT_EQ(500 * (run * ranks + ranks * (ranks - 1) / 2), out.to_host()[0]);
      }
      EXPECT_CUDA_SUCCESS(cudaGraphExecDestroy(executable));
      EXPECT_CUDA_SUCCESS(cudaGraphDestroy(graph));
    });
  }
}

#if !defined(STRATA_DEBUG) || !STRATA_DEBUG
TEST(DistributedReduce, WritesNothingWhereARankRefuses) {
  for (const int ranks : strata_test::rank_counts()) {
    for (int fault = 0; fault < 4; ++fault) {
      strata_test::on_ranks(ranks, [&](const rank_context& context) {
        const bool is_wrong = context.rank + 1 == ranks;
        const device_vector<int> in(std::vector<int>(10, 1));
        device_vector<int> out(1);
        const int* const d_in = is_wrong && fault == 0 ? nullptr : in.data();
        int* const d_out = is_wrong && fault == 1 ? nullptr : out.data();
        const int count = is_wrong && fault == 2 ? -1 : 10;
        std::size_t bytes = 0;
        ASSERT_CUDA_SUCCESS(DistributedReduce::Sum(nullptr, bytes, d_in, d_out, count, context.comm, context.stream));
        const strata_test::guarded_memory storage(bytes);
        std::size_t given = is_wrong && fault == 3 ? bytes - 1 : bytes;
        EXPECT_EQ(is_wrong ? cudaErrorInvalidValue : cudaSuccess,
                  DistributedReduce::Sum(storage.data(), given, d_in, d_out, count, context.comm, context.stream));
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
        EXPECT_TRUE(strata_test::is_poison(out.to_host()[0]));
      });
    }
  }
}
#endif

}  // namespace distributed_reduce_test
