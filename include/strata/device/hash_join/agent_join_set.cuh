// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/result_places.cuh>
#include <strata/device/hash_join/table.cuh>

#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The different keys of a build side in global memory, by open addressing: for semi and anti joins,
/// which do not ask for rows, of keys whose hashes are as different as they are. A slot is a hash;
/// that of an empty one is told apart by a flag.
template <class Key, class Hash, class Equal>
struct join_set {
  static constexpr bool is_wide = is_join_double_word<Key, Hash, Equal>;
  using Word = std::conditional_t<is_wide, unsigned long long, unsigned>;
  static constexpr Word empty = 0;

  Word* slots;
  /// More than there are keys, so that any search ends.
  unsigned num_slots;
  /// Whether the key of that hash is there, and whether a row without a key.
  unsigned* has_empty;
  unsigned* has_null;
  bool nulls_equal;
  Hash hash;

  STRATA_D Word word_of(const Key& key) const {
    const unsigned long long bits = join_hash<Key, Equal>(hash, key);
    return static_cast<Word>(is_wide ? bits : bits >> 32);
  }
  STRATA_D unsigned first_slot(Word word) const {
    return __umulhi(static_cast<unsigned>(word >> (is_wide ? 32 : 0)), num_slots);
  }
  STRATA_D unsigned next_slot(unsigned slot) const { return slot + 1 == num_slots ? 0 : slot + 1; }

  STRATA_D void insert(const Key& key) const {
    const Word word = word_of(key);
    if (word == empty) {
      put_flag(has_empty);
      return;
    }
    for (unsigned slot = first_slot(word);; slot = next_slot(slot)) {
      // Looked at first, because exchanges of one word wait for each other: all keys may be equal.
      // relaxed: the word is all there is.
      Word there = platform::load_relaxed(slots + slot);
      if (there == empty) there = atomicCAS(slots + slot, empty, word);
      if (there == empty || there == word) return;
    }
  }
  STRATA_D void insert_null() const {
    if (nulls_equal) put_flag(has_null);
  }

  /// For kernels that run after all insertions. `there` is what is in slot `first_slot(word)`.
  STRATA_D bool contains(Word word, Word there) const {
    if (word == empty) return *has_empty != 0;
    for (unsigned slot = first_slot(word); there != word; there = slots[slot]) {
      if (there == empty) return false;
      slot = next_slot(slot);
    }
    return true;
  }
  STRATA_D bool contains_null() const { return nulls_equal && *has_null != 0; }

 private:
  STRATA_D static void put_flag(unsigned* flag) {
    if (platform::load_relaxed(flag) == 0) platform::store_relaxed(flag, 1u);
  }
};

/// Asks a set for tiles of probe rows, and writes those that belong to the result of a semi or anti
/// join. `Sink` is NullType where they are only counted. Called by the whole block.
template <class Set, class Key, class Index, class Sink, int BlockThreads, int ItemsPerThread>
class AgentJoinSet {
  using Word = typename Set::Word;
  using Places = join_result_places<BlockThreads>;
  using Count = unsigned long long;
  static constexpr bool has_rows = !std::is_same_v<Sink, NullType>;

 public:
  static constexpr unsigned tile_items = BlockThreads * ItemsPerThread;
  using TempStorage = typename Places::TempStorage;

  STRATA_D AgentJoinSet(TempStorage& storage, const Set& set, Count* total, std::int64_t capacity)
      : set_(set), places_(storage, total), capacity_(static_cast<Count>(capacity)) {}

  STRATA_D void run(JoinKind kind, const Key* keys, const std::uint32_t* valid, unsigned rows,
                    unsigned first, const Sink& sink) {
    Key its_keys[ItemsPerThread];
    Word words[ItemsPerThread];
    Word there[ItemsPerThread];
    const unsigned left = rows - first;
    // All loads of a thread are on their way together.
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (in_tile(i) < left) its_keys[i] = keys[first + in_tile(i)];
    }
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (in_tile(i) >= left) continue;
      words[i] = set_.word_of(its_keys[i]);
      there[i] = set_.slots[set_.first_slot(words[i])];
    }
    bool is_result[ItemsPerThread];
    unsigned begins[ItemsPerThread];
    unsigned sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      is_result[i] = false;
      if (in_tile(i) < left) {
        const bool is_found = join_row_is_valid(valid, first + in_tile(i))
                                  ? set_.contains(words[i], there[i])
                                  : set_.contains_null();
        is_result[i] = is_found == (kind == JoinKind::semi);
      }
    }
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) begins[i] = Places::begin_of_one(is_result[i], sum);
    const Count to = places_.take(sum);
    if constexpr (has_rows) {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) {
        if (!is_result[i] || to + begins[i] >= capacity_) continue;
        sink(static_cast<std::int64_t>(to + begins[i]), no_row<Index>,
             static_cast<Index>(first + in_tile(i)));
      }
    }
  }

 private:
  STRATA_D static unsigned in_tile(int item) {
    return static_cast<unsigned>(item * BlockThreads) + threadIdx.x;
  }

  const Set& set_;
  Places places_;
  Count capacity_;
};

}  // namespace detail
STRATA_NAMESPACE_END
