// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/histogram/agent.cuh>
#include <strata/device/histogram/bins.cuh>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

inline constexpr int histogram_clear_threads = 256;

/// What blocks keep in dynamic shared memory: levels, if they are copied, then counters.
struct histogram_shared_memory {
  std::size_t level_bytes;  // 0: levels are read in device memory
  unsigned bin_bytes;       // of the counters of one bin
};

template <class CounterT, int ActiveChannels>
STRATA_KERNEL void histogram_clear_kernel(
    const STRATA_GRID_CONSTANT histogram_outputs<CounterT, ActiveChannels> outputs) {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  outputs.clear(blockIdx.x * std::size_t{histogram_clear_threads} + threadIdx.x,
                gridDim.x * std::size_t{histogram_clear_threads});
}

/// Outputs have been cleared if there is more than one block.
template <class MaxPolicy, int Channels, int ActiveChannels, bool UsesTable, class Iterator, class Bins, class CounterT>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads,
                  MaxPolicy::ActivePolicy::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void histogram_kernel(const STRATA_GRID_CONSTANT histogram_samples<Iterator> samples,
                                        const STRATA_GRID_CONSTANT histogram_channels<Bins, ActiveChannels> channels,
                                        const STRATA_GRID_CONSTANT histogram_outputs<CounterT, ActiveChannels> outputs,
                                        histogram_shared_memory shared_memory) {
  using Agent =
      AgentHistogram<typename MaxPolicy::ActivePolicy, Channels, ActiveChannels, Iterator, Bins, CounterT, UsesTable>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  auto* const counters = reinterpret_cast<unsigned*>(shared + shared_memory.level_bytes);
  if constexpr (Bins::has_levels) {
    if (shared_memory.level_bytes > 0) {
      histogram_channels<Bins, ActiveChannels> copies = channels;
      auto* next = reinterpret_cast<typename Bins::Level*>(shared);
      STRATA_UNROLL
      for (Bins& bins : copies.bins) next = bins.copy_levels(next);
      Agent(counters, shared_memory.bin_bytes, copies.bins, outputs).run(samples);
      return;
    }
  }
  Agent(counters, shared_memory.bin_bytes, channels.bins, outputs).run(samples);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
