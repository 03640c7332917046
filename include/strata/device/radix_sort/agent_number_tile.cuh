// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_word_sort.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/exchange_tile.cuh>
#include <strata/warp/specializations/radix_sort_words.cuh>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A stable sort of up to one tile of numbers of at most 32 bits, alone or with values, by one block.
///
/// Keys without values are sorted as their words: equal words are the same key. If there are values, or if there may be
/// equal keys with different bits (-0.0 and +0.0, NaNs), the block sorts words that are all different:
///
///     prefix of the key's word: 20 bits | position in the input: 12 bits        (of a tile of 4,096 items)
///
/// The least word is subtracted from all words, and the prefix begins with the highest bit of the largest difference.
/// If this difference has up to 20 bits, the sort is complete. Otherwise neighbours may have the same prefix. Then each
/// of them counts the keys with its prefix that come before it. If too many keys have one prefix, the block sorts
/// twice: by the low bits, then by the high ones.
template <int BlockThreads, int ItemsPerThread, class Key, class ValueIterator, bool IsDescending>
class AgentNumberTile {
  using code = radix_sort_word<Key, IsDescending>;
  using sorter = block_word_sort<unsigned, BlockThreads, ItemsPerThread>;
  using word_tile = typename sorter::storage;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  using Value = iterator_value_t<std::conditional_t<has_values, ValueIterator, const Key*>>;
  // Values of iterators that are not pointers are computed when they are written.
  static constexpr bool loads_values = has_values && std::is_pointer_v<ValueIterator>;
  static constexpr bool may_sort_positions = has_values || code::is_float;

 public:
  static constexpr int tile_items = BlockThreads * ItemsPerThread;

 private:
  static constexpr int position_bits = detail::log2_ceiling(tile_items);
  static constexpr int prefix_bits = 32 - position_bits;
  static constexpr unsigned position_mask = (1u << position_bits) - 1;
  // Sorting twice takes as long as comparing with so many neighbours.
  static constexpr int most_neighbours = 48;
  static constexpr std::size_t stage_bytes = loads_values && sizeof(Value) * tile_items > sizeof(word_tile)
                                                 ? sizeof(Value) * tile_items
                                                 : sizeof(word_tile);

  struct position_storage {
    Key keys[tile_items];
    unsigned short order[tile_items];  // positions of the sorted items in the input
    unsigned least;
    unsigned greatest;
  };
  struct no_storage {};

 public:
  struct TempStorage {
    alignas(16) unsigned char stage[stage_bytes];  // words, and later values
    std::conditional_t<may_sort_positions, position_storage, no_storage> by_position;
  };

  /// `num_items` is at least 1.
  STRATA_D AgentNumberTile(TempStorage& storage, int num_items)
      : storage_(storage), num_items_(num_items), thread_(threadIdx.x) {}

  /// With values, `keys_out` may be null. The outputs may be the inputs.
  STRATA_D void sort(const Key* keys_in, Key* keys_out, const ValueIterator& values_in, Value* values_out) {
    Key keys[ItemsPerThread];
    [[maybe_unused]] Value values[loads_values ? ItemsPerThread : 1];
    load(keys_in, keys);
    if constexpr (loads_values) load(values_in, values);
    if constexpr (may_sort_positions) {
      if (has_values || has_special(keys)) {
        sort_positions(keys);
        write_keys_by_position(keys_out);
        if constexpr (has_values) write_values(values_in, values, values_out);
        return;
      }
    }
    if constexpr (!has_values) sort_words(keys, keys_out);
  }

 private:
  template <class Iterator, class T>
  STRATA_D void load(const Iterator& from, T (&items)[ItemsPerThread]) const {
    for_each_item([&](int i, int at) { items[i] = from[at]; });
  }

