// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/grid_barrier.cuh>
#include <strata/device/radix_sort/tuning.hpp>
#include <strata/device/scan/ring_column.cuh>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Whether a key of two bytes is known by its place among all: then it need not be moved. Floats
/// are not: zeros are equal and have two signs, and so have NaN.
template <class Key, class Decomposer>
inline constexpr bool is_counted_word =
    sizeof(Key) == 2 &&
    is_radix_integer<Key>::value&& std::is_same_v<Decomposer, identity_decomposer>;

inline constexpr int radix_words = 1 << 16;

/// What the blocks that count keys of two bytes share in device memory.
struct radix_words_workspace {
  grid_barrier_arguments barrier;
  unsigned long long* first;  // of each word: how many items have it, then a smaller one; and all
  unsigned long long* sums;   // of each block: two
  unsigned* counters;         // of each block: radix_words of two bytes

  STRATA_HD static constexpr std::size_t counter_bytes() { return std::size_t{radix_words} * 2; }
};

/// Counts keys of two bytes, in one read of them, and finds the place of each word's first item.
/// All blocks are resident.
///
/// A block has counters of 16 bits in shared memory. Who makes a counter reach the upper half of its
/// range, takes that half out and adds it to the counts of all; and before anybody can have added
/// as much again, all have met at a barrier. A word that a warp finds often is counted in
/// registers, so that additions to one counter do not queue up.
///
/// Blocks then write their counters to memory, and each adds up those of a part of the words: of
/// 2^16 words, additions to one count for all blocks would take longer than to count.
template <class Policy, class KeyIterator, class Digits>
class AgentRadixCountWords {
  static constexpr int block_threads = Policy::words.block_threads;
  using Key = iterator_value_t<KeyIterator>;
  using Scan = BlockScan<unsigned long long, block_threads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr int width = 16 / static_cast<int>(sizeof(Key));
  static constexpr int vectors = 2;  // of a thread, under way together
  static constexpr int keys_at_once = vectors * width;
  static constexpr unsigned upper_half = 1u << 15;
  // A thread adds up two words, that share a word of memory, of every so-manyth block.
  static constexpr unsigned pairs = radix_words / 2;
  static constexpr unsigned pairs_at_once = 256;
  static constexpr unsigned parts = unsigned{block_threads} / pairs_at_once;
  // not for users: policies are checked where they are read
  static_assert(block_threads * keys_at_once <= upper_half && block_threads % pairs_at_once == 0,
                "radix_words_tuning: a counter must not run over between two barriers");

 public:
  struct TempStorage {
    typename Scan::TempStorage scan;
    unsigned lower[parts][pairs_at_once];
    unsigned upper[parts][pairs_at_once];
    bool is_last;
  };

  /// Dynamic shared memory.
  static constexpr std::size_t counter_bytes = radix_words_workspace::counter_bytes();
  static constexpr std::size_t tile_items = static_cast<std::size_t>(block_threads) * keys_at_once;

  STRATA_D AgentRadixCountWords(TempStorage& storage, unsigned* counters, KeyIterator d_keys,
                                std::size_t num_items, const Digits& digits,
                                const radix_words_workspace& workspace)
      : storage_(storage),
        counters_(counters),
        d_keys_(d_keys),
        num_items_(num_items),
        digits_(digits),
        first_(workspace.first),
        sums_(workspace.sums),
        all_counters_(workspace.counters),
        departures_(workspace.barrier.departures),
        barrier_(workspace.barrier) {}

  STRATA_D void run() {
    for (int i = static_cast<int>(threadIdx.x); i < radix_words / 2; i += block_threads) {
      counters_[i] = 0;
    }
    const unsigned step = gridDim.x * unsigned{block_threads};
    for (unsigned i = blockIdx.x * unsigned{block_threads} + threadIdx.x; i < radix_words;
         i += step) {
      first_[i] = 0;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) *departures_ = 0;
    meet();
    count_keys();
    write_counters();
    meet();
    add_counters();
    meet();
    add_sums();
    barrier_.leave(storage_.is_last);
  }

