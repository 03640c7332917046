// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/radix_rank_half_warps.cuh>
#include <strata/core/detail/packed_array.cuh>
#include <strata/core/detail/radix_code.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/look_back.cuh>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/radix_sort/problem.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// One pass of a sort: moves all items to the offsets of their digits, stably. Each block takes a tile.
///
/// The block ranks the tile's items by their digits and puts them into shared memory in that order. From
/// there it writes them to the output digit by digit, so that neighbouring threads write neighbouring
/// items: first the keys, then the values. The offset of a digit in the output is
///
///     items with smaller digits (histogram) + items with the digit in tiles before (look-back)
///
/// Source: Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs" (2022).
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
  using LookBack = thread_look_back<State, radix_bins>;
  using Ranks = packed_array<has_values ? items_per_thread : 1>;
  // Values fill the registers that a long step of the look-back would take.
  static constexpr int states_per_batch = has_values ? 2 : 8;

  /// The tile's items with one digit: the rank of the first, and their number.
  struct digit_run {
    unsigned start;
    unsigned count;
  };

 public:
  static constexpr int tile_items = block_threads * items_per_thread;

  struct TempStorage {
    typename Rank::TempStorage rank;
    // for each digit: its offset in the output, less the rank of its first item in the tile
    State offset[radix_bins];
    unsigned tile;
  };

  /// Dynamic shared memory: the tile's keys, and later its values, lie behind the rest.
  static constexpr std::size_t stage_offset = round_up(sizeof(TempStorage), std::size_t{128});
  static constexpr std::size_t shared_bytes =
      stage_offset + tile_items * (has_values && sizeof(Value) > sizeof(Code) ? sizeof(Value) : sizeof(Code));

  STRATA_D AgentRadixPass(unsigned char* shared, const radix_buffers<KeyIterator, Key>& keys,
                          const radix_buffers<ValueIterator, Value>& values, std::size_t num_items, int pass,
                          const radix_bit_range& range, const Digits& digits, const radix_workspace& workspace)
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

  /// Takes a tile by a ticket and moves it. With `MayHaveNoTile`, there may be more blocks than tiles.
  template <bool MayHaveNoTile>
  STRATA_D void run() {
    if (plan_.is_skipped) return;
    const std::size_t tile = detail::take_block_ticket(&workspace_.tickets[pass_], storage_.tile);
    if (MayHaveNoTile && tile * tile_items >= num_items_) return;
    move_tile(tile);
  }

  /// Moves a tile that the block has taken. The blocks of the tiles before it must have started earlier.
  STRATA_D void move_tile(std::size_t tile) {
    tile_ = tile;
    clear_next_states();
    const std::size_t left = num_items_ - tile_ * tile_items;
    valid_ = left < tile_items ? static_cast<int>(left) : tile_items;
    with_input([&](const auto& keys, const auto& values) {
      if (plan_.is_copy) {
        copy_tile(keys, keys_.at(plan_.to));
        if constexpr (has_values) copy_tile(values, values_.at(plan_.to));
      } else if (Codes::are_all_exact || plan_.is_exact) {
        sort_tile<true>(keys, values);
      } else {
        sort_tile<false>(keys, values);
      }
    });
  }

 private:
  // Keys that are missing in the last tile are codes with the highest digits, so that they rank behind all
  // others. Where no code has the highest digits, ranking compares each item's index with the end of the tile.
  template <bool IsExact, class Keys, class Values>
  STRATA_D void sort_tile(const Keys& keys, const Values& values) {
    if constexpr (IsExact && Codes::has_highest) {
      sort_tile<IsExact, true>(keys, values);
    } else if constexpr (!IsExact) {
      // Keys that are not exact (-0.0 and NaNs, see radix_code.hpp) are rare, and a path for them takes long to
      // compile. So full tiles and the last tile share one.
      sort_tile<IsExact, false>(keys, values);
    } else if (is_full_tile()) {
      sort_tile<IsExact, true>(keys, values);
    } else {
      sort_tile<IsExact, false>(keys, values);
    }
  }
  template <bool IsExact, bool HasAllCodes, class Keys, class Values>
  STRATA_D void sort_tile(const Keys& keys_in, const Values& values_in) {
    Rank rank(storage_.rank);
    first_item_ = static_cast<int>(rank.first_item());
    Code codes[items_per_thread];
    load_keys(keys_in, codes);
    Ranks ranks;
    const digit_run run = rank_keys<IsExact, HasAllCodes>(rank, codes, ranks);
    // The values arrive while the keys are written, in registers that the keys have left.
    Value values[has_values ? items_per_thread : 1];
    if constexpr (has_values) load(values_in, [&](int i, const Value& value) { values[i] = value; });
    look_back(run);
    __syncthreads();
    scatter_keys<IsExact>();
    if constexpr (has_values) scatter_values<IsExact>(ranks, values);
  }

  template <class Keys>
  STRATA_D void load_keys(const Keys& keys_in, Code (&codes)[items_per_thread]) const {
    if constexpr (Codes::has_highest) {
      if (!is_full_tile()) {
        STRATA_UNROLL
        for (int i = 0; i < items_per_thread; ++i) codes[i] = Codes::highest;
      }
    }
    load(keys_in, [&](int i, const Key& key) { codes[i] = Codes::encode(key); });
  }

  // Publishes the counts as soon as they are known, and puts the keys into shared memory by rank. Returns
  // the run of digit `threadIdx.x`.
  template <bool IsExact, bool HasAllCodes>
  STRATA_D digit_run rank_keys(Rank& rank, const Code (&codes)[items_per_thread], Ranks& ranks) {
    using CodeDigits = radix_code_digits<Digits, IsExact>;
    const CodeDigits code_digits{digits_};
    typename Rank::template tile_digits<HasAllCodes, CodeDigits, Code> digit_of{codes, code_digits, first_bit_,
                                                                                bits_, first_item_, valid_};
    digit_run run{0, 0};
    rank.rank(
        digit_of, [&](unsigned digit, unsigned count) { publish_count(digit, count); },
        [&](unsigned, unsigned start, unsigned count) {
          run = digit_run{start, count};
        },
        [&](int i, unsigned item_rank) {
          if constexpr (has_values) ranks.set(i, item_rank);
          if (HasAllCodes || static_cast<int>(item_rank) < valid_) staged_codes_[item_rank] = codes[i];
        });
    return run;
  }

  STRATA_D void publish_count(unsigned digit, unsigned count) const {
    if (tile_ == 0) {
      const auto smaller = static_cast<State>(workspace_.bins_of(pass_)[digit]);
      column(digit).publish_inclusive(0, static_cast<State>(smaller + count));
    } else {
      column(digit).publish_aggregate(tile_, State{count});
    }
  }

  // A thread for each digit finds the digit's offset in the output.
  STRATA_D void look_back(const digit_run& run) const {
    const unsigned digit = threadIdx.x;
    if (digit >= radix_bins) return;
    State before = 0;  // items with smaller digits, and with this digit in tiles before
    if (tile_ == 0) {
      before = static_cast<State>(workspace_.bins_of(pass_)[digit]);
    } else {
      before = column(digit).template exclusive_prefix<states_per_batch>(tile_);
      column(digit).publish_inclusive(tile_, static_cast<State>(before + run.count));
    }
    storage_.offset[digit] = static_cast<State>(before - run.start);
  }

  template <bool IsExact>
  STRATA_D void scatter_keys() const {
    const radix_code_digits<Digits, IsExact> digit_of{digits_};
    Key* const keys_out = keys_.at(plan_.to);
    for_each_rank<IsExact>([&](int rank) {
      const Code code = staged_codes_[rank];
      const unsigned digit = digit_of(code, first_bit_, bits_);
      if constexpr (has_values) staged_digits()[rank] = static_cast<unsigned char>(digit);
      keys_out[output_offset(digit, rank)] = Codes::decode(code);
    });
  }

  template <bool IsExact>
  STRATA_D void scatter_values(const Ranks& ranks, const Value (&values)[items_per_thread]) const {
    __syncthreads();
    by_fullness([&](auto full) {
      constexpr bool is_full = decltype(full)::value;
      STRATA_UNROLL
      for (int i = 0; i < items_per_thread; ++i) {
        const unsigned rank = ranks.get(i);
        if (is_full || static_cast<int>(rank) < valid_) staged_values_[rank] = values[i];
      }
    });
    __syncthreads();
    Value* const values_out = values_.at(plan_.to);
    for_each_rank<IsExact>(
        [&](int rank) { values_out[output_offset(staged_digits()[rank], rank)] = staged_values_[rank]; });
  }

  // Calls `use` with the iterators from which this pass reads.
  template <class Use>
  STRATA_D void with_input(const Use& use) const {
    if constexpr (std::is_pointer_v<KeyIterator> && (!has_values || std::is_pointer_v<ValueIterator>)) {
      const Key* const keys = plan_.from == radix_buffer::input ? keys_.input : keys_.at(plan_.from);
      if constexpr (has_values) {
        const Value* const values = plan_.from == radix_buffer::input ? values_.input : values_.at(plan_.from);
        use(keys, values);
      } else {
        use(keys, NullType{});
      }
    } else if (plan_.from == radix_buffer::input) {
      use(keys_.input, values_.input);
    } else {
      use(static_cast<const Key*>(keys_.at(plan_.from)), static_cast<const Value*>(values_.at(plan_.from)));
    }
  }

  STRATA_D State* states(unsigned order) const { return static_cast<State*>(workspace_.states[order % 2]); }
  STRATA_D LookBack column(unsigned digit) const { return {states(plan_.order), digit}; }
  STRATA_D void clear_next_states() const {
    State* const next = states(plan_.order + 1) + tile_ * radix_bins;
    for (int i = static_cast<int>(threadIdx.x); i < radix_bins; i += block_threads) next[i] = 0;
  }

  template <class Iterator, class T>
  STRATA_D void copy_tile(const Iterator& in, T* out) const {
    const std::size_t first = tile_ * tile_items;
    T* const to = out + first;
    const Iterator from = detail::advanced(in, first);
    for (int i = static_cast<int>(threadIdx.x); i < valid_; i += block_threads) to[i] = from[i];
  }

  STRATA_D bool is_full_tile() const { return valid_ == tile_items; }
  // Calls `use` with std::true_type in a full tile, otherwise with std::false_type.
  template <class Use>
  STRATA_D void by_fullness(const Use& use) const {
    if (is_full_tile()) {
      use(std::true_type{});
    } else {
      use(std::false_type{});
    }
  }

  // Calls `use(i, item)` for the thread's items.
  template <class Iterator, class Use>
  STRATA_D void load(const Iterator& in, const Use& use) const {
    const Iterator from = detail::advanced(in, tile_ * tile_items);
    by_fullness([&](auto full) {
      constexpr bool is_full = decltype(full)::value;
      STRATA_UNROLL
      for (int i = 0; i < items_per_thread; ++i) {
        const int item = first_item_ + i * Rank::stride();
        if (is_full || item < valid_) use(i, from[static_cast<difference_of<Iterator>>(item)]);
      }
    });
  }

  // Calls `use(rank)` for the ranks whose items the thread writes.
  template <bool IsExact, class Use>
  STRATA_D void for_each_rank(const Use& use) const {
    by_fullness([&](auto full) {
      constexpr bool is_full = decltype(full)::value;
      STRATA_UNROLL_N(IsExact ? items_per_thread : 8)
      for (int i = 0; i < items_per_thread; ++i) {
        const int rank = i * block_threads + static_cast<int>(threadIdx.x);
        if (!is_full && rank >= valid_) break;
        use(rank);
      }
    });
  }
  STRATA_D State output_offset(unsigned digit, int rank) const {
    return static_cast<State>(storage_.offset[digit] + static_cast<State>(rank));
  }

  // The digits of the staged keys, in memory that ranking no longer needs.
  STRATA_D unsigned char* staged_digits() const {
    // not for users: policies are checked where they are read
    static_assert(!has_values || sizeof(storage_.rank) >= tile_items,
                  "radix_pass_tuning: items_per_thread must be at most 64");
    return reinterpret_cast<unsigned char*>(&storage_.rank);
  }

  TempStorage& storage_;
  Code* staged_codes_;
  Value* staged_values_;
  const radix_buffers<KeyIterator, Key>& keys_;
  const radix_buffers<ValueIterator, Value>& values_;
  std::size_t num_items_;
  int pass_;
  int first_bit_;
  int bits_;
  const Digits& digits_;
  const radix_workspace& workspace_;
  radix_pass_plan plan_;
  std::size_t tile_ = 0;
  int valid_ = 0;       // items of the tile
  int first_item_ = 0;  // the index in the tile of the thread's first item
};

}  // namespace detail
STRATA_NAMESPACE_END
