// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/device/hash_join/partition_plan.hpp>
#include <strata/device/hash_join/strategy.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// How a join by one table in global memory is cut.
struct join_table_tuning {
  /// Threads that put a build row each into the table, or give its slots places.
  int build_threads;
  int probe_threads;
  /// Probe rows of a thread that are looked up at the same time.
  int probe_items;
  /// What registers and shared memory must allow.
  int probe_blocks_per_multiprocessor;
  /// Of the kernel that does what joins by partitions leave. Small blocks begin sooner where others
  /// end: nearly always they have nothing to do. As many as registers must allow.
  int rest_threads = 512;
  int rest_blocks_per_multiprocessor = 2;
};

/// How a join of two sides in ascending order is cut.
struct join_sorted_tuning {
  int threads;
  /// Rows of both sides that a thread has of a tile, for keys of up to 4 bytes and for wider ones.
  int narrow_items;
  int wide_items;
  /// What registers and shared memory must allow.
  int blocks_per_multiprocessor;
  /// Lanes that search for the begin of a tile together, as a power of two, where tiles are few.
  int log2_split_lanes;

  STRATA_HD constexpr int items(std::size_t key_bytes) const {
    return key_bytes <= 4 ? narrow_items : wide_items;
  }
};

namespace detail {

/// Probe rows of a tile, at least.
inline constexpr unsigned long long least_join_tile = 256;

struct join_policy_hub {
  // H200, u32, by sketches: 2 probes in flight with 256 threads suffice at full occupancy, more only
  // cost registers; CAS by one thread after another builds as fast as several in flight.
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr join_table_tuning table{256, 256, 4, 4};
    // H200, u32, unique, ms: tiles of 12 / 16 / 20 / 24 K rows 1M x 10M 0.147 / 0.155 / 0.157 / 0.156,
    // 2^24 x 2^24 0.431 / 0.426 / 0.422 / 0.418, 2^24 x 2^27 1.95 / 1.93 / 1.83 / 1.79: short runs of
    // rows are dear, and so are blocks that wait for one with a tile more or have few tiles. In the first of two passes
    // 2^27 x 2^27 4.03 / 4.12 / 4.17 / 4.13. Blocks that join of 640 / 768 / 1024 threads 2^24 x 2^24
    // 0.430 / 0.426 / 0.441. 23 and 15 rows of a thread are what registers hold.
    // A multiprocessor has 1024 threads.
    static constexpr join_partition_tuning partition{1024, {23, 12, 12}, {15, 12, 8}, 768, 4,  1,
                                                     1024, 16384,        8192,        8,   10, 8};
    // H200, ms: u32 2^24 x 2^24 with 15 rows of a thread 0.173, 2^27 x 2^27 1.22; u64 with 7 0.244, 1.78.
    // 11 or 15 rows of u64 spill. Sides of equal length fill groups of 4 searches with half of 15 and 7.
    static constexpr join_sorted_tuning sorted{256, 15, 7, 4, 3};
    /// With fewer build rows nothing is ever partitioned, unless an option says so.
    static constexpr std::uint64_t least_partitioned_rows = 1 << 13;
    using strategy = cuda_join_policy;
  };
  struct Policy800 : ChainedPolicy<800, Policy800, Policy750> {
    static constexpr join_table_tuning table = Policy750::table;
    static constexpr join_partition_tuning partition{1024, {23, 12, 12}, {15, 12, 8}, 768, 4,  2,
                                                     1024, 16384,        8192,        8,   10, 8};
    static constexpr join_sorted_tuning sorted = Policy750::sorted;
    static constexpr std::uint64_t least_partitioned_rows = Policy750::least_partitioned_rows;
    using strategy = Policy750::strategy;
  };
  using MaxPolicy = Policy800;
};

}  // namespace detail
STRATA_NAMESPACE_END
