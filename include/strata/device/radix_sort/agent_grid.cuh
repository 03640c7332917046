// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/radix_rank_half_warps.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/agent_pass.cuh>
#include <strata/device/radix_sort/grid_barrier.cuh>
#include <strata/device/radix_sort/grid_counts.cuh>
#include <strata/device/radix_sort/tuning.hpp>
#include <strata/device/radix_sort/workspace.cuh>
#include <strata/warp/warp_scan.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What the blocks of a sort in one launch share in device memory.
struct radix_grid_workspace {
  grid_barrier_arguments barrier;
  unsigned* counts;  // radix_grid_counts::number_of_words() of them
};

/// A sort of as many items as the blocks that a device holds at a time have room for, in one
/// launch. All blocks are resident.
///
/// Each block has a tile of the items in its registers, ranks them by a digit, and puts them in
/// that order in shared memory, while the counts of all blocks go to all. From there they go to
/// where the digit's items of this block belong. When all blocks have written, each takes the tile
/// that now lies in its place. Passes take turns with the output and the buffer: so whoever writes
/// to one of them is a barrier behind all who have read from it.
template <class Policy, class KeyIterator, class ValueIterator, class Digits>
class AgentRadixGrid {
  static constexpr radix_grid_tuning tuning = Policy::grid;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int items_per_thread = tuning.items_per_thread;
  using Key = iterator_value_t<KeyIterator>;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  using Value = iterator_value_t<std::conditional_t<has_values, ValueIterator, KeyIterator>>;
  using Rank = radix_rank_half_warps<block_threads, items_per_thread, radix_bits, true>;
  // Items of a thread that are under way together, from shared memory to their places.
  static constexpr int at_once = 4;
  static constexpr int bin_warps = radix_bins / warp_threads;
  static constexpr unsigned parts = unsigned{block_threads} / radix_bins;
  static constexpr std::size_t capacity = std::size_t{block_threads} * items_per_thread;

 public:
  struct TempStorage {
    typename Rank::TempStorage rank;
    unsigned before[parts][radix_bins];
    unsigned all[parts][radix_bins];
    // Of a digit: place in the output, less the place in the tile.
    unsigned offset[radix_bins];
    unsigned sum_of_warp[bin_warps];
    bool is_last;
  };

  /// Dynamic shared memory: the tile's keys and its values, behind the rest.
  static constexpr std::size_t keys_offset = round_up(sizeof(TempStorage), std::size_t{128});
  static constexpr std::size_t values_offset =
      round_up(keys_offset + capacity * sizeof(Key), std::size_t{128});
  static constexpr std::size_t shared_bytes =
      has_values ? values_offset + capacity * sizeof(Value) : values_offset;

  /// Tiles have `rows` items a thread.
  STRATA_D AgentRadixGrid(unsigned char* shared, const radix_places<KeyIterator, Key>& keys,
                          const radix_places<ValueIterator, Value>& values, unsigned num_items,
                          int rows, const radix_bit_range& range, const Digits& digits,
                          const radix_grid_workspace& workspace)
      : storage_(*reinterpret_cast<TempStorage*>(shared)),
        stage_(reinterpret_cast<Key*>(shared + keys_offset)),
        value_stage_(reinterpret_cast<Value*>(shared + values_offset)),
        keys_(keys),
        values_(values),
        num_items_(num_items),
        rows_(rows),
        first_(blockIdx.x * static_cast<unsigned>(rows * block_threads)),
        valid_(items_of_tile(num_items - first_, rows)),
        range_(range),
        digits_(digits),
        barrier_(workspace.barrier),
        departures_(workspace.barrier.departures),
        counts_(workspace.counts) {}

