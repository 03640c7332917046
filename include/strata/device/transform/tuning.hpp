// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// How items are cut into tiles for an operation on each. A block has one tile at a time.
struct tile_tuning {
  int block_threads;
  /// Bytes that a thread loads before it uses the first: they hide the memory's latency.
  int bytes_in_flight;
  /// A thread has at most so many groups of items in a tile.
  int most_groups;
  /// Items of a thread where the operator gets references to the input: it may write, so the next item is read later.
  int references;
};

namespace detail {

/// For DeviceTransform, DeviceFor and DeviceAdjacentDifference.
struct tile_policy_hub {
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    // not measured: estimate
    static constexpr tile_tuning tuning{/*block_threads=*/256, /*bytes_in_flight=*/32, /*most_groups=*/8,
                                        /*references=*/2};
  };

  using MaxPolicy = Policy750;
};

}  // namespace detail
STRATA_NAMESPACE_END
