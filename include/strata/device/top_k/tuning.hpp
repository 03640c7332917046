// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

#include <cmath>
#include <cstddef>

STRATA_NAMESPACE_BEGIN

/// Tuning of the kernel that finds the threshold and writes the items. A block has 33 KB of counters.
struct top_k_tuning {
  int block_threads;
  /// Blocks that are resident on a multiprocessor: registers must suffice for them.
  int blocks_per_multiprocessor;
};

/// The tuning rows of DeviceTopK. They are the same for all keys, because a thread loads 16 bytes at a time.
struct top_k_policy_hub {
  struct rows {
    // H200, 2026-11-29, CUDA 13.0, us for 2^20 i32 and u64, 2^24 f32, k = 1,000: 32, 31, 54; with two blocks 39, 41,
    // 65; 256 threads with four 84, 79, 109. CUB 3.5, whose result is in no order: 32, 39, 84. Over 72 cases, one block
    // is on average 1.16 times as fast as two, which spilled registers. Fewer blocks also add up fewer counts.
    static constexpr top_k_tuning select{/*block_threads=*/512, /*blocks_per_multiprocessor=*/1};
  };
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750>, rows {};
  using MaxPolicy = Policy750;

  /// Keys of a sample. Temporary storage depends on it, so it is the same for all architectures.
  static constexpr std::size_t samples = 4096;
  /// From shorter inputs no sample is taken, because they stay in L2 while they are read several times.
  static constexpr std::size_t least_sampled_bytes = std::size_t{16} << 20;
  /// The policy hub of the kernel that collects candidates.
  template <class Problem>
  using collect_hub = typename Problem::policy_hub;
};

namespace detail {

/// How candidates for the result are found: all items up to the item of rank `sample_rank` in a sample are candidates.
///
/// The sample has about k * samples / n of the first k items. The standard deviation is the square root of this number.
/// The rank of the last candidate in the sample is this number, plus five deviations, plus eight, so that all k first
/// items come before it. The capacity for candidates has the same margin once more. Neither bound is certain: the
/// device checks the number of candidates, and selects from the whole input if it is out of range.
struct top_k_plan {
  std::size_t sample_rank = 0;  // from 1 on
  std::size_t capacity = 0;     // for candidates
  bool is_sampled = false;

  static double with_margin(double count) { return count + 5 * std::sqrt(count) + 8; }

  /// Makes the plan. It takes no sample of a short input, nor if more than a quarter of the input would be candidates.
  static top_k_plan make(std::size_t num_items, std::size_t k, std::size_t key_bytes, std::size_t samples,
                         std::size_t least_sampled_bytes) {
    top_k_plan plan;
    if (num_items < 4 * samples || num_items < least_sampled_bytes / key_bytes) return plan;
    const double items_per_sample = static_cast<double>(num_items) / static_cast<double>(samples);
    const double rank = with_margin(static_cast<double>(k) / items_per_sample);
    const double candidates = with_margin(rank) * items_per_sample + 1;
    plan.is_sampled = candidates <= static_cast<double>(num_items) / 4;
    plan.capacity = plan.is_sampled ? static_cast<std::size_t>(candidates) : num_items / 4;
    plan.sample_rank = plan.is_sampled ? static_cast<std::size_t>(rank) + 1 : 0;
    return plan;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
