// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/architecture_limits.hpp>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/bulk_copy.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/launch.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/engine/tile_aggregates.cuh>
#include <strata/device/scan/agent_pipeline.cuh>
#include <strata/device/scan/agent_tile.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The tiles of a policy, of which a kernel takes one.
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

/// Tiles in registers with a FutureCount. Blocks without a tile take no part. It is a kernel of its own because it
/// takes the problem: if scan_tile_kernel took it too, calls without a FutureCount would get other machine code.
template <class MaxPolicy, template <class> class Tile, bool IsOneRound, class Problem, class NumItems>
__launch_bounds__(Tile<typename MaxPolicy::ActivePolicy>::tuning.block_threads,
                  Tile<typename MaxPolicy::ActivePolicy>::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void scan_tile_future_count_kernel(const STRATA_GRID_CONSTANT Problem problem,
                                                     const STRATA_GRID_CONSTANT NumItems counted,
                                                     bool may_overwrite_input, tile_aggregates_arguments exchange) {
  using Agent = AgentScanTile<Tile<typename MaxPolicy::ActivePolicy>, IsOneRound, Problem>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  const std::size_t num_items = counted.get();
  const std::size_t tiles = detail::ceiling_divide<std::size_t>(num_items, Agent::tile_items);
  const unsigned blocks = tiles < gridDim.x ? static_cast<unsigned>(tiles) : gridDim.x;
  if (num_items == 0 && blockIdx.x == 0 && threadIdx.x == 0) problem.write_empty();
  if (blockIdx.x >= blocks) return;
  const typename Problem::TileInit init = problem.tile_init();
  Agent(shared.Alias(), problem.tile_input(), problem.tile_output(num_items), num_items, may_overwrite_input,
        problem.tile_op(), init)
      .scan(exchange, blocks);
}

/// Scans a call's only tile, with little code. A call that runs alone takes less time with this kernel than with
/// scan_tile_kernel.
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

template <class Problem, class = void>
inline constexpr bool holds_num_items = false;
template <class Problem>
inline constexpr bool holds_num_items<Problem, std::void_t<decltype(&Problem::with_items)>> = true;

/// The problem of a call with a FutureCount, when the number of items is known.
template <class Problem>
STRATA_D decltype(auto) with_items(const Problem& problem, [[maybe_unused]] std::size_t num_items) {
  if constexpr (holds_num_items<Problem>) {
    return problem.with_items(num_items);
  } else {
    return (problem);
  }
}

/// The input of a call with a FutureCount, which the kernel cuts into tiles.
template <class NumItems>
struct uncut_scan_input {
  NumItems num_items;
  unsigned max_head_items;
};

/// Scans tiles in a pipeline of stages in dynamic shared memory. All blocks are resident. `Input` is `tiled_input`, or
/// the `uncut_scan_input` of a FutureCount: then blocks without a tile take part too.
template <class MaxPolicy, class Problem, bool UsesBulkCopies, class Input = tiled_input>
__launch_bounds__(scan_pipeline<typename MaxPolicy::ActivePolicy, Problem, UsesBulkCopies>::block_threads,
                  scan_pipeline<typename MaxPolicy::ActivePolicy, Problem, UsesBulkCopies>::blocks_per_multiprocessor)
    STRATA_KERNEL void scan_pipeline_kernel(const STRATA_GRID_CONSTANT Problem problem,
                                            const STRATA_GRID_CONSTANT Input input,
                                            tile_aggregates_arguments exchange) {
  if constexpr (platform::has_bulk_copies) {
    using Policy = typename MaxPolicy::ActivePolicy;
    using Agent = scan_pipeline<Policy, Problem, UsesBulkCopies>;
    using Steps = typename Problem::template steps<Policy, UsesBulkCopies>;
    STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
    STRATA_DYNAMIC_SHARED(stages);
    STRATA_ASSERT(blockDim.x == Agent::block_threads,
                  "scan_pipeline_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                  Agent::block_threads);

    platform::wait_for_previous_kernel();
    platform::launch_next_kernel();

    if constexpr (std::is_same_v<Input, tiled_input>) {
      Steps steps(problem, input);
      Agent(shared.Alias(), stages, steps, input, exchange).run();
    } else {
      const std::size_t num_items = input.num_items.get();
      if (num_items == 0) {
        if (blockIdx.x == 0 && threadIdx.x == 0) problem.write_empty();
        return;
      }
      const unsigned head_items =
          num_items < input.max_head_items ? static_cast<unsigned>(num_items) : input.max_head_items;
      const tiled_input tiles{num_items, detail::ceiling_divide<std::size_t>(num_items - head_items, Agent::tile_items),
                              head_items};
      const auto& counted = detail::with_items(problem, num_items);
      Steps steps(counted, tiles);
      Agent(shared.Alias(), stages, steps, tiles, exchange).run();
    }
  }
}

template <int Numbers, class Iterator>
STRATA_KERNEL void write_zero_kernel(Iterator out) {
  *out = static_cast<output_value_t<Iterator, int>>(0);
  if constexpr (Numbers > 1) *detail::advanced(out, 1) = static_cast<output_value_t<Iterator, int>>(0);
}

/// Blocks of a scan, at most.
inline constexpr std::size_t max_scan_blocks = 1024;

/// Items of a tile, at least.
inline constexpr std::size_t min_tile_items = 128;

/// The rows of a policy of scans, and of what is built on them.
template <class Policy>
using scan_tile_rows =
    std::void_t<if_rows<scan_tile_tuning, decltype(Policy::small_tile), decltype(Policy::large_tile)>,
                if_rows<int, decltype(Policy::pipeline_above)>>;
template <class Policy>
using scan_rows = std::void_t<scan_tile_rows<Policy>, if_rows<scan_pipeline_tuning, decltype(Policy::pipeline)>>;
template <class Policy>
using columns_rows = std::void_t<scan_tile_rows<Policy>, if_rows<columns_pipeline_tuning, decltype(Policy::columns)>>;

/// Carries out one call of a device-wide scan.
///
/// `Problem` says what is scanned. Scans, scans by key, selections and reductions by key are problems. A problem has
/// these members:
///
/// - `can_reach(num_items)`: whether the types of iterators can represent the indices of all items;
/// - `are_arguments_valid(num_items)`: what the host can know of arrays and operators;
/// - `tile_input()`, `tile_output(num_items)`, `tile_op()` and `tile_init()` (NullType, a value, or a
///   FutureValue), with their types `TileInput` ... and `Accum`, in which sums are carried: the problem as a
///   scan of one iterator into another, for AgentScanTile;
/// - `moves_in_place`: an output may overwrite an item of another tile. A block then cannot reduce a missing tile of
///   another block, so all blocks must be resident;
/// - `has_pipeline<UsesBulkCopies>`, and `steps<Policy, UsesBulkCopies>`: whether AgentScanPipeline can scan the
///   problem, and the steps with which it does. The kernel takes the problem as its base `steps::PipelineProblem`, so
///   that problems with the same steps share it;
/// - `can_copy_in_bulk()`, `head_items()`: whether alignment allows bulk copies, and how many items come
///   before the first 16-byte boundary.
/// - `write_empty()`, if a call may have a FutureCount: what is written if the count is 0.
///
/// `num_items` is the number of items as kernels take it. The host knows that there are at most `max_items`.
template <class Problem, class PolicyHub = default_policy_hub, class NumItems = std::size_t>
struct DispatchScan {
  static constexpr bool has_columns = hub_has_rows<columns_rows, typename Problem::policy_hub>;
  static_assert(
      has_columns || hub_has_rows<scan_rows, PolicyHub>,
      "DeviceScan: each policy in the chain of PolicyHub::MaxPolicy must name itself in its ChainedPolicy and "
      "have the members small_tile and large_tile (scan_tile_tuning), pipeline (scan_pipeline_tuning) and "
      "pipeline_above (int)");
  static_assert(!has_columns || hub_has_rows<columns_rows, PolicyHub>,
                "scans by key, selections, partitions and runs: each policy in the chain of PolicyHub::MaxPolicy must "
                "name itself in its ChainedPolicy and have the members small_tile and large_tile (scan_tile_tuning), "
                "columns (columns_pipeline_tuning) and pipeline_above (int)");
  using MaxPolicy =
      typename std::conditional_t<has_columns, hub_or<columns_rows, PolicyHub, typename Problem::policy_hub>,
                                  hub_or<scan_rows, PolicyHub, typename Problem::policy_hub>>::MaxPolicy;
  using Aggregates = tile_aggregates<typename Problem::Accum>;

  Problem problem;
  std::size_t max_items;
  cudaStream_t stream;
  device_properties device;
  platform::tagged_word* words;
  NumItems num_items;

  template <class NumItemsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, const Problem& problem,
                              NumItemsT num_items, cudaStream_t stream) {
    const std::size_t max_items = detail::max_items(num_items);
    if (detail::refuses_count(num_items, "num_items") || !problem.can_reach(max_items)) return cudaErrorInvalidValue;
    const std::size_t max_tiles = ceiling_divide(max_items, min_tile_items);
    temporary_storage::layout<1> storage;
    storage.template reserve<platform::tagged_word>(
        0, Aggregates::number_of_words(detail::least(max_tiles, max_scan_blocks)));
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes) ||
        !problem.are_arguments_valid(max_items) || detail::refuses_null_count(num_items)) {
      return cudaErrorInvalidValue;
    }
    if (max_items == 0) return cudaSuccess;
    DispatchScan<Problem, PolicyHub, kernel_count_t<NumItemsT>> dispatch{
        problem,
        max_items,
        stream,
        {},
        storage.template get<platform::tagged_word>(0),
        static_cast<kernel_count_t<NumItemsT>>(num_items)};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    const auto multiprocessors = static_cast<std::size_t>(device.multiprocessors);
    const std::size_t small_tiles = tiles<ActivePolicy, small_tile>();
    if (small_tiles == 1) return launch_single_tile<ActivePolicy>();
    if constexpr (!Problem::moves_in_place) {
      if (small_tiles <= multiprocessors) return launch_one_round<ActivePolicy, small_tile>();
    }
    const std::size_t large_tiles = tiles<ActivePolicy, large_tile>();
    if constexpr (ActivePolicy::pipeline_above != no_pipeline) {
      if (large_tiles > static_cast<std::size_t>(ActivePolicy::pipeline_above) * multiprocessors) {
        if constexpr (takes_pipeline<ActivePolicy, true>()) {
          if (problem.can_copy_in_bulk()) return launch_pipeline<ActivePolicy, true>(problem.head_items());
        }
        if constexpr (takes_pipeline<ActivePolicy, false>()) return launch_pipeline<ActivePolicy, false>(0);
      }
    }
    if constexpr (!Problem::moves_in_place) {
      if (large_tiles <= max_scan_blocks) return launch_one_round<ActivePolicy, large_tile>();
    }
    return launch_rounds<ActivePolicy, large_tile>();
  }

  /// True if there is a pipeline, and aggregates are not too large for its shared memory.
  template <class ActivePolicy, bool UsesBulkCopies>
  static constexpr bool takes_pipeline() {
    if constexpr (Problem::template has_pipeline<UsesBulkCopies>) {
      using Agent = AgentScanPipeline<typename Problem::template steps<ActivePolicy, UsesBulkCopies>>;
      constexpr std::size_t bytes = sizeof(typename Agent::TempStorage), most_static_bytes = std::size_t{48} << 10;
      constexpr int most_bytes = detail::limits_of(ActivePolicy::ptx_version).shared_bytes_of_block;
      return bytes <= most_static_bytes && bytes + Agent::dynamic_shared_bytes <= std::size_t{most_bytes};
    } else {
      return false;
    }
  }

  template <class ActivePolicy, bool UsesBulkCopies>
  cudaError_t launch_pipeline(unsigned head_items) const {
    using Steps = typename Problem::template steps<ActivePolicy, UsesBulkCopies>;
    using Agent = AgentScanPipeline<Steps>;
    // not for users: one storage serves the pipeline and tiles in registers
    static_assert(tile_aggregates<typename Steps::Aggregate>::words_per_value <= Aggregates::words_per_value,
                  "a pipeline's aggregates must fit where those of tiles in registers do");
    const std::size_t tiles = detail::ceiling_divide<std::size_t>(max_items - head_items, Agent::tile_items);
    const auto launch_with = [&](const auto& input) {
      using Input = std::decay_t<decltype(input)>;
      static kernel_property_cache cache;
      return detail::launch_resident(
          {"strata::DeviceScan", dim3(1), dim3(static_cast<unsigned>(Agent::block_threads)),
           Agent::dynamic_shared_bytes, stream, 1, true},
          cache, device, tiles, max_scan_blocks,
          scan_pipeline_kernel<MaxPolicy, typename Steps::PipelineProblem, UsesBulkCopies, Input>, problem, input,
          exchange());
    };
    if constexpr (is_future_count<NumItems>) {
      return launch_with(uncut_scan_input<NumItems>{num_items, head_items});
    } else {
      return launch_with(tiled_input{num_items, tiles, head_items});
    }
  }

  template <class ActivePolicy>
  cudaError_t launch_single_tile() const {
    if constexpr (is_future_count<NumItems>) {
      return launch_one_round<ActivePolicy, small_tile>();
    } else {
      return strata::launch(configuration<ActivePolicy, small_tile>(), scan_single_tile_kernel<MaxPolicy, Problem>,
                            problem.tile_input(), problem.tile_output(num_items), static_cast<unsigned>(num_items),
                            problem.tile_op(), problem.tile_init());
    }
  }

  // Each tile has a block. The blocks need not be resident together (see tile_prefix.cuh). So the launch is not
  // cooperative, and it can overlap with the kernel before (2^18 ints in a batch: 3.4 us, 4.7 if cooperative; H200,
  // 2026-11-21).
  template <class ActivePolicy, template <class> class Tile>
  cudaError_t launch_one_round() const {
    if constexpr (is_future_count<NumItems>) {
      return strata::launch(configuration<ActivePolicy, Tile>(),
                            scan_tile_future_count_kernel<MaxPolicy, Tile, true, Problem, NumItems>, problem, num_items,
                            may_overwrite_input(), exchange());
    } else {
      return strata::launch(configuration<ActivePolicy, Tile>(), scan_tile_kernel<MaxPolicy, Tile, true, Problem>,
                            problem.tile_input(), problem.tile_output(num_items), num_items, may_overwrite_input(),
                            problem.tile_op(), problem.tile_init(), exchange());
    }
  }

  template <class ActivePolicy, template <class> class Tile>
  cudaError_t launch_rounds() const {
    static kernel_property_cache cache;
    if constexpr (is_future_count<NumItems>) {
      return detail::launch_resident(configuration<ActivePolicy, Tile>(), cache, device, tiles<ActivePolicy, Tile>(),
                                     max_scan_blocks,
                                     scan_tile_future_count_kernel<MaxPolicy, Tile, false, Problem, NumItems>, problem,
                                     num_items, false, exchange());
    } else {
      return detail::launch_resident(configuration<ActivePolicy, Tile>(), cache, device, tiles<ActivePolicy, Tile>(),
                                     max_scan_blocks, scan_tile_kernel<MaxPolicy, Tile, false, Problem>,
                                     problem.tile_input(), problem.tile_output(num_items), num_items, false,
                                     problem.tile_op(), problem.tile_init(), exchange());
    }
  }

 private:
  template <class ActivePolicy, template <class> class Tile>
  std::size_t tiles() const {
    constexpr scan_tile_tuning tuning = Tile<ActivePolicy>::tuning;
    constexpr std::size_t tile_items = static_cast<std::size_t>(tuning.block_threads) * tuning.items_per_thread;
    static_assert(tile_items >= min_tile_items, "scan_tile_tuning: a tile must have at least 128 items");
    return ceiling_divide(max_items, tile_items);
  }

  template <class ActivePolicy, template <class> class Tile>
  launch_configuration configuration() const {
    launch_configuration result{"strata::DeviceScan", dim3(static_cast<unsigned>(tiles<ActivePolicy, Tile>())),
                                dim3(Tile<ActivePolicy>::tuning.block_threads)};
    result.stream = stream;
    result.programmatic = device.ptx_version >= 900;
    return result;
  }

  tile_aggregates_arguments exchange() const {
    return {words, next_epoch(), detail::is_replayable(stream), Problem::moves_in_place};
  }

  bool may_overwrite_input() const {
    constexpr bool are_arrays =
        std::is_pointer_v<typename Problem::TileInput> && std::is_pointer_v<typename Problem::TileOutput>;
    return !are_arrays ||
           detail::arrays_overlap(problem.tile_input(), max_items, problem.tile_output(max_items), max_items);
  }
};

/// Writes zero as each of the `Numbers` numbers of results, for an empty input.
template <int Numbers = 1, class Iterator>
cudaError_t write_zero(const char* name, Iterator out, cudaStream_t stream) {
  launch_configuration configuration{name, dim3(1), dim3(1)};
  configuration.stream = stream;
  return strata::launch(configuration, write_zero_kernel<Numbers, Iterator>, out);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
