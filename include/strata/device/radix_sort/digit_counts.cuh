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
#include <strata/device/engine/last_block.cuh>
#include <strata/device/radix_sort/problem.cuh>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// One block's counts of the digits of all passes, in shared memory. Each lane has a column of counters, if
/// 32 columns fit; otherwise lanes share columns. With 32, no two lanes of a warp access one counter or one bank,
/// whatever the keys.
template <class Policy, class KeyIterator, class Digits>
class radix_digit_counts {
  static constexpr radix_histogram_tuning tuning = Policy::histogram;
  static constexpr int block_threads = tuning.block_threads;
  using Key = iterator_value_t<KeyIterator>;
  using Codes = radix_codes<Digits>;
  using Range = aligned_range<Key, std::size_t>;
  static constexpr int max_passes = detail::ceiling_divide(Digits::key_bits, radix_bits);
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
                "radix_histogram_tuning: shared_bytes must hold a counter for each digit, and a block must have a "
                "thread for each digit");

 public:
  /// Dynamic shared memory.
  static constexpr std::size_t shared_bytes() {
    return static_cast<std::size_t>(max_passes * radix_bins * max_columns()) * 4;
  }

  STRATA_D radix_digit_counts(unsigned* counters, const radix_bit_range& range, const Digits& digits)
      : counters_(counters), range_(range), passes_(range.passes()), digits_(digits) {}

  STRATA_D void clear() const {
    for (int i = static_cast<int>(threadIdx.x); i < passes_ * radix_bins * columns; i += block_threads) {
      counters_[i] = 0;
    }
  }

  /// Counts the part that block `block` has of `num_items` keys. `blocks` blocks share out the keys.
  STRATA_D void count_keys(const KeyIterator& d_keys, std::size_t num_items, unsigned block, unsigned blocks) {
    if (range_.begin_bit == 0 && range_.end_bit == Digits::key_bits) {
      count_keys<true>(d_keys, num_items, block, blocks);
    } else {
      count_keys<false>(d_keys, num_items, block, blocks);
    }
  }

  /// True if all keys that the thread has counted are exact.
  STRATA_D bool is_exact() const { return is_exact_; }

  /// Adds the counts to those of other blocks. Call this after a barrier.
  STRATA_D void add_to(unsigned long long* bins) const {
    for (int i = static_cast<int>(threadIdx.x); i < passes_ * radix_bins; i += block_threads) {
      unsigned long long sum = 0;
      STRATA_UNROLL_N(8)
      for (int column = 0; column < columns; ++column) {
        // With 32 columns, lanes read different banks. With fewer, they share a bank less often than if all began with
        // column 0.
        sum += counters_[i * columns + (column + i) % columns];
      }
      if (sum > 0) atomicAdd(&bins[i], sum);
    }
  }

 private:
  static constexpr int columns = max_columns();

  // Counts all digits of the keys that `for_each_key(use)` gives to `use`. With `HasAllBits` the compiler knows the
  // bits of each digit; otherwise they are found once for all these keys.
  template <bool HasAllBits, class ForEachKey>
  STRATA_D void count(const ForEachKey& for_each_key) {
    if constexpr (HasAllBits) {
      for_each_key([&](const Key& key) {
        const auto code = ordered(key);
        STRATA_UNROLL
        for (int pass = 0; pass < max_passes; ++pass) count_digit(code, radix_bit_range{0, Digits::key_bits}, pass);
      });
    } else if constexpr (Codes::are_all_exact) {
      STRATA_UNROLL_N(1)
      for (int pass = 0; pass < passes_; ++pass) {
        for_each_key([&](const Key& key) { count_digit(ordered(key), range_, pass); });
      }
    } else {
      // The code of a floating-point number takes more instructions than a digit of it.
      typename Codes::Code codes[64 / sizeof(Key)];
      int index = 0;
      for_each_key([&](const Key& key) { codes[index++] = ordered(key); });
      STRATA_UNROLL_N(1)
      for (int pass = 0; pass < passes_; ++pass) {
        index = 0;
        for_each_key([&](const Key&) { count_digit(codes[index++], range_, pass); });
      }
    }
  }

  STRATA_D typename Codes::Code ordered(const Key& key) {
    typename Codes::Code code = Codes::encode(key);
    if constexpr (!Codes::are_all_exact) {
      // A test for exactness takes fewer instructions than `Codes::ordered()`. So only keys that are not exact call it.
      if (!Codes::is_exact(code)) {
        code = Codes::ordered(code);
        is_exact_ = false;
      }
    }
    return code;
  }

  STRATA_D void count_digit(const typename Codes::Code& code, const radix_bit_range& range, int pass) const {
    const unsigned digit = radix_code_digits<Digits, true>{digits_}(code, range.first_bit(pass), range.bits(pass));
    unsigned* const first = counters_ + pass * radix_bins * columns + threadIdx.x % unsigned{columns};
    atomicAdd(&first[digit * unsigned{columns}], 1u);
  }

  template <bool HasAllBits>
  STRATA_D void count_keys(const KeyIterator& d_keys, std::size_t num_items, unsigned block, unsigned blocks) {
    if constexpr (is_bulk_array<KeyIterator>) {
      // If a key is as aligned as it is large, this condition is a constant, and the compiler removes the code below.
      if (alignof(Key) == sizeof(Key) || Range::has_boundary(d_keys)) {
        count_vectors<HasAllBits>(d_keys, num_items, block, blocks);
        return;
      }
    }
    constexpr std::size_t tile = static_cast<std::size_t>(block_threads) * keys_per_batch;
    for (std::size_t first = block * tile; first < num_items; first += blocks * tile) {
      const KeyIterator from = detail::advanced(d_keys, first + threadIdx.x);
      const std::size_t left = num_items - first;
      const auto is_key = [left](int i) {
        return left >= tile || static_cast<std::size_t>(i) * block_threads + threadIdx.x < left;
      };
      Key keys[keys_per_batch];
      STRATA_UNROLL
      for (int i = 0; i < keys_per_batch; ++i) {
        if (is_key(i)) keys[i] = from[static_cast<difference_of<KeyIterator>>(i * block_threads)];
      }
      count<HasAllBits>([&](const auto& use) {
        STRATA_UNROLL
        for (int i = 0; i < keys_per_batch; ++i) {
          if (is_key(i)) use(keys[i]);
        }
      });
    }
  }

  // Counts the digits of an array, 16 bytes at a time.
  template <bool HasAllBits>
  STRATA_D void count_vectors(const KeyIterator& d_keys, std::size_t num_items, unsigned block, unsigned blocks) {
    constexpr int width = static_cast<int>(Range::width);
    constexpr int vectors = 4;  // that a thread loads before it counts the first
    constexpr std::size_t tile = static_cast<std::size_t>(block_threads) * vectors;
    const Range range(d_keys, num_items);
    const KeyIterator body = d_keys + range.head;
    for (std::size_t first = block * tile + threadIdx.x; first < range.vectors; first += blocks * tile) {
      item_vector<Key, width> held[vectors];
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        const std::size_t vector = first + static_cast<std::size_t>(v) * block_threads;
        if (vector < range.vectors) held[v].load(body + vector * width);
      }
      count<HasAllBits>([&](const auto& use) {
        STRATA_UNROLL
        for (int v = 0; v < vectors; ++v) {
          if (first + static_cast<std::size_t>(v) * block_threads >= range.vectors) break;
          Key keys[width];
          held[v].get(keys);
          STRATA_UNROLL
          for (int i = 0; i < width; ++i) use(keys[i]);
        }
      });
    }
    // The keys before the first vector, and those after the last.
    const std::size_t edge = threadIdx.x < range.head ? threadIdx.x : threadIdx.x + range.vectors * width;
    if (block == 0 && threadIdx.x < 2 * width && edge < num_items) {
      count<HasAllBits>([&](const auto& use) { use(d_keys[edge]); });
    }
  }

  unsigned* counters_;
  radix_bit_range range_;
  int passes_;
  const Digits& digits_;
  bool is_exact_ = true;
};

