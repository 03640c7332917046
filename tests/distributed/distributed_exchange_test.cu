// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DistributedExchange: items by destination, with capacities, with chunks of one size, and in graphs.
#include <strata/distributed/distributed_exchange.cuh>

#include <support/test_types.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "distributed/ranks.hpp"

namespace distributed_exchange_test {

using strata::DistributedExchange;
using strata_test::device_vector;
using strata_test::rank_context;

/// Where from, and at which position there.
struct wide {
  int rank, position;
  double payload[7];
};
template <class Item>
Item make(int rank, int position) {
  return static_cast<Item>(rank * 100000 + position);
}
template <>
wide make<wide>(int rank, int position) {
  wide item{};
  item.rank = rank, item.position = position, item.payload[6] = 0.5 * position;
  return item;
}
bool operator==(const wide& a, const wide& b) {
  return a.rank == b.rank && a.position == b.position && a.payload[6] == b.payload[6];
}

enum class law { uniform, to_one, to_self, to_next, uneven };
constexpr law all_laws[] = {law::uniform, law::to_one, law::to_self, law::to_next, law::uneven};

std::size_t count_of(law how, int rank, int ranks) {
  if (how == law::uneven) return rank % 2 == 0 ? 0 : 700;
  return how == law::to_one && rank + 1 == ranks ? 0 : 300 + 10 * static_cast<std::size_t>(rank);
}
std::vector<int> destinations_of(law how, int rank, int ranks) {
  std::vector<int> to = strata_test::random_integers(count_of(how, rank, ranks), 0, ranks - 1,
                                                     static_cast<std::uint64_t>(rank));
  for (int& destination : to) {
    if (how == law::to_one) destination = ranks - 1;
    if (how == law::to_self) destination = rank;
    if (how == law::to_next) destination = (rank + 1) % ranks;
  }
  return to;
}
template <class Item>
std::vector<Item> items_of(int rank, std::size_t count) {
  std::vector<Item> items(count);
  for (std::size_t i = 0; i < count; ++i) items[i] = make<Item>(rank, static_cast<int>(i));
  return items;
}
/// What a rank gets from another.
template <class Item>
std::vector<Item> from_to(law how, int from, int to, int ranks) {
  const std::vector<int> destinations = destinations_of(how, from, ranks);
  std::vector<Item> result;
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    if (destinations[i] == to) result.push_back(make<Item>(from, static_cast<int>(i)));
  }
  return result;
}

template <class Item>
class DistributedExchangeOf : public testing::Test {};
using item_types = testing::Types<int, signed char, wide>;
TYPED_TEST_SUITE(DistributedExchangeOf, item_types);

TYPED_TEST(DistributedExchangeOf, SendsItemsInOrder) {
  using Item = TypeParam;
  for (const int ranks : strata_test::rank_counts()) {
    for (const law how : all_laws) {
      strata_test::on_ranks(ranks, [&](const rank_context& context) {
        std::vector<Item> expected;
        for (int from = 0; from < ranks; ++from) {
          for (const Item& item : from_to<Item>(how, from, context.rank, ranks)) expected.push_back(item);
        }
        const device_vector<int> to(destinations_of(how, context.rank, ranks));
        const device_vector<Item> in(items_of<Item>(context.rank, to.size()));
        device_vector<Item> out(expected.size() + 2), values(expected.size());
        std::int64_t num_out = -1;
        ASSERT_CUDA_SUCCESS(strata_test::call_with_temp_storage([&](void* storage, std::size_t& bytes) {
          return DistributedExchange::Items(storage, bytes, in.data(), to.data(), to.size(), out.data(), out.size(),
                                            &num_out, context.comm, context.stream);
        }));
        ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
        ASSERT_EQ(static_cast<std::int64_t>(expected.size()), num_out);
        std::vector<Item> found = out.to_host();
        for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_TRUE(expected[i] == found[i]) << i;
        for (std::size_t i = expected.size(); i < found.size(); ++i) ASSERT_TRUE(strata_test::is_poison(found[i]));
        // Keys and values; here both are the items.
        out.poison();
        ASSERT_CUDA_SUCCESS(strata_test::call_with_temp_storage([&](void* storage, std::size_t& bytes) {
          return DistributedExchange::Pairs(storage, bytes, in.data(), in.data(), to.data(), to.size(), out.data(),
                                            values.data(), expected.size(), &num_out, context.comm, context.stream);
        }));
        ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
        found = out.to_host();
        const std::vector<Item> found_values = values.to_host();
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_TRUE(expected[i] == found[i] && expected[i] == found_values[i]) << i;
        }
      });
      if (this->HasFailure()) return;
    }
  }
}

