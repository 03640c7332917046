// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// What `choose_join_key_array` compares with.
struct JoinKeyArrayThresholds {
  /// The range has at most so many keys, so that the array stays in L2.
  std::uint64_t most_keys;
  /// With fewer build rows, each block has a table in its shared memory.
  std::uint64_t least_build_rows;
};

/// H200, 2026-11, unique keys, index pairs out, ms of whole joins, array / partitions: u32 2^16 x 2^24
/// 0.127 / 0.235; 2^20 x 2^20 0.037 / 0.051; 1M x 10M 0.115 / 0.160, u64 0.126 / 0.218; 1M of 4M keys x 10M
/// 0.120 / 0.160; 2^22 x 2^22 0.111 / 0.126; 2^22 x 2^27 1.14 / 1.54; 2^23 x 2^27 1.67 / 1.65; in a
/// sketch 2^24 x 2^24 0.88 / 0.41; 2^24 x 2^27 2.87 / 1.77. The array pays while it stays in L2.
struct cuda_join_key_array_policy {
  static constexpr JoinKeyArrayThresholds thresholds{
      /*most_keys=*/1u << 22,
      /*least_build_rows=*/1u << 14,
  };
};

/// Whether a join keeps an array of build rows indexed by key, with an element for each of `keys` keys.
template <class Policy = cuda_join_key_array_policy>
constexpr bool choose_join_key_array(std::uint64_t keys, std::uint64_t build_rows, std::uint64_t probe_rows) {
  constexpr JoinKeyArrayThresholds limits = Policy::thresholds;
  return keys != 0 && keys <= limits.most_keys && build_rows >= limits.least_build_rows && probe_rows >= keys;
}

STRATA_NAMESPACE_END
