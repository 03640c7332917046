// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// How an equi-join of two tables is done.
enum class JoinStrategy {
  /// The host joins, by threads. This is chosen if there is no device, if there is nothing to join, or if there are so
  /// few rows that launches would take longer.
  cpu,
  /// One table of all build rows, in the shared memory of each block or in global memory.
  simple,
  /// One pass partitions both sides by bits of the hash. The build rows of a partition then fit a
  /// table in shared memory.
  radix_single,
  /// Two passes partition both sides: one pass would have too many partitions to write them in long runs.
  radix_multi,
  /// In options: the back end chooses. `choose_join_strategy` never returns this value.
  automatic
};

/// Thresholds of `choose_join_strategy` on CUDA devices.
struct JoinThresholds {
  /// Bytes of a block's shared memory for each build row of a table there, for keys of up to 4 bytes
  /// and for wider ones. They are twice what a row takes, so that a multiprocessor has capacity for
  /// two blocks.
  std::uint64_t narrow_entry_bytes;
  std::uint64_t wide_entry_bytes;
  /// Maximum number of bits of a hash by which one pass partitions.
  unsigned one_pass_bits;
};

/// Policies. To override the thresholds, pass a policy with other ones to `choose_join_strategy`.
///
/// Milliseconds of whole joins with unique u32 keys, whose results are pairs of indices (H200, 2026-11):
///
/// | rows | one table in global memory | a table in the shared memory of each block | one pass | two passes |
/// |---|--:|--:|--:|--:|
/// | 10K x 10M | 0.20 | 0.07 | 0.18 | |
/// | 1M x 10M | 0.22 | | 0.155 | |
/// | 2^20 x 2^20 | 0.094 | | 0.039 | |
/// | 2^24 x 2^24 | 2.3 | | 0.42 | |
/// | 2^26 x 2^26 | | | 2.04 | 2.05 |
/// | 2^27 x 2^27 | 20 | | | 4.1 |
///
/// A table in global memory is the slowest, even if it stays in L2. So `simple` is chosen only if shared memory has
/// capacity for the table. If it turns out that the table cannot be in shared memory, it is in global memory. The host
/// joins nothing, because it cannot read the device's memory.
struct cuda_join_policy {
  static constexpr JoinThresholds thresholds{
      /*narrow_entry_bytes=*/14,
      /*wide_entry_bytes=*/28,
      /*one_pass_bits=*/11,
  };
};

/// The least number of rows, of both sides together, for which each strategy is chosen. The host joins fewer than
/// `least_simple_rows`.
struct JoinRowThresholds {
  std::uint64_t least_simple_rows;
  std::uint64_t least_radix_rows;
  std::uint64_t least_multi_rows;
};

/// Apple GPUs. The thresholds are estimates; nothing was measured. Host and device share their memory, and no call
/// reports the size of the cache.
struct metal_join_policy {
  static constexpr JoinRowThresholds thresholds{
      /*least_simple_rows=*/100000,
      /*least_radix_rows=*/1000000,
      /*least_multi_rows=*/50000000,
  };
};

namespace detail {

/// Returns the least number of bits for which 2^bits partitions have at most `rows_each` rows each on average.
constexpr unsigned partition_bits(std::uint64_t rows, std::uint64_t rows_each) {
  unsigned bits = 0;
  while (bits < 63 && rows_each < rows) {
    rows -= rows / 2;
    ++bits;
  }
  return bits;
}

constexpr JoinStrategy strategy_of(const JoinRowThresholds& limits, std::uint64_t build_rows, std::uint64_t probe_rows,
                                   std::size_t, std::size_t) {
  const std::uint64_t sum = build_rows + probe_rows;
  const std::uint64_t rows = sum < probe_rows ? ~std::uint64_t{0} : sum;
  if (rows < limits.least_simple_rows) return JoinStrategy::cpu;
  if (rows < limits.least_radix_rows) return JoinStrategy::simple;
  return rows < limits.least_multi_rows ? JoinStrategy::radix_single : JoinStrategy::radix_multi;
}

constexpr JoinStrategy strategy_of(const JoinThresholds& limits, std::uint64_t build_rows, std::uint64_t,
                                   std::size_t key_bytes, std::size_t shared_bytes) {
  const std::uint64_t entry_bytes = key_bytes <= 4 ? limits.narrow_entry_bytes : limits.wide_entry_bytes;
  const std::uint64_t table_rows = shared_bytes / entry_bytes;
  if (build_rows <= table_rows) return JoinStrategy::simple;
  if (table_rows == 0) return JoinStrategy::radix_multi;
  return partition_bits(build_rows, table_rows) <= limits.one_pass_bits ? JoinStrategy::radix_single
                                                                        : JoinStrategy::radix_multi;
}

}  // namespace detail

/// Chooses by the number of rows of each side, the bytes of a key, and the bytes of shared memory that a
/// block may have; 0 means that there is no device. The result depends on nothing else, so that a size query and the
/// call that follows agree.
template <class Policy = cuda_join_policy>
constexpr JoinStrategy choose_join_strategy(std::uint64_t build_rows, std::uint64_t probe_rows, std::size_t key_bytes,
                                            std::size_t shared_bytes) {
  if (shared_bytes == 0 || build_rows == 0 || probe_rows == 0) return JoinStrategy::cpu;
  return detail::strategy_of(Policy::thresholds, build_rows, probe_rows, key_bytes, shared_bytes);
}

STRATA_NAMESPACE_END