TEST(DistributedExchange, SaysWhatDoesNotFit) {
  for (const int ranks : strata_test::rank_counts()) {
    strata_test::on_ranks(ranks, [&](const rank_context& context) {
      std::size_t needed = 0;
      for (int from = 0; from < ranks; ++from) {
        needed += from_to<int>(law::uniform, from, context.rank, ranks).size();
      }
      const device_vector<int> to(destinations_of(law::uniform, context.rank, ranks));
      const device_vector<int> in(items_of<int>(context.rank, to.size()));
      device_vector<int> out(needed);
      std::int64_t num_out = -1;
      const auto call = [&](std::size_t capacity) {
        return DistributedExchange::Items(in.data(), to.data(), to.size(), out.data(), capacity, &num_out, context.comm,
                                          context.stream);
      };
      // Only the last rank has too little.
      const std::size_t less = context.rank + 1 == ranks ? 1 : 0;
      EXPECT_EQ(cudaErrorInvalidValue, call(needed - less));
      EXPECT_EQ(static_cast<std::int64_t>(needed), num_out);
      EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
      for (const int item : out.to_host()) ASSERT_TRUE(strata_test::is_poison(item));
      EXPECT_CUDA_SUCCESS(call(needed));
      EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
    });
  }
}

TEST(DistributedExchange, RefusesOnAllRanksAlike) {
  for (const int ranks : strata_test::rank_counts()) {
    for (int fault = 0; fault < 7; ++fault) {
      strata_test::on_ranks(ranks, [&](const rank_context& context) {
        const bool is_wrong = context.rank == ranks / 2;
        std::vector<int> destinations(50, context.rank);
        if (is_wrong && fault == 0) destinations[49] = ranks;
        if (is_wrong && fault == 1) destinations[7] = -1;
        const device_vector<int> to(destinations);
        const device_vector<int> in(items_of<int>(context.rank, 50));
        device_vector<int> out(50);
        std::int64_t num_out = -1;
        const int* const d_in = is_wrong && fault == 2 ? nullptr : in.data();
        const int* const d_to = is_wrong && fault == 3 ? out.data() : to.data();
        int* const d_out = is_wrong && fault == 4 ? nullptr : out.data();
        const std::int64_t count = is_wrong && fault == 5 ? -50 : 50;
        std::size_t bytes = 0;
        ASSERT_CUDA_SUCCESS(DistributedExchange::Items(nullptr, bytes, d_in, d_to, count, d_out, 50, &num_out,
                                                       context.comm, context.stream));
        if (is_wrong && fault == 6) --bytes;
        const strata_test::guarded_memory storage(bytes);
        EXPECT_EQ(cudaErrorInvalidValue, DistributedExchange::Items(storage.data(), bytes, d_in, d_to, count, d_out, 50,
                                                                    &num_out, context.comm, context.stream))
            << "fault " << fault;
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
        for (const int item : out.to_host()) ASSERT_TRUE(strata_test::is_poison(item));
      });
    }
  }
}