/// The work of the last block to count: turns counts into offsets, an exclusive sum for each pass, and plans the
/// passes.
template <int BlockThreads, int MaxPasses>
struct radix_pass_planner {
  using Scan = BlockScan<unsigned long long, BlockThreads, BLOCK_SCAN_WARP_SCANS>;

  struct TempStorage {
    typename Scan::TempStorage scan;
    bool is_constant[MaxPasses];
  };

  /// Plans the passes of `workspace` by its bins, to which other blocks have added. All threads call this.
  STRATA_D static void plan(TempStorage& storage, const radix_workspace& workspace, int passes, std::size_t num_items,
                            radix_result result) {
    STRATA_UNROLL_N(1)
    for (int pass = 0; pass < passes; ++pass) {
      unsigned long long* const bin = workspace.bins_of(pass) + threadIdx.x;
      unsigned long long count = 0;
      if (threadIdx.x < radix_bins) count = platform::load_relaxed(bin);
      const bool has_all = count == num_items;
      unsigned long long smaller;
      Scan(storage.scan).ExclusiveSum(count, smaller);
      if (threadIdx.x < radix_bins) *bin = smaller;
      const int is_constant = __syncthreads_or(has_all ? 1 : 0);
      if (threadIdx.x == 0) storage.is_constant[pass] = is_constant != 0;
    }
    if (threadIdx.x == 0) {
      detail::plan_radix_passes(workspace.plan, passes, storage.is_constant,
                                platform::load_relaxed(workspace.inexact) == 0, result);
    }
  }
};

