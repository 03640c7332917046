// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/requirements.hpp>
#include <strata/core/shuffle.cuh>
#include <strata/core/types.hpp>
#include <strata/device/transform/problem_transform.cuh>
#include <strata/device/transform/tile.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What DeviceAdjacentDifference does with a tile. Neighbours of a thread's items come from the next lane, and at the
/// edge of a warp from memory. In place, what is behind the edge of the tile may have been overwritten by then: it has
/// been saved before the launch.
template <bool IsLeft, bool IsInPlace, class Input, class Output, class Op>
struct difference_problem {
  using T = iterator_value_t<Input>;
  static_assert(is_trivially_relocatable_v<T>,
                "DeviceAdjacentDifference moves items between threads as bits: the items must be trivially relocatable");

  Output out;
  Op op;
  T* saved;

  template <class ActivePolicy>
  static constexpr auto make_tile() {
    constexpr auto tuning = ActivePolicy::tuning;
    constexpr int width = group_width<Output, Input>();
    return item_tile<tuning.block_threads,
                     groups_in_flight(tuning.bytes_in_flight, tuning.most_groups, width * static_cast<int>(sizeof(T))),
                     width>{};
  }
  template <class ActivePolicy>
  using tile = decltype(make_tile<ActivePolicy>());

  /// The index of the neighbour behind the edge of a tile.
  template <class Tile>
  STRATA_D static long long behind_edge(const Tile& where) {
    return IsLeft ? where.first - 1 : where.first + Tile::items;
  }

  template <bool IsWhole, class Tile>
  STRATA_D void process(const Tile& where, const Input& in) {
    tile_items<T, Tile> items;
    detail::load_tile<IsWhole>(where, in, items);
    thread_items<T, Tile::groups, 1> neighbours;
    load_neighbours(where, in, items, neighbours);
    subtract<IsWhole>(where, items, neighbours, difference_requirements<Op, T>{});
  }

 private:
  /// The item of a group that has its neighbour in another one.
  template <class Tile>
  static constexpr int edge = IsLeft ? 0 : Tile::width - 1;

  template <class Tile>
  STRATA_D void load_neighbours(const Tile& where, const Input& in, const tile_items<T, Tile>& items,
                                thread_items<T, Tile::groups, 1>& neighbours) const {
    const bool is_at_edge = platform::lane_id() == (IsLeft ? 0u : warp_threads - 1u);
    STRATA_UNROLL
    for (int group = 0; group < Tile::groups; ++group) {
      const long long index = where.index(group) + (IsLeft ? -1 : Tile::width);
      const T& item = items.item[group][Tile::width - 1 - edge<Tile>];
      neighbours.set(group, 0, IsLeft ? platform::shuffle_up(full_warp_mask, item, 1)
                                      : platform::shuffle_down(full_warp_mask, item, 1));
      if (is_at_edge && where.has(index)) {
        neighbours.set(group, 0,
                       IsInPlace && !where.contains(index) ? saved[where.number]
                                                           : detail::item_at(in, static_cast<std::size_t>(index)));
      }
    }
  }

  template <bool IsWhole, class Tile>
  STRATA_D void subtract(const Tile& where, tile_items<T, Tile>& items, thread_items<T, Tile::groups, 1>& neighbours,
                         difference_requirements<Op, T>) {
    using Stored = output_value_t<Output, std::decay_t<std::invoke_result_t<Op&, T&, T&>>>;
    const long long end = IsLeft ? 0 : where.num_items - 1;
    tile_items<Stored, Tile> results;
    STRATA_UNROLL
    for (int group = 0; group < Tile::groups; ++group) {
      STRATA_UNROLL
      for (int i = 0; i < Tile::width; ++i) {
        const long long index = where.index(group) + i;
        if (!IsWhole && !where.has(index)) continue;
        T& item = items.item[group][i];
        T& neighbour = i == edge<Tile> ? neighbours.item[group][0] : items.item[group][IsLeft ? i - 1 : i + 1];
        // In a whole tile the end of the sequence is the edge of a group.
        const bool has_neighbour = (IsWhole && i != edge<Tile>) || index != end;
        results.set(group, i, has_neighbour ? static_cast<Stored>(op(item, neighbour)) : static_cast<Stored>(item));
      }
    }
    if constexpr (IsInPlace) __syncthreads();  // All threads have loaded their neighbours.
    detail::store_tile<IsWhole>(where, out, results);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
