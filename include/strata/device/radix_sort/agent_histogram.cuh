// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/radix_sort/digit_counts.cuh>
#include <strata/device/radix_sort/problem.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The first kernel of a sort: counts the digits of all passes in one read of the keys, and plans the passes.
/// All blocks are resident.
///
/// 1. Each block clears its part of the workspace and arrives at a split barrier.
/// 2. It counts the digits of its keys in shared memory.
/// 3. When all blocks have arrived, mostly long before, it adds its counts to those of the other blocks.
/// 4. The last block to finish turns counts into offsets, an exclusive sum for each pass, and plans the passes.
template <class Policy, class KeyIterator, class Digits>
class AgentRadixHistogram {
  static constexpr int block_threads = Policy::histogram.block_threads;
  static constexpr int max_passes = ceiling_divide(Digits::key_bits, radix_bits);
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
