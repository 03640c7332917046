// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <strata/distributed/distributed_scan.cuh>
#include <strata/iterator/counting_input_iterator.cuh>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "distributed/distributions.hpp"
#include "distributed/ranks.hpp"
#include "support/own_operators.cuh"
#include "support/test_support.cuh"

namespace {

using namespace distributed_test;
using strata::DistributedScan;
using strata_test::call_with_temp_storage;
using strata_test::is_poison;
using strata_test::on_ranks;
using strata_test::rank_context;
using strata_test::rank_counts;

// More than a tile, and more than a block has in flight.
const std::size_t about = strata_test::is_small() ? 700 : 20000;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

std::int64_t count_of(std::size_t size) { return static_cast<std::int64_t>(size); }

/// Scans the items of all ranks by `scan(items)`, and returns each rank's part of the results.
template <class Result, class Item, class Scan>
std::vector<std::vector<Result>> cut_like(const std::vector<std::vector<Item>>& items, const Scan& scan) {
  const std::vector<Result> all = scan(joined(items));
  std::vector<std::vector<Result>> results;
  auto next = all.begin();
  for (const auto& of_rank : items) {
    results.emplace_back(next, next + static_cast<std::ptrdiff_t>(of_rank.size()));
    next += static_cast<std::ptrdiff_t>(of_rank.size());
  }
  return results;
}

template <class Item, class Op>
std::vector<Item> exclusive(const std::vector<Item>& items, Item sum, Op op) {
  std::vector<Item> results;
  for (const Item& item : items) {
    results.push_back(sum);
    sum = op(sum, item);
  }
  return results;
}
template <class Item, class Op>
std::vector<Item> inclusive(const std::vector<Item>& items, Op op) {
  std::vector<Item> results;
  for (const Item& item : items) results.push_back(results.empty() ? item : op(results.back(), item));
  return results;
}

template <class T>
void expect_same(const std::vector<T>& expected, const std::vector<T>& found, const rank_context& rank) {
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(expected[i] == found[i]) << "item " << i << " of rank " << rank.rank << " of " << rank.ranks;
  }
}

TEST(distributed_scan, sums_of_all_distributions) {
  const auto plus = [](int a, int b) { return a + b; };
  for (const int ranks : rank_counts()) {
    for (const distribution how : all_distributions) {
      const auto items = make_items<int>(
          how, ranks, about, [](int rank, std::size_t i) { return static_cast<int>(i % 17) - 5 + 3 * rank; });
      const auto before = cut_like<int>(items, [&](const auto& all) { return exclusive(all, 0, plus); });
      const auto up_to = cut_like<int>(items, [&](const auto& all) { return inclusive(all, plus); });
      on_ranks(ranks, [&](const rank_context& rank) {
        const auto here = static_cast<std::size_t>(rank.rank);
        const device_vector<int> in(items[here]);
        device_vector<int> out(in.size());
        const std::int64_t count = count_of(in.size());
        EXPECT_CUDA_SUCCESS(call_with_temp_storage([&](void* storage, std::size_t& bytes) {
          return DistributedScan::ExclusiveSum(storage, bytes, in.data(), out.data(), count, rank.comm, rank.stream);
        }));
        expect_same(before[here], out.to_host(), rank);
        out.poison();
        EXPECT_CUDA_SUCCESS(call_with_temp_storage([&](void* storage, std::size_t& bytes) {
          return DistributedScan::InclusiveSum(storage, bytes, in.data(), out.data(), count, rank.comm, rank.stream);
        }));
        expect_same(up_to[here], out.to_host(), rank);
      });
    }
  }
}

// The operator + of this type joins strings. Each rank has more than 32 tiles, whose sums one warp adds.
TEST(distributed_scan, sums_by_an_operator_of_the_type_itself_need_not_commute) {
  const strata_test::device_of_multiprocessors many(64);
  const int ranks = rank_counts().back() < 2 ? 1 : 2;
  const auto items = make_items<strata_test::runs>(distribution::even, ranks, 30000, [](int rank, std::size_t i) {
    return strata_test::runs::of((i + static_cast<std::size_t>(rank)) * 0x9e3779b97f4a7c15u >> 40);
  });
  const auto up_to = cut_like<strata_test::runs>(items, [&](const auto& all) { return inclusive(all, strata::Sum{}); });
  on_ranks(ranks, [&](const rank_context& rank) {
    const auto here = static_cast<std::size_t>(rank.rank);
    const device_vector<strata_test::runs> in(items[here]);
    device_vector<strata_test::runs> out(in.size());
    EXPECT_CUDA_SUCCESS(
        DistributedScan::InclusiveSum(in.data(), out.data(), count_of(in.size()), rank.comm, rank.stream));
    EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
    expect_same(up_to[here], out.to_host(), rank);
  });
}

