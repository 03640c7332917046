// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/requirements.hpp>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/transform/dispatch.cuh>
#include <strata/device/transform/tile.cuh>
#include <strata/device/transform/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What DeviceAdjacentDifference does with a tile. The neighbour of a group of items comes from the lane before
/// (`IsLeft`) or the lane after. If no lane has it, it comes from memory. In place, an item of another tile may have
/// been overwritten, so it was saved before the launch.
template <bool IsLeft, bool IsInPlace, class Input, class Output, class Op>
struct difference_problem {
  using T = iterator_value_t<Input>;
  static_assert(relocatable_requirements<T>::check());

  Output out;
  Op op;
  T* saved;

  static constexpr bool is_by_reference = false;
  static constexpr bool has_vectors = true;
  static constexpr bool has_whole_tiles = false;
  static constexpr int most_groups(const tile_tuning& tuning) {
    return IsInPlace ? tuning.in_place_groups : tuning.groups;
  }
  STRATA_HD static constexpr int block_threads(const tile_tuning& tuning) { return tuning.block_threads; }
  static constexpr int most_groups_of_one(const tile_tuning& tuning) { return tuning.groups_of_one; }
  static constexpr int bytes_in_flight(const tile_tuning& tuning) { return tuning.bytes_in_flight; }
  static constexpr int blocks_per_multiprocessor(const tile_tuning& tuning) {
    return IsInPlace ? tuning.in_place_blocks : tuning.difference_blocks;
  }

  template <class Tile>
  STRATA_D void process(const Tile& tile, const tile_range& range, const Input& in) {
    operands<Tile> here;
    // The saved item is loaded first. If it were loaded after the others, all stores of the block would wait for two
    // loads, one behind the other.
    constexpr int edge_group = IsLeft ? 0 : Tile::groups - 1;
    const bool has_saved = IsInPlace && threadIdx.x == (IsLeft ? 0u : blockDim.x - 1u) &&
                           (IsLeft ? tile.number > 0 : tile.number + 1 < range.tiles);
    if (has_saved) here.neighbours.set(edge_group, 0, saved[tile.number]);
    load(tile, range, in, here, [&](int group, const T& shared) {
      const int next = tile.position(group) + (IsLeft ? -1 : Tile::width);
      const bool is_at_edge = platform::lane_id() == (IsLeft ? 0u : warp_threads - 1u) || next >= tile.valid;
      const bool is_saved = has_saved && group == edge_group;
      const T from_lane =
          IsLeft ? platform::shuffle_up(full_warp_mask, shared, 1) : platform::shuffle_down(full_warp_mask, shared, 1);
      if (!is_saved) here.neighbours.set(group, 0, from_lane);
      return is_saved || !is_at_edge;
    });
    [[maybe_unused]] const leftover_item rest = range.leftover(tile.number);
    [[maybe_unused]] operands<leftover_item> leftover;
    if constexpr (Tile::width > 1) load(rest, range, in, leftover, [](int, const T&) { return false; });
    if constexpr (IsInPlace) __syncthreads();  // All threads have loaded what others overwrite.
    // Storing the leftover item before the tile needs fewer registers, but is slower: in place, 2^28 f64 take 1,074 us
    // instead of 1,042 (H200).
    store(tile, range, here);
    if constexpr (Tile::width > 1) store(rest, range, leftover);
  }

 private:
  /// Items of a thread, and for each group the neighbour that is not in it.
  template <class Tile>
  struct operands {
    items_in<T, Tile> items;
    thread_items<T, Tile::groups, 1> neighbours;
  };

  template <class Tile>
  STRATA_D static long long neighbour_of(const Tile& tile, int group) {
    return tile.index(group) + (IsLeft ? -1 : Tile::width);
  }
  STRATA_D static bool is_item(const tile_range& range, long long index) {
    return IsLeft ? index >= 0 : index < range.num_items;
  }

  /// All threads call `find_neighbour(group, item)` with the item that another thread needs. If it returns false, the
  /// neighbour comes from memory.
  template <class Tile, class FindNeighbour>
  STRATA_D static void load(const Tile& tile, const tile_range& range, const Input& in, operands<Tile>& to,
                            const FindNeighbour& find_neighbour) {
    detail::load_tile(tile, in, to.items);
    STRATA_UNROLL
    for (int group = 0; group < Tile::groups; ++group) {
      const bool is_found = find_neighbour(group, to.items.item[group][IsLeft ? Tile::width - 1 : 0]);
      const long long index = neighbour_of(tile, group);
      if (!is_found && tile.has(group) && is_item(range, index)) {
        to.neighbours.set(group, 0, detail::item_at(in, static_cast<std::size_t>(index)));
      }
    }
  }

