// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstdint>

/// \file
/// The message that each rank sends to all others before rows move.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Arrays of a rank's temporary storage. They hold received keys and marks. From the marks, the rank finds the row
/// number of each received row (marks.cuh). If all ranks share their storage, other ranks write into these arrays.
enum class join_shared_array { build_keys, probe_keys, build_marks, probe_marks };
inline constexpr int join_shared_arrays = 4;

/// The header of a message: it describes a rank's call.
struct join_header {
  std::int64_t status;
  std::int64_t build_rows;
  std::int64_t probe_rows;
  std::int64_t build_capacity;
  std::int64_t probe_capacity;
  /// 1 if the side has a mask, so that some of its rows may have no key.
  std::int64_t has_build_mask;
  std::int64_t has_probe_mask;
  /// A number that must be the same on all ranks: see distributed_join_call::signature().
  std::int64_t signature;
  /// Where arrays begin in the memory that this rank shares with the others; -1: elsewhere.
  std::int64_t shared[join_shared_arrays];

  std::int64_t offset_of(join_shared_array array) const { return shared[static_cast<int>(array)]; }
};

/// A message: the header, and the hashes of some probe rows.
struct join_message {
  static constexpr unsigned max_samples = 256;

  join_header header;
  std::uint64_t samples[max_samples];

  static unsigned samples_of(std::int64_t probe_rows) {
    return probe_rows < static_cast<std::int64_t>(max_samples) ? static_cast<unsigned>(probe_rows) : max_samples;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
