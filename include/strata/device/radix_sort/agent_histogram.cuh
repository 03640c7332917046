// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/aligned_range.hpp>
#include <strata/core/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_code.hpp>
#include <strata/core/types.hpp>
#include <strata/device/grid/last_block.cuh>
#include <strata/device/radix_sort/problem.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The first kernel of a sort: counts the digits of all passes in one read of the keys, and plans the passes.
/// All blocks are resident.
///
/// 1. Each block clears its part of the workspace and announces that it has.
/// 2. It counts the digits of its keys in shared memory. Each lane has a column of counters of its own, so
///    that no two lanes of a warp access one counter or one bank, whatever the keys.
/// 3. When all blocks have announced 1, it adds its counts to those of the other blocks.
/// 4. The last block to finish turns counts into offsets, an exclusive sum for each pass, and plans the passes.
template <class Policy, class KeyIterator, class Digits>
class AgentRadixHistogram {
  static constexpr radix_histogram_tuning tuning = Policy::histogram;
  static constexpr int block_threads = tuning.block_threads;
  using Key = iterator_value_t<KeyIterator>;
  using Codes = radix_codes<Digits>;
  using Scan = BlockScan<unsigned long long, block_threads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr int max_passes = ceiling_divide(Digits::key_bits, radix_bits);
  // Keys that a thread loads before it counts the first.
  static constexpr int keys_per_batch = sizeof(Key) <= 4 ? 16 : sizeof(Key) <= 8 ? 8 : 4;

  // A counter is a word of 32 bits.
  static constexpr int max_columns() {
    int fitting = warp_threads;
    while (fitting > 1 && max_passes * radix_bins * fitting * 4 > tuning.shared_bytes) fitting /= 2;
    return fitting;
  }
  // not for users: policies are checked where they are read
  static_assert(max_passes * radix_bins * 4 <= tuning.shared_bytes && block_threads >= radix_bins,
                "radix_histogram_tuning: a counter for each digit must fit, and a thread");

 public:
  struct TempStorage {
    typename Scan::TempStorage scan;
    bool is_constant[max_passes];
  };

  /// Dynamic shared memory.
  static constexpr std::size_t counter_bytes() {
    return static_cast<std::size_t>(max_passes * radix_bins * max_columns()) * 4;
  }

  STRATA_D AgentRadixHistogram(TempStorage& storage, unsigned* counters, KeyIterator d_keys, std::size_t num_items,
                               const radix_bit_range& range, const Digits& digits, const radix_workspace& workspace,
                               unsigned long long epoch, bool may_be_replayed, bool is_double_buffer)
      : storage_(storage),
        counters_(counters),
        d_keys_(d_keys),
        num_items_(num_items),
        range_(range),
        passes_(range.passes()),
        digits_(digits),
        workspace_(workspace),
        epoch_(epoch),
        may_be_replayed_(may_be_replayed),
        is_double_buffer_(is_double_buffer) {}

  STRATA_D void run() {
    clear_workspace();
    clear_counters();
    announce_clear();
    if (range_.begin_bit == 0 && range_.end_bit == Digits::key_bits) {
      count_keys<true>();
    } else {
      count_keys<false>();
    }
    wait_until_clear();
    add_counts();
    if (!is_exact_) platform::store_relaxed(workspace_.inexact, 1u);
    if (detail::is_last_block(workspace_.departures)) plan();
  }

 private:
  static constexpr int columns = max_columns();

