// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/values.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/warp/specializations/exchange_tile.cuh>

/// \file
/// What BlockShuffle, BlockAdjacentDifference and BlockDiscontinuity have in common: items of a block in blocked
/// arrangement, and their neighbours.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Passed instead of an item if the first or last item of a tile has no neighbour.
struct no_item {};
template <class Item>
inline constexpr bool is_item = !std::is_same_v<Item, no_item>;

/// An item of each thread of a block, in shared memory. A thread writes its item. After a barrier, it reads those of
/// other threads. No bank conflicts: a warp's threads access neighbouring items, wherever they begin.
template <class T, int Threads>
class neighbour_items {
  using layout = ExchangeLayout<T, 1>;
  // Accesses items as units of the layout, whatever their members are.
  using tile = exchange_tile<T, 1, Threads>;
  template <int First>
  using neighbours = strided_access<layout::unit_bytes, 1, First>;
  // not for users: the layout serves every type
  static_assert(strata::conflict_degree(layout{}, neighbours<0>{}) == 1 &&
                    strata::conflict_degree(layout{}, neighbours<1>{}) == 1,
                "neighbouring items must lie in different banks: use ExchangeLayout<T, 1>");

 public:
  STRATA_D void put(int thread, const T& item) { tile_.put(position(thread), item); }
  STRATA_D T get(int thread) { return tile_.get(position(thread)); }

  /// Returns the item of the thread before `thread`. The first thread gets `of_first`; if this is `no_item`, the first
  /// thread must not call.
  template <class Item>
  STRATA_D T before(int thread, const Item& of_first) {
    if constexpr (is_item<Item>) {
      if (thread == 0) return of_first;
    }
    return get(thread - 1);
  }
  /// Returns the item of the thread after `thread`. The last thread gets `of_last`; if this is `no_item`, the last
  /// thread must not call.
  template <class Item>
  STRATA_D T after(int thread, const Item& of_last) {
    if constexpr (is_item<Item>) {
      if (thread == Threads - 1) return of_last;
    }
    return get(thread + 1);
  }

  /// Returns what `before` returns, but the first thread reads, too, and gets any item if `of_first` is `no_item`.
  /// `opaque` keeps the compiler from a branch around a read that the first thread does not need.
  template <class Item>
  STRATA_D T before_by_all(int thread, const Item& of_first) {
    const T item = platform::opaque(get(thread > 0 ? thread - 1 : 0));
    if constexpr (is_item<Item>) {
      return thread > 0 ? item : of_first;
    } else {
      return item;
    }
  }
  /// Returns what `after` returns, but the last thread reads, too.
  template <class Item>
  STRATA_D T after_by_all(int thread, const Item& of_last) {
    const T item = platform::opaque(get(thread < Threads - 1 ? thread + 1 : thread));
    if constexpr (is_item<Item>) {
      return thread < Threads - 1 ? item : of_last;
    } else {
      return item;
    }
  }

 private:
  STRATA_D static int position(int thread) { return tile::position(static_cast<unsigned>(thread)); }

  tile tile_;
};

}  // namespace detail
STRATA_NAMESPACE_END
