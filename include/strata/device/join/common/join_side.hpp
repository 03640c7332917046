// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// The integers [lowest, lowest + keys). For unsigned keys of 8 bytes `lowest` has the same bits. Of 0 keys nothing is
/// known.
struct JoinKeyRange {
  std::int64_t lowest = 0;
  std::uint64_t keys = 0;
};

/// One side of a join: keys, their number, and what the caller knows of them. `join_side` makes it.
///
/// @code
/// strata::join_side(customers, num_customers).unique()
/// @endcode
template <class Key, class Rows = std::int64_t>
struct JoinSide {
  const Key* keys = nullptr;
  std::int64_t rows = 0;
  const std::uint32_t* valid_mask = nullptr;
  bool is_unique = false;
  bool is_sorted = false;
  JoinKeyRange range = {};

  /// Row i has a key if bit i % 32 of word i / 32 is set. Null: all rows have keys. The mask is in the memory that the
  /// keys are in.
  constexpr JoinSide valid(const std::uint32_t* mask) const {
    JoinSide side = *this;
    side.valid_mask = mask;
    return side;
  }

  /// A promise that no two rows have equal keys. A join uses the promise of its build side, which saves time and
  /// temporary storage. If rows have equal keys, a probe row is joined with one of them. Debug builds assert the
  /// promise.
  constexpr JoinSide unique(bool promise = true) const {
    JoinSide side = *this;
    side.is_unique = promise;
    return side;
  }

  /// A promise that the keys ascend by `<`, with equal keys side by side. A join uses it if both sides promise it,
  /// which saves time and temporary storage. If rows are in another order, rows of the result may be missing. Debug
  /// builds assert the promise.
  constexpr JoinSide sorted(bool promise = true) const {
    JoinSide side = *this;
    side.is_sorted = promise;
    return side;
  }

  /// A hint that all keys are integers or enumerators of [lowest, highest]. A join uses the hint of its build side. The
  /// result does not depend on it.
  constexpr JoinSide key_range(Key lowest, Key highest) const {
    static_assert(std::is_integral_v<Key> || std::is_enum_v<Key>,
                  "only integers and enumerations have a range of keys: leave key_range out");
    JoinSide side = *this;
    side.range = {};
    if (!(highest < lowest)) {
      side.range.lowest = static_cast<std::int64_t>(lowest);
      side.range.keys = static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest) + 1;
    }
    return side;
  }
};

/// A side with the keys [keys, keys + rows). Where the type of `rows` has 4 bytes or fewer, no code for more rows is
/// compiled.
template <class Key, class Rows>
constexpr JoinSide<Key, Rows> join_side(const Key* keys, Rows rows) {
  static_assert(std::is_integral_v<Rows>,
                "counts of rows, columns and segments must be integers: convert the argument");
  JoinSide<Key, Rows> side;
  side.keys = keys;
  side.rows = static_cast<std::int64_t>(rows);
  return side;
}

namespace detail {

/// Whether all numbers of rows of this type have 4 bytes in tables, whose largest numbers are reserved.
template <class Rows>
inline constexpr bool has_few_join_rows = static_cast<unsigned long long>(std::numeric_limits<Rows>::max()) <
                                          0xfffffff0u;

/// The same side, of any number of rows.
template <class Key, class Rows>
constexpr JoinSide<Key> with_any_rows(const JoinSide<Key, Rows>& side) {
  return {side.keys, side.rows, side.valid_mask, side.is_unique, side.is_sorted, side.range};
}

}  // namespace detail
STRATA_NAMESPACE_END