  STRATA_D void run() {
    const int passes = range_.passes();
    counts_.clear(passes);
    if (blockIdx.x == 0 && threadIdx.x == 0) *departures_ = 0;
    barrier_.arrive();
    Key keys[items_per_thread];
    Value values[has_values ? items_per_thread : 1];
    load(keys_.input, keys);
    if constexpr (has_values) load(values_.input, values);
    barrier_.wait();

    // As if all passes moved items, the last to the output. Between two buffers of the caller, the
    // input is where they come from.
    radix_place place = passes % 2 != 0 ? radix_place::buffer : radix_place::output;
    bool has_moved = false;
    for (int pass = 0; pass < passes; ++pass) {
      const bool is_last = pass + 1 == passes;
      const unsigned start_in_tile = stage_by_digit(pass, keys, values);
      if (find_places(pass, start_in_tile)) {
        // The digit is the same everywhere: the staged tile is in the order in which it came.
        unstage(stage_, keys);
        if constexpr (has_values) unstage(value_stage_, values);
        continue;
      }
      if (is_last && place == radix_place::output) meet();  // Until all have read from there.
      place = is_last || place == radix_place::buffer ? radix_place::output : radix_place::buffer;
      has_moved = true;
      store_by_digit(pass, place);
      if (is_last) break;
      meet();
      load(static_cast<const Key*>(keys_.at(place)), keys);
      if constexpr (has_values) load(static_cast<const Value*>(values_.at(place)), values);
    }
    if (!has_moved || place != radix_place::output) {
      store(keys, keys_.output);
      if constexpr (has_values) store(values, values_.output);
    }
    barrier_.leave(storage_.is_last);
  }

 private:
  struct tile_digits {
    const AgentRadixGrid& agent;
    const Key (&keys)[items_per_thread];
    int first_item;
    int first_bit;
    int bits;

    // Missing items stay behind all others.
    STRATA_D unsigned operator()(int i) const {
      return first_item + i * Rank::stride() < agent.valid_
                 ? agent.digits_(keys[i], first_bit, bits)
                 : unsigned{radix_bins - 1};
    }
    STRATA_D void forget() {
      platform::forget(first_bit);
      platform::forget(first_item);
    }
  };

  STRATA_D void meet() {
    barrier_.arrive();
    barrier_.wait();
  }
  STRATA_D static int items_of_tile(unsigned left, int rows) {
    const auto full = static_cast<unsigned>(rows * block_threads);
    return static_cast<int>(left < full ? left : full);
  }

  // ------------------------------------------------------------------ from and to the tile's place
  STRATA_D int first_item() const {
    return static_cast<int>(Rank(storage_.rank, rows_).first_item());
  }

