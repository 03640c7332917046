// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/bulk_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/tile_aggregates.cuh>
#include <strata/device/scan/agent_pipeline.cuh>
#include <strata/device/scan/agent_tile.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Which tile of a policy a kernel takes.
template <class Policy>
struct small_tile {
  static constexpr scan_tile_tuning tuning = Policy::small_tile;
};
template <class Policy>
struct large_tile {
  static constexpr scan_tile_tuning tuning = Policy::large_tile;
};

/// Scans tiles in registers: one for each block, or several rounds of tiles by blocks that are all resident.
template <class MaxPolicy, template <class> class Tile, bool IsOneRound, class Problem>
__launch_bounds__(Tile<typename MaxPolicy::ActivePolicy>::tuning.block_threads,
                  Tile<typename MaxPolicy::ActivePolicy>::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void scan_tile_kernel(typename Problem::TileInput d_in, typename Problem::TileOutput d_out,
                                        std::size_t num_items, bool may_overwrite_input,
                                        typename Problem::TileOp scan_op, typename Problem::TileInit init,
                                        tile_aggregates_arguments exchange) {
  using ActiveTile = Tile<typename MaxPolicy::ActivePolicy>;
  using Agent = AgentScanTile<ActiveTile, IsOneRound, Problem>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  STRATA_ASSERT(blockDim.x == ActiveTile::tuning.block_threads,
                "scan_tile_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                ActiveTile::tuning.block_threads);

  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  Agent(shared.Alias(), d_in, d_out, num_items, may_overwrite_input, scan_op, init).scan(exchange, gridDim.x);
}

/// The same with a FutureCount. Blocks without a tile take no part.
template <class MaxPolicy, template <class> class Tile, bool IsOneRound, class Problem, class Count>
__launch_bounds__(Tile<typename MaxPolicy::ActivePolicy>::tuning.block_threads,
                  Tile<typename MaxPolicy::ActivePolicy>::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void scan_tile_future_count_kernel(const STRATA_GRID_CONSTANT Problem problem,
                                                     const STRATA_GRID_CONSTANT Count count, bool may_overwrite_input,
                                                     tile_aggregates_arguments exchange) {
  using Agent = AgentScanTile<Tile<typename MaxPolicy::ActivePolicy>, IsOneRound, Problem>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  const std::size_t num_items = count.get();
  const std::size_t tiles = ceiling_divide<std::size_t>(num_items, Agent::tile_items);
  const unsigned blocks = tiles < gridDim.x ? static_cast<unsigned>(tiles) : gridDim.x;
  if (num_items == 0 && blockIdx.x == 0 && threadIdx.x == 0) problem.write_empty();
  if (blockIdx.x >= blocks) return;
  const typename Problem::TileInit init = problem.tile_init();
  Agent(shared.Alias(), problem.tile_input(), problem.tile_output(num_items), num_items, may_overwrite_input,
        problem.tile_op(), init)
      .scan(exchange, blocks);
}

/// Scans a call's only tile, with little code. A single call is faster than by scan_tile_kernel, see README.md.
template <class MaxPolicy, class Problem>
__launch_bounds__(MaxPolicy::ActivePolicy::small_tile.block_threads)
    STRATA_KERNEL void scan_single_tile_kernel(typename Problem::TileInput d_in, typename Problem::TileOutput d_out,
                                               unsigned num_items, typename Problem::TileOp scan_op,
                                               typename Problem::TileInit init) {
  using Agent = AgentScanTile<small_tile<typename MaxPolicy::ActivePolicy>, true, Problem>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  Agent(shared.Alias(), d_in, d_out, num_items, false, scan_op, init).scan_single_tile();
}

template <class Policy, class Problem, bool UsesBulkCopies>
using scan_pipeline = AgentScanPipeline<typename Problem::template steps<Policy, UsesBulkCopies>>;

/// Scans tiles in a pipeline of stages in dynamic shared memory. All blocks are resident.
template <class MaxPolicy, class Problem, bool UsesBulkCopies>
__launch_bounds__(scan_pipeline<typename MaxPolicy::ActivePolicy, Problem, UsesBulkCopies>::block_threads,
                  scan_pipeline<typename MaxPolicy::ActivePolicy, Problem, UsesBulkCopies>::blocks_per_multiprocessor)
    STRATA_KERNEL void scan_pipeline_kernel(const STRATA_GRID_CONSTANT Problem problem,
                                            const STRATA_GRID_CONSTANT tiled_input input,
                                            tile_aggregates_arguments exchange) {
  if constexpr (platform::has_bulk_copies) {
    using Policy = typename MaxPolicy::ActivePolicy;
    using Agent = scan_pipeline<Policy, Problem, UsesBulkCopies>;
    STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
    STRATA_DYNAMIC_SHARED(stages);
    STRATA_ASSERT(blockDim.x == Agent::block_threads,
                  "scan_pipeline_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                  Agent::block_threads);

    platform::wait_for_previous_kernel();
    platform::launch_next_kernel();

    typename Problem::template steps<Policy, UsesBulkCopies> steps(problem, input);
    Agent(shared.Alias(), stages, steps, input, exchange).run();
  }
}

template <class Problem, class = void>
inline constexpr bool holds_num_items = false;
template <class Problem>
inline constexpr bool holds_num_items<Problem, std::void_t<decltype(&Problem::with_items)>> = true;

/// The problem of a call with a FutureCount, when that is known.
template <class Problem>
STRATA_D decltype(auto) with_items(const Problem& problem, [[maybe_unused]] std::size_t num_items) {
  if constexpr (holds_num_items<Problem>) {
    return problem.with_items(num_items);
  } else {
    return (problem);
  }
}

/// The same with a FutureCount. All blocks take part, those without a tile too.
template <class MaxPolicy, class Problem, bool UsesBulkCopies, class Count>
__launch_bounds__(scan_pipeline<typename MaxPolicy::ActivePolicy, Problem, UsesBulkCopies>::block_threads,
                  scan_pipeline<typename MaxPolicy::ActivePolicy, Problem, UsesBulkCopies>::blocks_per_multiprocessor)
    STRATA_KERNEL void scan_pipeline_future_count_kernel(const STRATA_GRID_CONSTANT Problem problem,
                                                         const STRATA_GRID_CONSTANT Count count,
                                                         unsigned max_head_items, tile_aggregates_arguments exchange) {
  if constexpr (platform::has_bulk_copies) {
    using Policy = typename MaxPolicy::ActivePolicy;
    using Agent = scan_pipeline<Policy, Problem, UsesBulkCopies>;
    STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
    STRATA_DYNAMIC_SHARED(stages);
    platform::wait_for_previous_kernel();
    platform::launch_next_kernel();

    const std::size_t num_items = count.get();
    if (num_items == 0) {
      if (blockIdx.x == 0 && threadIdx.x == 0) problem.write_empty();
      return;
    }
    const unsigned head_items = num_items < max_head_items ? static_cast<unsigned>(num_items) : max_head_items;
    const tiled_input input{num_items, ceiling_divide<std::size_t>(num_items - head_items, Agent::tile_items),
                            head_items};
    const auto& counted = detail::with_items(problem, num_items);
    typename Problem::template steps<Policy, UsesBulkCopies> steps(counted, input);
    Agent(shared.Alias(), stages, steps, input, exchange).run();
  }
}

template <int Numbers, class Iterator>
STRATA_KERNEL void write_zero_kernel(Iterator out) {
  *out = static_cast<output_value_t<Iterator, int>>(0);
  if constexpr (Numbers > 1) *detail::advanced(out, 1) = static_cast<output_value_t<Iterator, int>>(0);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
