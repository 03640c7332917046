// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/radix_rank_half_warps.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/async_copy.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/engine/bin_counts.cuh>
#include <strata/device/radix_sort/problem.cuh>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What the blocks of a sort in one launch share in device memory.
struct radix_grid_workspace {
  grid_barrier_arguments barrier;
  unsigned* counts;  // grid_bin_counts::number_of_words() of them
};

/// A sort in one launch, of at most as many items as the registers of all resident blocks hold. All blocks are
/// resident.
///
/// Each block has a tile of the items in its registers, ranks them by a digit, publishes its digit counts, and puts the
/// items into shared memory in that order. From there it writes them to the offsets of their digits, which follow from
/// the counts of all blocks. When all blocks have written, each loads the tile with its number again. Passes alternate
/// between output and scratch. So a barrier of all blocks lies between the last read from one of these arrays and the
/// next write to it.
template <class Policy, class KeyIterator, class ValueIterator, class Digits>
class AgentRadixGrid {
  static constexpr radix_grid_tuning tuning = Policy::grid;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int items_per_thread = tuning.items_per_thread;
  using Key = iterator_value_t<KeyIterator>;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  using Value = iterator_value_t<std::conditional_t<has_values, ValueIterator, KeyIterator>>;
  using Rank = radix_rank_half_warps<block_threads, items_per_thread, radix_bits, true>;
  using DigitScan = radix_digit_scan<radix_bins>;
  // Items that a thread reads from shared memory before it writes the first.
  static constexpr int items_per_batch = 4;
  // This many threads add up the counts of one digit.
  static constexpr unsigned parts = unsigned{block_threads} / radix_bins;
  static constexpr std::size_t capacity = std::size_t{block_threads} * items_per_thread;
  // If keys and values together need more than 48 registers, they would spill. Then values of up to 16 bytes that come
  // from an array do not stay in registers from pass to pass. If a tile fills at most half of its shared memory,
  // asynchronous copies bring the values to the other half while the block ranks the keys. Otherwise the block loads
  // them while it waits for the counts of other blocks. All other values stay in registers beside their keys.
  static constexpr bool fetches_values = has_values && std::is_pointer_v<ValueIterator> && sizeof(Value) <= 16 &&
                                         items_per_thread * (sizeof(Key) + sizeof(Value)) > 48 * sizeof(int);
  static constexpr bool copies_values = fetches_values && platform::is_async_copy_size<Value>;
  static constexpr bool holds_values = has_values && !fetches_values;
  using held_values = Value[holds_values ? items_per_thread : 1];
  using fetched_values = Value[fetches_values ? items_per_thread : 1];
  using item_ranks = unsigned short[fetches_values ? items_per_thread : 1];

 public:
  struct TempStorage {
    typename Rank::TempStorage rank;
    unsigned before[parts][radix_bins];
    unsigned all[parts][radix_bins];
    unsigned offset[radix_bins];  // of a digit: offset in the output, less the rank of its first item in the tile
    typename DigitScan::TempStorage scan;
    bool is_last;
  };

  /// Dynamic shared memory: the tile's keys and its values lie behind the rest.
  static constexpr std::size_t keys_offset = round_up(sizeof(TempStorage), std::size_t{128});
  static constexpr std::size_t values_offset = round_up(keys_offset + capacity * sizeof(Key), std::size_t{128});
  static constexpr std::size_t shared_bytes = has_values ? values_offset + capacity * sizeof(Value) : values_offset;

  /// Tiles have `thread_items` items a thread.
  STRATA_D AgentRadixGrid(unsigned char* shared, const radix_buffers<KeyIterator, Key>& keys,
                          const radix_buffers<ValueIterator, Value>& values, unsigned num_items, int thread_items,
                          const radix_bit_range& range, const Digits& digits, const radix_grid_workspace& workspace)
      : storage_(*reinterpret_cast<TempStorage*>(shared)),
        stage_(reinterpret_cast<Key*>(shared + keys_offset)),
        value_stage_(reinterpret_cast<Value*>(shared + values_offset)),
        keys_(keys),
        values_(values),
        num_items_(num_items),
        thread_items_(thread_items),
        first_(blockIdx.x * static_cast<unsigned>(thread_items * block_threads)),
        valid_(items_of_tile(num_items - first_, thread_items)),
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
    held_values values;
    load(keys_.input, keys);
    if constexpr (holds_values) load(values_.input, values);
    if constexpr (copies_values) copy_values(values_.input);
    barrier_.wait();

