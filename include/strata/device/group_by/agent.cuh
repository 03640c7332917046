// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/future_count.cuh>
#include <strata/device/group_by/aggregates.cuh>
#include <strata/device/group_by/group_keys.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Records. A record is the word of a group's key, in one array, and the states of some of its rows, in another array.
/// A group may have several records. The number of records is in device memory. If it is larger than the capacity, some
/// records have not been written.
template <class Word, class States, class Row>
struct group_records {
  Word* words;
  States* states;
  Row* number;
  Row capacity;
};

/// The types of a call. If `MovesRows` is true, row numbers are moved instead of items.
template <class KeyIterator, class Aggregates, class RowNumber, bool MovesRows = false>
struct group_by_types {
  using Key = iterator_value_t<KeyIterator>;
  using Word = group_word_t<Key>;
  using Slot = group_slot_t<Key>;
  using Row = RowNumber;
  using States = typename Aggregates::template states_type<Row>;
  using Items = typename Aggregates::template items_type<Row>;
  /// True if the items that the aggregates read of a row are moved with its word. If they are large, the row's number
  /// is moved instead.
  static constexpr bool moves_items = !MovesRows && sizeof(Items) <= 16;
  using Payload = std::conditional_t<moves_items, Items, Row>;
  using Records = group_records<Word, States, Row>;

  STRATA_D static Payload payload_of(const Aggregates& aggregates, Row row) {
    if constexpr (moves_items) {
      Items items;
      aggregates.read(row, items);
      return items;
    } else {
      return row;
    }
  }
  STRATA_D static States states_of(const Aggregates& aggregates, const Payload& payload) {
    States states;
    if constexpr (moves_items) {
      Aggregates::template make_states<Row>(payload, states);
    } else {
      Items items;
      aggregates.read(payload, items);
      Aggregates::template make_states<Row>(items, states);
    }
    return states;
  }
};

/// The rows of a call in the order of the input.
template <class KeyIterator, class Aggregates, class Row>
struct group_rows {
  using Types = group_by_types<KeyIterator, Aggregates, Row>;
  using Key = typename Types::Key;
  KeyIterator keys;
  Aggregates aggregates;

  STRATA_D typename Types::Slot mixed_word(std::size_t row) const {
    return detail::mixed_group_word(typename Types::Slot{RadixTraits<Key>::ordered(detail::item_at(keys, row))});
  }
  STRATA_D typename Types::Payload payload(std::size_t row) const {
    return Types::payload_of(aggregates, static_cast<Row>(row));
  }
};

/// The rows of a call after a sort by the upper 8 bits of their mixed words.
template <class KeyIterator, class Aggregates, class Row>
struct group_moved_rows {
  using Types = group_by_types<KeyIterator, Aggregates, Row>;
  const typename Types::Word* words;
  const typename Types::Payload* payloads;
  Aggregates aggregates;

  STRATA_D typename Types::Slot mixed_word(std::size_t row) const { return words[row]; }
  STRATA_D typename Types::Payload payload(std::size_t row) const { return payloads[row]; }
};

/// Combines the rows of a block's share in a table in shared memory, and writes a record for each entry.
///
///     each warp, for each of its tiles, until a warp finds the table full:
///       combine each row with the entry of its key; take a free slot if there is none
///     write all entries and clear the table; begin again with the rows that found no free slot
///
/// Warps do not wait for each other until the table is full. A block ends as soon as there is no room for its records:
/// then the rows are sorted instead.
template <class Policy, class Types, class Aggregates>
struct AgentGroupBy {
  using Word = typename Types::Word;
  using Slot = typename Types::Slot;
  using States = typename Types::States;
  using Payload = typename Types::Payload;
  using Row = typename Types::Row;
  using Records = group_records<Word, States, Row>;
  static constexpr Slot empty = static_cast<Slot>(~Slot{0});
  /// A key may have the mixed word `empty`, which marks free slots. This key has an extra slot behind the others.
  static constexpr bool has_extra_slot = sizeof(Word) == sizeof(Slot);

