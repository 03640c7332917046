// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// How many rows of each side a rank can receive, from other ranks and from itself. Temporary storage has room for
/// them. If a side stays where it is, its rows take no capacity.
struct DistributedJoinCapacity {
  std::int64_t build_rows = 0;  ///< Rows of the build side.
  std::int64_t probe_rows = 0;  ///< Rows of the probe side.
  /// Null, or a pointer to host memory, where the call writes the capacity that this rank requires: how many rows of
  /// each side it receives. The call writes it as soon as all ranks know it, even if a capacity is too small.
  DistributedJoinCapacity* required_capacity = nullptr;
};

STRATA_NAMESPACE_END
