// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Joins that write rows directly into the memory of other ranks. The rank of a row depends on its key, or all build
// rows go to all ranks.
#include <strata/distributed/distributed_hash_join.cuh>
#include <strata/distributed/distributed_memory.cuh>
#include <strata/distributed/distributed_reduce.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "distributed/join_calls.cuh"
#include "distributed/ranks.hpp"

namespace direct_join_test {

/// A key of 48 bytes. A thread marks only two rows with such large keys.
struct wide_key {
  std::uint32_t numbers[12];
  friend STRATA_HD bool operator==(const wide_key& a, const wide_key& b) {
    for (int i = 0; i < 12; ++i) {
      if (a.numbers[i] != b.numbers[i]) return false;
    }
    return true;
  }
};

}  // namespace direct_join_test

template <>
struct strata::is_bitwise_comparable<direct_join_test::wide_key> : std::true_type {};

namespace direct_join_test {

using strata::DistributedMemory;
using strata_test::device_vector;
using strata_test::on_ranks;
using strata_test::rank_context;
using strata_test::rank_counts;

/// Where temporary storage lies. With `mixed`, only even ranks have it in shared memory.
enum class place { shared, mixed, elsewhere };

/// The build row that matches a probe row, or -1. Rows are numbered over all ranks. About half of the probe rows match.
std::int64_t partner_of(std::int64_t probe_row, std::int64_t build_rows) {
  const std::int64_t row = build_rows == 0 ? 0 : (probe_row * 7 + 3) % (2 * build_rows);
  return row < build_rows ? row : -1;
}
template <class Key>
Key key_of(std::int64_t row) {
  const std::uint32_t number = static_cast<std::uint32_t>(row) * 2654435761u;
  if constexpr (std::is_same_v<Key, wide_key>) {
    wide_key key{};
    for (std::uint32_t& any : key.numbers) any = number;
    return key;
  } else {
    return number;
  }
}

std::int64_t sum_of(const std::vector<std::int64_t>& sizes, int ranks) {
  std::int64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += sizes[static_cast<std::size_t>(rank)];
  return sum;
}

/// The sum over all ranks of `number`.
std::int64_t sum_of_ranks(const rank_context& context, std::int64_t number) {
  const device_vector<std::int64_t> mine(std::vector<std::int64_t>{number});
  device_vector<std::int64_t> sum(1);
  EXPECT_CUDA_SUCCESS(
      strata::DistributedReduce::Sum(mine.data(), sum.data(), std::int64_t{1}, context.comm, context.stream));
  context.wait();
  return sum.to_host()[0];
}

/// If `room_for_all`, each rank has room for all build rows. Otherwise it has one row less, unless the build rows are
/// so few that one rank may get all of them, or that all ranks need all of them. `probe_room` is the number of probe
/// rows that a rank has room for. A negative number stands for all.
template <class Key = std::uint32_t>
void expect_joined(const rank_context& context, const std::vector<std::int64_t>& build_sizes,
                   const std::vector<std::int64_t>& probe_sizes, bool room_for_all, place where, bool is_shared = true,
                   std::int64_t probe_room = -1) {
  const auto rank = static_cast<std::size_t>(context.rank);
  const std::int64_t first_build = sum_of(build_sizes, context.rank), first_probe = sum_of(probe_sizes, context.rank);
  const std::int64_t all_build = sum_of(build_sizes, context.ranks), all_probe = sum_of(probe_sizes, context.ranks);
  std::vector<Key> build_keys, probe_keys;
  for (std::int64_t i = 0; i < build_sizes[rank]; ++i) build_keys.push_back(key_of<Key>(first_build + i));
  for (std::int64_t i = 0; i < probe_sizes[rank]; ++i) {
    const std::int64_t partner = partner_of(first_probe + i, all_build);
    probe_keys.push_back(key_of<Key>(partner >= 0 ? partner : all_build + first_probe + i));
  }
  std::int64_t expected_rows = 0, expected_sum = 0;
  for (std::int64_t i = 0; i < all_probe; ++i) {
    if (partner_of(i, all_build) >= 0) ++expected_rows, expected_sum += i;
  }
  const device_vector<Key> build(build_keys), probe(probe_keys);
  const auto output_capacity = static_cast<std::size_t>(all_probe) + 1;
  device_vector<std::int64_t> build_out(output_capacity), probe_out(output_capacity), total(1);
  constexpr std::int64_t few_rows = 40;
  const bool is_routed = all_build > few_rows && all_build * (context.ranks - 1) >= all_probe;
  const std::int64_t build_room = room_for_all || !is_routed ? all_build : all_build - 1;
  const auto call = [&](void* storage, std::size_t& bytes) {
    return strata_test::SmallDistributedHashJoin::Inner(
        storage, bytes, strata::join_side(build.data(), build_sizes[rank]).unique(),
        strata::join_side(probe.data(), probe_sizes[rank]),
        strata::join_pairs(build_out.data(), probe_out.data(), static_cast<std::int64_t>(output_capacity)),
        total.data(), strata::DistributedJoinCapacity{build_room, probe_room < 0 ? all_probe : probe_room},
        strata::JoinOptions<>{}, context.comm, context.stream);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes));
  DistributedMemory memory;
  constexpr std::size_t guard_bytes = 64;
  constexpr unsigned char guard = 0x5a;
  ASSERT_CUDA_SUCCESS(memory.Allocate(bytes + guard_bytes, context.comm));
  ASSERT_EQ(is_shared, memory.is_shared());
  EXPECT_CUDA_SUCCESS(cudaMemset(memory.data(), guard, bytes + guard_bytes));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  const bool is_here = where == place::shared || (where == place::mixed && context.rank % 2 == 0);
  device_vector<unsigned char> elsewhere(is_here ? 0 : bytes);
  // Two calls, because the second one finds the storage as the first one left it.
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_CUDA_SUCCESS(call(is_here ? memory.data() : elsewhere.data(), bytes));
    context.wait();
    const std::int64_t rows = total.to_host()[0];
    ASSERT_LT(rows, static_cast<std::int64_t>(output_capacity));
    const std::vector<std::int64_t> builds = build_out.to_host(), probes = probe_out.to_host();
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
      sum += probes[i];
      ASSERT_EQ(partner_of(probes[i], all_build), builds[i]) << "probe row " << probes[i];
      ASSERT_GE(builds[i], 0);
    }
    EXPECT_EQ(expected_rows, sum_of_ranks(context, rows));
    EXPECT_EQ(expected_sum, sum_of_ranks(context, sum));
    build_out.poison();
    probe_out.poison();
    total.poison();
  }
  std::vector<unsigned char> behind(guard_bytes);
  EXPECT_CUDA_SUCCESS(cudaMemcpy(behind.data(), static_cast<unsigned char*>(memory.data()) + bytes, guard_bytes,
                                 cudaMemcpyDeviceToHost));
  EXPECT_EQ(std::vector<unsigned char>(guard_bytes, guard), behind);
  EXPECT_CUDA_SUCCESS(memory.Release());
}

