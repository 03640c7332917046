// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_bulk_copy.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Items that lie in the stages of a ring, of a tile: what one input has to say of it. `IsCopied`:
/// the input is an array at a 16-byte boundary, and comes in bulk. `HasBefore`: the item before the
/// tile's first, if there is one, is wanted, too; the 16 bytes before `stage` are for it.
template <class Staged, bool IsCopied, bool HasBefore, class Iterator>
struct ring_column {
  static constexpr bool is_copied = IsCopied;
  static constexpr int bytes_before = HasBefore ? 16 : 0;
  static constexpr int width = 16 / static_cast<int>(sizeof(Staged));
  // not for users: who calls rings sees to it
  static_assert(16 % sizeof(Staged) == 0, "16 bytes must hold whole items");

  Staged* stage;
  Iterator tile;
  bool is_first;  // of all tiles
  int valid;

  STRATA_D int before() const { return HasBefore && !is_first ? width : 0; }

  // ---- by the warp that starts the copies
  STRATA_D unsigned bytes_to_copy() const {
    const int items = IsCopied ? valid / width * width + before() : 0;
    return static_cast<unsigned>(items) * unsigned{sizeof(Staged)};
  }
  STRATA_D void copy(platform::mbarrier& full) const {
    if constexpr (IsCopied) {
      const unsigned bytes = bytes_to_copy();
      if (bytes > 0) full.copy(stage - before(), tile - before(), bytes);
    }
  }
  // The items behind the last boundary.
  STRATA_D void load_rest(int lane) const {
    if constexpr (IsCopied) {
      const int place = valid / width * width + lane;
      if (place < valid) stage[place] = tile[place];
    }
  }

  // ---- by `Threads` threads
  template <int Threads>
  STRATA_D void load_items(int thread) const {
    if constexpr (!IsCopied) {
      // Of a thread, under way together.
      constexpr int at_once = sizeof(Staged) <= 4 ? 16 : static_cast<int>(64 / sizeof(Staged));
      if (HasBefore && !is_first && thread == 0) {
        stage[-1] = static_cast<Staged>(tile[static_cast<difference_of<Iterator>>(-1)]);
      }
      for (int begin = thread; begin < valid; begin += at_once * Threads) {
        Staged items[at_once];
        STRATA_UNROLL
        for (int i = 0; i < at_once; ++i) {
          const int place = begin + i * Threads;
          if (place < valid) {
            items[i] = static_cast<Staged>(tile[static_cast<difference_of<Iterator>>(place)]);
          }
        }
        STRATA_UNROLL
        for (int i = 0; i < at_once; ++i) {
          const int place = begin + i * Threads;
          if (place < valid) stage[place] = items[i];
        }
      }
    }
  }
};

/// The warps that fill stages: one that starts copies, and `ItemWarps` that read items.
template <int ItemWarps, class... Columns>
struct ring_loader {
  static constexpr bool any_copied = (false || ... || Columns::is_copied);
  static constexpr bool all_copied = (true && ... && Columns::is_copied);
  static constexpr int item_warps = all_copied ? 0 : ItemWarps;
  static constexpr int warps = (any_copied ? 1 : 0) + item_warps;

  /// By thread `thread` of these warps.
  STRATA_D static void load(platform::mbarrier& full, int thread, const Columns&... columns) {
    if (any_copied && thread < warp_threads) {
      (columns.load_rest(thread), ...);
      if (thread == 0) {
        full.arrive_and_expect((0u + ... + columns.bytes_to_copy()));
        (columns.copy(full), ...);
      } else {
        full.arrive();
      }
    } else if constexpr (!all_copied) {
      constexpr int item_threads = item_warps * warp_threads;
      const int of_items = thread - (any_copied ? warp_threads : 0);
      (columns.template load_items<item_threads>(of_items), ...);
      full.arrive();
    }
  }
};

/// By one thread: its items, `count` of them, into registers.
template <bool IsFull, class Shape, class T>
STRATA_D void hold_items(const T* from, int count, T (&held)[Shape::thread_items]) {
  STRATA_UNROLL
  for (int i = 0; i < Shape::thread_items; i += Shape::together) {
    if (!IsFull && i >= count) break;
    item_vector<T, Shape::together> vector;
    vector.load(from + i);
    T items[Shape::together];
    vector.get(items);
    STRATA_UNROLL
    for (int j = 0; j < Shape::together; ++j) held[i + j] = items[j];
  }
}

