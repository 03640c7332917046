// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/requirements.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/transform/tile.cuh>
#include <strata/device/transform/tuning.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A generator that always returns the same value.
template <class Value>
struct always {
  Value value;
  STRATA_D const Value& operator()() const { return value; }
};

/// The operators of DeviceTransform::TransformIf. Not a member of its class: with `-rdc=true`, g++ warns of a member
/// that has operators of an unnamed namespace.
template <class Predicate, class TransformOp>
struct with_predicate {
  Predicate predicate;
  TransformOp transform_op;
};

/// Stands for the output where an operator is applied and its result ignored.
struct no_output {};

/// What DeviceTransform and DeviceFor do with a tile. What an operator returns is looked at only in device code, where
/// it is known for lambdas, too.
template <bool IsByReference, class Output, class Op, class... Inputs>
struct transform_problem {
  Output out;
  Op op;

  static constexpr bool is_by_reference = IsByReference;
  static constexpr bool has_vectors = !IsByReference;
  // Only transformations of one input have a path for whole tiles. Two inputs that exceed L2 are read faster with fewer
  // bytes in flight. Tiles whose items are checked have fewer in flight, because the checks take registers.
  static constexpr bool has_whole_tiles = !IsByReference && sizeof...(Inputs) == 1;
  static constexpr int most_groups(const tile_tuning& tuning) { return tuning.groups; }
  STRATA_HD static constexpr int block_threads(const tile_tuning& tuning) { return tuning.block_threads; }
  static constexpr int most_groups_of_one(const tile_tuning& tuning) { return tuning.groups_of_one; }
  static constexpr int bytes_in_flight(const tile_tuning& tuning) { return tuning.bytes_in_flight; }
  static constexpr int blocks_per_multiprocessor(const tile_tuning&) { return 1; }

  template <class Tile>
  STRATA_D void process_whole(const Tile& tile, const Inputs&... inputs) {
    apply_to_copies(tile, loaded_items<Tile, Inputs>(tile, inputs)...);
  }

  template <class Tile>
  STRATA_D void process(const Tile& tile, const tile_range& range, const Inputs&... inputs) {
    if constexpr (IsByReference) {
      const auto call_for = [&](int group, int) -> decltype(auto) {
        return call(*detail::advanced(inputs, static_cast<std::size_t>(tile.index(group)))...);
      };
      // Without branches between the items, the next one can be loaded before this one is stored.
      if (tile.is_whole()) {
        apply<true>(tile, call_for);
      } else {
        apply<false>(tile, call_for);
      }
    } else {
      if constexpr (has_whole_tiles && Tile::may_leave_items) {
        // The first tile and the last: group by group, so that the kernel has no more registers than whole tiles need.
        using Part = typename Tile::one_group;
        STRATA_UNROLL_N(1)
        for (int group = 0; group < Tile::groups; ++group) {
          const Part part = tile.part(group);
          if (part.valid <= 0) break;
          apply_to_copies(part, loaded_items<Part, Inputs>(part, inputs)...);
        }
      } else {
        apply_to_copies(tile, loaded_items<Tile, Inputs>(tile, inputs)...);
      }
      if constexpr (Tile::width > 1) {
        const leftover_item rest = range.leftover(tile.number);
        apply_to_copies(rest, loaded_items<leftover_item, Inputs>(rest, inputs)...);
      }
    }
  }

 private:
  template <class Tile, class... Loaded>
  STRATA_D void apply_to_copies(const Tile& tile, Loaded&&... items) {
    apply<false>(tile, [&]([[maybe_unused]] int group, [[maybe_unused]] int i) -> decltype(auto) {
      return call(items.item[group][i]...);
    });
  }

  template <class... Items>
  STRATA_D decltype(auto) call(Items&&... items) {
    using requirements =
        std::conditional_t<sizeof...(Items) == 0, generator_requirements<Op>, transform_requirements<Op, Items...>>;
    if constexpr (requirements::are_met) return op(static_cast<Items&&>(items)...);
  }