std::vector<std::int64_t> alike(int ranks, std::int64_t size) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(ranks), size);
}
std::vector<std::int64_t> unlike(int ranks, std::int64_t most) {
  std::vector<std::int64_t> sizes;
  for (int rank = 0; rank < ranks; ++rank) sizes.push_back(rank % 3 == 1 ? 0 : most - 13 * rank);
  return sizes;
}

TEST(DirectJoins, HaveTheResultOfOthers) {
  for (const int ranks : rank_counts()) {
    for (const place where : {place::shared, place::mixed, place::elsewhere}) {
      for (const bool room_for_all : {false, true}) {
        SCOPED_TRACE(testing::Message() << ranks << " ranks, place " << static_cast<int>(where)
                                        << (room_for_all ? ", room for all" : ""));
        on_ranks(ranks, [&](const rank_context& context) {
          expect_joined(context, alike(ranks, 150), alike(ranks, 150), room_for_all, where);
          expect_joined(context, unlike(ranks, 300), unlike(ranks, 250), room_for_all, where);
          expect_joined(context, alike(ranks, 3), alike(ranks, 400), room_for_all, where);
        });
      }
    }
  }
}

TEST(DirectJoins, OfWideKeys) {
  const int ranks = strata_test::ranks_up_to(3);
  on_ranks(ranks, [&](const rank_context& context) {
    expect_joined<wide_key>(context, unlike(ranks, 1300), unlike(ranks, 1200), true, place::shared);
    expect_joined<wide_key>(context, alike(ranks, 1024), alike(ranks, 2049), true, place::shared);
  });
}

// A rank has room for its share of the probe rows, but receives more. So all ranks get all build rows instead.
TEST(DirectJoins, WithoutRoomForProbeRows) {
  for (const int ranks : rank_counts()) {
    if (ranks > 3) continue;
    on_ranks(ranks, [&](const rank_context& context) {
      expect_joined(context, alike(ranks, 140), alike(ranks, 150), true, place::shared, true, 150);
    });
  }
}

// Tiles have 4,096 rows. A rank has none, one, or one and a row. A rank without rows has room for the marks of few
// tiles only.
TEST(DirectJoins, OfSeveralTiles) {
  const int ranks = strata_test::ranks_up_to(2);
  on_ranks(ranks, [&](const rank_context& context) {
    for (const std::int64_t size : {0, 1, 31, 4096, 4097}) {
      if (strata_test::is_small() && size == 4096) continue;
      SCOPED_TRACE(size);
      expect_joined(context, alike(ranks, size), alike(ranks, size), false, place::shared);
    }
    std::vector<std::int64_t> one_rank = alike(ranks, 0);
    for (const std::int64_t size : {4200, 20000}) {
      if (strata_test::is_small() && size > 5000) continue;
      one_rank[0] = size;
      expect_joined(context, one_rank, alike(ranks, 2000), false, place::shared);
    }
  });
}

#if STRATA_HOST_SIMT

TEST(DirectJoins, AreNotDirectWhereMemoryIsRefused) {
  const auto expect_calls = [] {
    on_ranks(3, [](const rank_context& context) {
      for (const bool room_for_all : {false, true}) {
        expect_joined(context, alike(3, 100), alike(3, 100), room_for_all, place::shared, false);
      }
    });
  };
  for (const unsigned devices : {2u, 7u}) {
    strata::simt::config().devices_without_peers = devices;
    expect_calls();
  }
  strata::simt::config().devices_without_peers = 0;
  strata::simt::config().devices_without_pools = 4u;
  expect_calls();
  strata::simt::config().devices_without_pools = 0;
}

#endif

}  // namespace direct_join_test