 private:
  STRATA_D void meet() {
    barrier_.arrive();
    barrier_.wait();
  }

  // Words that are neighbours have counters in different banks.
  STRATA_D void add(unsigned word, unsigned count) const {
    const unsigned shift = word / upper_half * 16;
    unsigned* const counter = &counters_[word % upper_half];
    const unsigned before = atomicAdd(counter, count << shift) >> shift & 0xffff;
    if (before < upper_half && before + count >= upper_half) {
      atomicSub(counter, upper_half << shift);
      atomicAdd(&first_[word], static_cast<unsigned long long>(upper_half));
    }
  }

  STRATA_D void count_keys() const {
    bool has_vectors = false;
    if constexpr (is_bulk_array<KeyIterator>) {
      has_vectors = reinterpret_cast<std::uintptr_t>(d_keys_) % 16 == 0;
    }
    unsigned hot = ~0u;  // the same for the warp
    for (std::size_t tile = blockIdx.x * tile_items; tile < num_items_;
         tile += gridDim.x * tile_items) {
      const std::size_t left = num_items_ - tile;
      Key keys[keys_at_once];
      unsigned valid = 0;  // how many of them are there: the first ones
      if (has_vectors && left >= tile_items) {
        load_vectors(tile, keys);
        valid = keys_at_once;
      } else {
        const KeyIterator from = detail::advanced(d_keys_, tile + threadIdx.x);
        STRATA_UNROLL
        for (int i = 0; i < keys_at_once; ++i) {
          const auto place = static_cast<std::size_t>(i) * block_threads;
          if (place + threadIdx.x < left) {
            keys[i] = from[static_cast<difference_of<KeyIterator>>(place)];
            valid = static_cast<unsigned>(i) + 1;
          }
        }
      }
      count_tile(keys, valid, hot);
      __syncthreads();
    }
  }

