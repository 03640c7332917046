// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_code.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/digit_plan.cuh>
#include <strata/device/radix_sort/tuning.hpp>
#include <strata/device/radix_sort/workspace.cuh>
#include <strata/device/scan/ring_column.cuh>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The first kernel of a sort: counts the digits of all passes in one read of the keys, and plans
/// the passes. All blocks are resident.
///
/// Each lane counts in a column of its own, so that no two lanes of a warp meet at a counter or in
/// a bank, whatever the keys. While keys are read, every block clears a part of what the kernels
/// share; it adds its counts to those of others when all have done so. The last block to leave
/// turns counts into places of first items.
template <class Policy, class KeyIterator, class Digits, class State>
class AgentRadixHistogram {
  static constexpr radix_histogram_tuning tuning = Policy::histogram;
  static constexpr int block_threads = tuning.block_threads;
  using Key = iterator_value_t<KeyIterator>;
  using Codes = radix_codes<Digits>;
  using Scan = BlockScan<unsigned long long, block_threads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr int most_passes = ceiling_divide(Digits::key_bits, radix_bits);
  // Keys of a thread that are under way together.
  static constexpr int at_once = sizeof(Key) <= 4 ? 16 : sizeof(Key) <= 8 ? 8 : 4;

  // A counter is a word of 32 bits.
  static constexpr int columns_within(int passes) {
    int fitting = warp_threads;
    while (fitting > 1 && passes * radix_bins * fitting * 4 > tuning.shared_bytes) fitting /= 2;
    return fitting;
  }
  // not for users: policies are checked where they are read
  static_assert(most_passes * radix_bins * 4 <= tuning.shared_bytes && block_threads >= radix_bins,
                "radix_histogram_tuning: a counter for each digit must fit, and a thread");

 public:
  struct TempStorage {
    typename Scan::TempStorage scan;
    bool is_constant[most_passes];
    bool is_last;
  };

  /// Dynamic shared memory.
  static constexpr std::size_t counter_bytes() {
    return static_cast<std::size_t>(most_passes * radix_bins * columns_within(most_passes)) * 4;
  }

  STRATA_D AgentRadixHistogram(TempStorage& storage, unsigned* counters, KeyIterator d_keys,
                               std::size_t num_items, const radix_bit_range& range,
                               const Digits& digits, const radix_workspace<State>& workspace,
                               unsigned long long tag, bool may_be_replayed,
                               bool between_two_buffers)
      : storage_(storage),
        counters_(counters),
        d_keys_(d_keys),
        num_items_(num_items),
        range_(range),
        passes_(range.passes()),
        digits_(digits),
        workspace_(workspace),
        tag_(tag),
        may_be_replayed_(may_be_replayed),
        between_two_buffers_(between_two_buffers) {}

  STRATA_D void run() {
    clear_workspace();
    clear_counters();
    __syncthreads();
    if (threadIdx.x == 0) {
      platform::fence_acq_rel();
      platform::store_packet(workspace_.arrivals + blockIdx.x, {0, tag_});
    }
    if (range_.begin_bit == 0 && range_.end_bit == Digits::key_bits) {
      count_keys<true>();
    } else {
      count_keys<false>();
    }
    wait_for_all();
    add_counts();
    if (!is_exact_) platform::store_relaxed(workspace_.inexact, 1u);
    __syncthreads();
    if (threadIdx.x == 0) {
      platform::fence_acq_rel();
      storage_.is_last = atomicAdd(workspace_.departures, 1u) == gridDim.x - 1;
      platform::fence_acq_rel();
    }
    __syncthreads();
    if (storage_.is_last) plan();
  }

 private:
  static constexpr int columns = columns_within(most_passes);

