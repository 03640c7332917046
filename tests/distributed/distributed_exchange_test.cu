// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

#include <strata/distributed/distributed_exchange.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "distributed/distributions.hpp"
#include "distributed/ranks.hpp"
#include "support/test_support.cuh"

namespace {

using namespace distributed_test;
using strata::DistributedExchange;
using strata_test::call_with_temp_storage;
using strata_test::guarded_memory;
using strata_test::is_poison;
using strata_test::on_ranks;
using strata_test::rank_context;
using strata_test::rank_counts;

const std::size_t about = strata_test::is_small() ? 200 : 2000;

std::int64_t count_of(std::size_t size) { return static_cast<std::int64_t>(size); }
std::size_t index_of(std::int64_t n) { return static_cast<std::size_t>(n); }

/// An item that shows the rank and the index at which it was sent.
struct origin {
  std::int32_t rank;
  std::uint32_t index;
  STRATA_HD friend bool operator==(const origin& a, const origin& b) { return a.rank == b.rank && a.index == b.index; }
};
origin origin_of(int rank, std::size_t i) { return {rank, static_cast<std::uint32_t>(i)}; }
std::ostream& operator<<(std::ostream& out, const origin& item) { return out << item.rank << ":" << item.index; }

/// A larger item, which is gathered instead of sorted.
struct large_item {
  origin from;
  std::int64_t rest[5];
  STRATA_HD friend bool operator==(const large_item& a, const large_item& b) {
    return a.from == b.from && a.rest[0] == b.rest[0] && a.rest[4] == b.rest[4];
  }
};
large_item large_item_of(int rank, std::size_t i) {
  return {origin_of(rank, i), {count_of(i), 1, 2, 3, count_of(i) * rank}};
}

enum class targets { any, own, next, last };
inline constexpr targets all_targets[] = {targets::any, targets::own, targets::next, targets::last};

int target_of(targets how, int rank, int ranks, std::size_t i) {
  switch (how) {
    case targets::any:
      return static_cast<int>((i * 2654435761u >> 7) % static_cast<unsigned>(ranks));
    case targets::own:
      return rank;
    case targets::next:
      return (rank + 1) % ranks;
    case targets::last:
      break;
  }
  return ranks - 1;
}

template <class Item>
struct exchange_case {
  std::vector<std::vector<Item>> items;
  std::vector<std::vector<int>> destinations;

  template <class Make>
  exchange_case(distribution how, targets where, int ranks, const Make& make)
      : items(make_items<Item>(how, ranks, about, make)),
        destinations(make_items<int>(how, ranks, about,
                                     [&](int rank, std::size_t i) { return target_of(where, rank, ranks, i); })) {}

