// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/common/join_options.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// The status of a join on the host. The values are those of cudaError_t, so that a caller may cast. A
/// program without a CUDA toolkit does not need that type.
enum class HostJoinStatus { success = 0, invalid_value = 1 };

/// Sizes of the parts of a join on the host. `most_partition_bits` must be less than 32 and may be 0. No other size may
/// be 0. All sizes are estimates for 1 MB of L2 cache of each core. Other values were measured for `partition_rows`
/// only, on an AMD EPYC: 1M x 10M u32 take 154 ms with the default, and 153 to 185 ms with values of 2,048 to 32,768.
struct HostJoinTuning {
  /// Build rows of a partition, on average: their table takes some 50 bytes a row.
  std::size_t partition_rows = 8192;
  /// With more partitions, stores would not fill whole cache lines.
  unsigned most_partition_bits = 12;
  /// Rows that a thread partitions at a time; more if there are many rows.
  std::size_t slice_rows = std::size_t{1} << 16;
  /// Rows that a thread looks up at a time.
  std::size_t chunk_rows = 4096;
  /// Rows of the result that a thread writes at a time.
  std::uint64_t task_results = 1 << 14;

  /// True if each size is allowed.
  constexpr bool is_valid() const {
    return partition_rows > 0 && slice_rows > 0 && chunk_rows > 0 && task_results > 0 && most_partition_bits < 32;
  }
};

struct HostJoinOptions {
  JoinOrder order = JoinOrder::any;
  /// Bit i % 32 of word i / 32 is set if row i has a key. Null: all rows have keys.
  const std::uint32_t* build_valid = nullptr;
  const std::uint32_t* probe_valid = nullptr;
  /// True if rows without a key are partners of each other.
  bool nulls_equal = false;
  /// The number of threads, up to 256; 0: as many as the machine runs at the same time.
  unsigned threads = 0;
  HostJoinTuning tuning = {};
};

STRATA_NAMESPACE_END