    // The first value is the array from which the first pass would read if every pass moved items and the last one
    // wrote to the output. In a double buffer, this array is the input.
    radix_buffer buffer = passes % 2 != 0 ? radix_buffer::scratch : radix_buffer::output;
    bool has_moved = false;
    for (int pass = 0; pass < passes; ++pass) {
      const bool is_last = pass + 1 == passes;
      // Without initial values the compiler would keep those of the pass before.
      item_ranks ranks{};
      fetched_values fetched{};
      const unsigned start_in_tile = stage_by_digit(pass, keys, values, ranks);
      if constexpr (fetches_values) {
        STRATA_UNROLL
        for (int i = 0; i < items_per_thread; ++i) keys[i] = Key{};
        if (!has_copies()) fetch_values(has_moved, buffer, fetched);
      }
      if (find_offsets(pass, start_in_tile)) {
        // All items have this digit: the staged tile is in its old order.
        unstage(stage_, keys);
        if constexpr (holds_values) unstage(value_stage_, values);
        continue;
      }
      if constexpr (fetches_values) stage_values(ranks, fetched);
      if (is_last && buffer == radix_buffer::output) synchronize();  // All blocks have read the output.
      buffer = is_last || buffer == radix_buffer::scratch ? radix_buffer::output : radix_buffer::scratch;
      has_moved = true;
      store_by_digit(pass, buffer);
      if (is_last) break;
      synchronize();
      load(static_cast<const Key*>(keys_.at(buffer)), keys);
      if constexpr (holds_values) load(static_cast<const Value*>(values_.at(buffer)), values);
      if constexpr (copies_values) copy_values(static_cast<const Value*>(values_.at(buffer)));
    }
    if (!has_moved || buffer != radix_buffer::output) {
      store(keys, keys_.output);
      if constexpr (holds_values) store(values, values_.output);
      if constexpr (fetches_values) {
        fetched_values fetched;
        fetch_values(has_moved, buffer, fetched);
        store(fetched, values_.output);
      }
    }
    barrier_.leave(storage_.is_last);
  }

 private:
  // The barrier makes the compiler compute indices again in each pass. Else they would occupy registers throughout.
  struct tile_digits : Rank::template tile_digits<false, Digits, Key> {
    STRATA_D void optimization_barrier() {
      platform::optimization_barrier(this->first_bit);
      platform::optimization_barrier(this->first_item);
    }
  };

  STRATA_D void synchronize() {
    barrier_.arrive();
    barrier_.wait();
  }
  STRATA_D static int items_of_tile(unsigned left, int thread_items) {
    const auto full = static_cast<unsigned>(thread_items * block_threads);
    return static_cast<int>(detail::least(left, full));
  }

  // ------------------------------------------------------------------ the tile in device and shared memory
  STRATA_D int first_item() const { return static_cast<int>(Rank(storage_.rank, thread_items_).first_item()); }

  // Calls `use(i, item)` for the thread's items: its item `i` is number `item` of the tile.
  template <class Use>
  STRATA_D void for_each_item(const Use& use) const {
    int first_item = this->first_item();
    // Without this, indices of all items stay in registers in all passes.
    platform::optimization_barrier(first_item);
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      if (i >= thread_items_) break;
      const int item = first_item + i * Rank::stride();
      if (item < valid_) use(i, item);
    }
  }
  template <class Iterator, class T>
  STRATA_D void load(const Iterator& from, T (&items)[items_per_thread]) const {
    const Iterator tile = detail::advanced(from, first_);
    for_each_item([&](int i, int item) { items[i] = tile[static_cast<difference_of<Iterator>>(item)]; });
  }
  template <class T>
  STRATA_D void store(const T (&items)[items_per_thread], T* to) const {
    T* const tile = to + first_;
    for_each_item([&](int i, int item) { tile[item] = items[i]; });
  }
  template <class T>
  STRATA_D void unstage(const T* stage, T (&items)[items_per_thread]) const {
    for_each_item([&](int i, int item) { items[i] = stage[item]; });
  }

  // ------------------------------------------------------------------ one pass

  // Thread d gets the rank in the tile of the first item with digit d.
  STRATA_D unsigned stage_by_digit(int pass, const Key (&keys)[items_per_thread], const held_values& values,
                                   item_ranks& ranks) {
    Rank rank(storage_.rank, thread_items_);
    tile_digits digit_of{
        {keys, digits_, range_.first_bit(pass), range_.bits(pass), static_cast<int>(rank.first_item()), valid_}};
    digit_of.optimization_barrier();
    const auto missing = static_cast<unsigned>(thread_items_ * block_threads - valid_);
    unsigned start_in_tile = 0;
    rank.rank(
        digit_of,
        [&](unsigned digit, unsigned count) {
          counts_.publish(pass, digit, digit == radix_bins - 1 ? count - missing : count);
        },
        [&](unsigned, unsigned start, unsigned) { start_in_tile = start; },
        [&](int i, unsigned item_rank) {
          if (static_cast<int>(item_rank) >= valid_) return;
          stage_[item_rank] = keys[i];
          if constexpr (fetches_values) ranks[i] = static_cast<unsigned short>(item_rank);
          if constexpr (holds_values) value_stage_[item_rank] = values[i];
        });
    return start_in_tile;
  }

  // Loads the values of the tile, from where its keys came.
  STRATA_D void fetch_values(bool has_moved, radix_buffer buffer, fetched_values& values) const {
    load(has_moved ? static_cast<const Value*>(values_.at(buffer)) : values_.input, values);
  }
  STRATA_D void stage_values(const item_ranks& ranks, const fetched_values& values) {
    if (has_copies()) {
      platform::wait_for_async_copies();  // of this thread, which has copied what it reads
      for_each_item([&](int i, int item) { value_stage_[ranks[i]] = copies()[item]; });
    } else {
      for_each_item([&](int i, int) { value_stage_[ranks[i]] = values[i]; });
    }
    __syncthreads();
  }

  // True if values of the tile are copied to the half of their shared memory that the tile does not fill.
  STRATA_D bool has_copies() const { return copies_values && 2 * thread_items_ <= items_per_thread; }
  STRATA_D Value* copies() const { return value_stage_ + capacity / 2; }
  STRATA_D void copy_values(const Value* from) const {
    if (!has_copies()) return;
    const Value* const tile = from + first_;
    for_each_item([&](int, int item) { platform::copy_async<sizeof(Value)>(copies() + item, tile + item); });
  }

  // Finds the offsets of the block's items with each digit, by a thread for each digit and part of the blocks. Returns
  // true if all items have one digit.
  STRATA_D bool find_offsets(int pass, unsigned start_in_tile) {
    const unsigned digit = threadIdx.x % radix_bins;
    const unsigned part = threadIdx.x / radix_bins;
    unsigned before = 0, all = 0;  // items with the digit: in blocks before this one, in all blocks
    if (part < parts) {
      counts_.collect(pass, digit, part, parts, before, all);
      storage_.before[part][digit] = before;
      storage_.all[part][digit] = all;
    }
    __syncthreads();
    const auto add_parts = [&] {
      STRATA_UNROLL
      for (unsigned other = 1; other < parts; ++other) {
        before += storage_.before[other][digit];
        all += storage_.all[other][digit];
      }
    };
    DigitScan::exclusive_sum(storage_.scan, digit, digit % warp_threads, part == 0, all, add_parts,
                             [&](unsigned smaller) { storage_.offset[digit] = smaller + before - start_in_tile; });
    return __syncthreads_or(part == 0 && all == num_items_ ? 1 : 0) != 0;
  }

  STRATA_D void store_by_digit(int pass, radix_buffer to) const {
    Key* const keys_out = keys_.at(to);
    const int first_bit = range_.first_bit(pass);
    const int bits = range_.bits(pass);
    STRATA_UNROLL_N(1)
    for (int i = static_cast<int>(threadIdx.x); i < valid_; i += items_per_batch * block_threads) {
      Key keys[items_per_batch];
      unsigned offsets[items_per_batch];
      STRATA_UNROLL
      for (int j = 0; j < items_per_batch; ++j) {
        if (i + j * block_threads < valid_) keys[j] = stage_[i + j * block_threads];
      }
      STRATA_UNROLL
      for (int j = 0; j < items_per_batch; ++j) {
        const int rank = i + j * block_threads;
        if (rank >= valid_) continue;
        offsets[j] = storage_.offset[digits_(keys[j], first_bit, bits)] + static_cast<unsigned>(rank);
      }
      STRATA_UNROLL
      for (int j = 0; j < items_per_batch; ++j) {
        const int rank = i + j * block_threads;
        if (rank >= valid_) continue;
        keys_out[offsets[j]] = keys[j];
        if constexpr (has_values) values_.at(to)[offsets[j]] = value_stage_[rank];
      }
    }
  }

  TempStorage& storage_;
  Key* stage_;
  Value* value_stage_;
  const radix_buffers<KeyIterator, Key>& keys_;
  const radix_buffers<ValueIterator, Value>& values_;
  unsigned num_items_;
  int thread_items_;
  unsigned first_;
  int valid_;
  radix_bit_range range_;
  const Digits& digits_;
  grid_barrier<block_threads> barrier_;
  unsigned* departures_;
  grid_bin_counts<radix_bins> counts_;
};

}  // namespace detail
STRATA_NAMESPACE_END
