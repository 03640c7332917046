// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What a multiprocessor has for its blocks, besides 65,536 registers. Tuning rows that were not measured are derived
/// from these limits: guides/tuning.md has the rules.
struct architecture_limits {
  int threads;
  int shared_bytes;
  int shared_bytes_of_block;  ///< maximum of one block

  /// The bytes of each block's shared memory that the system takes.
  STRATA_HD constexpr int reserved_bytes() const { return shared_bytes - shared_bytes_of_block; }

  /// The shared memory that each of `blocks` blocks may have.
  STRATA_HD constexpr int shared_bytes_each(int blocks) const { return shared_bytes / blocks - reserved_bytes(); }

  /// The number of blocks, up to `wanted` and at least one, for which there are enough threads and shared memory.
  STRATA_HD constexpr int blocks_within(int wanted, int block_threads, int block_bytes) const {
    while (wanted > 1 && (wanted * block_threads > threads || block_bytes > shared_bytes_each(wanted))) --wanted;
    return wanted;
  }
};

/// The limits of the newest architecture of this list that is not above a PTX version (100 * major + 10 * minor).
STRATA_HD constexpr architecture_limits limits_of(int ptx_version) {
  return ptx_version >= 1200   ? architecture_limits{1536, 100 << 10, 99 << 10}
         : ptx_version >= 1100 ? architecture_limits{1536, 228 << 10, 227 << 10}
         : ptx_version >= 1070 ? architecture_limits{1024, 228 << 10, 227 << 10}
         : ptx_version >= 900  ? architecture_limits{2048, 228 << 10, 227 << 10}
         : ptx_version >= 860  ? architecture_limits{1536, 100 << 10, 99 << 10}
         : ptx_version >= 800  ? architecture_limits{2048, 164 << 10, 163 << 10}
                               : architecture_limits{1024, 64 << 10, 64 << 10};
}

}  // namespace detail
STRATA_NAMESPACE_END
