// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Passes stream classes to the calls of ranks: with storage, without storage, and in an execution environment.
// meta/arguments.py checks that no function is missing here.
#include <strata/distributed/distributed_exchange.cuh>
#include <strata/distributed/distributed_hash_join.cuh>
#include <strata/distributed/distributed_merge_sort.cuh>
#include <strata/distributed/distributed_radix_sort.cuh>
#include <strata/distributed/distributed_reduce.cuh>
#include <strata/distributed/distributed_scan.cuh>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "distributed/ranks.hpp"
#include "support/stream_classes.hpp"
#include "support/test_support.cuh"

namespace {

using strata::DistributedExchange;
using strata::DistributedHashJoin;
using strata::DistributedMergeSort;
using strata::DistributedRadixSort;
using strata::DistributedReduce;
using strata::DistributedScan;
using strata_test::device_vector;
using strata_test::on_ranks;
using strata_test::rank_context;
using strata_test::ranks_up_to;

constexpr int num_items = 40;
constexpr int capacity = 2 * num_items;

struct is_below {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

/// A memory resource that expects one stream.
struct resource {
  cudaStream_t expected;
  int in_use = 0;

  void* allocate(std::size_t bytes, cudaStream_t stream) {
    EXPECT_EQ(expected, stream);
    void* memory = nullptr;
    EXPECT_CUDA_SUCCESS(cudaMallocAsync(&memory, bytes, stream));
    ++in_use;
    return memory;
  }
  void deallocate(void* memory, std::size_t, cudaStream_t stream) {
    EXPECT_EQ(expected, stream);
    EXPECT_CUDA_SUCCESS(cudaFreeAsync(memory, stream));
    --in_use;
  }
};

/// The arrays that a rank's calls read and write.
struct arrays {
  explicit arrays(const rank_context& context) : rank(context) {
    std::vector<int> numbers, ranks;
    for (int i = 0; i < num_items; ++i) {
      numbers.push_back((i * 7 + context.rank) % 20);
      ranks.push_back(i % context.ranks);
    }
    in.assign(numbers);
    destinations.assign(ranks);
  }

  void reset() {
    for (auto* each : {&out, &values_out}) each->assign(std::vector<int>(capacity, -1));
    count.assign(std::vector<std::int64_t>(8, -1));
    received = -1;
  }
  std::vector<std::int64_t> result() const {
    rank.wait();
    std::vector<std::int64_t> all = count.to_host();
    for (const auto* each : {&out, &values_out}) {
      for (const int item : each->to_host()) all.push_back(item);
    }
    all.push_back(received);
    return all;
  }