  // Calls `use(i, at)` for item `at` of the tile, which is item `i` of the thread in striped arrangement.
  template <class Use>
  STRATA_D void for_each_item(const Use& use) const {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const int at = i * BlockThreads + static_cast<int>(thread_);
      if (at < num_items_) use(i, at);
    }
  }

  STRATA_D static unsigned word_of(const Key& key) {
    return static_cast<unsigned>(code::normalized(code::encode(key)));
  }

  STRATA_D bool has_special(const Key (&keys)[ItemsPerThread]) const {
    bool found = false;
    for_each_item([&](int i, int) { found = found || code::is_special(keys[i]); });
    return __syncthreads_or(found ? 1 : 0) != 0;
  }

  // Puts the sorted words into shared memory.
  STRATA_D void sort_in_block(unsigned (&words)[ItemsPerThread]) {
    sorter::sort(words_in_tile(), static_cast<int>(thread_), words);
    __syncthreads();
    words_in_tile().put_blocked(thread_, words);
    __syncthreads();
  }

  // ------------------------------------------------------------------ keys alone

  STRATA_D void sort_words(const Key (&keys)[ItemsPerThread], Key* keys_out) {
    unsigned words[ItemsPerThread];
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) words[i] = ~0u;
    for_each_item([&](int i, int) { words[i] = static_cast<unsigned>(code::encode(keys[i])); });
    sort_in_block(words);
    for_each_item([&](int i, int at) { keys_out[at] = code::decode(static_cast<typename code::word>(word_at(i))); });
  }

  // ------------------------------------------------------------------ by position

  STRATA_D void sort_positions(const Key (&keys)[ItemsPerThread]) {
    const unsigned least = share_keys(keys);
    const int bits = 32 - __clz(static_cast<int>(storage_.by_position.greatest - least));
    enum { by_prefix, by_low_bits, by_high_bits } step = by_prefix;
    int dropped = detail::most(bits - prefix_bits, 0);
    STRATA_UNROLL_N(1)
    while (true) {
      unsigned words[ItemsPerThread];
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) words[i] = ~0u;
      for_each_item([&](int i, int at) {
        const int position = step == by_high_bits ? storage_.by_position.order[at] : at;
        const unsigned prefix = (word_of(storage_.by_position.keys[position]) - least) >> dropped;
        words[i] = prefix << position_bits | static_cast<unsigned>(at);
      });
      sort_in_block(words);
      if (step == by_prefix && dropped > 0) {
        if (place_by_neighbours()) return;
        step = by_low_bits;
        dropped = 0;
        continue;
      }
      place_as_sorted(step == by_high_bits);
      if (step != by_low_bits) return;
      step = by_high_bits;
      dropped = prefix_bits;
    }
  }

  // Puts the keys into shared memory, and finds the words of the least and the greatest. Returns the least.
  STRATA_D unsigned share_keys(const Key (&keys)[ItemsPerThread]) {
    position_storage& shared = storage_.by_position;
    if (thread_ == 0) {
      shared.least = ~0u;
      shared.greatest = 0;
    }
    unsigned least = ~0u;
    unsigned greatest = 0;
    for_each_item([&](int i, int at) {
      shared.keys[at] = keys[i];
      const unsigned word = word_of(keys[i]);
      least = detail::least(least, word);
      greatest = detail::most(greatest, word);
    });
    typename WarpReduce<unsigned>::TempStorage unused;
    least = WarpReduce<unsigned>(unused).Reduce(least, Min{});
    greatest = WarpReduce<unsigned>(unused).Reduce(greatest, Max{});
    __syncthreads();
    if (platform::lane_id() == 0) {
      atomicMin(&shared.least, least);
      atomicMax(&shared.greatest, greatest);
    }
    __syncthreads();
    return shared.least;
  }

  // Writes the order of the sorted words to `order`. The position in a word is one in the input, or, if
  // `follows_order`, an index into the old `order`.
  STRATA_D void place_as_sorted(bool follows_order) {
    position_storage& shared = storage_.by_position;
    unsigned short positions[ItemsPerThread];
    for_each_item([&](int i, int) {
      const unsigned position = word_at(i) & position_mask;
      positions[i] = follows_order ? shared.order[position] : static_cast<unsigned short>(position);
    });
    __syncthreads();
    for_each_item([&](int i, int at) { shared.order[at] = positions[i]; });
    __syncthreads();
  }

  // Orders words that are sorted except for keys with the same prefix. Returns false if too many keys share a prefix.
  STRATA_D bool place_by_neighbours() {
    position_storage& shared = storage_.by_position;
    unsigned among_equals = 0;
    for_each_item([&](int i, int at) {
      const unsigned word = word_at(i);
      const bool is_alone =
          (at == 0 || !has_prefix_of(word, at - 1)) && (at + 1 == num_items_ || !has_prefix_of(word, at + 1));
      if (is_alone) {
        shared.order[at] = static_cast<unsigned short>(word & position_mask);
      } else {
        among_equals |= 1u << i;
      }
    });
    bool are_too_many = false;
    STRATA_UNROLL_N(1)
    for (; among_equals != 0; among_equals &= among_equals - 1) {
      const int at = (__ffs(static_cast<int>(among_equals)) - 1) * BlockThreads + static_cast<int>(thread_);
      const unsigned word = word_of_tile(at);
      const unsigned key = key_of(word);
      // Equal keys are sorted by their positions.
      int place = at;
      int left = most_neighbours;
      STRATA_UNROLL_N(1)
      for (int other = at - 1; other >= 0 && has_prefix_of(word, other) && left > 0; --other, --left) {
        if (key_of(word_of_tile(other)) > key) --place;
      }
      STRATA_UNROLL_N(1)
      for (int other = at + 1; other < num_items_ && has_prefix_of(word, other) && left > 0; ++other, --left) {
        if (key_of(word_of_tile(other)) < key) ++place;
      }
      if (left > 0) {
        shared.order[place] = static_cast<unsigned short>(word & position_mask);
      } else {
        are_too_many = true;
      }
    }
    return __syncthreads_or(are_too_many ? 1 : 0) == 0;
  }

  STRATA_D unsigned key_of(unsigned word) const { return word_of(storage_.by_position.keys[word & position_mask]); }
  STRATA_D bool has_prefix_of(unsigned word, int other) const {
    return ((word ^ word_of_tile(other)) >> position_bits) == 0;
  }

  STRATA_D void write_keys_by_position(Key* keys_out) const {
    if (keys_out == nullptr) return;
    for_each_item([&](int, int at) { keys_out[at] = storage_.by_position.keys[storage_.by_position.order[at]]; });
  }

  STRATA_D void write_values(const ValueIterator& values_in,
                             [[maybe_unused]] const Value (&values)[loads_values ? ItemsPerThread : 1],
                             Value* values_out) {
    const auto& order = storage_.by_position.order;
    if constexpr (loads_values) {
      auto* const stage = reinterpret_cast<Value*>(storage_.stage);
      for_each_item([&](int i, int at) { stage[at] = values[i]; });
      __syncthreads();
      for_each_item([&](int, int at) { values_out[at] = stage[order[at]]; });
    } else {
      for_each_item([&](int, int at) { values_out[at] = values_in[order[at]]; });
    }
  }

  // ------------------------------------------------------------------ words in shared memory

  STRATA_D word_tile& words_in_tile() const { return *reinterpret_cast<word_tile*>(storage_.stage); }
  // The word of the thread's item i in striped arrangement.
  STRATA_D unsigned word_at(int i) const { return words_in_tile().get(word_tile::position(i * BlockThreads, thread_)); }
  STRATA_D unsigned word_of_tile(int at) const {
    return words_in_tile().get(word_tile::position(static_cast<unsigned>(at)));
  }

  TempStorage& storage_;
  int num_items_;
  unsigned thread_;
};

}  // namespace detail
STRATA_NAMESPACE_END
