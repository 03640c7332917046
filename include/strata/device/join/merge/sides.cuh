// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/warp/specializations/warp_partition_point.cuh>

#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The arguments of a join of two sides in ascending order. Tiles are ranges of the merge of both sides,
/// in which a probe row comes before the build rows with its key.
template <class Key, class Row>
struct join_merge_sides {
  JoinKind kind;
  bool promised_unique;
  const Key* build_keys;
  Row build_rows;
  const Key* probe_keys;
  Row probe_rows;
  /// The number of probe rows before each tile, and then the number of all.
  Row* splits;
  unsigned long long tiles;
  std::int64_t capacity;
  unsigned long long* total;

  STRATA_HD unsigned long long rows() const { return static_cast<unsigned long long>(build_rows) + probe_rows; }
};

/// Finds how many of the first `diagonal` rows of the merge are probe rows. 2^`log2_lanes` neighbouring
/// lanes search for each diagonal: fewer steps, each of which waits for memory. By all lanes of a warp.
/// The result is a valid split even if the keys are not sorted.
template <class Key, class Row>
STRATA_D Row find_merge_split(const join_merge_sides<Key, Row>& sides, unsigned long long diagonal, int log2_lanes) {
  using Count = unsigned long long;
  const Count build_rows = sides.build_rows;
  const Count probe_rows = sides.probe_rows;
  const Count low = diagonal < build_rows ? 0 : diagonal - build_rows;
  const Count high = diagonal < probe_rows ? diagonal : probe_rows;
  return static_cast<Row>(detail::warp_partition_point(
      low, high, log2_lanes, [&](Count row) { return sides.build_keys[diagonal - 1 - row] < sides.probe_keys[row]; }));
}

}  // namespace detail
STRATA_NAMESPACE_END
