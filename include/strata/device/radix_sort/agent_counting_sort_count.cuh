// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/radix_sort/agent_counting_sort_fill.cuh>
#include <strata/device/radix_sort/tuning.hpp>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What the blocks that count keys of 16 bits share in device memory.
struct counting_sort_workspace {
  grid_barrier_arguments barrier;
  // Of each word: first the number of keys that were subtracted from its counters, later the number of keys with
  // smaller words. The last element is the number of all keys.
  unsigned long long* begins;
  // Two numbers of each block. The first counts the keys whose words are the block's words of the lower half of all
  // words, the second the keys whose words are the block's words of the upper half.
  unsigned long long* sums;
  unsigned* counters;  // of each block: one of 16 bits for each word

  STRATA_HD static constexpr std::size_t counter_bytes() { return std::size_t{counting_sort_bins} * 2; }
};

/// The first half of a counting sort of keys of 16 bits, called words: counts them in one read, and finds where
/// the keys of each word begin. All blocks are resident.
///
/// 1. A block counts its keys in counters of 16 bits in shared memory. The thread whose addition makes a
///    counter reach 2^15 subtracts 2^15 from it and adds them to the word's count in device memory. Between two
///    barriers of the block at most 2^15 keys are counted, so no counter overflows. A word that a warp finds
///    often is counted in registers, because additions to one counter are serial.
/// 2. Blocks write their counters to device memory. After a barrier of the grid, each block adds up the counters
///    of a part of the words: atomic additions of 2^16 counters by each block would take longer than to count.
/// 3. After another barrier, each block adds the sums of the parts before its own.
template <class Policy, class KeyIterator, class Digits>
class AgentCountingSortCountWords {
  static constexpr int block_threads = Policy::words.block_threads;
  using Key = iterator_value_t<KeyIterator>;
  using Scan = BlockScan<unsigned long long, block_threads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr int width = 16 / static_cast<int>(sizeof(Key));
  static constexpr int vectors = 2;  // that a thread loads before it counts the first
  static constexpr int keys_per_batch = vectors * width;
  static constexpr unsigned upper_half = 1u << 15;
  // One `unsigned` holds the counters of two words, `pair` and `pair + pairs`. A thread adds up the counters of one
  // pair over every `parts`-th block.
  static constexpr unsigned pairs = counting_sort_bins / 2;
  static constexpr unsigned pairs_per_batch = 256;
  static constexpr unsigned parts = unsigned{block_threads} / pairs_per_batch;
  // not for users: policies are checked where they are read
  static_assert(block_threads * keys_per_batch <= upper_half && block_threads % pairs_per_batch == 0,
                "radix_words_tuning: a counter must not overflow between two barriers");

 public:
  struct TempStorage {
    typename Scan::TempStorage scan;
    unsigned lower[parts][pairs_per_batch];
    unsigned upper[parts][pairs_per_batch];
    bool is_last;
  };

  /// Dynamic shared memory.
  static constexpr std::size_t counter_bytes = counting_sort_workspace::counter_bytes();
  static constexpr std::size_t tile_items = static_cast<std::size_t>(block_threads) * keys_per_batch;

  STRATA_D AgentCountingSortCountWords(TempStorage& storage, unsigned* counters, KeyIterator d_keys,
                                       std::size_t num_items, const Digits& digits,
                                       const counting_sort_workspace& workspace)
      : storage_(storage),
        counters_(counters),
        d_keys_(d_keys),
        num_items_(num_items),
        digits_(digits),
        begins_(workspace.begins),
        sums_(workspace.sums),
        all_counters_(workspace.counters),
        departures_(workspace.barrier.departures),
        barrier_(workspace.barrier) {}

  STRATA_D void run() {
    for (int i = static_cast<int>(threadIdx.x); i < counting_sort_bins / 2; i += block_threads) {
      counters_[i] = 0;
    }
    const unsigned step = gridDim.x * unsigned{block_threads};
    for (unsigned i = blockIdx.x * unsigned{block_threads} + threadIdx.x; i < counting_sort_bins; i += step) {
      begins_[i] = 0;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) *departures_ = 0;
    synchronize();
    count_keys();
    write_counters();
    synchronize();
    add_counters();
    synchronize();
    add_sums();
    barrier_.leave(storage_.is_last);
  }

 private:
  STRATA_D void synchronize() {
    barrier_.arrive();
    barrier_.wait();
  }

  // Neighbouring words have counters in different banks.
  STRATA_D void add(unsigned word, unsigned count) const {
    const unsigned shift = word / upper_half * 16;
    unsigned* const counter = &counters_[word % upper_half];
    const unsigned before = atomicAdd(counter, count << shift) >> shift & 0xffff;
    if (before < upper_half && before + count >= upper_half) {
      atomicSub(counter, upper_half << shift);
      atomicAdd(&begins_[word], static_cast<unsigned long long>(upper_half));
    }
  }

