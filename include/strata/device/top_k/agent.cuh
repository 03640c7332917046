// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/detail/radix_code.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/top_k/tuning.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Bits of a digit in the search for the threshold.
inline constexpr int top_k_bits = 11;
inline constexpr int top_k_bins = 1 << top_k_bits;
/// The largest number of blocks.
inline constexpr std::size_t max_top_k_blocks = 512;

/// Memory of the device that the blocks share. It need not be initialised.
struct top_k_workspace {
  unsigned long long* bins;  // for each pass, counts of digits; the list of items uses the bins of an unused pass
  // For each block, items before the threshold, then items at it. With a list: only the number of items whose codes
  // come before all codes with the known digits.
  unsigned long long* counts;
  grid_barrier_arguments barrier;
};

/// Finds the `k` first items in the order of their codes, and passes them to a sink in the order of the input. Among
/// items with equal codes, it takes the first ones in the input. All blocks are resident. A single block does not use
/// the workspace.
///
/// Each block has a contiguous share of the items.
///
/// 1. The threshold is the code of the k-th item. Its digits are found one after another, from the highest on. Each
///    block takes its items with the known digits, and counts the next digit of each. All blocks add up their counts.
///    The k-th item has the digit at which the sum of the counts reaches k. The search ends early if all items with the
///    known digits are selected. A short share is read once, and stays in registers.
///
///    If few items have the known digits, the blocks list these items. Then each block finds the other digits alone. It
///    also counts the listed items of the blocks before it, so it skips step 2.
/// 2. From its counts a block knows how many of its items come before the threshold, and how many are at it. It
///    publishes both numbers, and adds up the numbers of the blocks before it.
/// 3. A block with selected items reads its share again, unless registers hold it, and passes these items to the sink.
template <class Policy, class KeyIterator, class Digits>
class AgentTopK {
  static constexpr top_k_tuning tuning = Policy::select;
  static constexpr int block_threads = tuning.block_threads;
  using Key = iterator_value_t<KeyIterator>;
  using Codes = radix_codes<Digits>;
  using Code = typename Codes::Code;
  using Scan = BlockScan<unsigned long long, block_threads, BLOCK_SCAN_WARP_SCANS>;
  using RankScan = BlockScan<unsigned, block_threads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr int key_bits = Digits::key_bits;
  static constexpr int thread_bins = top_k_bins / block_threads;
  static constexpr int items = sizeof(Key) < 16 ? static_cast<int>(16 / sizeof(Key)) : 1;
  // Vectors that a thread loads before it counts the first key: up to 32 registers, because each key takes at least
  // one.
  static constexpr int batch = items < 4 ? 8 : 32 / items;
  // A digit has several counters, in different banks, and neighbouring lanes use different ones. A thread adds up the
  // counters of neighbouring digits. In each column it reads the counters of four digits, 16 neighbouring bytes, by one
  // access.
  static constexpr int columns = 4;
  static constexpr int column_pitch = top_k_bins + 32 / columns;
  // Capacity of the list of items at the threshold. An element holds the block of an item, and the unknown bits of its
  // code.
  static constexpr int most_listed = 1536;
  static constexpr int listed_code_bits = 54;
  static constexpr bool has_list = key_bits > top_k_bits&& key_bits <= listed_code_bits + top_k_bits - 1;
  // not for users: policies are checked where they are read
  static_assert(thread_bins % 4 == 0 && thread_bins * block_threads == top_k_bins,
                "top_k_tuning: block_threads must divide top_k_bins, and each thread must add up the counters of a "
                "multiple of 4 digits");

 public:
  static constexpr std::size_t tile_items = std::size_t{block_threads} * items;
  static constexpr std::size_t max_digits = ceiling_divide(key_bits, top_k_bits);

  struct TempStorage {
    alignas(16) unsigned counters[columns * column_pitch];
    unsigned long long list[has_list ? most_listed : 1];
    union {
      typename Scan::TempStorage scan;
      typename RankScan::TempStorage rank;
    };
    unsigned long long wanted;       // items with the digit of the threshold that are among the k
    unsigned long long local_equal;  // items of this block with that digit
    unsigned long long equal;        // items of all blocks with that digit
    unsigned long long list_begin;   // where this block's items begin in the list
    unsigned listed;                 // listed items of this block
    unsigned digit;
    bool are_all_wanted;
    bool is_last;
  };

