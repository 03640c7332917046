// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/radix_rank_half_warps.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_code.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/digit_plan.cuh>
#include <strata/device/radix_sort/tuning.hpp>
#include <strata/device/radix_sort/workspace.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The three places that items of one sort may be in.
template <class InputIterator, class T>
struct radix_places {
  InputIterator input;
  T* output;
  T* buffer;

  STRATA_D T* at(radix_place place) const { return place == radix_place::output ? output : buffer; }
};

/// `Count` numbers of 16 bits, two in a register. Their indices are known to the compiler, in unrolled
/// loops.
template <int Count>
class packed_array {
 public:
  STRATA_D void set(int i, unsigned value) {
    unsigned& word = words_[i / 2];
    word = i % 2 == 0 ? value : word | value << 16;
  }
  STRATA_D unsigned get(int i) const {
    return i % 2 == 0 ? words_[i / 2] & 0xffff : words_[i / 2] >> 16;
  }

 private:
  unsigned words_[ceiling_divide(Count, 2)];
};

/// One pass of a sort: moves items to their places by one digit, stably. Each block takes a tile.
///
/// A tile's items are ranked by their digits, put in that order in shared memory, and go from there
/// to the output, digit by digit, neighbours to neighbours: keys first, then values. Where a digit's
/// items begin, is known from the counts of all keys and from the states of the tiles before: each
/// tile publishes its counts, and then the sums with those of all tiles before, for which it looks
/// back from tile to tile until it finds such a sum. Tiles are numbered in the order in which blocks
/// start, so that a block waits only for blocks that run.
///
/// Source: Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs"
/// (2022).
template <class Policy, class KeyIterator, class ValueIterator, class Digits, class State>
class AgentRadixPass {
  static constexpr radix_pass_tuning tuning = Policy::pass;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int items_per_thread = tuning.items_per_thread;
  using Key = iterator_value_t<KeyIterator>;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  using Value = iterator_value_t<std::conditional_t<has_values, ValueIterator, KeyIterator>>;
  using Codes = radix_codes<Digits>;
  using Code = typename Codes::Code;
  using Rank = radix_rank_half_warps<block_threads, items_per_thread, radix_bits>;
  static constexpr State counted = State{1} << (8 * sizeof(State) - 2);   // of the tile
  static constexpr State complete = State{2} << (8 * sizeof(State) - 2);  // with all before
  static constexpr State value_mask = counted - 1;

 public:
  static constexpr int tile_items = block_threads * items_per_thread;

  struct TempStorage {
    typename Rank::TempStorage rank;
    // Of a digit: place in the output, less the place in the tile.
    State offset[radix_bins];
    unsigned tile;
  };

  /// Dynamic shared memory: the tile's keys, and later its values, behind the rest.
  static constexpr std::size_t stage_offset = round_up(sizeof(TempStorage), std::size_t{128});
  static constexpr std::size_t shared_bytes =
      stage_offset +
      tile_items * (has_values && sizeof(Value) > sizeof(Code) ? sizeof(Value) : sizeof(Code));

  STRATA_D AgentRadixPass(unsigned char* shared, const radix_places<KeyIterator, Key>& keys,
                          const radix_places<ValueIterator, Value>& values, std::size_t num_items,
                          int pass, const radix_bit_range& range, const Digits& digits,
                          const radix_workspace<State>& workspace)
      : storage_(*reinterpret_cast<TempStorage*>(shared)),
        staged_codes_(reinterpret_cast<Code*>(shared + stage_offset)),
        staged_values_(reinterpret_cast<Value*>(shared + stage_offset)),
        keys_(keys),
        values_(values),
        num_items_(num_items),
        pass_(pass),
        first_bit_(range.first_bit(pass)),
        bits_(range.bits(pass)),
        digits_(digits),
        workspace_(workspace),
        plan_(workspace.plan[pass]) {}

  STRATA_D void run() {
    if (plan_.is_skipped) return;
    if (threadIdx.x == 0) storage_.tile = atomicAdd(&workspace_.tickets[pass_], 1u);
    __syncthreads();
    const std::size_t tile = storage_.tile;
    clear_next_states(tile);
    const std::size_t left = num_items_ - tile * tile_items;
    const int valid = left < tile_items ? static_cast<int>(left) : tile_items;
    from_place([&](const auto& keys, const auto& values) {
      if (plan_.is_copy) {
        copy(keys, values, tile, valid);
      } else if (Codes::are_all_exact || plan_.is_exact) {
        sort_tile<true>(keys, values, tile, valid);
      } else {
        sort_tile<false>(keys, values, tile, valid);
      }
    });
  }

