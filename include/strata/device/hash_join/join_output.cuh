// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/pairs.hpp>
#include <strata/device/hash_join/row_list.cuh>
#include <strata/device/hash_join/table.cuh>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Rows of the result that a block writes at a time. A tile with more of them is cut into units of
/// so many: one probe row may have any number of partners.
inline constexpr unsigned long long join_unit = 4096;

/// More room than any memory has, so that sums of units stay within their bits.
inline constexpr std::int64_t most_join_capacity = std::int64_t{1} << 46;

/// Units of a tile that has results [begin, begin + rows), those beyond the capacity left out.
STRATA_HD unsigned long long join_units_of(unsigned long long begin, unsigned long long rows,
                                           std::int64_t capacity) {
  const auto room = static_cast<unsigned long long>(capacity);
  if (begin >= room) return 0;
  if (rows > room - begin) rows = room - begin;
  return rows / join_unit + (rows % join_unit != 0 ? 1 : 0);
}

/// Tiles whose results are written by units: which they are, where their results begin in the
/// whole result, and how many units they and those before them have. In the order of `unit_ends`.
struct join_tile_list {
  /// Null if every tile is listed at its own place.
  unsigned long long* tiles;
  unsigned long long* begins;
  unsigned long long* unit_ends;
  /// Number of tiles above `unit_bits`, number of units below: taken by one addition.
  unsigned long long* taken;

  static constexpr int unit_bits = 36;

  /// By one thread: `rows` results of a tile, from `begin` on in the whole result.
  STRATA_D void put(unsigned long long tile, unsigned long long begin, unsigned long long rows,
                    std::int64_t capacity) const {
    const unsigned long long units = join_units_of(begin, rows, capacity);
    if (units == 0) return;
    constexpr unsigned long long one = 1ull << unit_bits;
    const unsigned long long before = atomicAdd(taken, one + units);
    const unsigned long long at = before >> unit_bits;
    tiles[at] = tile;
    begins[at] = begin;
    unit_ends[at] = (before & (one - 1)) + units;
  }
};

/// What is asked of a join besides the table.
template <class Key, class Row>
struct join_probe {
  JoinKind kind;
  const Key* keys;
  const std::uint32_t* valid;
  Row rows;
  /// The rows that are asked for, of which there may be fewer.
  join_row_list list;
  /// Tiles of probe rows; behind them come those of build rows, in a full join.
  unsigned long long probe_tiles;
  unsigned long long build_tiles;
  std::int64_t capacity;
  unsigned long long* total;
};

}  // namespace detail
STRATA_NAMESPACE_END
