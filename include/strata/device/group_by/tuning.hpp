// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN

/// How blocks combine rows in tables in shared memory, and how they move rows to parts: rows whose hashed keys have the
/// same upper bits.
struct group_by_tuning {
  int block_threads;
  /// Rows of a tile that each thread loads before it combines the first.
  int items_per_thread;
  /// The launch bound: blocks that registers must allow on a multiprocessor. If shared memory suffices for fewer, fewer
  /// run there.
  int blocks_per_multiprocessor;
  /// Shared memory for a table. The number of slots is the largest power of two that fits, at most `most_slots`, and at
  /// least one slot for each thread.
  int table_bytes;
  int most_slots;
  /// Fewer rows than this are sorted without a sample. All policies of a chain use the smallest of their numbers. If
  /// groups may come in any order, see also `most_table_rows`.
  std::size_t least_rows;
  /// Threads, items, blocks and table of the first kernel of calls whose groups may come in any order. The kernel
  /// combines rows, or decides that they are moved to parts.
  int hash_threads = 512;
  int hash_items_per_thread = 4;
  int hash_blocks_per_multiprocessor = 2;
  int hash_table_bytes = 28 << 10;
  int hash_slots = 4096;
  /// Threads, blocks and table of the kernel that combines the rows of a part.
  int part_threads = 256;
  int part_blocks_per_multiprocessor = 2;
  int part_table_bytes = 24 << 10;
  /// A pass makes 2^partition_bits parts. All policies of a chain use the smallest of their numbers. A pass makes fewer
  /// parts if a block has fewer threads.
  int partition_bits = 8;
  /// Rows of 8 bytes of a tile that each thread moves to their parts. If rows are larger, a thread moves fewer.
  int partition_items_per_thread = 16;
  /// If groups may come in any order, up to this many rows are combined by one kernel, without a sample. All policies
  /// of a chain use the smallest of their numbers.
  std::size_t most_table_rows = std::size_t{1} << 20;
  /// If there are more rows: slots of the table in device memory. It takes the rows that find no slot in shared memory,
  /// and at the end the tables in shared memory. All policies of a chain use the number of MaxPolicy.
  std::size_t most_slots_in_memory = std::size_t{1} << 18;
  /// Threads and blocks of the kernels that move rows to parts.
  int partition_threads = 256;
  int partition_blocks_per_multiprocessor = 2;
  /// These kernels write whole sectors of this many rows: 4 or more. If it is 1, they write any number of rows. Rows of
  /// more than 8 bytes have sectors of at most 4 rows.
  int partition_sector_rows = 1;
  /// How much of a table the groups of a part fill on average, at most, in percent.
  int part_load_percent = 60;
  /// In calls of `Groups` with up to this many rows, the groups of sorted rows are written straight to the places of
  /// the rows. All policies of a chain use the smallest of their numbers. The output should fit in the L2 cache.
  std::size_t most_scattered_rows = std::size_t{1} << 23;
};

