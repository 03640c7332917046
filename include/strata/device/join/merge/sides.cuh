// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/common/join_options.hpp>

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
  const unsigned lanes = 1u << log2_lanes;
  const unsigned lane = platform::lane_id() & (lanes - 1);
  const unsigned first_lane = platform::lane_id() - lane;
  const Count build_rows = sides.build_rows;
  const Count probe_rows = sides.probe_rows;
  Count low = diagonal < build_rows ? 0 : diagonal - build_rows;
  Count high = diagonal < probe_rows ? diagonal : probe_rows;
  while (__any_sync(full_warp_mask, low < high ? 1 : 0) != 0) {
    // Each lane votes whether the last row of its part of [low, high) is before the diagonal.
    const Count each = (high - low) / (lanes + 1) + 1;
    const Count mine = low + each * (lane + 1) - 1;
    bool is_before = false;
    if (mine < high) {
      is_before = !(sides.build_keys[diagonal - 1 - mine] < sides.probe_keys[mine]);
    }
    const unsigned votes = __ballot_sync(full_warp_mask, is_before ? 1 : 0) >> first_lane;
    const unsigned before =
        static_cast<unsigned>(__popc(votes & (lanes == warp_threads ? full_warp_mask : (1u << lanes) - 1)));
    const Count next = low + each * before;
    const Count end = next + each - 1;
    low = next < high ? next : high;
    high = end < high ? end : high;
  }
  return static_cast<Row>(low);
}

}  // namespace detail
STRATA_NAMESPACE_END