  STRATA_D AgentTopK(TempStorage& storage, KeyIterator keys, std::size_t num_items, std::size_t k,
                     const top_k_workspace& workspace)
      : storage_(storage),
        keys_(keys),
        wanted_(k),
        are_all_wanted_(k >= num_items),
        is_aligned_(detail::is_at_boundary(keys)),
        workspace_(workspace),
        barrier_(workspace.barrier) {
    const std::size_t share =
        ceiling_divide(ceiling_divide(num_items, tile_items), std::size_t{gridDim.x}) * tile_items;
    const std::size_t begin = share * blockIdx.x;
    begin_ = begin < num_items ? begin : num_items;
    end_ = num_items - begin_ < share ? num_items : begin_ + share;
  }

  /// Calls `sink(position, index, key, is_last)` for each selected item: its position in the output, its index in the
  /// input, its key. `is_last` is true for one item: the last of the selected items that equal the k-th one. With
  /// `NeedsCode`, equal items have the same code. Otherwise they may have only their first digits in common.
  template <bool NeedsCode, class Sink>
  STRATA_D void run(Sink sink) {
    if (gridDim.x > 1) clear_bins();
    if (!find_threshold<NeedsCode>()) find_counts_before();
    write(sink);
    if (gridDim.x > 1) barrier_.leave(storage_.is_last);
  }

