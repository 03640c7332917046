// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/common/join_hash.hpp>
#include <strata/device/join/common/keys.hpp>

#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The type of row and slot numbers in kernels. The largest number means none.
template <class Index>
using join_row_t = std::conditional_t<sizeof(Index) == 4, unsigned, unsigned long long>;
template <class Row>
inline constexpr Row no_join_row = static_cast<Row>(-1);

/// The number of rows of a side, or of the table of a side, in a kernel.
template <class Side>
STRATA_D auto rows_of(const Side& side) {
  if constexpr (are_counted_keys<decltype(Side::keys)>) {
    return static_cast<decltype(Side::rows)>(side.keys.count.get());
  } else {
    return side.rows;
  }
}

/// A bijection in which every bit of the result depends on every bit of `x`
/// (https://nullprogram.com/blog/2018/07/31).
STRATA_HD constexpr std::uint32_t mixed_word(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/// True for keys of up to 4 bytes that are equal only if their bits are equal: 32 bits of hash identify the key.
template <class Key, class Hash, class Equal>
inline constexpr bool is_join_word = std::is_same_v<Hash, JoinHash>&& std::is_same_v<Equal, Equality> &&
                                     sizeof(Key) <= 4 && is_join_integer<Key>;

/// True for keys of 8 bytes that are equal only if their bits are equal: 64 bits of hash identify the key.
template <class Key, class Hash, class Equal>
inline constexpr bool is_join_double_word = std::is_same_v<Hash, JoinHash>&& std::is_same_v<Equal, Equality> &&
                                            sizeof(Key) == 8 && is_join_integer<Key>;

/// True for keys that `<` orders and that are equal if neither is less than the other.
template <class Key, class Equal>
inline constexpr bool is_join_sortable =
    is_join_integer<Key> && !(std::is_enum_v<Key> && has_user_less<Key>)&&std::is_same_v<Equal, Equality>;

/// Returns a hash of 64 bits. The upper bits choose a slot, and lower bits are stored in it.
template <class Key, class Equal, class Hash>
STRATA_D unsigned long long join_hash(const Hash& hash, const Key& key) {
  if constexpr (is_join_word<Key, Hash, Equal>) {
    const std::uint32_t word = mixed_word(static_cast<std::uint32_t>(key));
    return static_cast<unsigned long long>(word) << 32 | word;
  } else {
    return mixed_hash(static_cast<std::uint64_t>(hash(key)));
  }
}

/// Returns the first index in [begin, end) for which `holds` is false. `holds` must be true for all indices before it,
/// and false for all after it.
template <class Holds>
STRATA_D unsigned first_without(unsigned begin, unsigned end, const Holds& holds) {
  while (begin < end) {
    const unsigned middle = (begin + end) / 2;
    if (holds(middle)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

STRATA_HD constexpr unsigned upper_half(unsigned long long hash) { return static_cast<unsigned>(hash >> 32); }

STRATA_HD bool join_row_is_valid(const std::uint32_t* valid, unsigned long long row) {
  return valid == nullptr || (valid[row / 32] >> (row % 32) & 1) != 0;
}

/// A row and the upper half of its key's hash, whose highest bits choose the partition. Integer keys of
/// up to 4 bytes can be computed from that half.
struct alignas(8) join_record {
  unsigned hash;
  unsigned row;
};

STRATA_HD constexpr unsigned join_partition_of(unsigned hash, int bits) { return hash >> (32 - bits); }

/// The rows of a side that the table in global memory joins: all rows, or the rows of overflowing partitions and the
/// rows without a key.
struct join_row_list {
  /// The records of the rows; null if rows are read directly. Then `has_hash` selects among the rows with a key, and
  /// the table joins all rows without a key.
  const join_record* records;
  /// Tells for each partition whether it overflows; null if all rows are joined.
  const unsigned* is_overflowing;
  /// The offsets of the first row without a key and of the end, behind which there are no records.
  const unsigned* begin_of_nulls;
  int bits;

  /// Finds the row that has index `i` in the list. Returns false if the list has no index `i`, or if another table
  /// joins the row.
  template <class Row>
  STRATA_D bool get(unsigned long long i, Row& row) const {
    row = static_cast<Row>(i);
    if (records == nullptr) return true;
    if (i >= begin_of_nulls[1]) return false;
    const join_record record = records[i];
    row = record.row;
    return i >= *begin_of_nulls || is_overflowing[join_partition_of(record.hash, bits)] != 0;
  }

  /// True if this table joins a row that `get` has returned. The upper half of the row's hash decides. Without records,
  /// `get` does not know the hash, so the caller calls this when it has read the key.
  STRATA_D bool has_hash(unsigned hash) const {
    return records != nullptr || is_overflowing == nullptr || is_overflowing[join_partition_of(hash, bits)] != 0;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