  const rank_context& rank;
  device_vector<int> in{num_items}, destinations{num_items}, out{capacity}, values_out{capacity};
  device_vector<std::int64_t> count{8};
  std::int64_t received = -1;
};

template <class Stream, class Form>
void expect_stream(arrays& all, const Form& form, const std::vector<std::int64_t>& expected) {
  const Stream where(all.rank.stream);
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(form(static_cast<void*>(nullptr), bytes)(where));
  const strata_test::guarded_memory storage(bytes);
  all.reset();
  EXPECT_CUDA_SUCCESS(form(storage.data(), bytes)(where));
  EXPECT_EQ(expected, all.result());
  all.reset();
  EXPECT_CUDA_SUCCESS(form()(where));
  EXPECT_EQ(expected, all.result());
  resource memory{all.rank.stream};
  all.reset();
  EXPECT_CUDA_SUCCESS(form()(strata::execution(where, memory)));
  EXPECT_EQ(expected, all.result());
  EXPECT_EQ(0, memory.in_use);
}

/// Tests each form of a call, which is `form(storage...)(stream)`.
template <class Form>
void expect_forms(const char* name, arrays& all, const Form& form) {
  SCOPED_TRACE(name);
  all.reset();
  const std::vector<std::int64_t> before = all.result();
  EXPECT_CUDA_SUCCESS(form()(all.rank.stream));
  const std::vector<std::int64_t> expected = all.result();
  EXPECT_NE(before, expected);
  expect_stream<strata_test::stream_view>(all, form, expected);
  expect_stream<strata_test::pool_stream>(all, form, expected);
  expect_stream<strata_test::stream_ref>(all, form, expected);
}

#define EXPECT_FORMS_OF_RANK(function, ...)                                                            \
  expect_forms(#function, all, [&](auto&&... storage) {                                                \
    return [&](const auto& where) { return function(storage..., __VA_ARGS__, all.rank.comm, where); }; \
  })

TEST(distributed_stream_classes, reductions_and_scans) {
  on_ranks(ranks_up_to(2), [&](const rank_context& rank) {
    arrays all(rank);
    const int* const in = all.in.data();
    int* const out = all.out.data();
    EXPECT_FORMS_OF_RANK(DistributedReduce::Reduce, in, out, num_items, strata::Max{}, 3);
    EXPECT_FORMS_OF_RANK(DistributedReduce::Sum, in, out, num_items);
    EXPECT_FORMS_OF_RANK(DistributedReduce::Min, in, out, num_items);
    EXPECT_FORMS_OF_RANK(DistributedReduce::Max, in, out, num_items);
    EXPECT_FORMS_OF_RANK(DistributedReduce::ArgMin, in, out, all.count.data(), num_items);
    EXPECT_FORMS_OF_RANK(DistributedReduce::ArgMax, in, out, all.count.data(), num_items);
    EXPECT_FORMS_OF_RANK(DistributedScan::ExclusiveSum, in, out, num_items);
    EXPECT_FORMS_OF_RANK(DistributedScan::InclusiveSum, in, out, num_items);
    EXPECT_FORMS_OF_RANK(DistributedScan::ExclusiveScan, in, out, strata::Max{}, 3, num_items);
    EXPECT_FORMS_OF_RANK(DistributedScan::InclusiveScan, in, out, strata::Max{}, num_items);
  });
}

TEST(distributed_stream_classes, sorts) {
  on_ranks(ranks_up_to(2), [&](const rank_context& rank) {
    arrays all(rank);
    const int* const in = all.in.data();
    const int* const values = all.destinations.data();
    int* const out = all.out.data();
    int* const values_out = all.values_out.data();
    EXPECT_FORMS_OF_RANK(DistributedMergeSort::SortKeys, in, num_items, out, capacity, &all.received, is_below{});
    EXPECT_FORMS_OF_RANK(DistributedMergeSort::SortPairs, in, values, num_items, out, values_out, capacity,
                         &all.received, is_below{});
    EXPECT_FORMS_OF_RANK(DistributedRadixSort::SortKeys, in, num_items, out, capacity, &all.received);
    EXPECT_FORMS_OF_RANK(DistributedRadixSort::SortKeysDescending, in, num_items, out, capacity, &all.received);
    EXPECT_FORMS_OF_RANK(DistributedRadixSort::SortPairs, in, values, num_items, out, values_out, capacity,
                         &all.received);
    EXPECT_FORMS_OF_RANK(DistributedRadixSort::SortPairsDescending, in, values, num_items, out, values_out, capacity,
                         &all.received, 0, 32);
  });
}

TEST(distributed_stream_classes, exchanges) {
  on_ranks(ranks_up_to(2), [&](const rank_context& rank) {
    arrays all(rank);
    const int* const in = all.in.data();
    const int* const to = all.destinations.data();
    int* const out = all.out.data();
    int* const values_out = all.values_out.data();
    EXPECT_FORMS_OF_RANK(DistributedExchange::Items, in, to, num_items, out, capacity, &all.received);
    EXPECT_FORMS_OF_RANK(DistributedExchange::Pairs, in, to, to, num_items, out, values_out, capacity, &all.received);
    // Chunks hold exactly what each rank sends. In larger ones, the rest of the chunk would be unspecified.
    EXPECT_FORMS_OF_RANK(DistributedExchange::ItemsFixed, in, to, num_items, out, num_items / rank.ranks,
                         all.count.data());
    EXPECT_FORMS_OF_RANK(DistributedExchange::PairsFixed, in, to, to, num_items, out, values_out,
                         num_items / rank.ranks, all.count.data());
  });
}

// The rows of a result have no specified order, so only their number is compared.
TEST(distributed_stream_classes, joins) {
  on_ranks(ranks_up_to(2), [&](const rank_context& rank) {
    arrays all(rank);
    const auto build = strata::join_side(static_cast<const int*>(all.in.data()), num_items);
    const auto probe = strata::join_side(static_cast<const int*>(all.destinations.data()), num_items);
    const auto output = strata::join_count();
    std::int64_t* const count = all.count.data();
    const strata::DistributedJoinCapacity room{capacity, capacity};
    const strata::JoinOptions<> options;
    EXPECT_FORMS_OF_RANK(DistributedHashJoin::Inner, build, probe, output, count, room, options);
    EXPECT_FORMS_OF_RANK(DistributedHashJoin::Left, build, probe, output, count, room, options);
    EXPECT_FORMS_OF_RANK(DistributedHashJoin::Full, build, probe, output, count, room, options);
    EXPECT_FORMS_OF_RANK(DistributedHashJoin::Semi, build, probe, output, count, room, options);
    EXPECT_FORMS_OF_RANK(DistributedHashJoin::Anti, build, probe, output, count, room, options);
  });
}

}  // namespace