  /// The items that rank `from` sends to rank `to`.
  std::vector<Item> from_to(std::size_t from, int to) const {
    std::vector<Item> found;
    for (std::size_t i = 0; i < items[from].size(); ++i) {
      if (destinations[from][i] == to) found.push_back(items[from][i]);
    }
    return found;
  }
  std::vector<Item> received_by(int rank) const {
    std::vector<Item> all;
    for (std::size_t from = 0; from < items.size(); ++from) {
      const std::vector<Item> some = from_to(from, rank);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
};

/// Expects that `found` begins with the expected items, and that nothing was written after them.
template <class T>
void expect_items(const std::vector<T>& expected, const std::vector<T>& found, const rank_context& rank) {
  ASSERT_LE(expected.size(), found.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(expected[i] == found[i]) << "item " << i << " of rank " << rank.rank << " of " << rank.ranks;
  }
  for (std::size_t i = expected.size(); i < found.size(); ++i) {
    ASSERT_TRUE(is_poison(found[i])) << "behind the items of rank " << rank.rank << " of " << rank.ranks;
  }
}

TEST(distributed_exchange, items_of_all_distributions) {
  for (const int ranks : rank_counts()) {
    for (const distribution how : all_distributions) {
      for (const targets where : all_targets) {
        const exchange_case<origin> test(how, where, ranks, origin_of);
        on_ranks(ranks, [&](const rank_context& rank) {
          const auto here = static_cast<std::size_t>(rank.rank);
          const device_vector<origin> in(test.items[here]);
          const device_vector<int> destinations(test.destinations[here]);
          const std::vector<origin> expected = test.received_by(rank.rank);
          // Half of the ranks have exactly as much room as they need.
          device_vector<origin> out(expected.size() + (rank.rank % 2 == 0 ? 0 : 10));
          std::int64_t received = -1;
          EXPECT_CUDA_SUCCESS(call_with_temp_storage([&](void* storage, std::size_t& bytes) {
            return DistributedExchange::Items(storage, bytes, in.data(), destinations.data(), count_of(in.size()),
                                              out.data(), count_of(out.size()), &received, rank.comm, rank.stream);
          }));
          EXPECT_EQ(count_of(expected.size()), received);
          expect_items(expected, out.to_host(), rank);
          EXPECT_EQ(test.items[here], in.to_host());
        });
      }
    }
  }
}

TEST(distributed_exchange, pairs) {
  for (const int ranks : rank_counts()) {
    for (const distribution how : {distribution::uneven, distribution::all_on_last}) {
      const exchange_case<origin> keys(how, targets::any, ranks, origin_of);
      const exchange_case<std::int16_t> values(how, targets::any, ranks, [](int rank, std::size_t i) {
        return static_cast<std::int16_t>(rank * 1000 + static_cast<int>(i % 1000));
      });
      on_ranks(ranks, [&](const rank_context& rank) {
        const auto here = static_cast<std::size_t>(rank.rank);
        const device_vector<origin> keys_in(keys.items[here]);
        const device_vector<std::int16_t> values_in(values.items[here]);
        const device_vector<int> destinations(keys.destinations[here]);
        const std::vector<origin> expected = keys.received_by(rank.rank);
        device_vector<origin> keys_out(expected.size() + 3);
        device_vector<std::int16_t> values_out(expected.size() + 3);
        std::int64_t received = -1;
        EXPECT_CUDA_SUCCESS(call_with_temp_storage([&](void* storage, std::size_t& bytes) {
          return DistributedExchange::Pairs(storage, bytes, keys_in.data(), values_in.data(), destinations.data(),
                                            count_of(keys_in.size()), keys_out.data(), values_out.data(),
                                            count_of(keys_out.size()), &received, rank.comm, rank.stream);
        }));
        EXPECT_EQ(count_of(expected.size()), received);
        expect_items(expected, keys_out.to_host(), rank);
        expect_items(values.received_by(rank.rank), values_out.to_host(), rank);
      });
    }
  }
}

struct to_target {
  int ranks;
  STRATA_HD std::uint8_t operator()(std::int64_t i) const { return static_cast<std::uint8_t>(i * i % ranks); }
};

TEST(distributed_exchange, large_items_and_iterators) {
  const int ranks = rank_counts().size() > 2 ? 3 : rank_counts().back();
  const exchange_case<large_item> test(distribution::uneven, targets::any, ranks, large_item_of);
  on_ranks(ranks, [&](const rank_context& rank) {
    const auto here = static_cast<std::size_t>(rank.rank);
    const device_vector<large_item> in(test.items[here]);
    const device_vector<int> destinations(test.destinations[here]);
    const std::vector<large_item> expected = test.received_by(rank.rank);
    device_vector<large_item> out(expected.size() + 1);
    std::int64_t received = -1;
    EXPECT_CUDA_SUCCESS(DistributedExchange::Items(in.data(), destinations.data(), count_of(in.size()), out.data(),
                                                   count_of(out.size()), &received, rank.comm, rank.stream));
    EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
    EXPECT_EQ(count_of(expected.size()), received);
    expect_items(expected, out.to_host(), rank);
  });
  on_ranks(ranks, [&](const rank_context& rank) {
    using Numbers = strata::CountingInputIterator<std::int64_t>;
    const strata::TransformInputIterator<std::uint8_t, to_target, Numbers> destinations(Numbers(0), to_target{ranks});
    std::vector<std::int32_t> expected;
    for (int from = 0; from < ranks; ++from) {
      for (int i = 0; i < 100; ++i) {
        if (i * i % ranks == rank.rank) expected.push_back(1000 * from + i);
      }
    }
    device_vector<std::int32_t> out(expected.size());
    std::int64_t received = -1;
    EXPECT_CUDA_SUCCESS(DistributedExchange::Items(Numbers(1000 * rank.rank), destinations, 100, out.data(),
                                                   count_of(out.size()), &received, rank.comm, rank.stream));
    EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
    EXPECT_EQ(count_of(expected.size()), received);
    EXPECT_EQ(expected, out.to_host());
  });
}

// If one rank's capacity is too small, nothing is written, and each rank learns what it needs. With this capacity, the
// next call succeeds.
TEST(distributed_exchange, too_small_a_capacity_of_one_rank) {
  for (const int ranks : rank_counts()) {
    const exchange_case<origin> test(distribution::even, targets::any, ranks, origin_of);
    on_ranks(ranks, [&](const rank_context& rank) {
      const auto here = static_cast<std::size_t>(rank.rank);
      const device_vector<origin> in(test.items[here]);
      const device_vector<int> destinations(test.destinations[here]);
      const std::vector<origin> expected = test.received_by(rank.rank);
      const std::int64_t needed = count_of(expected.size());
      device_vector<origin> out(expected.size());
      for (const std::int64_t missing : {1, 0}) {
        std::int64_t received = -1;
        EXPECT_EQ(missing == 0 ? cudaSuccess : cudaErrorInvalidValue,
                  DistributedExchange::Items(in.data(), destinations.data(), count_of(in.size()), out.data(),
                                             needed - (rank.rank == ranks / 2 ? missing : 0), &received, rank.comm,
                                             rank.stream));
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        EXPECT_EQ(needed, received);
        expect_items(missing == 0 ? expected : std::vector<origin>{}, out.to_host(), rank);
      }
    });
  }
}

enum class fault {
  null_in,
  null_destinations,
  null_out,
  null_number,
  negative_count,
  large_count,
  negative_capacity,
  little_storage,
  out_over_in,
  out_over_destinations,
  destination_below,
  destination_above
};
inline constexpr fault all_faults[] = {
    fault::null_in,        fault::null_destinations,     fault::null_out,          fault::null_number,
    fault::negative_count, fault::large_count,           fault::negative_capacity, fault::little_storage,
    fault::out_over_in,    fault::out_over_destinations, fault::destination_below, fault::destination_above};

/// The arguments of a rank, one of which may be wrong.
struct faulty_arguments {
  device_vector<int> in{std::vector<int>(11, 1)};
  device_vector<int> destinations{std::vector<int>(11, 0)};
  device_vector<int> out{64};
  const int* d_in = in.data();
  const int* d_destinations = destinations.data();
  int* d_out = out.data();
  std::int64_t count = 10;
  bool has_little_storage = false;

  faulty_arguments(bool refuses, fault what, int ranks) {
    if (!refuses) return;
    if (what == fault::null_in) d_in = nullptr;
    if (what == fault::null_destinations) d_destinations = nullptr;
    if (what == fault::null_out) d_out = nullptr;
    if (what == fault::negative_count) count = -1;
    if (what == fault::large_count) count = std::numeric_limits<std::int64_t>::max();
    if (what == fault::out_over_in) d_out = in.data() + 9;
    if (what == fault::out_over_destinations) d_out = destinations.data() + 9;
    has_little_storage = what == fault::little_storage;
    std::vector<int> targets(11, 0);
    if (what == fault::destination_below) targets[7] = -1;
    if (what == fault::destination_above) targets[7] = ranks;
    destinations.assign(targets);
  }
  void expect_unchanged() {
    for (const int item : out.to_host()) EXPECT_TRUE(is_poison(item)) << item;
    EXPECT_EQ(std::vector<int>(11, 1), in.to_host());
  }
};

TEST(distributed_exchange, bad_arguments_of_one_rank_are_an_error_of_all) {
  for (const int ranks : rank_counts()) {
    const int refusing = ranks / 2;
    for (const fault what : all_faults) {
      on_ranks(ranks, [&](const rank_context& rank) {
        const bool refuses = rank.rank == refusing;
        faulty_arguments with(refuses, what, ranks);
        const std::int64_t capacity = refuses && what == fault::negative_capacity ? -1 : 64;
        std::int64_t received = -7;
        std::int64_t* const num_out = refuses && what == fault::null_number ? nullptr : &received;
        EXPECT_EQ(cudaErrorInvalidValue, call_with_temp_storage([&](void* storage, std::size_t& bytes) {
                    std::size_t given = bytes - (storage != nullptr && with.has_little_storage ? 1 : 0);
                    const cudaError_t status =
                        DistributedExchange::Items(storage, given, with.d_in, with.d_destinations, with.count,
                                                   with.d_out, capacity, num_out, rank.comm, rank.stream);
                    if (storage == nullptr) bytes = given;
                    return status;
                  }));
        if (what != fault::little_storage) {
          EXPECT_EQ(cudaErrorInvalidValue,
                    DistributedExchange::Items(with.d_in, with.d_destinations, with.count, with.d_out, capacity,
                                               num_out, rank.comm, rank.stream));
          EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        }
        EXPECT_EQ(-7, received);
        with.expect_unchanged();
      });
    }
  }
}

TEST(distributed_exchange, a_rank_without_memory_is_an_error_of_all) {
  on_ranks(rank_counts().back(), [&](const rank_context& rank) {
    const bool has_none = rank.rank == rank.ranks / 2;
    faulty_arguments with(false, fault::null_in, rank.ranks);
    memory_of_rank memory{has_none};
    std::int64_t received = -7;
    EXPECT_EQ(has_none ? cudaErrorMemoryAllocation : cudaErrorInvalidValue,
              DistributedExchange::Items(with.d_in, with.d_destinations, with.count, with.d_out, 64, &received,
                                         rank.comm, strata::execution(rank.stream, memory)));
    EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
    EXPECT_EQ(-7, received);
    with.expect_unchanged();
  });
}

// A size query of one rank does not communicate, and its result is enough for the call.
TEST(distributed_exchange, size_queries_communicate_nothing) {
  on_ranks(rank_counts().back(), [&](const rank_context& rank) {
    if (rank.rank != 0) return;
    std::size_t bytes = 0;
    std::int64_t received = -1;
    int* const none = nullptr;
    EXPECT_CUDA_SUCCESS(
        DistributedExchange::Items(nullptr, bytes, none, none, 1000, none, 0, &received, rank.comm, rank.stream));
    EXPECT_GT(bytes, 1000 * (sizeof(int) + 2));
    EXPECT_EQ(-1, received);
  });
}

#if STRATA_HOST_SIMT
// If a call of NCCL fails, its rank returns an error, and no other rank waits forever. The calls of a rank are one for
// the counts, then sends, receives, and the end of the group.
TEST(distributed_exchange, failures_of_nccl_end_the_calls_of_all_ranks) {
  constexpr int ranks = 3;
  for (int call = 0; call < 6; ++call) {
    const exchange_case<origin> test(distribution::even, targets::any, ranks, origin_of);
    strata::simt::fail_nccl_call(1, call);
    on_ranks(ranks, [&](const rank_context& rank) {
      const auto here = static_cast<std::size_t>(rank.rank);
      const device_vector<origin> in(test.items[here]);
      const device_vector<int> destinations(test.destinations[here]);
      device_vector<origin> out(2 * in.size());
      std::int64_t received = -1;
      const cudaError_t status =
          DistributedExchange::Items(in.data(), destinations.data(), count_of(in.size()), out.data(),
                                     count_of(out.size()), &received, rank.comm, rank.stream);
      if (rank.rank == 1 || call == 0) {
        EXPECT_NE(cudaSuccess, status);
      }
    });
    EXPECT_TRUE(strata::simt::nccl_call_has_failed()) << "there is no call " << call;
  }
  strata::simt::fail_nccl_call(-1, 0);
}
#endif

// ------------------------------------------------------------------ chunks of one size

/// Expects in the chunks of a rank what the other ranks of `test` have sent, and the right counts.
template <class Item>
void expect_chunks(const exchange_case<Item>& test, std::int64_t chunk_capacity, const std::vector<Item>& out,
                   const std::vector<std::int64_t>& counts, const rank_context& rank) {
  for (int from = 0; from < rank.ranks; ++from) {
    const std::vector<Item> expected = test.from_to(static_cast<std::size_t>(from), rank.rank);
    ASSERT_EQ(count_of(expected.size()), counts[static_cast<std::size_t>(from)]);
    const std::size_t arrived = std::min(expected.size(), index_of(chunk_capacity));
    for (std::size_t i = 0; i < arrived; ++i) {
      ASSERT_TRUE(expected[i] == out[static_cast<std::size_t>(from) * index_of(chunk_capacity) + i])
          << "item " << i << " from rank " << from << " to rank " << rank.rank << " of " << rank.ranks;
    }
  }
}

TEST(distributed_exchange, fixed_chunks_of_all_distributions) {
  for (const int ranks : rank_counts()) {
    for (const distribution how : all_distributions) {
      const exchange_case<origin> test(how, targets::any, ranks, origin_of);
      const exchange_case<std::int16_t> values(how, targets::any, ranks, [](int rank, std::size_t i) {
        return static_cast<std::int16_t>(rank * 1000 + static_cast<int>(i % 1000));
      });
      // Capacities for which some ranks send more than fits, for which all fits, and 0.
      for (const std::int64_t chunk_capacity : {count_of(about) / ranks, count_of(2 * about + 1), std::int64_t{0}}) {
        on_ranks(ranks, [&](const rank_context& rank) {
          const auto here = static_cast<std::size_t>(rank.rank);
          const device_vector<origin> in(test.items[here]);
          const device_vector<std::int16_t> values_in(values.items[here]);
          const device_vector<int> destinations(test.destinations[here]);
          device_vector<origin> out(index_of(chunk_capacity * ranks));
          device_vector<std::int16_t> values_out(out.size());
          device_vector<std::int64_t> counts(static_cast<std::size_t>(ranks));
          EXPECT_CUDA_SUCCESS(call_with_temp_storage([&](void* storage, std::size_t& bytes) {
            return DistributedExchange::ItemsFixed(storage, bytes, in.data(), destinations.data(), count_of(in.size()),
                                                   out.data(), chunk_capacity, counts.data(), rank.comm, rank.stream);
          }));
          expect_chunks(test, chunk_capacity, out.to_host(), counts.to_host(), rank);
          if (how != distribution::uneven) return;
          out.poison();
          counts.poison();
          EXPECT_CUDA_SUCCESS(DistributedExchange::PairsFixed(in.data(), values_in.data(), destinations.data(),
                                                              count_of(in.size()), out.data(), values_out.data(),
                                                              chunk_capacity, counts.data(), rank.comm, rank.stream));
          EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
          expect_chunks(test, chunk_capacity, out.to_host(), counts.to_host(), rank);
          expect_chunks(values, chunk_capacity, values_out.to_host(), counts.to_host(), rank);
        });
      }
    }
  }
}

// The refusing rank returns its error, or success if only the device detects the error. The other ranks get -1 as this
// rank's count.
TEST(distributed_exchange, bad_arguments_of_one_rank_in_fixed_chunks) {
  constexpr std::int64_t chunk_capacity = 8;
  for (const int ranks : rank_counts()) {
    const int refusing = ranks / 2;
    for (const fault what : all_faults) {
      if (what == fault::negative_capacity) continue;
      on_ranks(ranks, [&](const rank_context& rank) {
        const bool refuses = rank.rank == refusing;
        const bool is_known_late = what == fault::destination_below || what == fault::destination_above;
        faulty_arguments with(refuses, what, ranks);
        device_vector<std::int64_t> counts(static_cast<std::size_t>(ranks));
        std::int64_t* const d_counts = refuses && what == fault::null_number ? nullptr : counts.data();
        const cudaError_t status = call_with_temp_storage([&](void* storage, std::size_t& bytes) {
          std::size_t given = bytes - (storage != nullptr && with.has_little_storage ? 1 : 0);
          const cudaError_t answer =
              DistributedExchange::ItemsFixed(storage, given, with.d_in, with.d_destinations, with.count, with.d_out,
                                              chunk_capacity, d_counts, rank.comm, rank.stream);
          if (storage == nullptr) bytes = given;
          return answer;
        });
        if (refuses && !is_known_late) {
          EXPECT_EQ(cudaErrorInvalidValue, status);
          with.expect_unchanged();
          for (const std::int64_t count : counts.to_host()) EXPECT_TRUE(is_poison(count)) << count;
          return;
        }
        EXPECT_CUDA_SUCCESS(status);
        const std::vector<std::int64_t> found = counts.to_host();
        const std::vector<int> out = with.out.to_host();
        for (int from = 0; from < ranks; ++from) {
          const std::int64_t count = found[static_cast<std::size_t>(from)];
          EXPECT_EQ(from == refusing ? -1 : rank.rank == 0 ? 10 : 0, count);
          for (std::int64_t i = 0; i < std::min(count, chunk_capacity); ++i) {
            EXPECT_EQ(1, out[index_of(from * chunk_capacity + i)]);
          }
        }
      });
    }
    // All ranks refuse this argument, so none of them communicates.
    on_ranks(ranks, [&](const rank_context& rank) {
      faulty_arguments with(false, fault::null_in, ranks);
      device_vector<std::int64_t> counts(static_cast<std::size_t>(ranks));
      EXPECT_EQ(cudaErrorInvalidValue, DistributedExchange::ItemsFixed(with.d_in, with.d_destinations, 10, with.d_out,
                                                                       -1, counts.data(), rank.comm, rank.stream));
      with.expect_unchanged();
    });
  }
}

// The further arguments of calls with pairs: values, and counts that may overlap two outputs.
TEST(distributed_exchange, bad_values_of_one_rank) {
  enum class bad { null_in, null_out, out_over_in, out_over_keys_out, out_over_destinations, counts_over_out };
  constexpr std::int64_t chunk_capacity = 8;
  const int ranks = rank_counts().back() < 3 ? rank_counts().back() : 3;
  for (const bad what : {bad::null_in, bad::null_out, bad::out_over_in, bad::out_over_keys_out,
                         bad::out_over_destinations, bad::counts_over_out}) {
    on_ranks(ranks, [&](const rank_context& rank) {
      const bool refuses = rank.rank == ranks - 1;
      const auto is = [&](bad other) { return refuses && what == other; };
      const device_vector<int> keys(std::vector<int>(10, 1));
      device_vector<int> values(std::vector<int>(10, 2));
      device_vector<int> destinations(std::vector<int>(10, 0));
      device_vector<int> keys_out(80);
      device_vector<int> values_out(80);
      device_vector<std::int64_t> counts(static_cast<std::size_t>(ranks));
      const int* const d_values = is(bad::null_in) ? nullptr : values.data();
      int* const d_values_out = is(bad::null_out)                ? nullptr
                                : is(bad::out_over_in)           ? values.data() + 9
                                : is(bad::out_over_destinations) ? destinations.data() + 9
                                : is(bad::out_over_keys_out)     ? keys_out.data() + 1
                                                                 : values_out.data();
      if (what != bad::counts_over_out) {
        std::int64_t received = -7;
        EXPECT_EQ(cudaErrorInvalidValue,
                  DistributedExchange::Pairs(keys.data(), d_values, destinations.data(), 10, keys_out.data(),
                                             d_values_out, 80, &received, rank.comm, rank.stream));
        EXPECT_EQ(-7, received);
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        for (const int item : keys_out.to_host()) EXPECT_TRUE(is_poison(item)) << item;
      }
      std::int64_t* const d_counts =
          is(bad::counts_over_out) ? reinterpret_cast<std::int64_t*>(values_out.data()) : counts.data();
      EXPECT_EQ(refuses ? cudaErrorInvalidValue : cudaSuccess,
                DistributedExchange::PairsFixed(keys.data(), d_values, destinations.data(), 10, keys_out.data(),
                                                d_values_out, chunk_capacity, d_counts, rank.comm, rank.stream));
      EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
      EXPECT_EQ(std::vector<int>(10, 2), values.to_host());
      if (!refuses) {
        EXPECT_EQ(-1, counts.to_host()[static_cast<std::size_t>(ranks - 1)]);
        return;
      }
      for (const int item : values_out.to_host()) EXPECT_TRUE(is_poison(item)) << item;
      for (const int item : keys_out.to_host()) EXPECT_TRUE(is_poison(item)) << item;
    });
  }
}

TEST(distributed_exchange, graphs_of_fixed_chunks_are_replayed_with_other_items) {
  for (const int ranks : rank_counts()) {
    constexpr std::int64_t chunk_capacity = 20;
    on_ranks(ranks, [&](const rank_context& rank) {
      device_vector<origin> in(100);
      device_vector<int> destinations(std::vector<int>(100, 0));
      device_vector<origin> out(index_of(chunk_capacity * ranks));
      device_vector<std::int64_t> counts(static_cast<std::size_t>(ranks));
      std::size_t bytes = 0;
      const auto call = [&](void* storage) {
        return DistributedExchange::ItemsFixed(storage, bytes, in.data(), destinations.data(), 100, out.data(),
                                               chunk_capacity, counts.data(), rank.comm, rank.stream);
      };
      EXPECT_CUDA_SUCCESS(call(nullptr));
      const guarded_memory storage(bytes);
      // NCCL connects the ranks in their first call, which cannot be captured.
      EXPECT_CUDA_SUCCESS(call(storage.data()));
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t replay = nullptr;
      EXPECT_CUDA_SUCCESS(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal));
      EXPECT_CUDA_SUCCESS(call(storage.data()));
      EXPECT_CUDA_SUCCESS(cudaStreamEndCapture(rank.stream, &graph));
      EXPECT_CUDA_SUCCESS(cudaGraphInstantiate(&replay, graph, 0));
      for (const targets where : all_targets) {
        exchange_case<origin> test(distribution::empty, where, ranks, origin_of);
        for (int from = 0; from < ranks; ++from) {
          for (std::size_t i = 0; i < 100; ++i) {
            test.items[static_cast<std::size_t>(from)].push_back(origin_of(from, i));
            test.destinations[static_cast<std::size_t>(from)].push_back(target_of(where, from, ranks, i));
          }
        }
        in.assign(test.items[static_cast<std::size_t>(rank.rank)]);
        destinations.assign(test.destinations[static_cast<std::size_t>(rank.rank)]);
        EXPECT_CUDA_SUCCESS(cudaGraphLaunch(replay, rank.stream));
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        expect_chunks(test, chunk_capacity, out.to_host(), counts.to_host(), rank);
      }
      EXPECT_CUDA_SUCCESS(cudaGraphExecDestroy(replay));
      EXPECT_CUDA_SUCCESS(cudaGraphDestroy(graph));
    });
  }
}

// ------------------------------------------------------------------ parts of other calls

struct given_counts {
  const std::int64_t* counts;