  STRATA_D void load_vectors(std::size_t tile, Key (&keys)[keys_at_once]) const {
    if constexpr (is_bulk_array<KeyIterator>) {
      item_vector<Key, width> held[vectors];
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        const auto vector = static_cast<std::size_t>(v * block_threads) + threadIdx.x;
        held[v].load(d_keys_ + tile + vector * width);
      }
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        Key some[width];
        held[v].get(some);
        STRATA_UNROLL
        for (int i = 0; i < width; ++i) keys[v * width + i] = some[i];
      }
    }
  }

  STRATA_D void count_tile(const Key (&keys)[keys_at_once], unsigned valid, unsigned& hot) const {
    const unsigned own = valid > 0 ? digits_(keys[0], 0, 16) : 0;
    if (hot == ~0u) hot = __shfl_sync(full_warp_mask, own, 0);
    unsigned hot_keys = 0;
    STRATA_UNROLL
    for (int i = 0; i < keys_at_once; ++i) {
      if (static_cast<unsigned>(i) >= valid) break;
      const unsigned word = digits_(keys[i], 0, 16);
      if (word == hot) {
        ++hot_keys;
      } else {
        add(word, 1);
      }
    }
    __syncwarp();
    typename WarpReduce<unsigned>::TempStorage unused;
    hot_keys = __shfl_sync(full_warp_mask, WarpReduce<unsigned>(unused).Sum(hot_keys), 0);
    if (hot_keys > 0 && platform::lane_id() == 0) add(hot, hot_keys);
    // Another one next time, unless this was found in one key of 16.
    if (hot_keys * 16 < unsigned{warp_threads * keys_at_once}) hot = ~0u;
  }

  STRATA_D void write_counters() const {
    __syncthreads();
    unsigned* const own = all_counters_ + std::size_t{blockIdx.x} * pairs;
    STRATA_UNROLL_N(8)
    for (unsigned i = threadIdx.x; i < pairs; i += unsigned{block_threads}) own[i] = counters_[i];
  }

  // The block's part of the pairs of words.
  STRATA_D unsigned first_pair() const { return smaller(blockIdx.x * pairs_of_block()); }
  STRATA_D unsigned behind_pairs() const { return smaller(first_pair() + pairs_of_block()); }
  STRATA_D static unsigned pairs_of_block() { return ceiling_divide(pairs, gridDim.x); }
  STRATA_D static unsigned smaller(unsigned pair) { return pair < pairs ? pair : pairs; }

  // Of both words of each pair of this block: how many items have a smaller word of that half which
  // is the block's, too.
  STRATA_D void add_counters() {
    const unsigned behind = behind_pairs();
    const unsigned column = threadIdx.x % pairs_at_once, part = threadIdx.x / pairs_at_once;
    unsigned long long all_lower = 0, all_upper = 0;
    for (unsigned next = first_pair(); next < behind; next += pairs_at_once) {
      const unsigned pair = next + column;
      add_blocks(pair, pair < behind, column, part);
      __syncthreads();
      unsigned long long lower = 0, upper = 0;
      const bool is_mine = part == 0 && pair < behind;
      if (is_mine) {
        lower = platform::load_relaxed(first_ + pair);
        upper = platform::load_relaxed(first_ + pairs + pair);
        STRATA_UNROLL
        for (unsigned i = 0; i < parts; ++i) {
          lower += storage_.lower[i][column];
          upper += storage_.upper[i][column];
        }
      }
      unsigned long long sum;
      Scan(storage_.scan).ExclusiveSum(lower, lower, sum);
      if (is_mine) first_[pair] = all_lower + lower;
      all_lower += sum;
      __syncthreads();
      Scan(storage_.scan).ExclusiveSum(upper, upper, sum);
      if (is_mine) first_[pairs + pair] = all_upper + upper;
      all_upper += sum;
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      sums_[2 * blockIdx.x] = all_lower;
      sums_[2 * blockIdx.x + 1] = all_upper;
    }
  }

  STRATA_D void add_blocks(unsigned pair, bool is_there, unsigned column, unsigned part) {
    unsigned lower = 0, upper = 0;
    if (is_there) {
      STRATA_UNROLL_N(8)
      for (unsigned block = part; block < gridDim.x; block += parts) {
        const unsigned two = all_counters_[std::size_t{block} * pairs + pair];
        lower += two & 0xffff;
        upper += two >> 16;
      }
    }
    storage_.lower[part][column] = lower;
    storage_.upper[part][column] = upper;
  }

  // Of all blocks before, and for the upper half of the words those of the lower half, too.
  STRATA_D void add_sums() {
    unsigned long long before_lower = 0, before_upper = 0;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += unsigned{block_threads}) {
      before_lower += block < blockIdx.x ? sums_[2 * block] : 0;
      before_upper += sums_[2 * block] + (block < blockIdx.x ? sums_[2 * block + 1] : 0);
    }
    unsigned long long unused;
    Scan(storage_.scan).ExclusiveSum(before_lower, unused, before_lower);
    __syncthreads();
    Scan(storage_.scan).ExclusiveSum(before_upper, unused, before_upper);
    for (unsigned pair = first_pair() + threadIdx.x; pair < behind_pairs();
         pair += unsigned{block_threads}) {
      first_[pair] += before_lower;
      first_[pairs + pair] += before_upper;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) first_[radix_words] = num_items_;
  }

  TempStorage& storage_;
  unsigned* counters_;
  KeyIterator d_keys_;
  std::size_t num_items_;
  const Digits& digits_;
  unsigned long long* first_;
  unsigned long long* sums_;
  unsigned* all_counters_;
  unsigned* departures_;
  grid_barrier<block_threads> barrier_;
};

}  // namespace detail
STRATA_NAMESPACE_END