// The results depend on the order of items and ranks, and on whether the initial value was used exactly once.
TEST(distributed_scan, operators_need_not_commute_and_results_may_replace_items) {
  const affine_map init{3, 5};
  for (const int ranks : rank_counts()) {
    for (const distribution how : all_distributions) {
      const auto items = make_items<affine_map>(how, ranks, about / 2, some_map);
      const auto before =
          cut_like<affine_map>(items, [&](const auto& all) { return exclusive(all, init, apply_in_order{}); });
      const auto up_to = cut_like<affine_map>(items, [&](const auto& all) { return inclusive(all, apply_in_order{}); });
      on_ranks(ranks, [&](const rank_context& rank) {
        const auto here = static_cast<std::size_t>(rank.rank);
        device_vector<affine_map> data(items[here]);
        const std::int64_t count = count_of(data.size());
        EXPECT_CUDA_SUCCESS(DistributedScan::ExclusiveScan(data.data(), data.data(), apply_in_order{}, init, count,
                                                           rank.comm, rank.stream));
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        expect_same(before[here], data.to_host(), rank);
        data.assign(items[here]);
        EXPECT_CUDA_SUCCESS(
            DistributedScan::InclusiveScan(data.data(), data.data(), apply_in_order{}, count, rank.comm, rank.stream));
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        expect_same(up_to[here], data.to_host(), rank);
      });
    }
  }
}

// The input is an iterator that computes its items. Sums have the type of the initial value, which is wider.
TEST(distributed_scan, iterators_and_wider_sums) {
  const int ranks = rank_counts().back();
  on_ranks(ranks, [&](const rank_context& rank) {
    const strata::CountingInputIterator<int> in(2000000000);
    device_vector<std::int64_t> out(about);
    EXPECT_CUDA_SUCCESS(DistributedScan::ExclusiveScan(in, out.data(), strata::Sum{}, std::int64_t{7}, count_of(about),
                                                       rank.comm, rank.stream));
    EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
    std::vector<std::int64_t> expected(about);
    std::int64_t sum_of_rank = 0;
    for (std::size_t i = 0; i < about; ++i) {
      expected[i] = sum_of_rank;
      sum_of_rank += 2000000000 + count_of(i);
    }
    for (std::int64_t& item : expected) item += 7 + rank.rank * sum_of_rank;
    expect_same(expected, out.to_host(), rank);
  });
}

// The initial value is a FutureValue, in the memory of each rank.
TEST(distributed_scan, initial_values_of_the_future) {
  const int ranks = rank_counts().back();
  on_ranks(ranks, [&](const rank_context& rank) {
    const device_vector<int> in(std::vector<int>(100, 1));
    device_vector<std::int64_t> out(100);
    const device_vector<std::int64_t> initial(std::vector<std::int64_t>{std::int64_t{1} << 40});
    EXPECT_CUDA_SUCCESS(DistributedScan::ExclusiveScan(
        in.data(), out.data(), strata::Sum{}, strata::FutureValue(initial.data()), 100, rank.comm, rank.stream));
    EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
    std::vector<std::int64_t> expected(100);
    for (std::size_t i = 0; i < 100; ++i) expected[i] = (std::int64_t{1} << 40) + 100 * rank.rank + count_of(i);
    expect_same(expected, out.to_host(), rank);
    // One rank passes a null pointer as initial value.
    out.poison();
    const bool refuses = rank.rank + 1 == ranks;
    const std::int64_t* const none = nullptr;
    EXPECT_EQ(refuses ? cudaErrorInvalidValue : cudaSuccess,
              DistributedScan::ExclusiveScan(in.data(), out.data(), strata::Sum{},
                                             strata::FutureValue(refuses ? none : initial.data()), 100, rank.comm,
                                             rank.stream));
    EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
    for (const std::int64_t item : out.to_host()) EXPECT_TRUE(is_poison(item)) << item;
  });
}

