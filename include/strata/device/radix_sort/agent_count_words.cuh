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
    sizeof(Key) == 2 && is_radix_integer<Key>::value &&
    std::is_same_v<Decomposer, identity_decomposer>;

inline constexpr int radix_words = 1 << 16;

/// What the blocks that count keys of two bytes share in device memory.
struct radix_words_workspace {
  grid_barrier_arguments barrier;
  unsigned long long* first;  // of each word: how many items have it, then a smaller one; and all
};

/// Counts keys of two bytes, in one read of them, and finds the place of each word's first item.
/// All blocks are resident.
///
/// A block has counters of 16 bits in shared memory. Who makes a counter reach the upper half of its
/// range, takes that half out and adds it to the counts of all; and before anybody can have added
/// as much again, all have met at a barrier. A word that a warp finds often is counted in
/// registers, so that additions to one counter do not queue up.
template <class Policy, class KeyIterator, class Digits>
class AgentRadixCountWords {
  static constexpr int block_threads = Policy::words.block_threads;
  using Key = iterator_value_t<KeyIterator>;
  using Scan = BlockScan<unsigned long long, block_threads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr int width = 16 / static_cast<int>(sizeof(Key));
  static constexpr int vectors = 2;  // of a thread, under way together
  static constexpr int keys_at_once = vectors * width;
  static constexpr unsigned upper_half = 1u << 15;
  // not for users: policies are checked where they are read
  static_assert(block_threads * keys_at_once <= upper_half && radix_words % block_threads == 0,
                "radix_words_tuning: a counter must not run over between two barriers");

 public:
  struct TempStorage {
    typename Scan::TempStorage scan;
    bool is_last;
  };

  /// Dynamic shared memory.
  static constexpr std::size_t counter_bytes = std::size_t{radix_words} * 2;
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
    barrier_.arrive();
    barrier_.wait();
    count_keys();
    add_counts();
    barrier_.arrive();
    if (blockIdx.x == 0) {
      barrier_.wait();
      scan_counts();
    }
    barrier_.leave(storage_.is_last);
  }

 private:
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
        const KeyIterator from = advanced(d_keys_, tile + threadIdx.x);
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

  STRATA_D void add_counts() const {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < upper_half; i += unsigned{block_threads}) {
      const unsigned two = counters_[i];
      const unsigned lower = two & 0xffff, upper = two >> 16;
      if (lower > 0) atomicAdd(&first_[i], static_cast<unsigned long long>(lower));
      if (upper > 0) atomicAdd(&first_[upper_half + i], static_cast<unsigned long long>(upper));
    }
  }

  // Each thread has neighbouring words.
  STRATA_D void scan_counts() const {
    constexpr unsigned words = unsigned{radix_words} / block_threads;
    unsigned long long* const own = first_ + threadIdx.x * words;
    unsigned long long sum = 0;
    STRATA_UNROLL_N(16)
    for (unsigned i = 0; i < words; ++i) sum += platform::load_relaxed(own + i);
    unsigned long long smaller;
    Scan(storage_.scan).ExclusiveSum(sum, smaller);
    STRATA_UNROLL_N(16)
    for (unsigned i = 0; i < words; ++i) {
      const unsigned long long count = platform::load_relaxed(own + i);
      own[i] = smaller;
      smaller += count;
    }
    if (threadIdx.x == 0) first_[radix_words] = num_items_;
  }

  TempStorage& storage_;
  unsigned* counters_;
  KeyIterator d_keys_;
  std::size_t num_items_;
  const Digits& digits_;
  unsigned long long* first_;
  unsigned* departures_;
  grid_barrier<block_threads> barrier_;
};

}  // namespace detail
STRATA_NAMESPACE_END
