// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/launch.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/radix_sort/agent_pass.cuh>
#include <strata/device/radix_sort/digit_counts.cuh>
#include <strata/device/radix_sort/problem.cuh>

#include <cstddef>

/// \file
/// The kernels and launches of a sort in passes: a histogram of all digits, then a pass for each digit.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Counts all digits, and plans the passes. All blocks are resident.
template <class MaxPolicy, class KeyIterator, class Digits, class Count>
__launch_bounds__(MaxPolicy::ActivePolicy::histogram.block_threads, 1)
    STRATA_KERNEL void radix_histogram_kernel(KeyIterator keys, Count count, radix_bit_range range, Digits digits,
                                              const STRATA_GRID_CONSTANT radix_workspace workspace,
                                              unsigned long long epoch, bool may_be_replayed, radix_result result) {
  using Agent = AgentRadixHistogram<typename MaxPolicy::ActivePolicy, KeyIterator, Digits>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(counters);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), reinterpret_cast<unsigned*>(counters), keys, detail::number_of_items<std::size_t>(count), range,
        digits, workspace, epoch, may_be_replayed, result)
      .run();
}

/// Moves the items by one digit, if it is not the same in all of them.
template <class MaxPolicy, class KeyIterator, class ValueIterator, class Value, class Digits, class State, class Count>
__launch_bounds__(MaxPolicy::ActivePolicy::pass.block_threads, MaxPolicy::ActivePolicy::pass.blocks_per_multiprocessor)
    STRATA_KERNEL void radix_pass_kernel(
        const STRATA_GRID_CONSTANT radix_buffers<KeyIterator, iterator_value_t<KeyIterator>> keys,
        const STRATA_GRID_CONSTANT radix_buffers<ValueIterator, Value> values, Count count, int pass,
        radix_bit_range range, Digits digits, const STRATA_GRID_CONSTANT radix_workspace workspace) {
  using Agent = AgentRadixPass<typename MaxPolicy::ActivePolicy, KeyIterator, ValueIterator, Digits, State>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared, keys, values, detail::number_of_items<std::size_t>(count), pass, range, digits, workspace)
      .template run<is_future_count<Count>>();
}

/// Launches the histogram.
template <class MaxPolicy, class ActivePolicy, class Problem>
cudaError_t launch_radix_histogram(const Problem& problem, const radix_workspace& workspace, std::size_t max_blocks) {
  using KeyIterator = typename Problem::KeyIterator;
  using Agent = AgentRadixHistogram<ActivePolicy, KeyIterator, typename Problem::Digits>;
  constexpr int threads = ActivePolicy::histogram.block_threads;
  static kernel_property_cache cache;
  return detail::launch_resident(
      problem.configuration("strata::DeviceRadixSort, digits", 1, threads, Agent::counter_bytes()), cache,
      problem.device, detail::ceiling_divide(problem.num_items, std::size_t{threads} * 4), max_blocks,
      radix_histogram_kernel<MaxPolicy, KeyIterator, typename Problem::Digits, typename Problem::Count>,
      problem.keys.input, problem.count, problem.range, problem.digits, workspace, next_epoch(),
      detail::is_replayable(problem.stream), problem.result);
}

/// Launches all passes. The histogram may have planned some of them to do nothing.
template <class MaxPolicy, class ActivePolicy, class State, class Problem>
cudaError_t launch_radix_passes(const Problem& problem, const radix_workspace& workspace, std::size_t tiles) {
  using KeyIterator = typename Problem::KeyIterator;
  using ValueIterator = typename Problem::ValueIterator;
  using Digits = typename Problem::Digits;
  using Agent = AgentRadixPass<ActivePolicy, KeyIterator, ValueIterator, Digits, State>;
  const auto kernel = radix_pass_kernel<MaxPolicy, KeyIterator, ValueIterator, typename Problem::Value, Digits, State,
                                        typename Problem::Count>;
  constexpr int threads = ActivePolicy::pass.block_threads;
  static kernel_property_cache cache;
  int unused;
  cudaError_t status = detail::resident_blocks_per_multiprocessor(cache, kernel, threads, Agent::shared_bytes, unused);
  const launch_configuration configuration =
      problem.programmatic(problem.configuration("strata::DeviceRadixSort, pass", tiles, threads, Agent::shared_bytes));
  for (int pass = 0; pass < problem.range.passes() && status == cudaSuccess; ++pass) {
    status = strata::launch(configuration, kernel, problem.keys, problem.values, problem.count, pass, problem.range,
                            problem.digits, workspace);
  }
  return status;
}

STRATA_ARCH_DETAIL_NAMESPACE_END