// A rank that refuses its arguments tells the others. All ranks continue, and none writes results.
TEST(distributed_scan, refused_arguments_stop_no_rank) {
  enum class fault { null_in, null_out, negative_count, large_count, little_storage, overlap };
  for (const int ranks : rank_counts()) {
    for (const fault what : {fault::null_in, fault::null_out, fault::negative_count, fault::large_count,
                             fault::little_storage, fault::overlap}) {
      for (const int refusing : {0, ranks - 1}) {
        on_ranks(ranks, [&](const rank_context& rank) {
          const bool refuses = rank.rank == refusing;
          const auto is = [&](fault other) { return refuses && what == other; };
          device_vector<int> in(std::vector<int>(101, 1));
          device_vector<int> out(100);
          const int* const d_in = is(fault::null_in) ? nullptr : in.data();
          int* const d_out = is(fault::null_out) ? nullptr : is(fault::overlap) ? in.data() + 1 : out.data();
          const std::int64_t count = is(fault::negative_count) ? -1 : is(fault::large_count) ? most : 100;
          for (const bool is_inclusive : {false, true}) {
            const cudaError_t status = call_with_temp_storage([&](void* storage, std::size_t& bytes) {
              std::size_t given = bytes - (storage != nullptr && is(fault::little_storage) ? 1 : 0);
              const cudaError_t answer =
                  is_inclusive
                      ? DistributedScan::InclusiveSum(storage, given, d_in, d_out, count, rank.comm, rank.stream)
                      : DistributedScan::ExclusiveSum(storage, given, d_in, d_out, count, rank.comm, rank.stream);
              if (storage == nullptr) bytes = given;
              return answer;
            });
            EXPECT_EQ(refuses ? cudaErrorInvalidValue : cudaSuccess, status);
          }
          // The calls without storage of the caller must do the same.
          if (what != fault::little_storage) {
            EXPECT_EQ(refuses ? cudaErrorInvalidValue : cudaSuccess,
                      DistributedScan::InclusiveSum(d_in, d_out, count, rank.comm, rank.stream));
            EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
          }
          for (const int item : out.to_host()) EXPECT_TRUE(is_poison(item)) << item;
          EXPECT_EQ(std::vector<int>(101, 1), in.to_host());
        });
      }
    }
  }
}

TEST(distributed_scan, graphs_are_replayed_with_other_items) {
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [&](const rank_context& rank) {
      device_vector<int> in(std::vector<int>(100, 1));
      device_vector<int> out(100);
      std::size_t bytes = 0;
      EXPECT_CUDA_SUCCESS(
          DistributedScan::InclusiveSum(nullptr, bytes, in.data(), out.data(), 100, rank.comm, rank.stream));
      const strata_test::guarded_memory storage(bytes);
      // NCCL connects the ranks in their first call, which cannot be captured.
      EXPECT_CUDA_SUCCESS(
          DistributedScan::InclusiveSum(storage.data(), bytes, in.data(), out.data(), 100, rank.comm, rank.stream));
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t replay = nullptr;
      EXPECT_CUDA_SUCCESS(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal));
      EXPECT_CUDA_SUCCESS(
          DistributedScan::InclusiveSum(storage.data(), bytes, in.data(), out.data(), 100, rank.comm, rank.stream));
      EXPECT_CUDA_SUCCESS(cudaStreamEndCapture(rank.stream, &graph));
      EXPECT_CUDA_SUCCESS(cudaGraphInstantiate(&replay, graph, 0));
      for (int step = 1; step <= 3; ++step) {
        in.assign(std::vector<int>(100, step));
        EXPECT_CUDA_SUCCESS(cudaGraphLaunch(replay, rank.stream));
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        std::vector<int> expected(100);
        for (int i = 0; i < 100; ++i) expected[static_cast<std::size_t>(i)] = step * (100 * rank.rank + i + 1);
        expect_same(expected, out.to_host(), rank);
      }
      EXPECT_CUDA_SUCCESS(cudaGraphExecDestroy(replay));
      EXPECT_CUDA_SUCCESS(cudaGraphDestroy(graph));
    });
  }
}

}  // namespace
