// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/common/join_hash.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/rows.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A slot of the table: a row number and lower bits of its key's hash, in 8 bytes that one atomic
/// operation exchanges. No key value is reserved: an empty slot has a row number that no row has.
template <class Row>
struct join_slot {
  using Word = unsigned long long;
  static constexpr int row_bits = sizeof(Row) == 4 ? 32 : 40;
  static constexpr Word row_mask = (Word{1} << row_bits) - 1;
  static constexpr Word empty = ~Word{0};
  /// The most rows of a side. It is so small that even the largest table has more slots than rows. So a search for a
  /// free slot ends.
  static constexpr Word max_rows = row_mask - 3;

  STRATA_D static Word make(Word hash, Row row) { return hash << row_bits | row; }
  STRATA_D static Row row(Word word) { return static_cast<Row>(word & row_mask); }
  STRATA_D static bool has_hash(Word word, Word hash) { return ((word ^ hash << row_bits) & ~row_mask) == 0; }
};

/// True if `Index` and the slots of a table have enough bits for all row numbers of a side.
template <class Index, class Row = join_row_t<Index>>
constexpr bool join_rows_are_valid(std::int64_t rows) {
  constexpr auto all_bits = static_cast<std::uint64_t>(no_join_row<join_row_t<Index>>);
  constexpr std::uint64_t max_index = std::is_signed_v<Index> ? all_bits / 2 : all_bits;
  constexpr std::uint64_t max_stored = join_slot<Row>::max_rows;
  return rows >= 0 && static_cast<std::uint64_t>(rows) <= max_index && static_cast<std::uint64_t>(rows) <= max_stored;
}

/// A hash table of the build side in global memory: open addressing, one slot for each different key,
/// whatever the number of its rows. If several rows have a key, they lie side by side in `lists`.
/// Probing terminates: there are more slots than rows, and each is visited once.
template <class Keys, class Row, class Hash, class Equal>
struct join_table {
  using Key = iterator_value_t<Keys>;
  using Slot = join_slot<Row>;
  using Word = typename Slot::Word;

  /// The slot of a key and its contents; `none` and empty if the key is not in the table.
  struct lookup_result {
    Row slot;
    Word word;
  };
  static constexpr Row none = no_join_row<Row>;
  static constexpr bool hash_is_key = is_join_word<Key, Hash, Equal> && sizeof(Row) == 4;

  join_table(const Hash& hash_of_keys, const Equal& equal_keys) : hash(hash_of_keys), equal(equal_keys) {}

  Keys keys = {};
  const std::uint32_t* valid = nullptr;
  Row rows = 0;
  /// The number of slots for keys. One more slot, the last, is for the rows without a key.
  Row num_slots = 0;
  Word* slots = nullptr;
  /// For each slot, the number of rows with its key besides the one in the slot. Null if not needed.
  Row* duplicates = nullptr;
  /// For each slot with duplicates, the offset in `lists` of the rows with its key.
  Row* begins = nullptr;
  Row* lists = nullptr;
  /// For each build row, its slot, or `none`. Null if not needed.
  Row* slot_of = nullptr;
  /// For each build row that is not in its slot itself, its rank among the duplicates. Null if not needed.
  Row* rank_of = nullptr;
  /// A bit for each slot that a probe row has found. Null if not needed.
  unsigned* matched = nullptr;
  /// Not 0 if two rows have equal keys.
  unsigned* has_duplicates = nullptr;
  /// The number of places in `lists` that slots have reserved.
  Row* listed = nullptr;
  bool nulls_equal = false;
  bool promised_unique = false;
  /// The rows that are inserted.
  join_row_list list = {};
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
    if constexpr (hash_is_key) return true;
    const Key& other = keys[Slot::row(word)];
    return equal(other, key);
  }

  /// A key that does not equal itself, such as NaN, equals nothing: it is in no table.
  STRATA_D bool has_partners(const Key& key) const { return hash_is_key || equal(key, key); }

  STRATA_D Word load(Row slot) const { return slots[slot]; }

  /// Finds a key, in kernels that run after the build. `slot` is `first_slot(key_hash)` and `word` is `load(slot)`.
  STRATA_D lookup_result find(const Key& key, Word key_hash, Row slot, Word word) const {
    for (Row num_probed = 0; word != Slot::empty; word = load(slot)) {
      if (is_at(word, key, key_hash)) return {slot, word};
      if (++num_probed == num_slots) break;
      slot = next_slot(slot);
    }
    return {none, Slot::empty};
  }
  STRATA_D lookup_result find_null() const {
    if (nulls_equal && load(num_slots) != Slot::empty) return {num_slots, load(num_slots)};
    return {none, Slot::empty};
  }

  /// Returns the number of build rows with the key of a slot that has been found.
  STRATA_D Row count_at(const lookup_result& at) const { return duplicates == nullptr ? 1 : 1 + duplicates[at.slot]; }

  STRATA_D bool is_matched(Row slot) const {
    return (platform::load_relaxed(matched + slot / 32) >> (slot % 32) & 1) != 0;
  }
  // The word is read first, because atomic operations on one word are serialised.
  STRATA_D void mark_matched(Row slot) const {
    if (!is_matched(slot)) atomicOr(matched + slot / 32, 1u << (slot % 32));
  }
};

/// The probe side of a join by a table in global memory, and its result.
template <class Keys, class Row>
struct join_probe {
  JoinKind kind = JoinKind::inner;
  Keys keys = {};
  const std::uint32_t* valid = nullptr;
  Row rows = 0;
  /// Selects the rows that the table joins.
  join_row_list list = {};
  /// Tiles of probe rows. In a full join, tiles of build rows follow.
  unsigned long long probe_tiles = 0;
  unsigned long long build_tiles = 0;
  std::int64_t capacity = 0;
  unsigned long long* total = nullptr;
};

}  // namespace detail
STRATA_NAMESPACE_END
