// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shared_memory.cuh>
#include <strata/core/types.hpp>
#include <strata/device/group_by/agent.cuh>
#include <strata/device/group_by/aggregates.cuh>
#include <strata/device/group_by/hash_plan.cuh>
#include <strata/device/group_by/key_columns.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A table of words and states in shared memory, of up to `MaxSlots` slots:
///
///     words:   MaxSlots                   | code of a word (see group_codes), or `empty` |
///     states:  columns of MaxSlots + 32   | copy of lane 0 | copy of lane 1 | ... | copy of the last lane |
///
/// With few groups, a slot has 2^replica_log copies of its states, so that lanes add to different copies. The table
/// then has fewer slots. The states of the key whose code equals `empty` lie behind all others. Functions of the table
/// call the code of a key its word.
template <class Types, class Aggregates, unsigned MaxSlots>
class group_shared_table {
 public:
  using Slot = typename Types::Slot;
  using States = typename Types::States;
  using Row = typename Types::Row;
  static constexpr Slot empty = static_cast<Slot>(~Slot{0});
  static constexpr bool has_extra_slot = sizeof(typename Types::Word) == sizeof(Slot);
  static constexpr unsigned no_slot = ~0u;
  static constexpr unsigned stride = MaxSlots + warp_threads;

  struct TempStorage {
    alignas(16) unsigned char columns[stride * sizeof(States)];
    Slot words[MaxSlots];
    unsigned extra_is_used;
  };

  /// Makes a table of `slots` slots, a power of two, with 2^replica_log copies of the states of each.
  STRATA_D group_shared_table(TempStorage& storage, unsigned replica_log, unsigned slots)
      : storage_(storage), replica_log_(replica_log), mask_(slots - 1) {}

  STRATA_D unsigned slots() const { return mask_ + 1; }

  /// Clears the table. All threads of a block call this. A barrier must follow.
  STRATA_D void clear() {
    for (unsigned slot = threadIdx.x; slot < slots(); slot += blockDim.x) storage_.words[slot] = empty;
    for (unsigned at = threadIdx.x; at < slots() << replica_log_; at += blockDim.x) {
      Aggregates::template set_at<Row>(storage_.columns, stride, at);
    }
    if (threadIdx.x < warp_threads) Aggregates::template set_at<Row>(storage_.columns, stride, MaxSlots + threadIdx.x);
    if (threadIdx.x == 0) storage_.extra_is_used = 0;
  }
  /// Clears a slot of a table without copies.
  STRATA_D void clear_slot(unsigned slot) {
    storage_.words[slot] = empty;
    Aggregates::template set_at<Row>(storage_.columns, stride, slot);
  }
  STRATA_D void clear_extra_slot() {
    storage_.extra_is_used = 0;
    Aggregates::template set_at<Row>(storage_.columns, stride, MaxSlots);
  }

  /// Returns the first of the two neighbouring home slots of a word, where a search begins.
  STRATA_D unsigned home(Slot word) const { return static_cast<unsigned>(word) & mask_ & ~1u; }
  STRATA_D Slot word_in(unsigned slot) const { return *static_cast<volatile Slot*>(storage_.words + slot); }
  /// The first of the two slots after the home slots.
  STRATA_D unsigned next_home(Slot word) const { return (home(word) + 2) & mask_; }
  /// The words of both home slots.
  STRATA_D void load_home(Slot word, Slot& first, Slot& second) const {
    platform::load_shared_pair(storage_.words + home(word), first, second);
  }
  STRATA_D void load_next_home(Slot word, Slot& first, Slot& second) const {
    platform::load_shared_pair(storage_.words + next_home(word), first, second);
  }
  /// True if `there`, which was read from a home slot, is the word.
  STRATA_D static bool is_found(Slot word, Slot there) { return there == word && !(has_extra_slot && word == empty); }

