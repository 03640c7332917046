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

/// A sort in one cluster of blocks, whose shared memory holds all items from the first pass to the last.
///
/// Each block has a tile of the items in its registers, ranks them by a digit, and puts them into its shared
/// memory in that order. Then it reads the digit counts of all blocks from their shared memory, and writes
/// each item to the shared memory of the block in whose tile the item now belongs.
template <class Policy, class KeyIterator, class ValueIterator, class Digits>
class AgentRadixCluster {
  static constexpr radix_cluster_tuning tuning = Policy::cluster;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int items_per_thread = tuning.items_per_thread;
  using Key = iterator_value_t<KeyIterator>;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  using Value = iterator_value_t<std::conditional_t<has_values, ValueIterator, KeyIterator>>;
  using Rank = radix_rank_half_warps<block_threads, items_per_thread, radix_bits, true>;
  using DigitScan = radix_digit_scan<radix_bins>;
  static constexpr std::size_t capacity = std::size_t{block_threads} * items_per_thread;

 public:
  struct TempStorage {
    typename Rank::TempStorage rank;
    unsigned counts[radix_bins];  // of this block's items; all blocks read them
    unsigned offset[radix_bins];  // of a digit: rank among all items, less the rank in the tile
    typename DigitScan::TempStorage scan;
  };

  /// Dynamic shared memory, behind the rest: the tile in the order of a digit, and the next tile,
  /// both with values.
  static constexpr std::size_t keys_offset = round_up(sizeof(TempStorage), std::size_t{128});
  static constexpr std::size_t next_keys_offset = round_up(keys_offset + capacity * sizeof(Key), std::size_t{128});
  static constexpr std::size_t values_offset = round_up(next_keys_offset + capacity * sizeof(Key), std::size_t{128});
  static constexpr std::size_t next_values_offset =
      round_up(values_offset + capacity * sizeof(Value), std::size_t{128});
  static constexpr std::size_t shared_bytes =
      has_values ? next_values_offset + capacity * sizeof(Value) : values_offset;

  /// Tiles have 2^`tile_bits` items, the same number for each thread.
  STRATA_D AgentRadixCluster(unsigned char* shared, int num_items, int tile_bits, const radix_bit_range& range,
                             const Digits& digits)
      : storage_(*reinterpret_cast<TempStorage*>(shared)),
        stage_(reinterpret_cast<Key*>(shared + keys_offset)),
        next_(reinterpret_cast<Key*>(shared + next_keys_offset)),
        value_stage_(reinterpret_cast<Value*>(shared + values_offset)),
        next_values_(reinterpret_cast<Value*>(shared + next_values_offset)),
        tile_bits_(tile_bits),
        first_(static_cast<int>(platform::cluster_rank()) << tile_bits),
        valid_(items_of_tile(num_items - first_, 1 << tile_bits)),
        rank_(storage_.rank, (1 << tile_bits) / block_threads),
        range_(range),
        digits_(digits) {}

  STRATA_D void sort(const KeyIterator& keys_in, Key* keys_out, const ValueIterator& values_in, Value* values_out) {
    const auto first = static_cast<std::size_t>(first_);
    Key keys[items_per_thread];
    Value values[has_values ? items_per_thread : 1];
    load(detail::advanced(keys_in, first), keys);
    if constexpr (has_values) load(detail::advanced(values_in, first), values);
    const int passes = range_.passes();
    for (int pass = 0;; ++pass) {
      const unsigned start_in_tile = stage_by_digit(pass, keys, values);
      platform::cluster_sync();
      find_offsets(start_in_tile);
      if (pass + 1 == passes) {
        for_each_staged(pass, [&](int i, unsigned rank) {
          keys_out[rank] = stage_[i];
          if constexpr (has_values) values_out[rank] = value_stage_[i];
        });
        break;
      }
      for_each_staged(pass, [&](int i, unsigned rank) {
        const unsigned block = rank >> tile_bits_;
        const unsigned in_tile = rank & ((1u << tile_bits_) - 1);
        platform::map_shared(next_, block)[in_tile] = stage_[i];
        if constexpr (has_values) {
          platform::map_shared(next_values_, block)[in_tile] = value_stage_[i];
        }
      });
      platform::cluster_sync();
      load(static_cast<const Key*>(next_), keys);
      if constexpr (has_values) load(static_cast<const Value*>(next_values_), values);
    }
    // Other blocks may still read this block's counts.
    platform::cluster_sync();
  }

