// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/launch.cuh>
#include <strata/device/radix_sort/agent_counting_sort_count.cuh>
#include <strata/device/radix_sort/agent_counting_sort_fill.cuh>
#include <strata/device/radix_sort/problem.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// The kernels and launches of counting sorts: keys are counted, and the sorted keys are written anew. Keys of one byte
/// are counted by the histogram kernel that sorts in passes also use.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Writes keys of one byte, when all are counted.
template <class MaxPolicy, class Key, bool IsDescending>
__launch_bounds__(MaxPolicy::ActivePolicy::histogram.block_threads, 1)
    STRATA_KERNEL void counting_sort_fill_bytes_kernel(const unsigned long long* begins, Key* keys_out,
                                                       std::size_t num_items) {
  using Agent = AgentCountingSortFillBytes<typename MaxPolicy::ActivePolicy, Key, IsDescending>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), begins, keys_out, num_items).run();
}

/// Counts keys of 16 bits. All blocks are resident.
template <class MaxPolicy, class KeyIterator, class Digits>
__launch_bounds__(MaxPolicy::ActivePolicy::words.block_threads, 1)
    STRATA_KERNEL void counting_sort_count_words_kernel(KeyIterator keys, std::size_t num_items, Digits digits,
                                                        counting_sort_workspace workspace) {
  using Agent = AgentCountingSortCountWords<typename MaxPolicy::ActivePolicy, KeyIterator, Digits>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(counters);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), reinterpret_cast<unsigned*>(counters), keys, num_items, digits, workspace).run();
}

/// Writes keys of 16 bits, when all are counted.
template <class MaxPolicy, class Key, bool IsDescending>
__launch_bounds__(MaxPolicy::ActivePolicy::words.block_threads, 1)
    STRATA_KERNEL void counting_sort_fill_words_kernel(const unsigned long long* begins, Key* keys_out,
                                                       std::size_t num_items) {
  using Agent = AgentCountingSortFillWords<typename MaxPolicy::ActivePolicy, Key, IsDescending>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), begins, keys_out, num_items).run();
}

template <class Problem, class Kernel>
cudaError_t launch_counting_sort_fill(const Problem& problem, Kernel kernel, std::size_t tile_items, int threads,
                                      const unsigned long long* begins) {
  return strata::launch(
      problem.programmatic(problem.configuration("strata::DeviceRadixSort, fill",
                                                 detail::ceiling_divide(problem.num_items, tile_items), threads)),
      kernel, begins, problem.keys.output, problem.num_items);
}

/// Sorts keys of one byte that the histogram has counted: `begins` says where the keys of each byte begin.
template <class MaxPolicy, class ActivePolicy, bool IsDescending, class Problem>
cudaError_t counting_sort_bytes(const Problem& problem, const unsigned long long* begins) {
  using Key = typename Problem::Key;
  return detail::launch_counting_sort_fill(problem, counting_sort_fill_bytes_kernel<MaxPolicy, Key, IsDescending>,
                                           AgentCountingSortFillBytes<ActivePolicy, Key, IsDescending>::tile_items,
                                           ActivePolicy::histogram.block_threads, begins);
}

/// Sorts keys of 16 bits. `begins` has capacity for a number for each key value, one more, and two for each block. Each
/// block that counts needs 128 KiB for its counters. The counters lie in a key array that is not the input (`scratch`,
/// or else the output). It is free, because a counting sort moves no keys.
template <class MaxPolicy, class ActivePolicy, bool IsDescending, class Problem>
cudaError_t counting_sort_words(const Problem& problem, const grid_barrier_arguments& barrier,
                                unsigned long long* begins, std::size_t max_blocks) {
  using Key = typename Problem::Key;
  using KeyIterator = typename Problem::KeyIterator;
  using Count = AgentCountingSortCountWords<ActivePolicy, KeyIterator, typename Problem::Digits>;
  static_assert(ActivePolicy::words.least_items >= counting_sort_bins + 8,
                "radix_words_tuning: least_items must be at least 65,536 + 8, so that the array that is not the "
                "input has room for the counters of a block");
  constexpr int threads = ActivePolicy::words.block_threads;
  Key* scratch = problem.keys.scratch;
  if constexpr (std::is_pointer_v<KeyIterator>) {
    if (scratch == problem.keys.input) scratch = problem.keys.output;
  }
  const auto scratch_begin = reinterpret_cast<std::uintptr_t>(scratch);
  const std::uintptr_t counters = round_up(scratch_begin, std::uintptr_t{16});
  const std::size_t blocks =
      (problem.num_items * sizeof(Key) - (counters - scratch_begin)) / counting_sort_workspace::counter_bytes();
  const counting_sort_workspace workspace{barrier, begins, begins + counting_sort_bins + 1,
                                          reinterpret_cast<unsigned*>(counters)};
  static kernel_property_cache cache;
  const cudaError_t status = detail::launch_resident(
      problem.configuration("strata::DeviceRadixSort, words", 1, threads, Count::counter_bytes), cache, problem.device,
      blocks, max_blocks, counting_sort_count_words_kernel<MaxPolicy, KeyIterator, typename Problem::Digits>,
      problem.keys.input, problem.num_items, problem.digits, workspace);
  if (status != cudaSuccess) return status;
  return detail::launch_counting_sort_fill(problem, counting_sort_fill_words_kernel<MaxPolicy, Key, IsDescending>,
                                           AgentCountingSortFillWords<ActivePolicy, Key, IsDescending>::tile_items,
                                           threads, begins);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
