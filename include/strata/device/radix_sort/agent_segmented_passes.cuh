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
#include <strata/warp/warp_scan.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A sort of one segment longer than a tile by one block, least significant digit first. The block counts all
/// digits in one read. Then each pass moves the segment by one digit, tile after tile, unless all items have the
/// same digit. A tile is handled as in AgentRadixPass; offsets need no look-back, because one block does all tiles.
template <class Policy, bool HasValues, class Key, class Value, class Digits>
class AgentSegmentPasses {
  static constexpr int block_threads = Policy::segmented.block_threads;
  static constexpr int items_per_thread = Policy::segmented.items_per_thread;
  static constexpr int max_passes = detail::ceiling_divide(Digits::key_bits, radix_bits);
  using Rank = radix_rank_half_warps<block_threads, items_per_thread, radix_bits>;
  using KeyBuffers = radix_buffers<const Key*, Key>;
  using ValueBuffers = radix_buffers<const Value*, Value>;

 public:
  static constexpr int tile_items = block_threads * items_per_thread;
  // Counters of 32 bits are added to those of 64 bits after this many items.
  static constexpr std::size_t items_of_counters = std::size_t{64} * tile_items;

  struct TempStorage {
    union {
      typename Rank::TempStorage rank;
      unsigned counters[max_passes][radix_bins];
    };
    // For each pass: how many items have a digit, then the offset of the next item with that digit.
    unsigned long long bins[max_passes][radix_bins];
    unsigned long long offset[radix_bins];  // of a digit: offset in the output, less its first item's rank in the tile
    bool is_constant[max_passes];
    radix_pass_plan plan[max_passes];
  };

  /// Dynamic shared memory: the tile's keys, and later its values, lie behind the rest.
  static constexpr std::size_t stage_offset = round_up(sizeof(TempStorage), std::size_t{128});
  static constexpr std::size_t shared_bytes =
      stage_offset + static_cast<std::size_t>(tile_items) * detail::most(sizeof(Value), sizeof(Key));

  STRATA_D AgentSegmentPasses(unsigned char* shared, const KeyBuffers& keys, const ValueBuffers& values,
                              std::size_t num_items, const radix_bit_range& range, const Digits& digits)
      : storage_(*reinterpret_cast<TempStorage*>(shared)),
        stage_(shared + stage_offset),
        keys_(keys),
        values_(values),
        num_items_(num_items),
        range_(range),
        digits_(digits) {}

  STRATA_D void sort(radix_result result) {
    if (range_.passes() == 0) {
      copy(radix_buffer::input, radix_buffer::output);
      return;
    }
    // See plan_radix_passes().
    if (result == radix_result::in_place && range_.passes() % 2 != 0) copy(radix_buffer::input, radix_buffer::scratch);
    count_digits();
    find_starts();
    __syncthreads();
    if (threadIdx.x == 0) {
      detail::plan_radix_passes(storage_.plan, range_.passes(), storage_.is_constant, true, result);
    }
    __syncthreads();
    for (int pass = 0; pass < range_.passes(); ++pass) {
      const radix_pass_plan plan = storage_.plan[pass];
      if (plan.is_skipped) continue;
      if (plan.is_copy) {
        copy(plan.from, plan.to);
      } else {
        move(pass, plan);
      }
      __syncthreads();  // The next pass reads what other threads have written.
    }
    __syncthreads();  // The storage may be used again.
  }

 private:
  STRATA_D const Key* keys_at(radix_buffer buffer) const {
    return buffer == radix_buffer::input ? keys_.input : keys_.at(buffer);
  }
  STRATA_D const Value* values_at(radix_buffer buffer) const {
    return buffer == radix_buffer::input ? values_.input : values_.at(buffer);
  }

  STRATA_D void copy(radix_buffer from, radix_buffer to) const {
    for (std::size_t i = threadIdx.x; i < num_items_; i += block_threads) {
      keys_.at(to)[i] = keys_at(from)[i];
      if constexpr (HasValues) values_.at(to)[i] = values_at(from)[i];
    }
  }