 private:
  // Calls `use` with the iterators from which this pass reads.
  template <class Use>
  STRATA_D void from_place(const Use& use) const {
    if constexpr (std::is_pointer_v<KeyIterator> &&
                  (!has_values || std::is_pointer_v<ValueIterator>)) {
      const Key* const keys = plan_.from == radix_place::input ? keys_.input : keys_.at(plan_.from);
      if constexpr (has_values) {
        const Value* const values =
            plan_.from == radix_place::input ? values_.input : values_.at(plan_.from);
        use(keys, values);
      } else {
        use(keys, NullType{});
      }
    } else if (plan_.from == radix_place::input) {
      use(keys_.input, values_.input);
    } else {
      use(static_cast<const Key*>(keys_.at(plan_.from)),
          static_cast<const Value*>(values_.at(plan_.from)));
    }
  }

  STRATA_D State* states(std::size_t tile) const {
    return workspace_.states[plan_.order % 2] + tile * radix_bins;
  }
  STRATA_D void clear_next_states(std::size_t tile) const {
    State* const next = workspace_.states[(plan_.order + 1) % 2] + tile * radix_bins;
    for (int i = static_cast<int>(threadIdx.x); i < radix_bins; i += block_threads) next[i] = 0;
  }

  template <class Keys, class Values>
  STRATA_D void copy(const Keys& keys, const Values& values, std::size_t tile, int valid) const {
    const std::size_t first = tile * tile_items;
    Key* const to = keys_.at(plan_.to) + first;
    const Keys from = detail::advanced(keys, first);
    for (int i = static_cast<int>(threadIdx.x); i < valid; i += block_threads) to[i] = from[i];
    if constexpr (has_values) {
      Value* const values_to = values_.at(plan_.to) + first;
      const Values values_from = detail::advanced(values, first);
      for (int i = static_cast<int>(threadIdx.x); i < valid; i += block_threads) {
        values_to[i] = values_from[i];
      }
    }
  }

  template <bool IsExact, class Keys, class Values>
  STRATA_D void sort_tile(const Keys& keys, const Values& values, std::size_t tile, int valid) {
    if (valid == tile_items) {
      sort_tile<IsExact, true>(keys, values, tile, valid);
    } else {
      sort_tile<IsExact, false>(keys, values, tile, valid);
    }
  }
  template <bool IsExact, bool IsFull, class Keys, class Values>
  STRATA_D void sort_tile(const Keys& keys_from, const Values& values_from, std::size_t tile,
                          int valid) {
    const std::size_t first = tile * tile_items;
    Rank rank(storage_.rank);
    const auto first_item = static_cast<int>(rank.first_item());
    Code codes[items_per_thread];
    load<IsFull>(detail::advanced(keys_from, first), first_item, valid,
                 [&](int i, const Key& key) { codes[i] = Codes::encode(key); });

    tile_digits<IsExact, IsFull> digit_of{codes, digits_, first_bit_, bits_, first_item, valid};
    unsigned start_in_tile = 0, count_in_tile = 0;  // of the digit whose number the thread has
    packed_array<has_values ? items_per_thread : 1> ranks;
    rank.rank(
        digit_of, [&](unsigned digit, unsigned count) { publish(tile, digit, count); },
        [&](unsigned, unsigned start, unsigned count) {
          start_in_tile = start;
          count_in_tile = count;
        },
        [&](int i, unsigned place) {
          if constexpr (has_values) ranks.set(i, place);
          if (IsFull || static_cast<int>(place) < valid) staged_codes_[place] = codes[i];
        });
    // On their way while the keys go out, in registers that keys have left.
    Value values[has_values ? items_per_thread : 1];
    if constexpr (has_values) {
      load<IsFull>(detail::advanced(values_from, first), first_item, valid,
                   [&](int i, const Value& value) { values[i] = value; });
    }
    if (threadIdx.x < radix_bins) look_back(tile, threadIdx.x, start_in_tile, count_in_tile);
    __syncthreads();

    // In memory that ranking no longer needs.
    auto* const digits = reinterpret_cast<unsigned char*>(&storage_.rank);
    // not for users: policies are checked where they are read
    static_assert(!has_values || sizeof(storage_.rank) >= tile_items,
                  "radix_pass_tuning: at most 64 items for each thread");
    Key* const keys_to = keys_.at(plan_.to);
    for_places<IsFull>(valid, [&](int place) {
      const Code code = staged_codes_[place];
      const unsigned digit = Codes::template digit<IsExact>(digits_, code, first_bit_, bits_);
      if constexpr (has_values) digits[place] = static_cast<unsigned char>(digit);
      keys_to[item_at(digit, place)] = Codes::decode(code);
    });
    if constexpr (has_values) {
      __syncthreads();
      STRATA_UNROLL
      for (int i = 0; i < items_per_thread; ++i) {
        const unsigned place = ranks.get(i);
        if (IsFull || static_cast<int>(place) < valid) staged_values_[place] = values[i];
      }
      __syncthreads();
      Value* const values_to = values_.at(plan_.to);
      for_places<IsFull>(valid, [&](int place) {
        values_to[item_at(digits[place], place)] = staged_values_[place];
      });
    }
  }