  static constexpr int threads = Policy::tuning.block_threads;
  static constexpr int thread_items = Policy::tuning.items_per_thread;
  static constexpr int tile_items = warp_threads * thread_items;
  static constexpr int entry_bytes = static_cast<int>(sizeof(Slot) + sizeof(States));
  static constexpr int slots_that_fit(int slots) {
    return slots * entry_bytes <= Policy::tuning.table_bytes || slots <= threads ? slots : slots_that_fit(slots / 2);
  }
  static constexpr unsigned table_slots = static_cast<unsigned>(slots_that_fit(Policy::tuning.most_slots));
  static constexpr int slots_per_thread = static_cast<int>(table_slots) / threads;
  static constexpr int max_probes = 32;
  static constexpr unsigned no_slot = ~0u;
  struct alignas(16) TempStorage {
    States states[table_slots + 1];
    Slot slots[table_slots];
    Row first_record;
    unsigned num_entries;
    unsigned extra_slot_is_used;
    unsigned is_full;
  };

  TempStorage& storage;
  const Aggregates& aggregates;
  const Records& records;

  /// Combines this block's share of the tiles of `rows`, and writes records. The share is contiguous, because equal
  /// keys are often near each other. All threads of the block call this.
  template <class Rows>
  STRATA_D void run(const Rows& rows, std::size_t num_items) {
    const std::size_t tiles = detail::ceiling_divide(num_items, std::size_t{tile_items});
    const std::size_t share = detail::ceiling_divide(tiles, static_cast<std::size_t>(gridDim.x));
    const std::size_t first_tile = detail::least(blockIdx.x * share, tiles);
    const std::size_t last_tile = detail::least(first_tile + share, tiles);
    if (first_tile == last_tile) return;
    clear();
    constexpr std::size_t warps = threads / warp_threads;
    std::size_t tile = first_tile + threadIdx.x / warp_threads;
    Slot words[thread_items];
    Payload payloads[thread_items];
    unsigned left = 0;
    for (;;) {
      for (;;) {
        add_to_table(left, words, payloads);
        if (__any_sync(full_warp_mask, left != 0 ? 1 : 0) != 0) {
          if (platform::lane_id() == 0) atomicExch(&storage.is_full, 1u);
          break;
        }
        const bool is_full = *static_cast<volatile unsigned*>(&storage.is_full) != 0;
        if (tile >= last_tile || __any_sync(full_warp_mask, is_full ? 1 : 0) != 0) break;
        left = load(rows, tile * tile_items, num_items - tile * tile_items, words, payloads);
        tile += warps;
      }
      const bool has_more = left != 0 || tile < last_tile;
      const bool is_end = __syncthreads_or(has_more ? 1 : 0) == 0;
      if (!write_entries() || is_end) return;
    }
  }

 private:
  STRATA_D void clear() {
    if (threadIdx.x == 0) {
      storage.num_entries = 0;
      storage.extra_slot_is_used = 0;
      storage.is_full = 0;
    }
    for (unsigned slot = threadIdx.x; slot < table_slots; slot += unsigned{threads}) clear_slot(slot);
    if (threadIdx.x == 0) Aggregates::template set_identity<Row>(storage.states[table_slots]);
    __syncthreads();
  }
  STRATA_D void clear_slot(unsigned slot) {
    storage.slots[slot] = empty;
    Aggregates::template set_identity<Row>(storage.states[slot]);
  }

  /// The slots that a thread clears and writes.
  STRATA_D static unsigned slot_of(int i) { return threadIdx.x + static_cast<unsigned>(i * threads); }

  /// Loads rows of a tile. The input has `valid` rows from `first` on. Returns a bit for each row that was loaded. All
  /// lanes of a warp call this.
  template <class Rows>
  STRATA_D unsigned load(const Rows& rows, std::size_t first, std::size_t valid, Slot (&words)[thread_items],
                         Payload (&payloads)[thread_items]) {
    unsigned loaded = 0;
    STRATA_UNROLL
    for (int i = 0; i < thread_items; ++i) {
      const unsigned item = platform::lane_id() + static_cast<unsigned>(i * warp_threads);
      if (item >= valid) break;
      words[i] = rows.mixed_word(first + item);
      payloads[i] = rows.payload(first + item);
      loaded |= 1u << i;
    }
    return loaded;
  }