  STRATA_D void count_keys() const {
    bool has_vectors = false;
    if constexpr (is_bulk_array<KeyIterator>) {
      has_vectors = detail::is_at_boundary(d_keys_);
    }
    unsigned hot = ~0u;  // a frequent word, or none; the same in all lanes of the warp
    for (std::size_t tile = blockIdx.x * tile_items; tile < num_items_; tile += gridDim.x * tile_items) {
      const std::size_t left = num_items_ - tile;
      Key keys[keys_per_batch];
      unsigned valid = 0;  // this many of them are loaded: the first ones
      if (has_vectors && left >= tile_items) {
        load_vectors(tile, keys);
        valid = keys_per_batch;
      } else {
        const KeyIterator from = detail::advanced(d_keys_, tile + threadIdx.x);
        STRATA_UNROLL
        for (int i = 0; i < keys_per_batch; ++i) {
          const auto offset = static_cast<std::size_t>(i) * block_threads;
          if (offset + threadIdx.x < left) {
            keys[i] = from[static_cast<difference_of<KeyIterator>>(offset)];
            valid = static_cast<unsigned>(i) + 1;
          }
        }
      }
      count_tile(keys, valid, hot);
      __syncthreads();
    }
  }

  STRATA_D void load_vectors(std::size_t tile, Key (&keys)[keys_per_batch]) const {
    if constexpr (is_bulk_array<KeyIterator>) {
      item_vector<Key, width> held[vectors];
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        const auto vector = static_cast<std::size_t>(v * block_threads) + threadIdx.x;
        held[v].load(d_keys_ + tile + vector * width);
      }
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        Key of_vector[width];
        held[v].get(of_vector);
        STRATA_UNROLL
        for (int i = 0; i < width; ++i) keys[v * width + i] = of_vector[i];
      }
    }
  }

  STRATA_D void count_tile(const Key (&keys)[keys_per_batch], unsigned valid, unsigned& hot) const {
    const unsigned sample = valid > 0 ? digits_(keys[0], 0, 16) : 0;
    if (hot == ~0u) hot = __shfl_sync(full_warp_mask, sample, 0);
    unsigned hot_keys = 0;
    STRATA_UNROLL
    for (int i = 0; i < keys_per_batch; ++i) {
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
    // `hot` stays if 1/16 or more of the warp's keys equal it. Otherwise the next batch takes another sample.
    if (hot_keys * 16 < unsigned{warp_threads * keys_per_batch}) hot = ~0u;
  }

  STRATA_D void write_counters() const {
    __syncthreads();
    unsigned* const to = all_counters_ + std::size_t{blockIdx.x} * pairs;
    STRATA_UNROLL_N(8)
    for (unsigned i = threadIdx.x; i < pairs; i += unsigned{block_threads}) to[i] = counters_[i];
  }

  // The block's part of the pairs of words.
  STRATA_D unsigned first_pair() const { return at_most_all(blockIdx.x * pairs_of_block()); }
  STRATA_D unsigned end_pair() const { return at_most_all(first_pair() + pairs_of_block()); }
  STRATA_D static unsigned pairs_of_block() { return ceiling_divide(pairs, gridDim.x); }
  STRATA_D static unsigned at_most_all(unsigned pair) { return detail::least(pair, pairs); }

  // A pair has one word in the lower half of all words and one in the upper half. For each of these words, this finds
  // how many keys have a smaller word of this block in the same half.
  STRATA_D void add_counters() {
    const unsigned end = end_pair();
    const unsigned column = threadIdx.x % pairs_per_batch, part = threadIdx.x / pairs_per_batch;
    unsigned long long all_lower = 0, all_upper = 0;
    for (unsigned next = first_pair(); next < end; next += pairs_per_batch) {
      const unsigned pair = next + column;
      add_blocks(pair, pair < end, column, part);
      __syncthreads();
      unsigned long long lower = 0, upper = 0;
      const bool has_pair = part == 0 && pair < end;
      if (has_pair) {
        lower = platform::load_relaxed(begins_ + pair);
        upper = platform::load_relaxed(begins_ + pairs + pair);
        STRATA_UNROLL
        for (unsigned i = 0; i < parts; ++i) {
          lower += storage_.lower[i][column];
          upper += storage_.upper[i][column];
        }
      }
      unsigned long long sum;
      Scan(storage_.scan).ExclusiveSum(lower, lower, sum);
      if (has_pair) begins_[pair] = all_lower + lower;
      all_lower += sum;
      __syncthreads();
      Scan(storage_.scan).ExclusiveSum(upper, upper, sum);
      if (has_pair) begins_[pairs + pair] = all_upper + upper;
      all_upper += sum;
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      sums_[2 * blockIdx.x] = all_lower;
      sums_[2 * blockIdx.x + 1] = all_upper;
    }
  }

  STRATA_D void add_blocks(unsigned pair, bool has_pair, unsigned column, unsigned part) {
    unsigned lower = 0, upper = 0;
    if (has_pair) {
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

  // Adds, in each half, the number of keys whose words belong to the blocks before this one. The begins of the upper
  // half also get the number of all keys of the lower half.
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
    for (unsigned pair = first_pair() + threadIdx.x; pair < end_pair(); pair += unsigned{block_threads}) {
      begins_[pair] += before_lower;
      begins_[pairs + pair] += before_upper;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) begins_[counting_sort_bins] = num_items_;
  }

  TempStorage& storage_;
  unsigned* counters_;
  KeyIterator d_keys_;
  std::size_t num_items_;
  const Digits& digits_;
  unsigned long long* begins_;
  unsigned long long* sums_;
  unsigned* all_counters_;
  unsigned* departures_;
  grid_barrier<block_threads> barrier_;
};

}  // namespace detail
STRATA_NAMESPACE_END
