// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/aligned_range.hpp>
#include <strata/core/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// One tile of a sequence of `num_items` items. It has groups of `Width` neighbouring items; a thread accesses a group
/// at once. Neighbouring threads have neighbouring groups, and each thread has `Groups` of them:
///
///     group 0 of thread 0 | group 0 of thread 1 | ... | group 1 of thread 0 | group 1 of thread 1 | ...
///
/// The first tile may begin before the sequence, so that groups begin where memory can be accessed at once; the last
/// one may end behind it. What is outside is neither read nor written.
template <int BlockThreads, int Groups, int Width>
struct item_tile {
  static constexpr int groups = Groups;
  static constexpr int width = Width;
  static constexpr int items = BlockThreads * Groups * Width;

  long long number;
  long long first;
  long long num_items;

  STRATA_D bool is_whole() const { return first >= 0 && num_items - first >= items; }
  /// The index of the first item of a group of this thread.
  STRATA_D long long index(int group) const {
    return first + (group * BlockThreads + static_cast<int>(threadIdx.x)) * Width;
  }
  /// Whether the sequence has an item, and all items of a group.
  STRATA_D bool has(long long index) const { return index >= 0 && index < num_items; }
  STRATA_D bool has_group(long long index) const { return index >= 0 && index + Width <= num_items; }
  STRATA_D bool contains(long long index) const { return index >= first && index < first + items; }

  /// Whether groups of an array begin at multiples of their size, and can be accessed at once.
  template <class Iterator>
  STRATA_D bool is_aligned(const Iterator& array) const {
    if constexpr (is_bulk_array<Iterator>) {
      const auto address = reinterpret_cast<std::uintptr_t>(array) + static_cast<std::uintptr_t>(first) * sizeof(*array);
      return address % (Width * sizeof(*array)) == 0;
    } else {
      return false;
    }
  }
};

/// A sequence as tiles. Tile 0 begins `shift` items before it.
struct tile_range {
  long long num_items;
  long long tiles;
  int shift;

  template <class Tile>
  static tile_range cut(long long num_items, int shift) {
    return {num_items, num_items / Tile::items + (num_items % Tile::items + shift + Tile::items - 1) / Tile::items,
            shift};
  }
  template <class Tile>
  STRATA_D Tile tile(long long number) const {
    return {number, number * Tile::items - shift, num_items};
  }
};

/// How many items before an array the last boundary of groups of `Width` items lies; 0 if no item begins on one.
template <int Width, class Iterator>
int items_behind_boundary(const Iterator& array) {
  if constexpr (is_bulk_array<Iterator>) {
    const std::uintptr_t bytes = reinterpret_cast<std::uintptr_t>(array) % (Width * sizeof(*array));
    return bytes % sizeof(*array) == 0 ? static_cast<int>(bytes / sizeof(*array)) : 0;
  } else {
    return 0;
  }
}

/// The width of groups whose items in each of these sequences have up to 16 bytes. It is 1 if `Array`, which decides
/// where groups begin, cannot be accessed by groups.
template <class Array, class... Iterators>
constexpr int group_width() {
  if constexpr (is_bulk_array<Array>) {
    int width = static_cast<int>(vector_bytes / sizeof(iterator_value_t<Array>));
    const int sizes[] = {1, static_cast<int>(sizeof(iterator_value_t<Iterators>))...};
    for (const int size : sizes) {
      while (width > 1 && width * size > vector_bytes) width /= 2;
    }
    return width;
  } else {
    return 1;
  }
}

/// The items of one thread in a tile, as bits: `T` need not have a default constructor.
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
using tile_items = thread_items<T, Tile::groups, Tile::width>;

/// Accesses this thread's items of an array: by `at_once(group, index)` where memory allows it, else by
/// `singly(group, i, index)`.
template <bool IsWhole, class Tile, class Iterator, class AtOnce, class Singly>
STRATA_D void access_tile(const Tile& tile, const Iterator& array, const AtOnce& at_once, const Singly& singly) {
  const bool is_aligned = tile.is_aligned(array);
  STRATA_UNROLL
  for (int group = 0; group < Tile::groups; ++group) {
    const long long index = tile.index(group);
    if (is_aligned && (IsWhole || tile.has_group(index))) {
      at_once(group, index);
    } else {
      STRATA_UNROLL
      for (int i = 0; i < Tile::width; ++i) {
        if (IsWhole || tile.has(index + i)) singly(group, i, index + i);
      }
    }
  }
}

template <bool IsWhole, class Tile, class Iterator, class T>
STRATA_D void load_tile(const Tile& tile, const Iterator& in, thread_items<T, Tile::groups, Tile::width>& items) {
  detail::access_tile<IsWhole>(
      tile, in,
      [&]([[maybe_unused]] int group, [[maybe_unused]] long long index) {
        if constexpr (is_bulk_array<Iterator>) {
          item_vector<T, Tile::width> vector;
          vector.load(in + index);
          vector.get(items.item[group]);
        }
      },
      [&](int group, int i, long long index) {
        items.set(group, i, detail::item_at(in, static_cast<std::size_t>(index)));
      });
}

template <bool IsWhole, class Tile, class Iterator, class T>
STRATA_D void store_tile(const Tile& tile, Iterator out, const thread_items<T, Tile::groups, Tile::width>& items) {
  detail::access_tile<IsWhole>(
      tile, out,
      [&]([[maybe_unused]] int group, [[maybe_unused]] long long index) {
        if constexpr (is_bulk_array<Iterator>) {
          item_vector<T, Tile::width> vector;
          vector.set(items.item[group]);
          vector.store_global(out + index);
        }
      },
      [&](int group, int i, long long index) {
        out[static_cast<difference_of<Iterator>>(index)] = items.item[group][i];
      });
}

}  // namespace detail
STRATA_NAMESPACE_END
