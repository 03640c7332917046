// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/hash_join/join_side_records.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/partition_plan.hpp>
#include <strata/device/hash_join/table.cuh>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What one block does of a partition: all build rows, and probe rows from `first` on.
struct join_partition_unit {
  unsigned partition;
  unsigned first;
  unsigned rows;
};

/// What all blocks of a join by partitions know.
template <class Key, class Hash, class Equal>
struct join_partitions {
  /// Whether rows with the same hash are partners.
  static constexpr bool hash_is_key =
      is_join_double_word<Key, Hash, Equal> || is_join_word<Key, Hash, Equal>;

  join_partition_plan plan;
  JoinKind kind;
  join_side_records<Key> build;
  join_side_records<Key> probe;
  /// Tiles of the second pass: of the build side's partitions of the first one, and those before
  /// them, and then of the probe side's.
  unsigned* pass_tiles;
  /// See `join_partition_plan::place_of_whole`.
  join_partition_unit* units;
  unsigned* num_units;
  unsigned* num_pieces;
  /// Numbers of units whose build keys have many rows, how many they are, and of how many somebody
  /// takes care. Null where there are none.
  unsigned* repeated;
  unsigned* num_repeated;
  unsigned* taken;
  /// Partitions that the table in global memory takes care of, and whether there are any.
  unsigned* is_heavy;
  unsigned* any_is_heavy;
  /// At the barrier of the kernel that does.
  unsigned* arrivals;
  /// Blocks that have counted rows.
  unsigned* counted;
  unsigned long long* total;
  std::int64_t capacity;
  bool promised_unique;
  Hash hash;
  Equal equal;

  /// Whether there is a unit for the block, and its number.
  STRATA_D bool take_unit(unsigned& unit) const {
    const unsigned pieces = *num_pieces;
    if (blockIdx.x >= *num_units) return false;
    unit = blockIdx.x < pieces ? blockIdx.x : plan.place_of_whole(blockIdx.x - pieces);
    return true;
  }
  /// By one thread: leaves a unit to AgentJoinRepeated.
  STRATA_D void leave(unsigned unit) const { repeated[atomicAdd(num_repeated, 1u)] = unit; }
};

}  // namespace detail
STRATA_NAMESPACE_END