/// Chunks of one size: enough of them, and too few.
TEST(DistributedExchange, SendsChunksInGraphs) {
  for (const int ranks : strata_test::rank_counts()) {
    strata_test::on_ranks(ranks, [&](const rank_context& context) {
      constexpr std::int64_t capacity = 40;
      const auto chunk_items = static_cast<std::size_t>(capacity * ranks);
      const std::size_t count = count_of(law::uniform, context.rank, ranks);
      const device_vector<int> in(items_of<int>(context.rank, count));
      device_vector<int> to(destinations_of(law::uniform, context.rank, ranks));
      device_vector<int> out(chunk_items), values(chunk_items);
      device_vector<std::int64_t> counts(static_cast<std::size_t>(ranks));
      std::size_t bytes = 0;
      const auto call = [&](void* storage) {
        return DistributedExchange::PairsFixed(storage, bytes, in.data(), in.data(), to.data(), count, out.data(),
                                               values.data(), capacity, counts.data(), context.comm, context.stream);
      };
      ASSERT_CUDA_SUCCESS(call(nullptr));
      const strata_test::guarded_memory storage(bytes);
      // A chunk's rest is sent as it is.
      storage.fill(0);
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t executable = nullptr;
      ASSERT_CUDA_SUCCESS(cudaStreamBeginCapture(context.stream, cudaStreamCaptureModeThreadLocal));
      EXPECT_CUDA_SUCCESS(call(storage.data()));
      ASSERT_CUDA_SUCCESS(cudaStreamEndCapture(context.stream, &graph));
      ASSERT_CUDA_SUCCESS(cudaGraphInstantiate(&executable, graph, 0));
      for (const law how : {law::uniform, law::to_self, law::uniform}) {
        // law::to_self has as many items.
        to.assign(destinations_of(how, context.rank, ranks));
        ASSERT_CUDA_SUCCESS(cudaGraphLaunch(executable, context.stream));
        ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
        const std::vector<std::int64_t> found_counts = counts.to_host();
        const std::vector<int> found = out.to_host(), found_values = values.to_host();
        for (int from = 0; from < ranks; ++from) {
          const std::vector<int> expected = from_to<int>(how, from, context.rank, ranks);
          ASSERT_EQ(static_cast<std::int64_t>(expected.size()), found_counts[static_cast<std::size_t>(from)]);
          for (std::size_t i = 0; i < expected.size() && i < capacity; ++i) {
            ASSERT_EQ(expected[i], found[static_cast<std::size_t>(from * capacity) + i]);
            ASSERT_EQ(expected[i], found_values[static_cast<std::size_t>(from * capacity) + i]);
          }
        }
      }
      EXPECT_CUDA_SUCCESS(cudaGraphExecDestroy(executable));
      EXPECT_CUDA_SUCCESS(cudaGraphDestroy(graph));
    });
  }
}

TEST(DistributedExchange, MarksChunksOfARankThatRefuses) {
  for (const int ranks : strata_test::rank_counts()) {
    for (int fault = 0; fault < 2; ++fault) {
      strata_test::on_ranks(ranks, [&](const rank_context& context) {
        const bool is_wrong = context.rank == 0;
        std::vector<int> destinations(20, context.rank);
        if (is_wrong && fault == 0) destinations[3] = ranks;
        const device_vector<int> to(destinations), in(items_of<int>(context.rank, 20));
        device_vector<int> out(static_cast<std::size_t>(20 * ranks));
        device_vector<std::int64_t> counts(static_cast<std::size_t>(ranks));
        const cudaError_t status = DistributedExchange::ItemsFixed(
            is_wrong && fault == 1 ? nullptr : in.data(), to.data(), 20, out.data(), 20, counts.data(), context.comm,
            context.stream);
        EXPECT_EQ(is_wrong && fault == 1 ? cudaErrorInvalidValue : cudaSuccess, status);
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(context.stream));
        if (!is_wrong) {
          EXPECT_EQ(-1, counts.to_host()[0]);
        }
      });
    }
  }
}

}  // namespace distributed_exchange_test