  STRATA_D std::int64_t operator()(int rank) const { return counts[rank]; }
  STRATA_D bool are_valid(int) const { return true; }
};

// Two exchanges with one wait. The first one has two arrays. Rank a sends rank b 3 a + b items in the first one, and
// 2 (a + b) in the second one. A capacity that is too small for the second one must stop both.
TEST(distributed_exchange, two_exchanges_are_planned_at_once) {
  using strata::detail::exchange_plan;
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [&](const rank_context& rank) {
      const auto count = [](int exchange, int a, int b) { return exchange == 0 ? 3 * a + b : 2 * (a + b); };
      std::vector<std::int64_t> sent[2];
      std::vector<int> items[2];
      std::vector<int> expected[2];
      for (const int exchange : {0, 1}) {
        for (int other = 0; other < ranks; ++other) {
          sent[exchange].push_back(count(exchange, rank.rank, other));
          for (int i = 0; i < count(exchange, rank.rank, other); ++i) {
            items[exchange].push_back(10000 * rank.rank + 100 * other + i);
          }
          for (int i = 0; i < count(exchange, other, rank.rank); ++i) {
            expected[exchange].push_back(10000 * other + 100 * rank.rank + i);
          }
        }
      }
      const device_vector<std::int64_t> counts[] = {device_vector<std::int64_t>(sent[0]),
                                                    device_vector<std::int64_t>(sent[1])};
      const device_vector<int> in[] = {device_vector<int>(items[0]), device_vector<int>(items[1])};
      const device_vector<std::int64_t> wide_in(std::vector<std::int64_t>(items[0].begin(), items[0].end()));
      device_vector<int> out[] = {device_vector<int>(expected[0].size()), device_vector<int>(expected[1].size())};
      device_vector<std::int64_t> wide_out(expected[0].size());
      const guarded_memory messages(strata::detail::exchange_messages_bytes(ranks, 2));
      for (const std::int64_t missing : {1, 0}) {
        exchange_plan plans[2];
        strata::detail::call_header headers[2];
        for (const int exchange : {0, 1}) {
          headers[exchange].num_items = count_of(items[exchange].size());
          headers[exchange].capacity = count_of(expected[exchange].size());
        }
        if (rank.rank == ranks - 1) headers[1].capacity -= missing;
        const cudaError_t planned =
            strata::detail::plan_exchanges(plans, headers, messages.data(), {rank.rank, ranks}, rank.comm, rank.stream,
                                           given_counts{counts[0].data()}, given_counts{counts[1].data()});
        for (const int exchange : {0, 1}) {
          EXPECT_EQ(count_of(expected[exchange].size()), plans[exchange].num_received);
          for (int a = 0; a < ranks; ++a) {
            for (int b = 0; b < ranks; ++b) EXPECT_EQ(count(exchange, a, b), plans[exchange].count(a, b));
          }
          EXPECT_EQ(headers[exchange].num_items,
                    plans[exchange].headers[static_cast<std::size_t>(rank.rank)].num_items);
        }
        if (missing > 0) {
          EXPECT_EQ(cudaErrorInvalidValue, planned);
          continue;
        }
        ASSERT_CUDA_SUCCESS(planned);
        const strata::detail::exchanged_array first[] = {{in[0].data(), out[0].data(), sizeof(int)},
                                                         {wide_in.data(), wide_out.data(), sizeof(std::int64_t)}};
        const strata::detail::exchanged_array second[] = {{in[1].data(), out[1].data(), sizeof(int)}};
        EXPECT_CUDA_SUCCESS(strata::detail::carry_out(plans[0], first, 2, rank.comm, rank.stream));
        EXPECT_CUDA_SUCCESS(strata::detail::carry_out(plans[1], second, 1, rank.comm, rank.stream));
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        EXPECT_EQ(expected[0], out[0].to_host());
        EXPECT_EQ(expected[1], out[1].to_host());
        EXPECT_EQ(std::vector<std::int64_t>(expected[0].begin(), expected[0].end()), wide_out.to_host());
      }
    });
  }
}

