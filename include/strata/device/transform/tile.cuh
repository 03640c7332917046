// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

template <int BlockThreads, int Groups, int Width>
struct whole_tile;

/// One tile of a sequence. It has groups of `Width` neighbouring items. Neighbouring threads have neighbouring groups,
/// and each thread has `Groups` of them:
///
///     group 0 of thread 0 | group 0 of thread 1 | ... | group 1 of thread 0 | group 1 of thread 1 | ...
///
/// If `IsVectorized`, a group of an array is read and written by one access.
template <int BlockThreads, int Groups, int Width, bool IsVectorized>
struct item_tile {
  static constexpr int groups = Groups;
  static constexpr int width = Width;
  static constexpr int items = BlockThreads * Groups * Width;
  /// True if items may be left over before the first tile or behind the last one.
  static constexpr bool may_leave_items = IsVectorized;
  template <class Iterator>
  static constexpr bool is_vectorized = IsVectorized&& is_bulk_array<Iterator>;

  long long number;
  long long first;
  int valid;  // of `items`; a multiple of `Width`

  /// The first item of a group of this thread, in the tile and in the sequence.
  STRATA_D static int position(int group) { return (group * BlockThreads + static_cast<int>(threadIdx.x)) * Width; }
  STRATA_D long long index(int group) const { return first + position(group); }
  STRATA_D bool has(int group) const { return position(group) < valid; }
  STRATA_D bool is_whole() const { return valid == items; }

  using whole = whole_tile<BlockThreads, Groups, Width>;
  /// A group of each thread, as a tile.
  using one_group = item_tile<BlockThreads, 1, Width, IsVectorized>;
  STRATA_D one_group part(int group) const {
    constexpr int step = BlockThreads * Width;
    const int left = valid - group * step;
    return {number, first + group * step, detail::least(left, step)};
  }
};

/// An item_tile whose items are all there. Without checks of groups its loads take few registers and come after few
/// instructions: more blocks reside on a multiprocessor, and each starts sooner.
template <int BlockThreads, int Groups, int Width>
struct whole_tile {
  static constexpr int groups = Groups;
  static constexpr int width = Width;
  static constexpr int items = BlockThreads * Groups * Width;
  template <class Iterator>
  static constexpr bool is_vectorized = is_bulk_array<Iterator>;

  long long first;

  STRATA_D long long index(int group) const {
    return first + (group * BlockThreads + static_cast<int>(threadIdx.x)) * Width;
  }
  STRATA_D static constexpr bool has(int) { return true; }
};

/// The single item, outside of all groups, that this thread has besides its tile. It has the members of a tile with one
/// group of one item.
struct leftover_item {
  static constexpr int groups = 1;
  static constexpr int width = 1;
  template <class Iterator>
  static constexpr bool is_vectorized = false;

  long long item;  // or -1

  STRATA_D long long index(int) const { return item; }
  STRATA_D bool has(int) const { return item >= 0; }
};

/// A sequence as tiles. Groups begin where arrays can be accessed by vectors: up to 15 items are left over in front of
/// the groups (`head`), and up to 15 behind them (`tail`).
struct tile_range {
  long long num_items;
  long long tiles;
  long long tiles_of_block;  // neighbouring ones
  int tile_items;
  int head;
  int tail;
  bool is_vectorized;
  /// The first block that has one whole tile and no other item, and the number of such blocks. They are neighbours.
  unsigned first_whole, whole_blocks;

  template <class Tile>
  static tile_range cut(std::size_t num_items, std::size_t head, bool is_vectorized) {
    if (head > num_items) head = num_items;
    const std::size_t grouped = num_items - head;
    const std::size_t tail = grouped % Tile::width;
    const std::size_t tiles = detail::ceiling_divide<std::size_t>(grouped - tail, Tile::items);
    return {static_cast<long long>(num_items),
            tiles > 0 ? static_cast<long long>(tiles) : 1,
            1,
            Tile::items,
            static_cast<int>(head),
            static_cast<int>(tail),
            is_vectorized,
            0,
            0};
  }
  /// Finds the blocks whose tile is whole. The host calls this if each block has one tile.
  void find_whole_blocks() {
    const long long begin = head > 0 ? 1 : 0;
    const long long end = tail > 0 ? tiles - 1 : (num_items - head) / tile_items;
    first_whole = static_cast<unsigned>(begin);
    whole_blocks = end > begin ? static_cast<unsigned>(end - begin) : 0;
  }
  STRATA_HD long long first_of(long long number) const { return head + number * tile_items; }
  template <class Tile>
  STRATA_D Tile tile(long long number) const {
    const long long first = Tile::may_leave_items ? first_of(number) : number * Tile::items;
    const long long valid = num_items - (Tile::may_leave_items ? tail : 0) - first;
    return {number, first, valid < Tile::items ? static_cast<int>(valid) : Tile::items};
  }
  /// Returns the leftover item that a thread of the first or the last tile has, if any.
  STRATA_D leftover_item leftover(long long number) const {
    const int thread = static_cast<int>(threadIdx.x);
    if (number == 0 && thread < head) return {thread};
    if (number == tiles - 1 && thread >= head && thread < head + tail) return {num_items - tail + thread - head};
    return {-1};
  }
};

/// The items of one thread, as bits: `T` need not have a default constructor.
template <class T, int Groups, int Width>
struct thread_items {
  union {
    T item[Groups][Width];
  };
  STRATA_D thread_items() {}
  STRATA_D void set(int group, int i, const T& value) {
    std::memcpy(static_cast<void*>(&item[group][i]), static_cast<const void*>(&value), sizeof(T));
  }
};
template <class T, class Tile>
using items_in = thread_items<T, Tile::groups, Tile::width>;

template <class Tile, class Iterator, class T, int Groups, int Width>
STRATA_D void load_tile(const Tile& tile, const Iterator& in, thread_items<T, Groups, Width>& items) {
  STRATA_UNROLL
  for (int group = 0; group < Groups; ++group) {
    if (!tile.has(group)) continue;
    if constexpr (Tile::template is_vectorized<Iterator>) {
      item_vector<T, Width> vector;
      vector.load(in + tile.index(group));
      vector.get(items.item[group]);
    } else {
      STRATA_UNROLL
      for (int i = 0; i < Width; ++i) {
        items.set(group, i, detail::item_at(in, static_cast<std::size_t>(tile.index(group) + i)));
      }
    }
  }
}

template <class Tile, class Iterator, class T, int Groups, int Width>
STRATA_D void store_tile(const Tile& tile, Iterator out, const thread_items<T, Groups, Width>& items) {
  STRATA_UNROLL
  for (int group = 0; group < Groups; ++group) {
    if (!tile.has(group)) continue;
    if constexpr (Tile::template is_vectorized<Iterator> && std::is_same_v<Iterator, T*>) {
      item_vector<T, Width> vector;
      vector.set(items.item[group]);
      vector.store_global(out + tile.index(group));
    } else {
      STRATA_UNROLL
      for (int i = 0; i < Width; ++i) {
        out[static_cast<difference_of<Iterator>>(tile.index(group) + i)] = items.item[group][i];
      }
    }
  }
}

/// The items of this thread in a tile of an input.
template <class Tile, class Input>
struct loaded_items : items_in<iterator_value_t<Input>, Tile> {
  STRATA_D loaded_items(const Tile& tile, const Input& in) { detail::load_tile(tile, in, *this); }
};

}  // namespace detail
STRATA_NAMESPACE_END