  template <class Tile>
  STRATA_D void store(const Tile& tile, const tile_range& range, operands<Tile>& from) {
    difference_requirements<Op, T>::check();
    using Stored = output_value_t<Output, std::decay_t<std::invoke_result_t<Op&, T&, T&>>>;
    items_in<Stored, Tile> results;
    STRATA_UNROLL
    for (int group = 0; group < Tile::groups; ++group) {
      if (!tile.has(group)) continue;
      const bool has_neighbour = is_item(range, neighbour_of(tile, group));
      auto& items = from.items.item[group];
      STRATA_UNROLL
      for (int i = 0; i < Tile::width; ++i) {
        const bool is_at_edge = i == (IsLeft ? 0 : Tile::width - 1);
        T& neighbour = is_at_edge ? from.neighbours.item[group][0] : items[IsLeft ? i - 1 : i + 1];
        const bool is_end = is_at_edge && !has_neighbour;
        results.set(group, i, is_end ? static_cast<Stored>(items[i]) : static_cast<Stored>(op(items[i], neighbour)));
      }
    }
    detail::store_tile(tile, out, results);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Saves the neighbour of each tile, which is an item of another tile, before any tile is overwritten.
template <class MaxPolicy, bool IsLeft, class Input, class T>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads)
    STRATA_KERNEL void save_neighbours_kernel(Input in, T* saved, const STRATA_GRID_CONSTANT tile_range range) {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  long long tile = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; tile < range.tiles; tile += threads) {
    const long long index = IsLeft ? range.first_of(tile) - 1 : range.first_of(tile + 1);
    if (index >= 0 && index < range.num_items) saved[tile] = detail::item_at(in, static_cast<std::size_t>(index));
  }
}

/// One call of DeviceAdjacentDifference.
template <bool IsLeft, bool IsInPlace, class PolicyHub, class Input, class Output, class NumItemsT, class Op>
cudaError_t dispatch_difference(void* d_temp_storage, std::size_t& temp_storage_bytes, Input in, Output out,
                                NumItemsT num_items, Op op, cudaStream_t stream) {
  using MaxPolicy = typename tile_policy<PolicyHub>::newest;
  output_requirements<Output>::check();
  using Problem = difference_problem<IsLeft, IsInPlace, Input, Output, Op>;
  using Tiles = tiles_of<Problem, Output, Input>;
  using T = typename Problem::T;
  if (detail::refuses_count(num_items, "num_items") || detail::refuses_reach(in, num_items, "d_in") ||
      detail::refuses_reach(out, num_items, "d_out")) {
    return cudaErrorInvalidValue;
  }
  const auto count = static_cast<std::size_t>(num_items);
  temporary_storage::layout<1> storage;
  // Room for one neighbour of each tile. Tiles are counted as if they had the smallest size of all policies, because a
  // size query does not know the device.
  constexpr std::size_t least_tile = detail::least_in_chain<Tiles::template smallest, MaxPolicy>();
  if (IsInPlace) storage.template reserve<T>(0, count / least_tile + 1);
  if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
  if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  if (detail::refuses_null(in, "d_in") || detail::refuses_null(out, "d_out") ||
      (!IsInPlace &&
       detail::refuses_overlap(detail::bytes_of(out, count, "d_out"), detail::bytes_of(in, count, "d_in")))) {
    return cudaErrorInvalidValue;
  }
  return detail::invoke_with_policy<MaxPolicy>(stream, [&](auto policy, const device_properties& device) {
    const Problem problem{out, op, storage.template get<T>(0)};
    tile_range range = Tiles::template cut<decltype(policy)>(count, out, in);
    launch_configuration launch{"strata::DeviceAdjacentDifference", 0, dim3(policy.tuning.block_threads), 0, stream, 1,
                                device.ptx_version >= 900};
    if (IsInPlace && range.tiles > 1) {
      launch.grid = static_cast<unsigned>(detail::ceiling_divide<long long>(range.tiles, policy.tuning.block_threads));
      const cudaError_t status =
          strata::launch(launch, save_neighbours_kernel<MaxPolicy, IsLeft, Input, T>, in, problem.saved, range);
      if (status != cudaSuccess) return status;
    }
    launch.grid = blocks_of(range);
    return detail::launch_tiles<MaxPolicy, Tiles>(launch, problem, range, in);
  });
}

STRATA_ARCH_DETAIL_NAMESPACE_END