  /// Calls the operator for each item of the tile, and then writes the results. With `IsWhole` all items are there.
  template <bool IsWhole, class Tile, class CallFor>
  STRATA_D void apply(const Tile& tile, const CallFor& call_for) {
    using Result = std::decay_t<std::invoke_result_t<const CallFor&, int, int>>;
    constexpr bool has_results = !std::is_same_v<Output, no_output> && !std::is_void_v<Result>;
    using Stored = typename std::conditional_t<has_results, output_value<Output, Result>, identity_type<char>>::type;
    [[maybe_unused]] items_in<Stored, Tile> results;
    STRATA_UNROLL
    for (int group = 0; group < Tile::groups; ++group) {
      if (!IsWhole && !tile.has(group)) continue;
      STRATA_UNROLL
      for (int i = 0; i < Tile::width; ++i) {
        if constexpr (has_results) {
          results.set(group, i, static_cast<Stored>(call_for(group, i)));
        } else {
          static_cast<void>(call_for(group, i));
        }
      }
    }
    if constexpr (has_results) detail::store_tile(tile, out, results);
  }
};

/// What TransformIf does with a tile: a result is written where the predicate is true.
///
/// Neighbouring threads have neighbouring items, one at a time. Suppose that a thread had a group of neighbouring
/// items, and wrote only some results of the group. Then each store of the warp would touch as many sectors of memory
/// as all stores of the warp for these groups together.
template <bool IsByReference, class Output, class Predicate, class Op, class... Inputs>
struct transform_if_problem {
  Output out;
  Predicate predicate;
  Op op;

  static constexpr bool is_by_reference = IsByReference;
  static constexpr bool has_vectors = false;
  static constexpr bool has_whole_tiles = false;
  static constexpr int most_groups(const tile_tuning& tuning) { return tuning.groups; }
  // The work of a thread is small, and large blocks take less time to start.
  STRATA_HD static constexpr int block_threads(const tile_tuning& tuning) {
    return detail::least(2 * tuning.block_threads, 1024);
  }
  static constexpr int most_groups_of_one(const tile_tuning&) { return 16; }
  static constexpr int bytes_in_flight(const tile_tuning&) { return vector_bytes; }
  static constexpr int blocks_per_multiprocessor(const tile_tuning&) { return 1; }

  template <class Tile>
  STRATA_D void process(const Tile& tile, const tile_range&, const Inputs&... inputs) {
    constexpr bool is_possible = transform_predicate_requirements<Predicate, item_argument<Inputs>...>::are_met &&
                                 transform_requirements<Op, item_argument<Inputs>...>::are_met;
    if constexpr (!is_possible) {
      return;
    } else if constexpr (IsByReference) {
      apply_to_references(tile, inputs...);
    } else if (tile.is_whole()) {
      const typename Tile::whole whole{tile.first};
      apply_to_copies(whole, loaded_items<typename Tile::whole, Inputs>(whole, inputs)...);
    } else {
      apply_to_copies(tile, loaded_items<Tile, Inputs>(tile, inputs)...);
    }
  }

 private:
  template <class Input>
  using item_argument =
      std::conditional_t<IsByReference, decltype(*std::declval<const Input&>()), iterator_value_t<Input>&>;
  // Where this type is asked for, the requirements have been checked.
  template <class... Items>
  using stored = typename output_value<Output, std::decay_t<std::invoke_result_t<Op&, Items...>>>::type;

  template <class Tile, class... Loaded>
  STRATA_D void apply_to_copies(const Tile& tile, Loaded&&... items) {
    STRATA_UNROLL
    for (int i = 0; i < Tile::groups; ++i) {
      if (!tile.has(i)) continue;
      if (!static_cast<bool>(predicate(items.item[i][0]...))) continue;
      out[static_cast<difference_of<Output>>(tile.index(i))] =
          static_cast<stored<item_argument<Inputs>...>>(op(items.item[i][0]...));
    }
  }