  template <class Use>
  STRATA_D void for_own_items(const Use& use) const {
    int first_item = this->first_item();
    platform::forget(first_item);  // or what is computed from it stays in registers in all passes
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      if (i >= rows_) break;
      const int place = first_item + i * Rank::stride();
      if (place < valid_) use(i, place);
    }
  }
  template <class Iterator, class T>
  STRATA_D void load(const Iterator& from, T (&items)[items_per_thread]) const {
    const Iterator tile = detail::advanced(from, first_);
    for_own_items([&](int i, int place) {
      items[i] = tile[static_cast<difference_of<Iterator>>(place)];
    });
  }
  template <class T>
  STRATA_D void store(const T (&items)[items_per_thread], T* to) const {
    T* const tile = to + first_;
    for_own_items([&](int i, int place) { tile[place] = items[i]; });
  }
  template <class T>
  STRATA_D void unstage(const T* stage, T (&items)[items_per_thread]) const {
    for_own_items([&](int i, int place) { items[i] = stage[place]; });
  }

  // ------------------------------------------------------------------ one pass
  // Returns where the digit whose number the thread has begins in the tile.
  STRATA_D unsigned stage_by_digit(int pass, const Key (&keys)[items_per_thread],
                                   const Value (&values)[has_values ? items_per_thread : 1]) {
    Rank rank(storage_.rank, rows_);
    tile_digits digit_of{*this, keys, static_cast<int>(rank.first_item()), range_.first_bit(pass),
                         range_.bits(pass)};
    digit_of.forget();
    const auto missing = static_cast<unsigned>(rows_ * block_threads - valid_);
    unsigned start_in_tile = 0;
    rank.rank(
        digit_of,
        [&](unsigned digit, unsigned count) {
          counts_.publish(pass, digit, digit == radix_bins - 1 ? count - missing : count);
        },
        [&](unsigned, unsigned start, unsigned) { start_in_tile = start; },
        [&](int i, unsigned place) {
          if (static_cast<int>(place) >= valid_) return;
          stage_[place] = keys[i];
          if constexpr (has_values) value_stage_[place] = values[i];
        });
    return start_in_tile;
  }

  // Where the block's items go, digit by digit. Returns whether all items have the same digit.
  STRATA_D bool find_places(int pass, unsigned start_in_tile) {
    const unsigned digit = threadIdx.x % radix_bins;
    const unsigned part = threadIdx.x / radix_bins;
    unsigned before = 0, all = 0, up_to_digit = 0;
    if (part < parts) {
      counts_.collect(pass, digit, part, parts, before, all);
      storage_.before[part][digit] = before;
      storage_.all[part][digit] = all;
    }
    __syncthreads();
    if (part == 0) {
      STRATA_UNROLL
      for (unsigned other = 1; other < parts; ++other) {
        before += storage_.before[other][digit];
        all += storage_.all[other][digit];
      }
      typename WarpScan<unsigned>::TempStorage unused;
      WarpScan<unsigned>(unused).InclusiveSum(all, up_to_digit);
      if (digit % warp_threads == warp_threads - 1) {
        storage_.sum_of_warp[digit / warp_threads] = up_to_digit;
      }
    }
    __syncthreads();
    if (part == 0) {
      unsigned start = up_to_digit - all;
      STRATA_UNROLL
      for (unsigned w = 0; w < unsigned{bin_warps}; ++w) {
        if (w < digit / warp_threads) start += storage_.sum_of_warp[w];
      }
      storage_.offset[digit] = start + before - start_in_tile;
    }
    return __syncthreads_or(part == 0 && all == num_items_ ? 1 : 0) != 0;
  }

  STRATA_D void store_by_digit(int pass, radix_place to) const {
    Key* const keys_to = keys_.at(to);
    const int first_bit = range_.first_bit(pass);
    const int bits = range_.bits(pass);
    STRATA_UNROLL_N(1)
    for (int i = static_cast<int>(threadIdx.x); i < valid_; i += at_once * block_threads) {
      Key keys[at_once];
      unsigned items[at_once];
      STRATA_UNROLL
      for (int j = 0; j < at_once; ++j) {
        if (i + j * block_threads < valid_) keys[j] = stage_[i + j * block_threads];
      }
      STRATA_UNROLL
      for (int j = 0; j < at_once; ++j) {
        const int place = i + j * block_threads;
        if (place >= valid_) continue;
        items[j] = storage_.offset[digits_(keys[j], first_bit, bits)] +
                   static_cast<unsigned>(place);
      }
      STRATA_UNROLL
      for (int j = 0; j < at_once; ++j) {
        const int place = i + j * block_threads;
        if (place >= valid_) continue;
        keys_to[items[j]] = keys[j];
        if constexpr (has_values) values_.at(to)[items[j]] = value_stage_[place];
      }
    }
  }

  TempStorage& storage_;
  Key* stage_;
  Value* value_stage_;
  const radix_places<KeyIterator, Key>& keys_;
  const radix_places<ValueIterator, Value>& values_;
  unsigned num_items_;
  int rows_;
  unsigned first_;
  int valid_;
  radix_bit_range range_;
  const Digits& digits_;
  grid_barrier<block_threads> barrier_;
  unsigned* departures_;
  radix_grid_counts counts_;
};

}  // namespace detail
STRATA_NAMESPACE_END