/// The tuning rows of DeviceGroupBy.
struct group_by_policy_hub {
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    // Not measured. Adapted from Policy900, with at most the 1024 threads that a multiprocessor of 7.5 has.
    static constexpr group_by_tuning tuning{/*block_threads=*/512,
                                            /*items_per_thread=*/4,
                                            /*blocks_per_multiprocessor=*/2,
                                            /*table_bytes=*/60 << 10,
                                            /*most_slots=*/4096,
                                            /*least_rows=*/std::size_t{1} << 23,
                                            /*hash_threads=*/512,
                                            /*hash_items_per_thread=*/4,
                                            /*hash_blocks_per_multiprocessor=*/2,
                                            /*hash_table_bytes=*/28 << 10,
                                            /*hash_slots=*/4096,
                                            /*part_threads=*/256,
                                            /*part_blocks_per_multiprocessor=*/2,
                                            /*part_table_bytes=*/24 << 10,
                                            /*partition_bits=*/8,
                                            /*partition_items_per_thread=*/8};
  };
  struct Policy900 : ChainedPolicy<900, Policy900, Policy750> {
    // H200, 2026-11-29, CUDA 13.0, the sum of 2^27 u32 values in 64 bits by u32 keys; 1, 10, 1000, 2000, 100000 groups
    // in order: 544, 641, 944, 1220, 1711 us. With 8 items and 2 blocks: 623, 792, 1088, 1370, 1773 us; and 8192 slots:
    // 625, 795, 944, 1064, 1659 us.
    // The same in any order, 1, 10, 1000, 5000 groups: 334, 395, 490, 780 us. With 8 items: 582, 574, 665, 948 us; with
    // 512 threads, 2 blocks, 96 KiB and 8192 slots: 343, 411, 607, 1599 us.
    // 2026-11-30, moved to parts, 100000 and 10^7 groups: 1348, 2416 us. With 12 partition items: 1432, 2570 us; 256
    // threads, 24 items: 1450, 2488 us; 1024 threads, 1 block, 16 items: 1527, 2836 us; sectors of 1 row, 12 items:
    // 1954, 3085 us; 60 percent, 256 threads, 24 items: 1453, 2770 us. 2026-11-30, Groups of 2^24 and 2^28 u32 keys, 16
    // rows each: 1135, 15617 us; written straight to the rows' places: 1454, 24429 us.
    static constexpr group_by_tuning tuning{/*block_threads=*/512,
                                            /*items_per_thread=*/4,
                                            /*blocks_per_multiprocessor=*/3,
                                            /*table_bytes=*/60 << 10,
                                            /*most_slots=*/4096,
                                            /*least_rows=*/std::size_t{1} << 23,
                                            /*hash_threads=*/1024,
                                            /*hash_items_per_thread=*/4,
                                            /*hash_blocks_per_multiprocessor=*/1,
                                            /*hash_table_bytes=*/192 << 10,
                                            /*hash_slots=*/16384,
                                            /*part_threads=*/1024,
                                            /*part_blocks_per_multiprocessor=*/1,
                                            /*part_table_bytes=*/192 << 10,
                                            /*partition_bits=*/8,
                                            /*partition_items_per_thread=*/8,
                                            /*most_table_rows=*/std::size_t{1} << 20,
                                            /*most_slots_in_memory=*/std::size_t{1} << 18,
                                            /*partition_threads=*/512,
                                            /*partition_blocks_per_multiprocessor=*/2,
                                            /*partition_sector_rows=*/8,
                                            /*part_load_percent=*/35};
  };
  struct Policy1200 : ChainedPolicy<1200, Policy1200, Policy900> {
    // Not measured. Adapted from Policy900, with the 99 KiB of shared memory that a block of 12.0 may have.
    static constexpr group_by_tuning tuning{/*block_threads=*/512,
                                            /*items_per_thread=*/4,
                                            /*blocks_per_multiprocessor=*/3,
                                            /*table_bytes=*/60 << 10,
                                            /*most_slots=*/4096,
                                            /*least_rows=*/std::size_t{1} << 23,
                                            /*hash_threads=*/1024,
                                            /*hash_items_per_thread=*/4,
                                            /*hash_blocks_per_multiprocessor=*/1,
                                            /*hash_table_bytes=*/96 << 10,
                                            /*hash_slots=*/8192,
                                            /*part_threads=*/512,
                                            /*part_blocks_per_multiprocessor=*/2,
                                            /*part_table_bytes=*/48 << 10,
                                            /*partition_bits=*/8,
                                            /*partition_items_per_thread=*/8,
                                            /*most_table_rows=*/std::size_t{1} << 20,
                                            /*most_slots_in_memory=*/std::size_t{1} << 18,
                                            /*partition_threads=*/512};
  };

  using MaxPolicy = Policy1200;
};

namespace detail {

template <class Policy>
struct group_by_least_rows {
  static constexpr std::size_t value = Policy::tuning.least_rows;
};

/// True if the numbers of a tuning row are valid.
constexpr bool is_group_by_tuning(const group_by_tuning& tuning) {
  constexpr auto are_threads = [](int threads) { return are_whole_warps(threads) && is_power_of_two(threads); };
  constexpr auto are_items = [](int items) { return items >= 1 && items <= 32; };
  return are_threads(tuning.block_threads) && are_threads(tuning.hash_threads) && are_threads(tuning.part_threads) &&
         are_threads(tuning.partition_threads) && are_items(tuning.items_per_thread) &&
         are_items(tuning.hash_items_per_thread) && are_items(tuning.partition_items_per_thread) &&
         is_power_of_two(tuning.most_slots) && tuning.most_slots >= tuning.block_threads &&
         is_power_of_two(tuning.hash_slots) && tuning.hash_slots >= tuning.hash_threads &&
         tuning.hash_slots >= tuning.part_threads && is_power_of_two(tuning.partition_sector_rows) &&
         tuning.partition_sector_rows != 2 && tuning.partition_sector_rows <= 32 && tuning.partition_bits >= 1 &&
         is_power_of_two(tuning.most_slots_in_memory);
}

/// Returns the slots of a table of `bytes` bytes: a power of two, at most `most`, and at least one for each thread.
constexpr int group_slots_that_fit(int bytes, int most, int entry_bytes, int threads) {
  int slots = most;
  while (slots * entry_bytes > bytes && slots > threads) slots /= 2;
  return slots;
}

/// Slots of the table in shared memory of the first kernel of a call whose groups may come in any order.
template <class Policy, std::size_t EntryBytes>
struct group_by_hash_slots {
  static constexpr std::size_t value =
      static_cast<std::size_t>(detail::group_slots_that_fit(Policy::tuning.hash_table_bytes, Policy::tuning.hash_slots,
                                                            static_cast<int>(EntryBytes), Policy::tuning.hash_threads));
};

/// The bits of a pass: a thread has at most one part.
template <class Policy>
struct group_by_partition_bits {
  static constexpr std::size_t fitting(std::size_t bits) {
    return std::size_t{1} << bits <= static_cast<std::size_t>(Policy::tuning.partition_threads) ? bits
                                                                                                : fitting(bits - 1);
  }
  static constexpr std::size_t value = fitting(static_cast<std::size_t>(Policy::tuning.partition_bits));
};
template <class Policy>
struct group_by_most_table_rows {
  static constexpr std::size_t value = Policy::tuning.most_table_rows;
};
template <class Policy>
struct group_by_most_scattered_rows {
  static constexpr std::size_t value = Policy::tuning.most_scattered_rows;
};

}  // namespace detail
STRATA_NAMESPACE_END