  /// Puts a word into a free slot, which no other thread may take. A barrier must follow.
  STRATA_D void put(unsigned slot, Slot word) { storage_.words[slot] = word; }
  /// Returns the slot of a word, which is inserted if it is new. Returns `no_slot` if the first `max_probes` slots have
  /// other words.
  STRATA_D unsigned find_or_insert(Slot word, unsigned max_probes) {
    if (has_extra_slot && word == empty) {
      if (*static_cast<volatile unsigned*>(&storage_.extra_is_used) == 0) atomicExch(&storage_.extra_is_used, 1u);
      return MaxSlots;
    }
    unsigned slot = home(word);
    STRATA_UNROLL_N(1)
    for (unsigned probe = 0; probe < max_probes; ++probe) {
      Slot there = word_in(slot);
      if (there == empty) {
        there = atomicCAS(storage_.words + slot, empty, word);
        if (there == empty) return slot;
      }
      if (there == word) return slot;
      slot = (slot + 1) & mask_;
    }
    return no_slot;
  }

  STRATA_D void add(unsigned slot, const States& states) {
    const unsigned copy = platform::lane_id() & ((1u << replica_log_) - 1);
    // The extra slot has copies of its own.
    const unsigned at = slot == MaxSlots ? MaxSlots + copy : (slot << replica_log_) + copy;
    Aggregates::template add_at<Row>(storage_.columns, stride, at, states);
  }
  /// Adds states to a slot that is not the extra one.
  STRATA_D void add_found(unsigned slot, const States& states) {
    const unsigned copy = platform::lane_id() & ((1u << replica_log_) - 1);
    Aggregates::template add_at<Row>(storage_.columns, stride, (slot << replica_log_) + copy, states);
  }

  /// True if a slot is used. Slot `MaxSlots` is the extra one. A barrier must come before.
  STRATA_D bool is_used(unsigned slot) const {
    return slot == MaxSlots ? storage_.extra_is_used != 0 : storage_.words[slot] != empty;
  }
  STRATA_D Slot word(unsigned slot) const { return slot == MaxSlots ? empty : storage_.words[slot]; }
  /// Returns the states of a slot, combined from all copies. A barrier must come before.
  STRATA_D States states(const Aggregates& aggregates, unsigned slot) const {
    const unsigned first = slot == MaxSlots ? MaxSlots : slot << replica_log_;
    States all;
    Aggregates::template get_at<Row>(storage_.columns, stride, first, all);
    STRATA_UNROLL_N(1)
    for (unsigned copy = 1; copy < 1u << replica_log_; ++copy) {
      States one;
      Aggregates::template get_at<Row>(storage_.columns, stride, first + copy, one);
      aggregates.combine(all, one);
    }
    return all;
  }

 private:
  TempStorage& storage_;
  unsigned replica_log_;
  unsigned mask_;
};

/// Returns the offset of an entry among the used entries of a block. All lanes of a warp call this, and one atomic
/// addition serves them all.
STRATA_D unsigned group_entry_offset(unsigned* num_entries, bool is_used) {
  const unsigned lanes = __ballot_sync(full_warp_mask, is_used ? 1 : 0);
  if (lanes == 0) return 0;
  unsigned first = 0;
  if (platform::lane_id() == 0) first = atomicAdd(num_entries, static_cast<unsigned>(__popc(lanes)));
  first = __shfl_sync(full_warp_mask, first, 0);
  return first + static_cast<unsigned>(__popc(lanes & platform::lane_mask_lt()));
}