  template <bool IsExact, bool IsFull>
  struct tile_digits {
    const Code (&codes)[items_per_thread];
    const Digits& digits;
    int first_bit;
    int bits;
    int first_item;
    int valid;

    // Missing items come last: behind all others of the greatest digit.
    STRATA_D unsigned operator()(int i) const {
      if (!IsFull && first_item + i * Rank::stride() >= valid) return unsigned{radix_bins - 1};
      return Codes::template digit<IsExact>(digits, codes[i], first_bit, bits);
    }
    STRATA_D void forget() { platform::forget(first_bit); }
  };

  template <bool IsFull, class Iterator, class Use>
  STRATA_D static void load(const Iterator& from, int first_item, int valid, const Use& use) {
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const int place = first_item + i * Rank::stride();
      if (IsFull || place < valid) use(i, from[static_cast<difference_of<Iterator>>(place)]);
    }
  }

  // ------------------------------------------------------------------ places in the output
  STRATA_D void publish(std::size_t tile, unsigned digit, unsigned count) const {
    if (tile == 0) {
      const auto start = static_cast<State>(workspace_.bins_of(pass_)[digit]);
      platform::store_relaxed(states(0) + digit, complete | static_cast<State>(start + count));
    } else {
      platform::store_relaxed(states(tile) + digit, counted | State{count});
    }
  }

  // Adds the states of up to `AtOnce` tiles before `next`, from back to front, as far as they are
  // there; `next` is then the last one added. Whether that one knew the sum of all before.
  template <int AtOnce>
  STRATA_D bool take_states(std::size_t& next, unsigned digit, State& before) const {
    State found[AtOnce];
    STRATA_UNROLL
    for (int i = 0; i < AtOnce; ++i) {
      const auto back = static_cast<std::size_t>(i) + 1;
      found[i] = back <= next ? platform::load_relaxed(states(next - back) + digit) : State{0};
    }
    STRATA_UNROLL
    for (int i = 0; i < AtOnce; ++i) {
      if (found[i] == 0) return false;
      before += found[i] & value_mask;
      --next;
      if ((found[i] & complete) != 0) return true;
    }
    return false;
  }

  STRATA_D void look_back(std::size_t tile, unsigned digit, unsigned start_in_tile,
                          unsigned count) {
    State before = 0;  // in the output: smaller digits, and the same in tiles before
    if (tile == 0) {
      before = static_cast<State>(workspace_.bins_of(pass_)[digit]);
    } else {
      // Mostly one of the next two tiles before knows all of its sum. Where many tiles have begun
      // together, as at the start, there is far to go: then in longer steps, if values do not fill the
      // registers.
      std::size_t next = tile;
      if (!take_states<2>(next, digit, before)) {
        while (!take_states < has_values ? 2 : 8 > (next, digit, before)) STRATA_SPIN();
      }
      platform::store_relaxed(states(tile) + digit, complete | static_cast<State>(before + count));
    }
    storage_.offset[digit] = static_cast<State>(before - start_in_tile);
  }

  // ------------------------------------------------------------------ to the output
  // Calls `use(place)` for the places in the tile's order whose items the thread stores.
  template <bool IsFull, class Use>
  STRATA_D static void for_places(int valid, const Use& use) {
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const int place = i * block_threads + static_cast<int>(threadIdx.x);
      if (!IsFull && place >= valid) break;
      use(place);
    }
  }
  STRATA_D State item_at(unsigned digit, int place) const {
    return static_cast<State>(storage_.offset[digit] + static_cast<State>(place));
  }

  TempStorage& storage_;
  Code* staged_codes_;
  Value* staged_values_;
  const radix_places<KeyIterator, Key>& keys_;
  const radix_places<ValueIterator, Value>& values_;
  std::size_t num_items_;
  int pass_;
  int first_bit_;
  int bits_;
  const Digits& digits_;
  const radix_workspace<State>& workspace_;
  radix_pass_plan plan_;
};

}  // namespace detail
STRATA_NAMESPACE_END