  // ------------------------------------------------------------------ counts
  STRATA_D void count_digits() {
    const int counters = range_.passes() * radix_bins;
    for (int i = static_cast<int>(threadIdx.x); i < counters; i += block_threads) {
      counter(i) = 0;
      bin(i) = 0;
    }
    for (std::size_t first = 0; first < num_items_;) {
      const std::size_t end = num_items_ - first < items_of_counters ? num_items_ : first + items_of_counters;
      __syncthreads();
      for (; first < end; first += tile_items) count_tile(first);
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < counters; i += block_threads) {
        bin(i) += counter(i);
        counter(i) = 0;
      }
    }
    __syncthreads();
  }

  STRATA_D unsigned& counter(int i) { return storage_.counters[i / radix_bins][i % radix_bins]; }
  STRATA_D unsigned long long& bin(int i) { return storage_.bins[i / radix_bins][i % radix_bins]; }

  STRATA_D void count_tile(std::size_t first) {
    const std::size_t left = num_items_ - first;
    const int valid = left < tile_items ? static_cast<int>(left) : tile_items;
    Key keys[items_per_thread];
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const int item = i * block_threads + static_cast<int>(threadIdx.x);
      if (item < valid) keys[i] = keys_.input[first + static_cast<std::size_t>(item)];
    }
    for (int pass = 0; pass < range_.passes(); ++pass) {
      STRATA_UNROLL
      for (int i = 0; i < items_per_thread; ++i) {
        if (i * block_threads + static_cast<int>(threadIdx.x) >= valid) break;
        atomicAdd(&storage_.counters[pass][digits_(keys[i], range_.first_bit(pass), range_.bits(pass))], 1u);
      }
    }
  }

  // Turns counts into offsets: each warp takes a pass.
  STRATA_D void find_starts() {
    using Scan = WarpScan<unsigned long long>;
    typename Scan::TempStorage unused;
    const int lane = static_cast<int>(platform::lane_id());
    for (int pass = static_cast<int>(threadIdx.x) / warp_threads; pass < range_.passes();
         pass += block_threads / warp_threads) {
      unsigned long long before = 0;
      bool is_constant = false;
      for (int bin = lane; bin < radix_bins; bin += warp_threads) {
        const unsigned long long count = storage_.bins[pass][bin];
        is_constant = is_constant || count == num_items_;
        unsigned long long up_to_here, in_row;
        Scan(unused).InclusiveSum(count, up_to_here, in_row);
        storage_.bins[pass][bin] = before + up_to_here - count;
        before += in_row;
      }
      is_constant = __any_sync(full_warp_mask, is_constant ? 1 : 0) != 0;
      if (lane == 0) storage_.is_constant[pass] = is_constant;
    }
  }

  // ------------------------------------------------------------------ moves
  /// A tile of a pass.
  struct tile {
    const radix_pass_plan& plan;
    std::size_t first;  // item of the segment
    int valid;          // items
    int first_item;     // the thread's first item in the tile
    int pass;
  };

  STRATA_D void move(int pass, const radix_pass_plan& plan) {
    std::size_t first = 0;
    for (; num_items_ - first >= tile_items; first += tile_items) {
      move_tile<true>(pass, plan, first, tile_items);
      if (num_items_ - first == tile_items) return;
    }
    move_tile<false>(pass, plan, first, static_cast<int>(num_items_ - first));
  }

  template <bool IsFull>
  STRATA_D void move_tile(int pass, const radix_pass_plan& plan, std::size_t first, int valid) {
    Rank rank(storage_.rank);
    const tile from{plan, first, valid, static_cast<int>(rank.first_item()), pass};
    unsigned short ranks[HasValues ? items_per_thread : 1];
    unsigned char digits[HasValues ? items_per_thread : 1];
    Key keys[items_per_thread];
    load<IsFull>(keys_at(plan.from), from, keys);
    rank_keys<IsFull>(rank, from, keys, ranks);
    __syncthreads();
    scatter_keys<IsFull>(from, digits);
    if constexpr (HasValues) {
      Value values[items_per_thread];
      load<IsFull>(values_at(plan.from), from, values);
      __syncthreads();  // The keys have left shared memory.
      scatter_values<IsFull>(from, ranks, digits, values);
    }
  }

  // Puts the tile's keys into shared memory by their digits, and finds the offsets of the digits.
  template <bool IsFull>
  STRATA_D void rank_keys(Rank& rank, const tile& from, const Key (&keys)[items_per_thread],
                          unsigned short (&ranks)[HasValues ? items_per_thread : 1]) {
    typename Rank::template tile_digits<IsFull, Digits, Key> digit_of{
        keys, digits_, range_.first_bit(from.pass), range_.bits(from.pass), from.first_item, from.valid};
    auto* const staged = reinterpret_cast<Key*>(stage_);
    rank.rank(
        digit_of, [](unsigned, unsigned) {},
        [&](unsigned digit, unsigned start, unsigned count) {
          // Missing items are counted too, but no tile follows them.
          const unsigned long long next = storage_.bins[from.pass][digit];
          storage_.offset[digit] = next - start;
          storage_.bins[from.pass][digit] = next + count;
        },
        [&](int i, unsigned item_rank) {
          if (IsFull || static_cast<int>(item_rank) < from.valid) staged[item_rank] = keys[i];
          if constexpr (HasValues) ranks[i] = static_cast<unsigned short>(item_rank);
        });
  }

  // Writes the keys of the tile. Keeps the digits of the keys that the thread writes: their values need them, too.
  template <bool IsFull>
  STRATA_D void scatter_keys(const tile& from, unsigned char (&digits)[HasValues ? items_per_thread : 1]) const {
    const auto* const staged = reinterpret_cast<const Key*>(stage_);
    Key* const keys_out = keys_.at(from.plan.to);
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const int rank = i * block_threads + static_cast<int>(threadIdx.x);
      if (!IsFull && rank >= from.valid) break;
      const Key key = staged[rank];
      const unsigned digit = digits_(key, range_.first_bit(from.pass), range_.bits(from.pass));
      if constexpr (HasValues) digits[i] = static_cast<unsigned char>(digit);
      keys_out[storage_.offset[digit] + static_cast<unsigned>(rank)] = key;
    }
  }

  template <bool IsFull>
  STRATA_D void scatter_values(const tile& from, const unsigned short (&ranks)[HasValues ? items_per_thread : 1],
                               const unsigned char (&digits)[HasValues ? items_per_thread : 1],
                               const Value (&values)[items_per_thread]) const {
    auto* const staged = reinterpret_cast<Value*>(stage_);
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      if (IsFull || ranks[i] < from.valid) staged[ranks[i]] = values[i];
    }
    __syncthreads();
    Value* const values_out = values_.at(from.plan.to);
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const int rank = i * block_threads + static_cast<int>(threadIdx.x);
      if (!IsFull && rank >= from.valid) break;
      values_out[storage_.offset[digits[i]] + static_cast<unsigned>(rank)] = staged[rank];
    }
  }

  template <bool IsFull, class T>
  STRATA_D static void load(const T* in, const tile& from, T (&items)[items_per_thread]) {
    const T* const first = in + from.first;
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const int item = from.first_item + i * Rank::stride();
      if (IsFull || item < from.valid) items[i] = first[item];
    }
  }

  TempStorage& storage_;
  unsigned char* stage_;
  const KeyBuffers& keys_;
  const ValueBuffers& values_;
  std::size_t num_items_;
  const radix_bit_range& range_;
  const Digits& digits_;
};

}  // namespace detail
STRATA_NAMESPACE_END