// Groups items without communication: more destinations than one pass of the sort distinguishes, and more items than a
// cluster sorts. On a GPU, they are more than the sort of one launch takes.
TEST(distributed_exchange, items_are_grouped_by_many_destinations) {
#if STRATA_HOST_SIMT
  constexpr std::size_t count = 20000;
#else
  constexpr std::size_t count = 5000000;
#endif
  // A second pass needs memory between passes for the items and for their destinations.
  const auto storage_of = [&](int ranks) {
    std::size_t bytes = 0;
    const origin* const in = nullptr;
    const int* const destinations = nullptr;
    EXPECT_CUDA_SUCCESS(strata::detail::group_items(nullptr, bytes, destinations,
                                                    static_cast<strata::detail::destination_key*>(nullptr), in,
                                                    static_cast<origin*>(nullptr), count_of(count), ranks, nullptr));
    return bytes;
  };
  EXPECT_GE(storage_of(256), storage_of(255) + count * (sizeof(origin) + sizeof(strata::detail::destination_key)));
  for (const int ranks : {255, strata::detail::max_exchange_ranks}) {
    std::vector<origin> items;
    std::vector<long long> targets;
    for (std::size_t i = 0; i < count; ++i) {
      items.push_back(origin_of(0, i));
      targets.push_back(i == 5   ? -1
                        : i == 6 ? ranks
                                 : static_cast<long long>(i * 40503u % static_cast<unsigned>(ranks)));
    }
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    const auto key = [&](std::size_t i) { return targets[i] < 0 ? ranks : targets[i]; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    const device_vector<origin> in(items);
    const device_vector<long long> destinations(targets);
    device_vector<origin> out(count);
    device_vector<strata::detail::destination_key> keys(count);
    EXPECT_CUDA_SUCCESS(call_with_temp_storage([&](void* storage, std::size_t& bytes) {
      return strata::detail::group_items(storage, bytes, destinations.data(), keys.data(), in.data(), out.data(),
                                         count_of(count), ranks, nullptr);
    }));
    const std::vector<origin> found = out.to_host();
    const std::vector<strata::detail::destination_key> found_keys = keys.to_host();
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(items[order[i]], found[i]);
      ASSERT_EQ(key(order[i]), found_keys[i]);
    }
  }
}

}  // namespace