/// The first kernel of a sort: counts the digits of all passes in one read of the keys, and plans the passes.
/// All blocks are resident.
///
/// 1. Each block clears its part of the workspace and arrives at a split barrier.
/// 2. It counts the digits of its keys in shared memory.
/// 3. It waits until all blocks have arrived. Mostly they have arrived long ago. Then it adds its counts to the counts
///    of the other blocks.
/// 4. The last block to finish turns counts into offsets, an exclusive sum for each pass, and plans the passes.
template <class Policy, class KeyIterator, class Digits>
class AgentRadixHistogram {
  static constexpr int block_threads = Policy::histogram.block_threads;
  static constexpr int max_passes = detail::ceiling_divide(Digits::key_bits, radix_bits);
  using Counts = radix_digit_counts<Policy, KeyIterator, Digits>;
  using Planner = radix_pass_planner<block_threads, max_passes>;

 public:
  using TempStorage = typename Planner::TempStorage;

  /// Dynamic shared memory.
  static constexpr std::size_t counter_bytes() { return Counts::shared_bytes(); }

  STRATA_D AgentRadixHistogram(TempStorage& storage, unsigned* counters, KeyIterator d_keys, std::size_t num_items,
                               const radix_bit_range& range, const Digits& digits, const radix_workspace& workspace,
                               unsigned long long epoch, bool may_be_replayed, radix_result result)
      : storage_(storage),
        counts_(counters, range, digits),
        d_keys_(d_keys),
        num_items_(num_items),
        passes_(range.passes()),
        workspace_(workspace),
        epoch_(epoch),
        may_be_replayed_(may_be_replayed),
        result_(result) {}

  STRATA_D void run() {
    clear_workspace();
    counts_.clear();
    all_are_clear().arrive();
    counts_.count_keys(d_keys_, num_items_, blockIdx.x, gridDim.x);
    all_are_clear().wait();
    counts_.add_to(workspace_.bins);
    if (!counts_.is_exact()) platform::store_relaxed(workspace_.inexact, 1u);
    if (detail::is_last_block(workspace_.departures)) plan();
  }

 private:
  template <class T>
  STRATA_D void clear(T* from, std::size_t count) const {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * block_threads;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x; i < count; i += step) {
      from[i] = 0;
    }
  }

  STRATA_D grid_split_barrier<block_threads> all_are_clear() const { return {workspace_.arrivals, epoch_}; }

  STRATA_D void clear_workspace() const {
    clear(workspace_.bins, static_cast<std::size_t>(passes_ * radix_bins));
    clear(workspace_.tickets, static_cast<std::size_t>(passes_));
    clear(workspace_.departures, 1);
    clear(workspace_.inexact, 1);
    clear(static_cast<unsigned*>(workspace_.states[0]), workspace_.state_bytes / sizeof(unsigned));
  }

  STRATA_D void plan() {
    Planner::plan(storage_, workspace_, passes_, num_items_, result_);
    if (!may_be_replayed_) return;
    all_are_clear().erase();
  }

  TempStorage& storage_;
  Counts counts_;
  KeyIterator d_keys_;
  std::size_t num_items_;
  int passes_;
  const radix_workspace& workspace_;
  unsigned long long epoch_;
  bool may_be_replayed_;
  radix_result result_;
};

}  // namespace detail
STRATA_NAMESPACE_END
