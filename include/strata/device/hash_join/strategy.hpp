// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// How an equi-join of two tables is done.
enum class JoinStrategy {
  /// By the threads of the host: there is no device, nothing to join, or so little that launches
  /// would take longer.
  cpu,
  /// One table of all build rows, in shared memory or in L2, that all probe rows look into.
  simple,
  /// Both sides are partitioned once by bits of the hash, so that the build rows of a partition
  /// make a table in shared memory.
  radix_single,
  /// The same in two passes or more: one would have too many partitions to write runs of rows.
  radix_multi,
  /// In options: as `choose_join_strategy` says, which does not return it.
  automatic
};

/// What `choose_join_strategy` compares with. Percentages leave room for what a size does not tell.
struct JoinThresholds {
  /// Rows of both sides together that the host joins sooner than a device does.
  std::uint64_t most_cpu_rows;
  /// Bytes of shared memory for each build row of a table there, for keys of up to 4 bytes and for
  /// wider ones, that leave a multiprocessor room for a second table.
  std::uint64_t narrow_entry_bytes;
  std::uint64_t wide_entry_bytes;
  /// How much of a block's shared memory is the table's.
  std::uint64_t shared_percent;
  /// As many tables in shared memory may hold all build rows, each of which sees all probe rows.
  std::uint64_t simple_tables;
  /// Bytes of global memory that a build row takes in one large table, empty slots included.
  std::uint64_t slot_bytes;
  /// How much of L2 that table may take.
  std::uint64_t l2_percent;
  /// With fewer probe rows for each build row it does not pay to build that table.
  std::uint64_t least_probes_per_build_row;
  /// How full the tables of partitions are meant to be.
  std::uint64_t fill_percent;
  /// Most bits of a hash by which one pass partitions.
  unsigned one_pass_bits;
};

/// Policies: pass one with a `thresholds` of its own to `choose_join_strategy` to override them.
///
/// H200, u32 keys, unique, index pairs out, ms of whole joins, one table in global memory / in the
/// shared memory of each block / one pass / two passes: 10K x 10M 0.20 / 0.07 / 0.18 / -;
/// 1M x 10M 0.22 / - / 0.155 / -; 2^20 x 2^20 0.094 / - / 0.039 / -; 2^24 x 2^24 2.3 / - / 0.42 / -;
/// 2^26 x 2^26 - / - / 2.04 / 2.05; 2^27 x 2^27 20 / - / - / 4.1. So a table in global memory is
/// chosen nowhere, not even if it stays in L2. Data are in the device's memory, which the host
/// cannot read: it joins nothing.
struct cuda_join_policy {
  static constexpr JoinThresholds thresholds{0, 14, 28, 100, 1, 16, 0, 4, 100, 11};
};

/// What it compares with where the rows of both sides together decide: from so many on, a plan is
/// taken. Fewer than `least_simple_rows` are joined by the host.
struct JoinRowThresholds {
  std::uint64_t least_simple_rows;
  std::uint64_t least_radix_rows;
  std::uint64_t least_multi_rows;
};

/// Apple GPUs: estimated, never measured. Host and device share their memory, and nothing tells how
/// large the cache is.
struct metal_join_policy {
  static constexpr JoinRowThresholds thresholds{100000, 1000000, 50000000};
};

namespace detail {

/// a * b / 100, or the largest value where that is more.
constexpr std::uint64_t percent_of(std::uint64_t a, std::uint64_t percent) {
  if (percent > 0 && a / 100 > ~std::uint64_t{0} / percent - 1) return ~std::uint64_t{0};
  return a / 100 * percent + a % 100 * percent / 100;
}

/// Partitions, as a power of two, for at most `rows_each` rows in each on average.
constexpr unsigned partition_bits(std::uint64_t rows, std::uint64_t rows_each) {
  unsigned bits = 0;
  while (bits < 63 && rows_each < rows) {
    rows -= rows / 2;
    ++bits;
  }
  return bits;
}

constexpr JoinStrategy strategy_of(const JoinRowThresholds& limits, std::uint64_t build_rows,
                                   std::uint64_t probe_rows, std::size_t, std::size_t,
                                   std::size_t) {
  const std::uint64_t sum = build_rows + probe_rows;
  const std::uint64_t rows = sum < probe_rows ? ~std::uint64_t{0} : sum;
  if (rows < limits.least_simple_rows) return JoinStrategy::cpu;
  if (rows < limits.least_radix_rows) return JoinStrategy::simple;
  return rows < limits.least_multi_rows ? JoinStrategy::radix_single : JoinStrategy::radix_multi;
}

constexpr JoinStrategy strategy_of(const JoinThresholds& limits, std::uint64_t build_rows,
                                   std::uint64_t probe_rows, std::size_t key_bytes,
                                   std::size_t l2_bytes, std::size_t shared_bytes) {
  if (build_rows <= limits.most_cpu_rows && probe_rows <= limits.most_cpu_rows - build_rows) {
    return JoinStrategy::cpu;
  }

  const std::uint64_t entry_bytes =
      key_bytes <= 4 ? limits.narrow_entry_bytes : limits.wide_entry_bytes;
  const std::uint64_t table_rows = percent_of(shared_bytes, limits.shared_percent) / entry_bytes;
  if (build_rows <= table_rows * limits.simple_tables) return JoinStrategy::simple;
  const bool table_stays_in_l2 =
      build_rows <= percent_of(l2_bytes, limits.l2_percent) / limits.slot_bytes;
  if (table_stays_in_l2 && probe_rows / build_rows >= limits.least_probes_per_build_row) {
    return JoinStrategy::simple;
  }

  const std::uint64_t partition_rows = percent_of(table_rows, limits.fill_percent);
  if (partition_rows == 0) return JoinStrategy::radix_multi;
  return partition_bits(build_rows, partition_rows) <= limits.one_pass_bits
             ? JoinStrategy::radix_single
             : JoinStrategy::radix_multi;
}

}  // namespace detail

/// Chooses by the numbers of rows of both sides, the bytes of a key, and the bytes of L2 and of
/// shared memory that a block may have; a device whose size of L2 is unknown has 0, and shared
/// memory of 0 bytes says that there is no device. Depends on nothing else, so that a size query
/// and the call that follows agree.
template <class Policy = cuda_join_policy>
constexpr JoinStrategy choose_join_strategy(std::uint64_t build_rows, std::uint64_t probe_rows,
                                            std::size_t key_bytes, std::size_t l2_bytes,
                                            std::size_t shared_bytes) {
  if (shared_bytes == 0 || build_rows == 0 || probe_rows == 0) return JoinStrategy::cpu;
  return detail::strategy_of(Policy::thresholds, build_rows, probe_rows, key_bytes, l2_bytes,
                             shared_bytes);
}

STRATA_NAMESPACE_END
