// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// How many rows of each side a rank can receive. Temporary storage has room for as many. Rows of a side that stays
/// where it is take none of it.
struct DistributedJoinCapacity {
  std::int64_t build_rows = 0;  ///< Rows of the build side.
  std::int64_t probe_rows = 0;  ///< Rows of the probe side.
  /// Null, or where the call writes the capacity that this rank requires, in host memory: how many rows of each side it
  /// receives. It does so whenever all ranks know it, also where a capacity is too small.
  DistributedJoinCapacity* required_capacity = nullptr;
};

STRATA_NAMESPACE_END