/// By a warp: `count` items, `MostItems` at most; neighbouring lanes write neighbouring places.
template <int MostItems, class Staged, class OutputIterator>
STRATA_D void store_items(const Staged* from, OutputIterator out, int count, int lane) {
  using Stored = output_value_t<OutputIterator, Staged>;
  int stored = 0;
  if constexpr (std::is_same_v<OutputIterator, Staged*>) {
    constexpr int width = 16 / static_cast<int>(sizeof(Staged));
    if (reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
      const int whole = count / width;
      STRATA_UNROLL
      for (int v = 0; v < MostItems / width; v += warp_threads) {
        const int i = v + lane;
        if (i < whole) {
          item_vector<Staged, width> items;
          items.load(from + i * width);
          items.store_global(out + i * width);
        }
      }
      stored = whole * width;
    }
  }
  STRATA_UNROLL_N(4)
  for (int i = stored + lane; i < count; i += warp_threads) {
    out[static_cast<difference_of<OutputIterator>>(i)] = static_cast<Stored>(from[i]);
  }
}

/// How many items a thread of a ring has, whose stages hold columns of items of these sizes.
/// `together` of them have 16 bytes in the widest column, and are accessed at once in each; of
/// these groups there is an odd number, so that the accesses have no bank conflicts without
/// padding.
template <int ThreadBytes, std::size_t... Sizes>
struct ring_columns_shape {
  static constexpr std::size_t widest() {
    std::size_t result = 1;
    for (const std::size_t size : {Sizes...}) result = size > result ? size : result;
    return result;
  }
  static constexpr int together = static_cast<int>(16 / widest());

  static constexpr int most_groups() {
    constexpr int group_bytes = together * static_cast<int>((Sizes + ...));
    const int by_bytes = ThreadBytes / group_bytes;
    const int by_flags = 64 / together;
    const int most = by_bytes < by_flags ? by_bytes : by_flags;
    const int odd = most % 2 == 1 ? most : most - 1;
    return odd < 1 ? 1 : odd > 9 ? 9 : odd;
  }
  static constexpr int groups = most_groups();
  static constexpr int thread_items = together * groups;

  // not for users: the model must say the same; words that several lanes share are no matter
  template <std::size_t Size>
  static constexpr bool has_no_conflicts() {
    constexpr int bytes = together * static_cast<int>(Size);
    if constexpr (bytes >= 4) {
      return strata::conflict_degree(PlainLayout{}, blocked_access<bytes, groups>{}) == 1;
    } else {
      return true;
    }
  }
  // not for users: see above
  static_assert((has_no_conflicts<Sizes>() && ...), "a thread's groups have bank conflicts");

  /// One for each item of a thread.
  struct flags {
    std::conditional_t<(thread_items > 32), unsigned long long, unsigned> bits = 0;

    STRATA_D bool at(int i) const { return (bits >> i & 1) != 0; }
    STRATA_D void set(int i, bool flag) { bits |= static_cast<decltype(bits)>(flag ? 1 : 0) << i; }
    STRATA_D int count() const {
      if constexpr (sizeof(bits) == 8) {
        return __popcll(bits);
      } else {
        return __popc(bits);
      }
    }
    /// The last one that is set, or `none`.
    STRATA_D int last_or(int none) const {
      if constexpr (sizeof(bits) == 8) {
        return bits == 0 ? none : 63 - __clzll(static_cast<long long>(bits));
      } else {
        return bits == 0 ? none : 31 - __clz(static_cast<int>(bits));
      }
    }
  };
};

/// Whether bulk copies may begin at an array's first item.
template <class Iterator>
bool is_at_boundary(const Iterator& iterator) {
  if constexpr (std::is_pointer_v<Iterator>) {
    return reinterpret_cast<std::uintptr_t>(iterator) % 16 == 0;
  } else {
    return false;
  }
}

/// Whether an input may come in bulk, as far as its type says.
template <class Iterator>
inline constexpr bool is_bulk_array = false;
template <class T>
inline constexpr bool is_bulk_array<T*> =
    16 % sizeof(T) == 0 && is_trivially_relocatable_v<std::remove_cv_t<T>>;

}  // namespace detail
STRATA_NAMESPACE_END
