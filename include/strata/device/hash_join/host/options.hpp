// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/hash_join/join_types.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// What a join on the host returns. The values are those of cudaError_t, so that a caller who has
/// that may cast; a program without a CUDA toolkit or its stand-in needs neither.
enum class HostJoinStatus { success = 0, invalid_value = 1 };

/// Sizes that a join on the host is cut by; none may be 0. Estimated for 1 MB of L2 cache a core.
struct HostJoinTuning {
  /// Build rows of a partition, on average: their table takes some 50 bytes a row.
  std::size_t partition_rows = 8192;
  /// More partitions would not be written by runs of cache lines.
  unsigned most_partition_bits = 12;
  /// Rows that a thread takes at a time when it partitions; more if there are many.
  std::size_t slice_rows = std::size_t{1} << 16;
  /// Rows that a thread looks up at a time.
  std::size_t chunk_rows = 4096;
  /// Rows of the result that a thread writes at a time.
  std::uint64_t task_results = 1 << 14;
};

struct HostJoinOptions {
  JoinOrder order = JoinOrder::any;
  /// Bit i % 32 of word i / 32 says that row i has a key; null pointer: all rows have.
  const std::uint32_t* build_valid = nullptr;
  const std::uint32_t* probe_valid = nullptr;
  /// Whether rows without a key are partners of each other.
  bool nulls_equal = false;
  /// Threads that take part, up to 256; 0: as many as the machine runs at once.
  unsigned threads = 0;
  HostJoinTuning tuning = {};
};

STRATA_NAMESPACE_END