/// Combines the rows of a thread in a table. Bit i of `rows` is set if there is a row i. If all rows have the same
/// key, the thread combines them first. `on_full(word, states)` gets the rows that find no slot.
///
/// Most rows find their key in a home slot, and most others in the next two slots. Only these cases are unrolled for
/// all rows of a thread, because the code must fit in the instruction cache. Rows that miss are handled by a loop, one
/// at a time.
template <class Types, class Aggregates, class Table, int Items, class OnFull>
STRATA_D void add_group_rows(Table& table, const Aggregates& aggregates, unsigned rows,
                             const typename Types::Slot (&words)[Items],
                             const typename Types::Payload (&payloads)[Items], unsigned max_probes,
                             const OnFull& on_full) {
  using Slot = typename Types::Slot;
  using Payload = typename Types::Payload;
  using States = typename Types::States;
  // All loads of a thread are in flight at the same time.
  Slot first[Items], second[Items];
  STRATA_UNROLL
  for (int i = 0; i < Items; ++i) {
    if ((rows >> i & 1) != 0) table.load_home(words[i], first[i], second[i]);
  }
  States states{};
  if ((rows & 1) != 0) states = Types::states_of(aggregates, payloads[0]);
  bool has_one_key = Items > 1 && rows == (1u << (Items - 1) << 1) - 1;
  STRATA_UNROLL
  for (int i = 1; i < Items; ++i) has_one_key = has_one_key && words[i] == words[0];
  if (has_one_key) {
    STRATA_UNROLL
    for (int i = 1; i < Items; ++i) aggregates.combine(states, Types::states_of(aggregates, payloads[i]));
    rows = 1;
  }
  unsigned missed = 0;
  STRATA_UNROLL
  for (int i = 0; i < Items; ++i) {
    if ((rows >> i & 1) == 0) continue;
    const bool is_first = Table::is_found(words[i], first[i]);
    if (is_first || Table::is_found(words[i], second[i])) {
      table.add_found(table.home(words[i]) + (is_first ? 0 : 1),
                      i == 0 ? states : Types::states_of(aggregates, payloads[i]));
    } else {
      missed |= 1u << i;
    }
  }
  if (missed != 0) {
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      if ((missed >> i & 1) != 0) table.load_next_home(words[i], first[i], second[i]);
    }
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      if ((missed >> i & 1) == 0) continue;
      const bool is_first = Table::is_found(words[i], first[i]);
      if (!is_first && !Table::is_found(words[i], second[i])) continue;
      table.add_found(table.next_home(words[i]) + (is_first ? 0 : 1),
                      i == 0 ? states : Types::states_of(aggregates, payloads[i]));
      missed &= ~(1u << i);
    }
  }
  STRATA_UNROLL_N(1)
  while (missed != 0) {
    const int row = __ffs(static_cast<int>(missed)) - 1;
    missed &= missed - 1;
    Slot word = words[0];
    Payload payload = payloads[0];
    STRATA_UNROLL
    for (int i = 1; i < Items; ++i) {
      if (i != row) continue;
      word = words[i];
      payload = payloads[i];
    }
    if (row != 0) states = Types::states_of(aggregates, payload);
    const unsigned slot = table.find_or_insert(word, max_probes);
    if (slot != Table::no_slot) {
      table.add(slot, states);
    } else {
      on_full(word, states);
    }
  }
}

/// Reads rows of a call, `group_pack_rows` at a time.
template <class KeyIterator, class Aggregates, class Row, bool HasRange = false>
struct group_row_packs : group_codes<group_word_t<iterator_value_t<KeyIterator>>, HasRange> {
  using Types = group_by_types<KeyIterator, Aggregates, Row>;
  using Key = typename Types::Key;
  using Slot = typename Types::Slot;
  /// True if rows without a key are in no group.
  static constexpr bool drops_rows = drops_group_rows<KeyIterator>;
  KeyIterator keys;
  Aggregates aggregates;
  bool is_aligned;  // true if rows may be read by vector loads

