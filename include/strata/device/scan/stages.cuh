// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/bulk_copy.cuh>
#include <strata/core/types.hpp>

#include <cstddef>
#include <type_traits>

/// \file
/// Stages of a pipeline: how items come into one, and results out of it. A stage holds one column of items
/// for each input.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// One input's items of a tile in a stage. `IsCopied`: the input is an array at a 16-byte boundary and comes by
/// bulk copies. `HasBefore`: the item before the tile's first, if there is one, is loaded too, into the 16 bytes
/// before `stage`.
template <class Staged, bool IsCopied, bool HasBefore, class Iterator>
struct stage_column {
  static constexpr bool is_copied = IsCopied;
  static constexpr int bytes_before = HasBefore ? 16 : 0;
  static constexpr int width = 16 / static_cast<int>(sizeof(Staged));
  // not for users: the problems ensure it
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
      const int index = valid / width * width + lane;
      if (index < valid) stage[index] = tile[index];
    }
  }

  // ---- by `Threads` threads
  template <int Threads>
  STRATA_D void load_items(int thread) const {
    if constexpr (!IsCopied) {
      // Loads of a thread that are in flight together: 64 bytes, at most 16 items.
      constexpr int batch = sizeof(Staged) <= 4 ? 16 : static_cast<int>(64 / sizeof(Staged));
      if (HasBefore && !is_first && thread == 0) {
        stage[-1] = static_cast<Staged>(tile[static_cast<difference_of<Iterator>>(-1)]);
      }
      for (int begin = thread; begin < valid; begin += batch * Threads) {
        Staged items[batch];
        STRATA_UNROLL
        for (int i = 0; i < batch; ++i) {
          const int index = begin + i * Threads;
          if (index < valid) items[i] = static_cast<Staged>(tile[static_cast<difference_of<Iterator>>(index)]);
        }
        STRATA_UNROLL
        for (int i = 0; i < batch; ++i) {
          const int index = begin + i * Threads;
          if (index < valid) stage[index] = items[i];
        }
      }
    }
  }
};

/// The loading warps: one that starts copies, and `ItemWarps` that read items, as far as columns need them.
template <int ItemWarps, class... Columns>
struct stage_loader {
  static constexpr bool any_copied = (false || ... || Columns::is_copied);
  static constexpr bool all_copied = (true && ... && Columns::is_copied);
  static constexpr int item_warps = all_copied ? 0 : ItemWarps;
  static constexpr int warps = (any_copied ? 1 : 0) + item_warps;

  /// Thread `thread` of these warps calls this.
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
      const int item_thread = thread - (any_copied ? warp_threads : 0);
      (columns.template load_items<item_threads>(item_thread), ...);
      full.arrive();
    }
  }
};

/// A warp stores `count` items, at most `MaxItems`. Neighbouring lanes store neighbouring items.
template <int MaxItems, class Staged, class OutputIterator>
STRATA_D void store_staged(const Staged* from, OutputIterator out, int count, int lane) {
  using Stored = output_value_t<OutputIterator, Staged>;
  int stored = 0;
  if constexpr (std::is_same_v<OutputIterator, Staged*>) {
    constexpr int width = 16 / static_cast<int>(sizeof(Staged));
    if (detail::is_at_boundary(out)) {
      const int whole = count / width;
      STRATA_UNROLL
      for (int v = 0; v < MaxItems / width; v += warp_threads) {
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

}  // namespace detail
STRATA_NAMESPACE_END