 private:
  STRATA_D void clear_bins() {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * block_threads;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x;
         i < max_digits * top_k_bins; i += step) {
      workspace_.bins[i] = 0;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) *workspace_.barrier.departures = 0;
    barrier_.arrive();
  }

  // ------------------------------------------------------------------ items

  // Returns the index of this thread's first item in a tile of the share.
  STRATA_D std::size_t first_of(std::size_t tile) const {
    return begin_ + tile * tile_items + threadIdx.x * std::size_t{items};
  }

  // Returns how many neighbouring items from `first` on belong to this thread.
  STRATA_D int count_from(std::size_t first) const {
    const std::size_t left = first < end_ ? end_ - first : 0;
    return left < std::size_t{items} ? static_cast<int>(left) : items;
  }

  STRATA_D void load(std::size_t first, Key (&keys)[items]) const {
    const int count = count_from(first);
    if constexpr (is_bulk_array<KeyIterator>) {
      if (is_aligned_ && count == items) {
        item_vector<Key, items> vector;
        vector.load(keys_ + first);
        vector.get(keys);
        return;
      }
    }
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i < count) keys[i] = detail::item_at(keys_, first + static_cast<std::size_t>(i));
    }
  }

  // Gets this thread's items of a tile of the share, from registers if they are there.
  STRATA_D void get(std::size_t tile, Key (&keys)[items]) const {
    if (!is_held_) {
      load(first_of(tile), keys);
      return;
    }
    STRATA_UNROLL
    for (int b = 0; b < batch; ++b) {
      STRATA_UNROLL
      for (int i = 0; i < items; ++i) {
        if (tile == static_cast<std::size_t>(b)) keys[i] = batch_keys_[b][i];
      }
    }
  }

  STRATA_D static Code code_of(const Key& key) { return Codes::ordered(Codes::encode(key)); }
  // True if the code has the known digits of the threshold.
  STRATA_D bool is_equal(Code code) const {
    return static_cast<Code>(code - lowest_) <= static_cast<Code>(highest_ - lowest_);
  }

  // ------------------------------------------------------------------ the threshold

  // Finds the threshold. Returns true if the counts of the blocks before this one are known, too.
  template <bool NeedsCode>
  STRATA_D bool find_threshold() {
    if (threadIdx.x == 0) storage_.local_equal = end_ - begin_;
    if (are_all_wanted_ && !NeedsCode) return false;
    int end_bit = key_bits;
    for (std::size_t pass = 0; pass < max_digits; ++pass) {
      const int begin_bit = next_begin_bit(end_bit);
      count_digits(begin_bit, end_bit - begin_bit);
      find_digit(pass);
      take_digit(begin_bit);
      end_bit = begin_bit;
      if (storage_.are_all_wanted && !NeedsCode) return false;
      if constexpr (has_list && !NeedsCode) {
        if (gridDim.x > 1 && end_bit > 0 && storage_.equal <= unsigned{most_listed}) {
          list_items(pass + 1);
          return true;
        }
      }
    }
    return false;
  }

  STRATA_D static int next_begin_bit(int end_bit) { return end_bit > top_k_bits ? end_bit - top_k_bits : 0; }
  STRATA_D void take_digit(int begin_bit) {
    lowest_ = static_cast<Code>(lowest_ | static_cast<Code>(static_cast<Code>(storage_.digit) << begin_bit));
    highest_ = static_cast<Code>(lowest_ | static_cast<Code>((Code{1} << begin_bit) - 1));
    wanted_ = storage_.wanted;
  }

  // ------------------------------------------------------------------ the list of items at the threshold

  STRATA_D static Code code_of_listed(unsigned long long listed) {
    return static_cast<Code>(listed & ((1ull << listed_code_bits) - 1));
  }

  // Lists all items that have the known digits. The list uses the bins of a later digit, which are clear. Then finds
  // the threshold, and the counts of this block and of the blocks before it.
  STRATA_D void list_items(std::size_t free_digit) {
    unsigned long long* const list = workspace_.bins + free_digit * top_k_bins;
    unsigned long long* const listed = list + top_k_bins - 1;
    local_less_ = sum_of_block(less_);
    if (threadIdx.x == 0) {
      storage_.listed = 0;
      platform::store_relaxed(workspace_.counts + blockIdx.x, local_less_);
    }
    __syncthreads();
    const unsigned long long owner = static_cast<unsigned long long>(blockIdx.x) << listed_code_bits;
    for_each_at_threshold([&](Code code) {
      storage_.list[atomicAdd(&storage_.listed, 1u)] =
          owner | static_cast<unsigned long long>(static_cast<Code>(code - lowest_));
    });
    __syncthreads();
    if (threadIdx.x == 0) {
      storage_.list_begin = atomicAdd(listed, static_cast<unsigned long long>(storage_.listed));
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < storage_.listed; i += unsigned{block_threads}) {
      platform::store_relaxed(list + storage_.list_begin + i, storage_.list[i]);
    }
    barrier_.arrive();
    barrier_.wait();
    const auto all = static_cast<unsigned>(storage_.equal);
    for (unsigned i = threadIdx.x; i < all; i += unsigned{block_threads}) {
      storage_.list[i] = platform::load_relaxed(list + i);
    }
    find_threshold_of_list(all);
    find_counts_of_list(all);
  }

  STRATA_D void find_threshold_of_list(unsigned all) {
    first_listed_ = lowest_;
    const Code span = static_cast<Code>(highest_ - lowest_);
    int end_bit = 0;
    while (end_bit < key_bits && (span >> end_bit & 1) != 0) ++end_bit;
    while (end_bit > 0) {
      const int begin_bit = next_begin_bit(end_bit);
      const unsigned mask = (1u << (end_bit - begin_bit)) - 1;
      unsigned* const column = clear_counters();
      for (unsigned i = threadIdx.x; i < all; i += unsigned{block_threads}) {
        const Code code = static_cast<Code>(first_listed_ + code_of_listed(storage_.list[i]));
        if (is_equal(code)) atomicAdd(column + (static_cast<unsigned>(code >> begin_bit) & mask), 1u);
      }
      __syncthreads();
      find_digit_of_block();
      take_digit(begin_bit);
      end_bit = begin_bit;
      if (storage_.are_all_wanted) return;
    }
  }

  STRATA_D void find_counts_of_list(unsigned all) {
    unsigned long long less = 0;
    for (unsigned block = threadIdx.x; block < blockIdx.x; block += unsigned{block_threads}) {
      less += platform::load_relaxed(workspace_.counts + block);
    }
    // One word holds three counts of listed items: items at the threshold in earlier blocks, items at the threshold in
    // this block, and items before the threshold in this block.
    unsigned long long counts = 0;
    constexpr int bits = 16;
    // not for users: a constant of the agent
    static_assert(most_listed < 1 << bits, "a number of listed items has 16 bits");
    for (unsigned i = threadIdx.x; i < all; i += unsigned{block_threads}) {
      const unsigned long long item = storage_.list[i], owner = item >> listed_code_bits;
      if (owner > blockIdx.x) continue;
      const Code code = static_cast<Code>(first_listed_ + code_of_listed(item));
      const bool is_less = code < lowest_, is_local = owner == blockIdx.x;
      if (is_less && !is_local) {
        ++less;
      } else if (is_less || is_equal(code)) {
        counts += 1ull << (is_less ? 2 * bits : is_local ? bits : 0);
      }
    }
    less_before_ = sum_of_block(less);
    counts = sum_of_block(counts);
    constexpr unsigned long long mask = (1ull << bits) - 1;
    equal_before_ = counts & mask;
    local_equal_ = counts >> bits & mask;
    local_less_ += counts >> 2 * bits;
  }

  // ------------------------------------------------------------------ digits

  // Returns the column of counters in which the thread counts.
  STRATA_D unsigned* clear_counters() {
    for (int i = static_cast<int>(threadIdx.x); i < columns * column_pitch; i += block_threads) {
      storage_.counters[i] = 0;
    }
    __syncthreads();
    return storage_.counters + threadIdx.x % columns * unsigned{column_pitch};
  }

  STRATA_D void count_digits(int begin_bit, int bits) {
    const unsigned mask = (1u << bits) - 1;
    unsigned* const column = clear_counters();
    for_each_at_threshold(
        [&](Code code) { atomicAdd(column + (static_cast<unsigned>(code >> begin_bit) & mask), 1u); });
    __syncthreads();
  }

  // Calls `use(code)` for this thread's items that have the known digits of the threshold.
  template <class Use>
  STRATA_D void for_each_at_threshold(const Use& use) {
    for (std::size_t first = first_of(0); first < end_; first += batch * tile_items) {
      if (!is_held_) {
        STRATA_UNROLL
        for (int b = 0; b < batch; ++b) load(first + static_cast<std::size_t>(b) * tile_items, batch_keys_[b]);
      }
      STRATA_UNROLL
      for (int b = 0; b < batch; ++b) {
        const int count = count_from(first + static_cast<std::size_t>(b) * tile_items);
        STRATA_UNROLL
        for (int i = 0; i < items; ++i) {
          if (i >= count) break;
          const Code code = code_of(batch_keys_[b][i]);
          if (is_equal(code)) use(code);
        }
      }
    }
    is_held_ = end_ - begin_ <= batch * tile_items;
  }

  STRATA_D void add_columns(unsigned (&local)[thread_bins]) const {
    const unsigned first_bin = threadIdx.x * unsigned{thread_bins};
    STRATA_UNROLL
    for (int column = 0; column < columns; ++column) {
      STRATA_UNROLL
      for (int j = 0; j < thread_bins; j += 4) {
        item_vector<unsigned, 4> vector;
        vector.load(storage_.counters + unsigned{column_pitch} * static_cast<unsigned>(column) + first_bin + j);
        unsigned counts[4];
        vector.get(counts);
        STRATA_UNROLL
        for (int i = 0; i < 4; ++i) local[j + i] += counts[i];
      }
    }
  }

  // Finds the digit of the last wanted item from the counts of all blocks.
  STRATA_D void find_digit(const unsigned (&local)[thread_bins], const unsigned long long (&all)[thread_bins]) {
    const unsigned first_bin = threadIdx.x * unsigned{thread_bins};
    unsigned long long before[thread_bins];
    Scan(storage_.scan).ExclusiveSum(all, before);
    STRATA_UNROLL
    for (int j = 0; j < thread_bins; ++j) {
      if (before[j] < wanted_ && wanted_ <= before[j] + all[j]) {
        storage_.digit = first_bin + static_cast<unsigned>(j);
        storage_.wanted = wanted_ - before[j];
        storage_.are_all_wanted = wanted_ == before[j] + all[j];
        storage_.local_equal = local[j];
        storage_.equal = all[j];
      }
    }
    __syncthreads();
  }

  // Finds the digit of the last wanted item, if this block has counted all items.
  STRATA_D void find_digit_of_block() {
    unsigned local[thread_bins]{};
    add_columns(local);
    unsigned long long all[thread_bins];
    STRATA_UNROLL
    for (int j = 0; j < thread_bins; ++j) all[j] = local[j];
    find_digit(local, all);
  }

  // Adds up the counters of all blocks, and finds the digit of the last wanted item.
  STRATA_D void find_digit(std::size_t pass) {
    const unsigned first_bin = threadIdx.x * unsigned{thread_bins};
    unsigned local[thread_bins]{};
    add_columns(local);
    unsigned long long all[thread_bins];
    STRATA_UNROLL
    for (int j = 0; j < thread_bins; ++j) all[j] = local[j];
    if (gridDim.x > 1) {
      if (pass == 0) barrier_.wait();  // All bins are clear.
      unsigned long long* const bins = workspace_.bins + pass * top_k_bins + first_bin;
      STRATA_UNROLL
      for (int j = 0; j < thread_bins; ++j) {
        if (local[j] > 0) atomicAdd(bins + j, all[j]);
      }
      barrier_.arrive();
      barrier_.wait();
      STRATA_UNROLL
      for (int j = 0; j < thread_bins; ++j) all[j] = platform::load_relaxed(bins + j);
    }
    find_digit(local, all);
    STRATA_UNROLL
    for (int j = 0; j < thread_bins; ++j) {
      if (first_bin + static_cast<unsigned>(j) < storage_.digit) less_ += local[j];
    }
  }

  // ------------------------------------------------------------------ the selected items

  STRATA_D unsigned long long sum_of_block(unsigned long long value) {
    unsigned long long unused, sum;
    Scan(storage_.scan).ExclusiveSum(value, unused, sum);
    __syncthreads();
    return sum;
  }

  // Finds the numbers of selected items of this block, and of the blocks before it.
  STRATA_D void find_counts_before() {
    __syncthreads();
    local_less_ = sum_of_block(less_);
    local_equal_ = storage_.local_equal;
    if (gridDim.x == 1) return;
    if (threadIdx.x == 0) {
      platform::store_relaxed(workspace_.counts + 2 * blockIdx.x, local_less_);
      platform::store_relaxed(workspace_.counts + 2 * blockIdx.x + 1, local_equal_);
    }
    barrier_.arrive();
    barrier_.wait();
    unsigned long long less = 0, equal = 0;
    for (unsigned block = threadIdx.x; block < blockIdx.x; block += unsigned{block_threads}) {
      less += platform::load_relaxed(workspace_.counts + 2 * block);
      equal += platform::load_relaxed(workspace_.counts + 2 * block + 1);
    }
    less_before_ = sum_of_block(less);
    equal_before_ = sum_of_block(equal);
  }

  // Returns how many of the first `equal` items at the threshold are wanted.
  STRATA_D unsigned long long wanted_of(unsigned long long equal) const { return equal < wanted_ ? equal : wanted_; }

  template <class Sink>
  STRATA_D void write(Sink& sink) {
    unsigned long long less = less_before_, equal = equal_before_;
    unsigned long long left = local_less_ + wanted_of(equal + local_equal_) - wanted_of(equal);
    Key keys[items];
    if (left > 0) get(0, keys);
    for (std::size_t tile = 0; left > 0 && begin_ + tile * tile_items < end_; ++tile) {
      const std::size_t first = first_of(tile);
      const int count = count_from(first);
      Key next[items];
      get(tile + 1, next);
      // One word holds both numbers, because a tile has at most 2^13 items.
      unsigned local = 0, before, all;
      STRATA_UNROLL
      for (int i = 0; i < items; ++i) {
        if (i >= count) break;
        const Code code = code_of(keys[i]);
        local += code < lowest_ ? 1u : is_equal(code) ? 1u << 16 : 0u;
      }
      RankScan(storage_.rank).ExclusiveSum(local, before, all);
      if (local > 0) {
        unsigned long long position_less = less + (before & 0xffffu), position_equal = equal + (before >> 16);
        STRATA_UNROLL
        for (int i = 0; i < items; ++i) {
          if (i >= count) break;
          const Code code = code_of(keys[i]);
          const bool is_less = code < lowest_, is_at = !is_less && is_equal(code);
          if (is_less || (is_at && position_equal < wanted_)) {
            sink(static_cast<std::size_t>(position_less + wanted_of(position_equal)),
                 first + static_cast<std::size_t>(i), keys[i], is_at && position_equal + 1 == wanted_);
          }
          position_less += is_less ? 1 : 0;
          position_equal += is_at ? 1 : 0;
        }
      }
      left -= (all & 0xffffu) + wanted_of(equal + (all >> 16)) - wanted_of(equal);
      less += all & 0xffffu;
      equal += all >> 16;
      const int next_count = count_from(first_of(tile + 1));
      STRATA_UNROLL
      for (int i = 0; i < items; ++i) {
        if (i < next_count) keys[i] = next[i];
      }
      __syncthreads();
    }
  }

  TempStorage& storage_;
  KeyIterator keys_;
  std::size_t begin_, end_;    // the block's items
  unsigned long long wanted_;  // of the items that are at the threshold
  bool are_all_wanted_;
  bool is_aligned_;
  bool is_held_ = false;          // The whole share is in batch_keys_.
  Key batch_keys_[batch][items];  // of the thread
  const top_k_workspace& workspace_;
  grid_barrier<block_threads> barrier_;
  Code lowest_ = 0;  // codes at the threshold
  Code highest_ = static_cast<Code>(~Code{0});
  Code first_listed_ = 0;        // an element of the list holds the difference of a code from this one
  unsigned long long less_ = 0;  // this thread's part of the block's number of items before the threshold
  unsigned long long local_less_ = 0, local_equal_ = 0;
  unsigned long long less_before_ = 0, equal_before_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