 private:
  STRATA_D static int items_of_tile(int left, int tile) { return left < 0 ? 0 : detail::least(left, tile); }

  template <class Iterator, class T>
  STRATA_D void load(const Iterator& from, T (&items)[items_per_thread]) const {
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const int item = static_cast<int>(rank_.first_item()) + i * Rank::stride();
      if (i * block_threads >= 1 << tile_bits_) break;
      if (item < valid_) items[i] = from[static_cast<difference_of<Iterator>>(item)];
    }
  }

  // Thread d handles digit d. It gets the rank in the tile of the first item with that digit.
  STRATA_D unsigned stage_by_digit(int pass, const Key (&keys)[items_per_thread],
                                   const Value (&values)[has_values ? items_per_thread : 1]) {
    typename Rank::template tile_digits<false, Digits, Key> digit_of{
        keys, digits_, range_.first_bit(pass), range_.bits(pass), static_cast<int>(rank_.first_item()), valid_};
    const auto missing = static_cast<unsigned>((1 << tile_bits_) - valid_);
    unsigned start_in_tile = 0;
    rank_.rank(
        digit_of,
        [&](unsigned digit, unsigned count) {
          storage_.counts[digit] = digit == radix_bins - 1 ? count - missing : count;
        },
        [&](unsigned, unsigned start, unsigned) { start_in_tile = start; },
        [&](int i, unsigned rank) {
          if (static_cast<int>(rank) >= valid_) return;
          stage_[rank] = keys[i];
          if constexpr (has_values) value_stage_[rank] = values[i];
        });
    return start_in_tile;
  }

  // Finds the offset of the block's items with each digit, by a thread for each digit.
  STRATA_D void find_offsets(unsigned start_in_tile) {
    const unsigned digit = threadIdx.x;
    unsigned before = 0, all = 0;  // items with the digit: in blocks before this one, in all blocks
    const auto count_all = [&] {
      const unsigned this_block = platform::cluster_rank();
      STRATA_UNROLL
      for (int i = 0; i < tuning.blocks; ++i) {
        const auto block = static_cast<unsigned>(i);
        const unsigned count = *platform::map_shared(&storage_.counts[digit], block);
        all += count;
        before += block < this_block ? count : 0;
      }
    };
    DigitScan::exclusive_sum(storage_.scan, digit, digit % warp_threads, digit < radix_bins, all, count_all,
                             [&](unsigned smaller) { storage_.offset[digit] = smaller + before - start_in_tile; });
    __syncthreads();
  }

  // Calls `use(i, rank)` for the staged items that the thread moves: `i` is the place of an item in the tile after
  // ranking by the digit, and `rank` its rank among all items.
  template <class Use>
  STRATA_D void for_each_staged(int pass, const Use& use) const {
    const int first_bit = range_.first_bit(pass);
    const int bits = range_.bits(pass);
    STRATA_UNROLL
    for (int row = 0; row < items_per_thread; ++row) {
      const int i = row * block_threads + static_cast<int>(threadIdx.x);
      if (i >= valid_) break;
      use(i, storage_.offset[digits_(stage_[i], first_bit, bits)] + static_cast<unsigned>(i));
    }
  }

  TempStorage& storage_;
  Key* stage_;
  Key* next_;
  Value* value_stage_;
  Value* next_values_;
  int tile_bits_;
  int first_;
  int valid_;
  Rank rank_;
  radix_bit_range range_;
  const Digits& digits_;
};

}  // namespace detail
STRATA_NAMESPACE_END