  STRATA_D static Slot mixed(const Key& key) { return detail::mixed_group_word(Slot{RadixTraits<Key>::ordered(key)}); }
  STRATA_D Slot code(const Key& key) const { return this->code_of(RadixTraits<Key>::ordered(key)); }
  /// Loads the keys of `group_pack_rows` rows, of which the first is at an aligned address in all arrays.
  STRATA_D void load_keys(std::size_t first, Key (&pack)[group_pack_rows]) const {
    if constexpr (is_group_pack_array<KeyIterator>) {
      detail::load_group_pack(keys + first, pack);
    } else if constexpr (is_group_key_columns<KeyIterator>) {
      keys.load_pack(first, pack);
    } else {
      STRATA_UNROLL
      for (unsigned k = 0; k < group_pack_rows; ++k) pack[k] = detail::item_at(keys, first + k);
    }
  }
  template <class Payload>
  STRATA_D void load_payloads(std::size_t first, Payload (&payloads)[group_pack_rows]) const {
    if constexpr (Types::moves_items) {
      aggregates.read_pack(
          static_cast<Row>(first), [&](int k) -> auto& { return payloads[k]; });
    } else {
      STRATA_UNROLL
      for (unsigned k = 0; k < group_pack_rows; ++k) payloads[k] = static_cast<Row>(first + k);
    }
  }
  template <class Payload>
  STRATA_D void load_vectors(std::size_t first, Slot (&words)[group_pack_rows],
                             Payload (&payloads)[group_pack_rows]) const {
    Key pack[group_pack_rows];
    load_keys(first, pack);
    load_payloads(first, payloads);
    STRATA_UNROLL
    for (int k = 0; k < group_pack_rows; ++k) words[k] = code(pack[k]);
  }
  /// Returns a bit for each of the `group_pack_rows` rows from `first` on: 1 if the row is in a group.
  STRATA_D unsigned grouped([[maybe_unused]] std::size_t first) const {
    constexpr unsigned all = (1u << group_pack_rows) - 1;
    if constexpr (drops_rows) {
      return keys.pack_with_keys(first);
    } else {
      return all;
    }
  }
  /// Loads up to `group_pack_rows` of the `valid` rows from `first` on. Returns a bit for each of these rows that is in
  /// a group.
  template <class Payload>
  STRATA_D unsigned load(std::size_t first, std::size_t valid, Slot (&words)[group_pack_rows],
                         Payload (&payloads)[group_pack_rows]) const {
    if (is_aligned && valid >= group_pack_rows) {
      load_vectors(first, words, payloads);
      return grouped(first);
    }
    unsigned loaded = 0;
    STRATA_UNROLL
    for (unsigned k = 0; k < group_pack_rows; ++k) {
      if (k >= valid) break;
      if constexpr (drops_rows) {
        if (!keys.has_keys(first + k)) continue;
      }
      words[k] = code(detail::item_at(keys, first + k));
      payloads[k] = Types::payload_of(aggregates, static_cast<Row>(first + k));
      loaded |= 1u << k;
    }
    return loaded;
  }
};

/// Loads up to `group_pack_rows` rows of a chunk, whose words lie at an aligned address.
template <class Slot, class Payload>
STRATA_D unsigned load_group_chunk_pack(const group_parts<Slot, Payload>& parts, std::size_t first, unsigned valid,
                                        Slot (&words)[group_pack_rows], Payload (&payloads)[group_pack_rows]) {
  if (valid >= group_pack_rows) {
    detail::load_group_pack(parts.words + first, words);
    if constexpr (!std::is_empty_v<Payload>) {
      if constexpr (sizeof(Payload) == 4 || sizeof(Payload) == 8) {
        detail::load_group_pack(parts.payloads + first, payloads);
      } else {
        STRATA_UNROLL
        for (int k = 0; k < group_pack_rows; ++k) payloads[k] = parts.payloads[first + static_cast<unsigned>(k)];
      }
    }
    return (1u << group_pack_rows) - 1;
  }
  unsigned loaded = 0;
  STRATA_UNROLL
  for (unsigned k = 0; k < group_pack_rows; ++k) {
    if (k >= valid) break;
    words[k] = parts.words[first + k];
    if constexpr (!std::is_empty_v<Payload>) payloads[k] = parts.payloads[first + k];
    loaded |= 1u << k;
  }
  return loaded;
}

/// The outputs of a call: where the keys and the aggregates of groups are written.
template <class Key, class KeyOutputIterator, class Aggregates>
struct group_hash_output {
  KeyOutputIterator keys;
  Aggregates aggregates;
  std::size_t capacity;

  template <class States>
  STRATA_D void store(std::size_t group, group_word_t<Key> word, const States& states) const {
    if (group >= capacity) return;
    *detail::advanced(keys, group) =
        static_cast<output_value_t<KeyOutputIterator, Key>>(detail::group_key_of_word<Key>(word));
    aggregates.store(group, states);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