  /// Combines the rows of `left` in the table. Rows that find no slot stay in `left`. A thread first combines
  /// consecutive rows of its own that have the same key: with few keys, threads then wait less for each other.
  STRATA_D void add_to_table(unsigned& left, const Slot (&words)[thread_items],
                             const Payload (&payloads)[thread_items]) {
    States states{};
    unsigned combined = 0;
    STRATA_UNROLL
    for (int i = 0; i < thread_items; ++i) {
      if ((left >> i & 1) == 0) continue;
      const States one = Types::states_of(aggregates, payloads[i]);
      if (combined == 0) {
        states = one;
      } else {
        aggregates.combine(states, one);
      }
      combined |= 1u << i;
      if (i + 1 < thread_items && (left >> (i + 1) & 1) != 0 && words[i + 1 < thread_items ? i + 1 : i] == words[i]) {
        continue;
      }
      const unsigned slot = find_slot(words[i]);
      if (slot != no_slot) {
        Aggregates::add(&storage.states[slot], states);
        left &= ~combined;
      }
      combined = 0;
    }
  }

  /// Returns the slot of a word, or `no_slot` if the first `max_probes` slots have other words.
  STRATA_D unsigned find_slot(Slot word) {
    if (has_extra_slot && word == empty) {
      if (*static_cast<volatile unsigned*>(&storage.extra_slot_is_used) == 0)
        atomicExch(&storage.extra_slot_is_used, 1u);
      return table_slots;
    }
    // The lower bits choose the slot, because rows may have been sorted by the upper ones.
    unsigned slot = static_cast<unsigned>(word) % table_slots;
    STRATA_UNROLL_N(1)
    for (int probe = 0; probe < max_probes; ++probe) {
      Slot there = *static_cast<volatile Slot*>(storage.slots + slot);
      if (there == empty) {
        there = atomicCAS(storage.slots + slot, empty, word);
        if (there == empty) return slot;
      }
      if (there == word) return slot;
      slot = (slot + 1) % table_slots;
    }
    return no_slot;
  }

  /// Writes all entries as records and clears the table. Returns false if there is no room for the records. A barrier
  /// must come before.
  STRATA_D bool write_entries() {
    unsigned offsets[slots_per_thread];
    STRATA_UNROLL
    for (int i = 0; i < slots_per_thread; ++i) {
      const bool is_used = storage.slots[slot_of(i)] != empty;
      offsets[i] = warp_offset(is_used);
    }
    unsigned extra_offset = 0;
    if (threadIdx.x == 0 && storage.extra_slot_is_used != 0) extra_offset = atomicAdd(&storage.num_entries, 1u);
    __syncthreads();
    const unsigned entries = storage.num_entries;
    if (threadIdx.x == 0) storage.first_record = atomicAdd(records.number, static_cast<Row>(entries));
    __syncthreads();
    const auto first = static_cast<std::size_t>(storage.first_record);
    if (first + entries > static_cast<std::size_t>(records.capacity)) return false;
    STRATA_UNROLL
    for (int i = 0; i < slots_per_thread; ++i) {
      const unsigned slot = slot_of(i);
      if (storage.slots[slot] == empty) continue;
      write(first + offsets[i], storage.slots[slot], storage.states[slot]);
      clear_slot(slot);
    }
    if (threadIdx.x == 0) {
      if (storage.extra_slot_is_used != 0) {
        write(first + extra_offset, empty, storage.states[table_slots]);
        Aggregates::template set_identity<Row>(storage.states[table_slots]);
      }
      storage.extra_slot_is_used = 0;
      storage.num_entries = 0;
      storage.is_full = 0;
    }
    __syncthreads();
    return true;
  }

  /// Returns the offset of an entry among the entries of the block. All lanes of a warp call this, and one atomic
  /// addition serves them all.
  STRATA_D unsigned warp_offset(bool is_used) {
    const unsigned lanes = __ballot_sync(full_warp_mask, is_used ? 1 : 0);
    if (lanes == 0) return 0;
    unsigned first = 0;
    if (platform::lane_id() == 0) first = atomicAdd(&storage.num_entries, static_cast<unsigned>(__popc(lanes)));
    first = __shfl_sync(full_warp_mask, first, 0);
    return first + static_cast<unsigned>(__popc(lanes & platform::lane_mask_lt()));
  }

  STRATA_D void write(std::size_t at, Slot word, const States& states) const {
    records.words[at] = static_cast<Word>(detail::unmixed_group_word(word));
    records.states[at] = states;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
