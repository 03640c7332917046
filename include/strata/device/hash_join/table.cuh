// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/hash_join/join_hash.hpp>
#include <strata/device/hash_join/row_list.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Numbers of rows and of slots in kernels. The largest one stands for none.
template <class Index>
using join_row_t = std::conditional_t<sizeof(Index) == 4, unsigned, unsigned long long>;
template <class Row>
inline constexpr Row no_join_row = static_cast<Row>(-1);

/// Every bit of the result depends on every bit of `x`, and no two `x` have the same result
/// (https://nullprogram.com/blog/2018/07/31).
STRATA_HD constexpr std::uint32_t mixed_word(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/// Keys of up to 4 bytes that are equal if their bits are: 32 bits of hash are the key itself.
template <class Key, class Hash, class Equal>
inline constexpr bool is_join_word =
    std::is_same_v<Hash, JoinHash>&& std::is_same_v<Equal, Equality> && sizeof(Key) <= 4 &&
    (std::is_integral_v<Key> || std::is_enum_v<Key>);

/// The same of keys of 8 bytes and 64 bits of hash.
template <class Key, class Hash, class Equal>
inline constexpr bool is_join_double_word =
    std::is_same_v<Hash, JoinHash>&& std::is_same_v<Equal, Equality> && sizeof(Key) == 8 &&
    (std::is_integral_v<Key> || std::is_enum_v<Key>);

/// 64 bits, of which the upper ones choose a slot and the lower ones go with it.
template <class Key, class Equal, class Hash>
STRATA_D unsigned long long join_hash(const Hash& hash, const Key& key) {
  if constexpr (is_join_word<Key, Hash, Equal>) {
    const std::uint32_t word = mixed_word(static_cast<std::uint32_t>(key));
    return static_cast<unsigned long long>(word) << 32 | word;
  } else {
    return mixed_hash(static_cast<std::uint64_t>(hash(key)));
  }
}

STRATA_HD constexpr unsigned upper_half(unsigned long long hash) {
  return static_cast<unsigned>(hash >> 32);
}

STRATA_HD bool join_row_is_valid(const std::uint32_t* valid, unsigned long long row) {
  return valid == nullptr || (valid[row / 32] >> (row % 32) & 1) != 0;
}

/// A row number and as many bits of its key's hash as there is room for, in 8 bytes that are
/// exchanged at once. No key value is reserved: what is empty is told by a row that cannot be.
template <class Row>
struct join_slot {
  using Word = unsigned long long;
  static constexpr int row_bits = sizeof(Row) == 4 ? 32 : 40;
  static constexpr Word row_mask = (Word{1} << row_bits) - 1;
  static constexpr Word empty = ~Word{0};
  /// Rows that a side can have: fewer than a table has slots at most, or a full one would be searched
  /// for a free slot without an end.
  static constexpr Word most_rows = row_mask - 3;

  STRATA_D static Word make(Word hash, Row row) { return hash << row_bits | row; }
  STRATA_D static Row row(Word word) { return static_cast<Row>(word & row_mask); }
  STRATA_D static bool has_hash(Word word, Word hash) {
    return ((word ^ hash << row_bits) & ~row_mask) == 0;
  }
};

/// A hash table of the build side in global memory: open addressing, one slot for each different
/// key, whichever number of rows have it. The rows of a key that several have lie side by side in
/// `lists`, so that a probe row finds them at once, and where they are counted is where they may
/// be split. Without a number of slots that a hash could fill, any search ends: there are more
/// slots than build rows, and no search looks at more than there are.
template <class Key, class Row, class Hash, class Equal>
struct join_table {
  using Slot = join_slot<Row>;
  using Word = typename Slot::Word;

  /// Where a key is, and what is there; `none` and empty if it is nowhere.
  struct place {
    Row slot;
    Word word;
  };
  static constexpr Row none = no_join_row<Row>;
  static constexpr bool hash_is_key = is_join_word<Key, Hash, Equal> && sizeof(Row) == 4;

  const Key* keys;
  const std::uint32_t* valid;
  Row rows;
  /// Hashes choose among so many; one more is for the rows without a key.
  Row num_slots;
  Word* slots;
  /// Rows with the key of a slot besides the one in it; null if nobody asks.
  Row* further;
  /// Where in `lists` the rows of a slot that has several begin.
  Row* begins;
  Row* lists;
  /// Of each build row its slot, `none` if it has none; and its rank among the `further` ones.
  Row* slot_of;
  Row* rank_of;
  /// A bit for each slot: some probe row has found it. Null if nobody asks.
  unsigned* matched;
  /// Whether two rows have equal keys, and how many places in `lists` are taken.
  unsigned* has_duplicates;
  Row* listed;
  bool nulls_equal;
  bool promised_unique;
  /// The rows that are put in.
  join_row_list list;
  Hash hash;
  Equal equal;

  STRATA_D Word hash_of(const Key& key) const { return detail::join_hash<Key, Equal>(hash, key); }

  STRATA_D Row first_slot(Word key_hash) const {
    if constexpr (sizeof(Row) == 4) {
      return __umulhi(static_cast<unsigned>(key_hash >> 32), num_slots);
    } else {
      return __umul64hi(key_hash, num_slots);
    }
  }
  STRATA_D Row next_slot(Row slot) const { return slot + 1 == num_slots ? 0 : slot + 1; }

  STRATA_D bool is_at(Word word, const Key& key, Word key_hash) const {
    if (!Slot::has_hash(word, key_hash)) return false;
    return hash_is_key || equal(keys[Slot::row(word)], key);
  }

  /// A key that does not equal itself, such as NaN, equals nothing: it is in no table.
  STRATA_D bool has_partners(const Key& key) const { return hash_is_key || equal(key, key); }

  STRATA_D Word load(Row slot) const { return slots[slot]; }

  /// For kernels that run after the build. `word` is what `load(first_slot(key_hash))` gave.
  STRATA_D place find(const Key& key, Word key_hash, Row slot, Word word) const {
    for (Row looked_at = 0; word != Slot::empty; word = load(slot)) {
      if (is_at(word, key, key_hash)) return {slot, word};
      if (++looked_at == num_slots) break;
      slot = next_slot(slot);
    }
    return {none, Slot::empty};
  }
  STRATA_D place find_null() const {
    if (nulls_equal && load(num_slots) != Slot::empty) return {num_slots, load(num_slots)};
    return {none, Slot::empty};
  }

  /// How many build rows are at a place that has been found.
  STRATA_D Row count_at(const place& at) const {
    return further == nullptr ? 1 : 1 + further[at.slot];
  }

  STRATA_D bool is_matched(Row slot) const {
    return (platform::load_relaxed(matched + slot / 32) >> (slot % 32) & 1) != 0;
  }
  // Looked at first, because atomics on one word wait for each other.
  STRATA_D void mark_matched(Row slot) const {
    if (!is_matched(slot)) atomicOr(matched + slot / 32, 1u << (slot % 32));
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