  template <class T>
  STRATA_D void clear(T* from, std::size_t count) const {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * block_threads;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x; i < count; i += step) {
      from[i] = 0;
    }
  }

  STRATA_D void clear_workspace() const {
    clear(workspace_.bins, static_cast<std::size_t>(passes_ * radix_bins));
    clear(workspace_.tickets, static_cast<std::size_t>(passes_));
    clear(workspace_.departures, 1);
    clear(workspace_.inexact, 1);
    clear(static_cast<unsigned*>(workspace_.states[0]), workspace_.state_bytes / sizeof(unsigned));
  }

  STRATA_D void clear_counters() const {
    for (int i = static_cast<int>(threadIdx.x); i < passes_ * radix_bins * columns; i += block_threads) {
      counters_[i] = 0;
    }
  }

  STRATA_D void announce_clear() const {
    __syncthreads();
    if (threadIdx.x == 0) {
      platform::fence_acq_rel();
      platform::store_tagged_word(workspace_.arrivals + blockIdx.x, {0, epoch_});
    }
  }

  // With `HasAllBits` the compiler knows the bits of each digit.
  template <bool HasAllBits>
  STRATA_D void count(const Key& key) {
    const auto code = Codes::encode(key);
    const auto ordered = Codes::ordered(code);
    if constexpr (!Codes::are_all_exact) is_exact_ = is_exact_ && ordered == code;
    unsigned* const column = counters_ + threadIdx.x % unsigned{columns};
    STRATA_UNROLL
    for (int pass = 0; pass < max_passes; ++pass) {
      if (!HasAllBits && pass >= passes_) break;
      const radix_bit_range range = HasAllBits ? radix_bit_range{0, Digits::key_bits} : range_;
      const unsigned digit = radix_code_digits<Digits, true>{digits_}(ordered, range.first_bit(pass), range.bits(pass));
      const unsigned bin = static_cast<unsigned>(pass * radix_bins) + digit;
      atomicAdd(&column[bin * unsigned{columns}], 1u);
    }
  }

  template <bool HasAllBits>
  STRATA_D void count_keys() {
    if constexpr (is_bulk_array<KeyIterator>) {
      if (detail::is_at_boundary(d_keys_)) {
        count_vectors<HasAllBits>();
        return;
      }
    }
    constexpr std::size_t tile = static_cast<std::size_t>(block_threads) * keys_per_batch;
    for (std::size_t first = blockIdx.x * tile; first < num_items_; first += gridDim.x * tile) {
      const KeyIterator from = detail::advanced(d_keys_, first + threadIdx.x);
      const std::size_t left = num_items_ - first;
      const auto is_key = [left](int i) {
        return left >= tile || static_cast<std::size_t>(i) * block_threads + threadIdx.x < left;
      };
      Key keys[keys_per_batch];
      STRATA_UNROLL
      for (int i = 0; i < keys_per_batch; ++i) {
        if (is_key(i)) keys[i] = from[static_cast<difference_of<KeyIterator>>(i * block_threads)];
      }
      STRATA_UNROLL
      for (int i = 0; i < keys_per_batch; ++i) {
        if (is_key(i)) count<HasAllBits>(keys[i]);
      }
    }
  }

  // The same for an array at a 16-byte boundary.
  template <bool HasAllBits>
  STRATA_D void count_vectors() {
    constexpr int width = 16 / static_cast<int>(sizeof(Key));
    constexpr int vectors = 4;  // that a thread loads before it counts the first
    constexpr std::size_t tile = static_cast<std::size_t>(block_threads) * vectors;
    const std::size_t all = num_items_ / width;
    for (std::size_t first = blockIdx.x * tile + threadIdx.x; first < all; first += gridDim.x * tile) {
      item_vector<Key, width> held[vectors];
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        const std::size_t vector = first + static_cast<std::size_t>(v) * block_threads;
        if (vector < all) held[v].load(d_keys_ + vector * width);
      }
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        if (first + static_cast<std::size_t>(v) * block_threads >= all) break;
        Key keys[width];
        held[v].get(keys);
        STRATA_UNROLL
        for (int i = 0; i < width; ++i) count<HasAllBits>(keys[i]);
      }
    }
    const std::size_t rest = all * width + threadIdx.x;
    if (blockIdx.x == 0 && threadIdx.x < width && rest < num_items_) {
      count<HasAllBits>(d_keys_[rest]);
    }
  }

  // Waits until all blocks have cleared their parts, which they have mostly done long before. In a
  // grid_barrier every thread polls with acquire; here one warp polls, and one fence follows.
  STRATA_D void wait_until_clear() const {
    if (threadIdx.x < warp_threads) {
      for (unsigned block = threadIdx.x; block < gridDim.x; block += warp_threads) {
        while (platform::load_tagged_word(workspace_.arrivals + block).epoch != epoch_) STRATA_SPIN();
      }
      platform::fence_acq_rel();
    }
    __syncthreads();
  }

  STRATA_D void add_counts() const {
    for (int i = static_cast<int>(threadIdx.x); i < passes_ * radix_bins; i += block_threads) {
      unsigned long long sum = 0;
      STRATA_UNROLL_N(8)
      for (int column = 0; column < columns; ++column) {
        // Lanes begin in different banks.
        sum += counters_[i * columns + (column + i) % columns];
      }
      if (sum > 0) atomicAdd(&workspace_.bins[i], sum);
    }
  }

  STRATA_D void plan() {
    for (int pass = 0; pass < passes_; ++pass) {
      unsigned long long* const bin = workspace_.bins_of(pass) + threadIdx.x;
      unsigned long long count = 0;
      if (threadIdx.x < radix_bins) count = platform::load_relaxed(bin);
      const bool has_all = count == num_items_;
      unsigned long long smaller;
      Scan(storage_.scan).ExclusiveSum(count, smaller);
      if (threadIdx.x < radix_bins) *bin = smaller;
      const int is_constant = __syncthreads_or(has_all ? 1 : 0);
      if (threadIdx.x == 0) storage_.is_constant[pass] = is_constant != 0;
    }
    if (threadIdx.x == 0) {
      detail::plan_radix_passes(workspace_.plan, passes_, storage_.is_constant,
                                platform::load_relaxed(workspace_.inexact) == 0, is_double_buffer_);
    }
    if (!may_be_replayed_) return;
    // A replay of a graph carries the same epoch.
    for (unsigned i = threadIdx.x; i < gridDim.x; i += unsigned{block_threads}) {
      platform::store_relaxed(&workspace_.arrivals[i].epoch, 0ull);
    }
  }

  TempStorage& storage_;
  unsigned* counters_;
  KeyIterator d_keys_;
  std::size_t num_items_;
  radix_bit_range range_;
  int passes_;
  const Digits& digits_;
  const radix_workspace& workspace_;
  unsigned long long epoch_;
  bool may_be_replayed_;
  bool is_double_buffer_;
  bool is_exact_ = true;  // all keys that the thread has counted are exact
};

}  // namespace detail
STRATA_NAMESPACE_END
