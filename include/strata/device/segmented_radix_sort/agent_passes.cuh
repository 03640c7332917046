// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/radix_rank_half_warps.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/agent_pass.cuh>
#include <strata/device/radix_sort/digit_plan.cuh>
#include <strata/device/radix_sort/tuning.hpp>
#include <strata/device/radix_sort/workspace.cuh>
#include <strata/warp/warp_scan.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A sort of one long segment by one block, least significant digit first. All digits are counted
/// in one reading; then each pass moves the segment by one digit, tile after tile, unless the digit
/// is the same everywhere. See AgentRadixPass for what happens to a tile.
template <class Policy, bool HasValues, class Key, class Value, class Digits>
class AgentSegmentPasses {
  static constexpr int block_threads = Policy::segmented.block_threads;
  static constexpr int items_per_thread = Policy::segmented.items_per_thread;
  static constexpr int most_passes = ceiling_divide(Digits::key_bits, radix_bits);
  using Rank = radix_rank_half_warps<block_threads, items_per_thread, radix_bits>;
  using KeyPlaces = radix_places<const Key*, Key>;
  using ValuePlaces = radix_places<const Value*, Value>;

 public:
  static constexpr int tile_items = block_threads * items_per_thread;
  // Counters of 32 bits take so many at a time.
  static constexpr std::size_t items_of_counters = std::size_t{64} * tile_items;

  struct TempStorage {
    union {
      typename Rank::TempStorage rank;
      unsigned counters[most_passes][radix_bins];
    };
    // Of each pass: how many items have a digit, then where the next item with that digit goes.
    unsigned long long bins[most_passes][radix_bins];
    // Of a digit: place in the output, less the place in the tile.
    unsigned long long offset[radix_bins];
    bool is_constant[most_passes];
    radix_pass_plan plan[most_passes];
  };

  /// Dynamic shared memory: the tile's keys, later its values, behind the rest.
  static constexpr std::size_t stage_offset = round_up(sizeof(TempStorage), std::size_t{128});
  static constexpr std::size_t shared_bytes =
      stage_offset + static_cast<std::size_t>(tile_items) *
                         (sizeof(Value) > sizeof(Key) ? sizeof(Value) : sizeof(Key));

  STRATA_D AgentSegmentPasses(unsigned char* shared, const KeyPlaces& keys,
                              const ValuePlaces& values, std::size_t num_items,
                              const radix_bit_range& range, const Digits& digits)
      : storage_(*reinterpret_cast<TempStorage*>(shared)),
        stage_(shared + stage_offset),
        keys_(keys),
        values_(values),
        num_items_(num_items),
        range_(range),
        digits_(digits) {}

  STRATA_D void sort(bool between_two_buffers) {
    if (range_.passes() == 0) {
      copy(radix_place::input, radix_place::output);
      return;
    }
    count_digits();
    find_starts();
    __syncthreads();
    if (threadIdx.x == 0) {
      detail::plan_radix_passes(storage_.plan, range_.passes(), storage_.is_constant, true,
                                between_two_buffers);
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
  STRATA_D const Key* keys_at(radix_place place) const {
    return place == radix_place::input ? keys_.input : keys_.at(place);
  }
  STRATA_D const Value* values_at(radix_place place) const {
    return place == radix_place::input ? values_.input : values_.at(place);
  }

  STRATA_D void copy(radix_place from, radix_place to) const {
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
      const std::size_t end =
          num_items_ - first < items_of_counters ? num_items_ : first + items_of_counters;
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
      const int place = i * block_threads + static_cast<int>(threadIdx.x);
      if (place < valid) keys[i] = keys_.input[first + static_cast<std::size_t>(place)];
    }
    for (int pass = 0; pass < range_.passes(); ++pass) {
      STRATA_UNROLL
      for (int i = 0; i < items_per_thread; ++i) {
        if (i * block_threads + static_cast<int>(threadIdx.x) >= valid) break;
        atomicAdd(&storage_.counters[pass][digits_(keys[i], range_.first_bit(pass),
                                                   range_.bits(pass))],
                  1u);
      }
    }
  }

  // Each warp those of a pass.
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
    const auto first_item = static_cast<int>(rank.first_item());
    Key keys[items_per_thread];
    load<IsFull>(keys_at(plan.from) + first, first_item, valid, keys);

    tile_digits<IsFull> digit_of{keys, digits_, range_.first_bit(pass), range_.bits(pass),
                                 first_item, valid};
    auto* const sorted = reinterpret_cast<Key*>(stage_);
    unsigned short place_of[HasValues ? items_per_thread : 1];
    rank.rank(
        digit_of, [](unsigned, unsigned) {},
        [&](unsigned digit, unsigned start, unsigned count) {
          // Missing items are counted too; behind them no tile comes.
          const unsigned long long next = storage_.bins[pass][digit];
          storage_.offset[digit] = next - start;
          storage_.bins[pass][digit] = next + count;
        },
        [&](int i, unsigned place) {
          if (IsFull || static_cast<int>(place) < valid) sorted[place] = keys[i];
          if constexpr (HasValues) place_of[i] = static_cast<unsigned short>(place);
        });
    __syncthreads();

    unsigned char digit_at[HasValues ? items_per_thread : 1];
    Key* const to = keys_.at(plan.to);
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const int place = i * block_threads + static_cast<int>(threadIdx.x);
      if (!IsFull && place >= valid) break;
      const Key key = sorted[place];
      const unsigned digit = digits_(key, range_.first_bit(pass), range_.bits(pass));
      if constexpr (HasValues) digit_at[i] = static_cast<unsigned char>(digit);
      to[storage_.offset[digit] + static_cast<unsigned>(place)] = key;
    }
    if constexpr (HasValues) {
      Value values[items_per_thread];
      load<IsFull>(values_at(plan.from) + first, first_item, valid, values);
      __syncthreads();  // The keys have left shared memory.
      auto* const sorted_values = reinterpret_cast<Value*>(stage_);
      STRATA_UNROLL
      for (int i = 0; i < items_per_thread; ++i) {
        if (IsFull || place_of[i] < valid) sorted_values[place_of[i]] = values[i];
      }
      __syncthreads();
      Value* const values_to = values_.at(plan.to);
      STRATA_UNROLL
      for (int i = 0; i < items_per_thread; ++i) {
        const int place = i * block_threads + static_cast<int>(threadIdx.x);
        if (!IsFull && place >= valid) break;
        values_to[storage_.offset[digit_at[i]] + static_cast<unsigned>(place)] =
            sorted_values[place];
      }
    }
  }

  template <bool IsFull>
  struct tile_digits {
    const Key (&keys)[items_per_thread];
    const Digits& digits;
    int first_bit;
    int bits;
    int first_item;
    int valid;

    // Missing items come last: behind all others of the greatest digit.
    STRATA_D unsigned operator()(int i) const {
      if (!IsFull && first_item + i * Rank::stride() >= valid) return unsigned{radix_bins - 1};
      return digits(keys[i], first_bit, bits);
    }
    STRATA_D void forget() { platform::forget(first_bit); }
  };

  template <bool IsFull, class T>
  STRATA_D static void load(const T* from, int first_item, int valid,
                            T (&items)[items_per_thread]) {
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      const int place = first_item + i * Rank::stride();
      if (IsFull || place < valid) items[i] = from[place];
    }
  }

  TempStorage& storage_;
  unsigned char* stage_;
  const KeyPlaces& keys_;
  const ValuePlaces& values_;
  std::size_t num_items_;
  const radix_bit_range& range_;
  const Digits& digits_;
};

}  // namespace detail
STRATA_NAMESPACE_END
