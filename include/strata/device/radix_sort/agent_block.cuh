// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/radix_rank_half_warps.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/problem.cuh>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A sort of one tile by one block. The items stay in registers and shared memory from the first pass to the
/// last.
template <class BlockTuning, class KeyIterator, class ValueIterator, class Digits>
class AgentRadixBlock {
  static constexpr radix_block_tuning tuning = BlockTuning::value;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int items_per_thread = tuning.items_per_thread;
  using Key = iterator_value_t<KeyIterator>;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  using Value = iterator_value_t<std::conditional_t<has_values, ValueIterator, KeyIterator>>;
  using Rank = radix_rank_half_warps<block_threads, items_per_thread, radix_bits>;

 public:
  static constexpr int tile_items = block_threads * items_per_thread;

  struct TempStorage {
    typename Rank::TempStorage rank;
  };

  /// Dynamic shared memory: the tile's keys, and later its values, lie behind the rest.
  static constexpr std::size_t stage_offset = round_up(sizeof(TempStorage), std::size_t{128});
  static constexpr std::size_t shared_bytes =
      stage_offset +
      static_cast<std::size_t>(tile_items) * (has_values && sizeof(Value) > sizeof(Key) ? sizeof(Value) : sizeof(Key));

  STRATA_D AgentRadixBlock(unsigned char* shared, int num_items, const radix_bit_range& range, const Digits& digits)
      : storage_(*reinterpret_cast<TempStorage*>(shared)),
        stage_(shared + stage_offset),
        num_items_(num_items),
        range_(range),
        digits_(digits) {}

  STRATA_D void sort(const KeyIterator& keys_in, Key* keys_out, const ValueIterator& values_in, Value* values_out) {
    Rank rank(storage_.rank);
    first_item_ = static_cast<int>(rank.first_item());
    Key keys[items_per_thread];
    Value values[has_values ? items_per_thread : 1];
    load(keys_in, keys);
    if constexpr (has_values) load(values_in, values);

    const int passes = range_.passes();
    for (int pass = 0; pass < passes; ++pass) {
      typename Rank::template tile_digits<false, Digits, Key> digit_of{
          keys, digits_, range_.first_bit(pass), range_.bits(pass), first_item_, num_items_};
      unsigned short ranks[items_per_thread];
      rank.rank(
          digit_of, [](unsigned, unsigned) {}, [](unsigned, unsigned, unsigned) {},
          [&](int i, unsigned item_rank) { ranks[i] = static_cast<unsigned short>(item_rank); });
      exchange(ranks, keys);
      if constexpr (has_values) exchange(ranks, values);
    }
    if (keys_out != nullptr) store(keys, keys_out);
    if constexpr (has_values) store(values, values_out);
  }

 private:
  STRATA_D bool is_valid(int i) const { return first_item_ + i * Rank::stride() < num_items_; }

  template <class Iterator, class T>
  STRATA_D void load(const Iterator& from, T (&items)[items_per_thread]) const {
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      if (is_valid(i)) {
        items[i] = from[static_cast<difference_of<Iterator>>(first_item_ + i * Rank::stride())];
      }
    }
  }
  template <class T>
  STRATA_D void store(const T (&items)[items_per_thread], T* to) const {
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      if (is_valid(i)) to[first_item_ + i * Rank::stride()] = items[i];
    }
  }

  // The ranks of valid items are positions of valid items, because missing items rank last and ranks are stable.
  template <class T>
  STRATA_D void exchange(const unsigned short (&ranks)[items_per_thread], T (&items)[items_per_thread]) const {
    auto* const stage = reinterpret_cast<T*>(stage_);
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      if (is_valid(i)) stage[ranks[i]] = items[i];
    }
    __syncthreads();
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      if (is_valid(i)) items[i] = stage[first_item_ + i * Rank::stride()];
    }
    __syncthreads();
  }

  TempStorage& storage_;
  unsigned char* stage_;
  int num_items_;
  radix_bit_range range_;
  const Digits& digits_;
  int first_item_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