  template <class T>
  STRATA_D void clear(T* from, std::size_t count) const {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * block_threads;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x;
         i < count; i += step) {
      from[i] = 0;
    }
  }

  STRATA_D void clear_workspace() const {
    clear(workspace_.bins, static_cast<std::size_t>(passes_ * radix_bins));
    clear(workspace_.tickets, static_cast<std::size_t>(passes_));
    clear(workspace_.departures, 1);
    clear(workspace_.inexact, 1);
    clear(workspace_.states[0], workspace_.tiles * radix_bins);
  }

  STRATA_D void clear_counters() const {
    for (int i = static_cast<int>(threadIdx.x); i < passes_ * radix_bins * columns;
         i += block_threads) {
      counters_[i] = 0;
    }
  }

  // With all bits to sort by, where digits are is known to the compiler.
  template <bool HasAllBits>
  STRATA_D void count(const Key& key) {
    const auto code = Codes::encode(key);
    const auto ordered = Codes::ordered(code);
    if constexpr (!Codes::are_all_exact) is_exact_ = is_exact_ && ordered == code;
    unsigned* const mine = counters_ + threadIdx.x % unsigned{columns};
    STRATA_UNROLL
    for (int pass = 0; pass < most_passes; ++pass) {
      if (!HasAllBits && pass >= passes_) break;
      const radix_bit_range range = HasAllBits ? radix_bit_range{0, Digits::key_bits} : range_;
      const unsigned digit =
          Codes::template digit<true>(digits_, ordered, range.first_bit(pass), range.bits(pass));
      const unsigned bin = static_cast<unsigned>(pass * radix_bins) + digit;
      atomicAdd(&mine[bin * unsigned{columns}], 1u);
    }
  }

  template <bool HasAllBits>
  STRATA_D void count_keys() {
    if constexpr (is_bulk_array<KeyIterator>) {
      if (reinterpret_cast<std::uintptr_t>(d_keys_) % 16 == 0) {
        count_vectors<HasAllBits>();
        return;
      }
    }
    constexpr std::size_t tile = static_cast<std::size_t>(block_threads) * at_once;
    for (std::size_t first = blockIdx.x * tile; first < num_items_; first += gridDim.x * tile) {
      const KeyIterator from = detail::advanced(d_keys_, first + threadIdx.x);
      const std::size_t left = num_items_ - first;
      Key keys[at_once];
      STRATA_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const std::size_t place = static_cast<std::size_t>(i) * block_threads;
        if (left >= tile || place + threadIdx.x < left) {
          keys[i] = from[static_cast<difference_of<KeyIterator>>(place)];
        }
      }
      STRATA_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const std::size_t place = static_cast<std::size_t>(i) * block_threads;
        if (left >= tile || place + threadIdx.x < left) count<HasAllBits>(keys[i]);
      }
    }
  }

  // Of an array at a 16-byte boundary.
  template <bool HasAllBits>
  STRATA_D void count_vectors() {
    constexpr int width = 16 / static_cast<int>(sizeof(Key));
    constexpr int vectors = 4;  // of a thread, under way together
    constexpr std::size_t tile = static_cast<std::size_t>(block_threads) * vectors;
    const std::size_t all = num_items_ / width;
    for (std::size_t first = blockIdx.x * tile + threadIdx.x; first < all;
         first += gridDim.x * tile) {
      item_vector<Key, width> held[vectors];
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        const std::size_t place = first + static_cast<std::size_t>(v) * block_threads;
        if (place < all) held[v].load(d_keys_ + place * width);
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

  // Until what all blocks clear is clear. By then all of them have long begun, but for short
  // inputs.
  STRATA_D void wait_for_all() const {
    if (threadIdx.x < warp_threads) {
      for (unsigned block = threadIdx.x; block < gridDim.x; block += warp_threads) {
        while (platform::load_packet(workspace_.arrivals + block).tag != tag_) STRATA_SPIN();
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
                                platform::load_relaxed(workspace_.inexact) == 0,
                                between_two_buffers_);
    }
    if (!may_be_replayed_) return;
    // Another replay of a graph brings the same tag.
    for (unsigned i = threadIdx.x; i < gridDim.x; i += unsigned{block_threads}) {
      platform::store_relaxed(&workspace_.arrivals[i].tag, 0ull);
    }
  }

  TempStorage& storage_;
  unsigned* counters_;
  KeyIterator d_keys_;
  std::size_t num_items_;
  radix_bit_range range_;
  int passes_;
  const Digits& digits_;
  const radix_workspace<State>& workspace_;
  unsigned long long tag_;
  bool may_be_replayed_;
  bool between_two_buffers_;
  bool is_exact_ = true;  // all keys that the thread has counted
};

}  // namespace detail
STRATA_NAMESPACE_END