  // Results are kept until the last item has been read, so that reads need not wait for writes.
  template <class Tile>
  STRATA_D void apply_to_references(const Tile& tile, const Inputs&... inputs) {
    using Stored = stored<item_argument<Inputs>...>;
    items_in<Stored, Tile> results;
    bool is_selected[static_cast<std::size_t>(Tile::groups)];
    STRATA_UNROLL
    for (int i = 0; i < Tile::groups; ++i) {
      is_selected[i] = false;
      if (!tile.has(i)) continue;
      const auto apply = [&](auto&&... items) {
        is_selected[i] = static_cast<bool>(predicate(items...));
        if (is_selected[i]) results.set(i, 0, static_cast<Stored>(op(items...)));
      };
      apply(*detail::advanced(inputs, static_cast<std::size_t>(tile.index(i)))...);
    }
    STRATA_UNROLL
    for (int i = 0; i < Tile::groups; ++i) {
      if (is_selected[i]) out[static_cast<difference_of<Output>>(tile.index(i))] = results.item[i][0];
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class Policy>
using tile_rows = if_rows<tile_tuning, decltype(Policy::tuning)>;

/// The newest policy of a call's hub.
template <class PolicyHub>
struct tile_policy {
  static_assert(hub_has_rows<tile_rows, PolicyHub>,
                "DeviceTransform, DeviceFor, DeviceAdjacentDifference: each policy in the chain of "
                "PolicyHub::MaxPolicy must name itself in its ChainedPolicy and have the member tuning (tile_tuning)");
  using newest = typename hub_or<tile_rows, PolicyHub, tile_policy_hub>::MaxPolicy;
};

/// The tiles of a call. `Array` is the output or, without one, the input. If it is an array in memory, and the problem
/// has vectors, tiles have groups of items that one access reads or writes.
template <class Problem, class Array, class... Inputs>
struct tiles_of {
  static constexpr bool are_vectorized = is_bulk_array<Array> && Problem::has_vectors;

  /// Items of a group: the largest power of two whose items take at most 16 bytes in each array, and at least 1.
  static constexpr int width() {
    int width = 1;
    if constexpr (are_vectorized) {
      std::size_t largest = sizeof(iterator_value_t<Array>);
      ((largest = sizeof(iterator_value_t<Inputs>) > largest ? sizeof(iterator_value_t<Inputs>) : largest), ...);
      while (2 * static_cast<std::size_t>(width) * largest <= vector_bytes) width *= 2;
    }
    return width;
  }
  static constexpr int groups(const tile_tuning& tuning, int width, int most) {
    constexpr auto item_bytes = static_cast<int>((std::size_t{0} + ... + sizeof(iterator_value_t<Inputs>)));
    const int groups = Problem::bytes_in_flight(tuning) / (item_bytes == 0 ? vector_bytes : width * item_bytes);
    return Problem::is_by_reference ? tuning.references : groups < 1 ? 1 : detail::least(groups, most);
  }

  /// Bytes of one item of each input that lies in memory.
  static constexpr std::size_t bytes_in_arrays() {
    return (std::size_t{0} + ... + (std::is_pointer_v<Inputs> ? sizeof(iterator_value_t<Inputs>) : 0));
  }

  template <class Policy>
  using vectors = item_tile<Problem::block_threads(Policy::tuning),
                            groups(Policy::tuning, width(), Problem::most_groups(Policy::tuning)), width(), true>;
  template <class Policy>
  using items = item_tile<Problem::block_threads(Policy::tuning),
                          groups(Policy::tuning, 1, Problem::most_groups_of_one(Policy::tuning)), 1, false>;
  template <class Policy>
  struct smallest {
    static constexpr std::size_t value =
        vectors<Policy>::items < items<Policy>::items ? vectors<Policy>::items : items<Policy>::items;
  };

  template <class Policy>
  static tile_range cut(std::size_t num_items, const Array& array, const Inputs&... inputs) {
    if constexpr (are_vectorized) {
      using range = aligned_range<iterator_value_t<Array>, std::size_t>;
      // A group of one item begins anywhere: nothing is left over.
      const std::size_t head = width() > 1 ? range::items_before_boundary(array) : 0;
      const auto is_aligned_behind_head = [=](const auto& in) {
        using Input = std::decay_t<decltype(in)>;
        if constexpr (!is_bulk_array<Input>)
          return true;
        else
          return detail::is_aligned(in + head, static_cast<std::size_t>(width()) * sizeof(iterator_value_t<Input>));
      };
      if (range::has_boundary(array) && (is_aligned_behind_head(inputs) && ...)) {
        return tile_range::cut<vectors<Policy>>(num_items, head, true);
      }
    }
    return tile_range::cut<items<Policy>>(num_items, 0, false);
  }
};

/// Does what `Problem` says with each tile of some inputs. Tiles have groups if `HasVectors`, and single items if
/// `HasItems`. If both are true, `range.is_vectorized` chooses.
template <class MaxPolicy, class Tiles, bool HasVectors, bool HasItems, class Problem, class... Inputs>
__launch_bounds__(Problem::block_threads(MaxPolicy::ActivePolicy::tuning),
                  Problem::blocks_per_multiprocessor(MaxPolicy::ActivePolicy::tuning))
    STRATA_KERNEL void tiles_kernel(Problem problem, const STRATA_GRID_CONSTANT tile_range range, Inputs... inputs) {
  using ActivePolicy = typename MaxPolicy::ActivePolicy;
  using Vectors = typename Tiles::template vectors<ActivePolicy>;
  STRATA_ASSERT(blockDim.x == Problem::block_threads(ActivePolicy::tuning),
                "tiles_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                Problem::block_threads(ActivePolicy::tuning));
  platform::wait_for_previous_kernel();
  // Without launch_next_kernel, the next kernel starts when these blocks have ended. Blocks that call it start 1.2 ns
  // apart, others 0.6 ns. With the call, 2^24 values of i8 from a generator took 1.07 times as long.

  if constexpr (Problem::has_whole_tiles && !HasItems) {
    if (blockIdx.x - range.first_whole < range.whole_blocks) {
      using Whole = typename Vectors::whole;
      problem.process_whole(Whole{range.head + blockIdx.x * static_cast<long long>(Whole::items)}, inputs...);
      return;
    }
  }
  long long number = blockIdx.x * range.tiles_of_block;
  const long long end = detail::least(number + range.tiles_of_block, range.tiles);
  do {  // No block is without a tile.
    if constexpr (HasVectors) {
      if (!HasItems || range.is_vectorized) {
        problem.process(range.template tile<Vectors>(number), range, inputs...);
        continue;
      }
    }
    if constexpr (HasItems) {
      problem.process(range.template tile<typename Tiles::template items<ActivePolicy>>(number), range, inputs...);
    }
  } while (++number < end);
}

/// Launches the kernel for the tiles that a range has been cut into. A path for whole tiles needs few registers. So a
/// kernel with such a path has no path for tiles of single items: these have another kernel.
template <class MaxPolicy, class Tiles, class Problem, class... Inputs>
cudaError_t launch_tiles(const launch_configuration& configuration, const Problem& problem, tile_range range,
                         const Inputs&... inputs) {
  constexpr bool are_apart = Tiles::are_vectorized && Problem::has_whole_tiles;
  if constexpr (are_apart) {
    if (range.is_vectorized) {
      if (range.tiles_of_block == 1) range.find_whole_blocks();
      return strata::launch(configuration, tiles_kernel<MaxPolicy, Tiles, true, false, Problem, Inputs...>, problem,
                            range, inputs...);
    }
  }
  return strata::launch(configuration, tiles_kernel < MaxPolicy, Tiles, Tiles::are_vectorized && !are_apart, true,
                        Problem, Inputs... >, problem, range, inputs...);
}

/// The grid of a call, and the tiles of each of its blocks.
inline unsigned blocks_of(tile_range& range, long long tiles_of_block = 1) {
  constexpr long long most_blocks = 0x7fffffff;
  const long long least_tiles = ceiling_divide(range.tiles, most_blocks);
  range.tiles_of_block = detail::most(tiles_of_block, least_tiles);
  return static_cast<unsigned>(ceiling_divide(range.tiles, range.tiles_of_block));
}

/// The tiles of a block where the operator gets references to items of this many bytes. A tile of small items takes
/// less time than the start of a block. In a small call, blocks of one tile keep all multiprocessors busy, whatever the
/// operator does.
inline long long tiles_of_references(const tile_range& range, std::size_t item_bytes, const tile_tuning& tuning,
                                     int multiprocessors) {
  constexpr long long blocks_per_multiprocessor = 16;  // as many as reside there, of 128 threads
  const long long most = tuning.most_reference_tiles / static_cast<long long>(item_bytes > 0 ? item_bytes : 1);
  const long long tiles = range.tiles / (multiprocessors * blocks_per_multiprocessor);
  return most < 1 || tiles < 1 ? 1 : detail::least(tiles, most);
}

/// Calls `function(policy, device)` with the policy of the device.
template <class Function>
struct with_policy {
  const Function& function;
  device_properties device;
  template <class ActivePolicy>
  cudaError_t Invoke() {
    constexpr tile_tuning tuning = ActivePolicy::tuning;
    static_assert(are_whole_warps(tuning.block_threads) && tuning.groups > 0 && tuning.in_place_groups > 0 &&
                      tuning.groups_of_one > 0 && tuning.references > 0 && tuning.most_reference_tiles > 0,
                  "tile_tuning: block_threads must be a multiple of 32, at most 1024; groups, in_place_groups, "
                  "groups_of_one, references and most_reference_tiles must be positive");
    return function(ActivePolicy{}, device);
  }
};
template <class MaxPolicy, class Function>
cudaError_t invoke_with_policy(cudaStream_t stream, const Function& function) {
  with_policy<Function> functor{function, {}};
  const cudaError_t status = detail::current_device_properties(functor.device, stream);
  return status != cudaSuccess ? status : MaxPolicy::Invoke(functor.device.ptx_version, functor);
}

/// One call that does what `Problem` says with all tiles of some inputs. `array` is the output or, without one, the
/// input.
template <class PolicyHub, class Problem, class Array, class NumItemsT, class... Inputs>
cudaError_t dispatch_tiles(const char* name, void* d_temp_storage, std::size_t& temp_storage_bytes,
                           const Problem& problem, Array array, NumItemsT num_items, cudaStream_t stream,
                           Inputs... inputs) {
  using MaxPolicy = typename tile_policy<PolicyHub>::newest;
  output_requirements<decltype(Problem::out)>::check();
  using Tiles = tiles_of<Problem, Array, Inputs...>;
  if (detail::refuses_count(num_items, "num_items") || detail::refuses_reach(problem.out, num_items, "d_out") ||
      (detail::refuses_reach(inputs, num_items, "an input") || ...)) {
    return cudaErrorInvalidValue;
  }
  if (d_temp_storage == nullptr) {
    temp_storage_bytes = 1;  // Nothing is kept there.
    return cudaSuccess;
  }
  if (detail::refuses_unused_storage(temp_storage_bytes)) return cudaErrorInvalidValue;
  if (num_items == 0) return cudaSuccess;
  if (detail::refuses_null(problem.out, "d_out") || (detail::refuses_null(inputs, "an input") || ...) ||
      (detail::refuses_partial_overlap(problem.out, "d_out", inputs, "an input", num_items) || ...)) {
    return cudaErrorInvalidValue;
  }
  return detail::invoke_with_policy<MaxPolicy>(stream, [&](auto policy, const device_properties& device) {
    auto range = Tiles::template cut<decltype(policy)>(static_cast<std::size_t>(num_items), array, inputs...);
    const long long tiles_of_block =
        Problem::is_by_reference
            ? detail::tiles_of_references(range, Tiles::bytes_in_arrays(), policy.tuning, device.multiprocessors)
            : 1;
    const unsigned blocks = detail::blocks_of(range, tiles_of_block);
    return detail::launch_tiles<MaxPolicy, Tiles>(
        {name, blocks, dim3(Problem::block_threads(policy.tuning)), 0, stream, 1, device.ptx_version >= 900}, problem,
        range, inputs...);
  });
}

/// True if operators get copies of the items: their types are trivially relocatable.
template <class... Inputs>
inline constexpr bool are_copied = (is_trivially_relocatable_v<iterator_value_t<Inputs>> && ...);

/// One call that applies an operator to each item of an input, or to one item of each of several inputs. The operator
/// gets references to the inputs' items if `IsStable` is true, or if the items must not be copied as bits.
template <bool IsStable, class PolicyHub = default_policy_hub, class Array, class Output, class NumItemsT, class Op,
          class... Inputs>
cudaError_t dispatch_transform(const char* name, void* d_temp_storage, std::size_t& temp_storage_bytes, Array array,
                               Output out, NumItemsT num_items, Op op, cudaStream_t stream, Inputs... inputs) {
  constexpr bool is_by_reference = IsStable || !are_copied<Inputs...>;
  using Problem = transform_problem<is_by_reference, Output, Op, Inputs...>;
  return detail::dispatch_tiles<PolicyHub>(name, d_temp_storage, temp_storage_bytes, Problem{out, op}, array, num_items,
                                           stream, inputs...);
}

/// One call that applies an operator to the items for which a predicate is true. Other items of the output stay as they
/// are.
template <bool IsStable, class PolicyHub, class Output, class NumItemsT, class Predicate, class Op, class... Inputs>
cudaError_t dispatch_transform_if(const char* name, void* d_temp_storage, std::size_t& temp_storage_bytes, Output out,
                                  NumItemsT num_items, Predicate predicate, Op op, cudaStream_t stream,
                                  Inputs... inputs) {
  constexpr bool is_by_reference = IsStable || !are_copied<Inputs...>;
  using Problem = transform_if_problem<is_by_reference, Output, Predicate, Op, Inputs...>;
  return detail::dispatch_tiles<PolicyHub>(name, d_temp_storage, temp_storage_bytes, Problem{out, predicate, op}, out,
                                           num_items, stream, inputs...);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
