// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/shared_layout.hpp>

#include <type_traits>

/// \file
/// Where the elements of a binary tree in shared memory lie. On level k of such a tree neighbouring
/// threads access elements that are 2^k apart, for every k: without padding, up to 32 lanes meet in
/// one bank.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// `By` unused elements after every `Every`; then, with c = Every / By for the columns of a
/// wavefront, `By` more after every `Every * c`, and so on, `Levels` times. With By = 1:
///
///     position(i) = i + i / c + i / c^2 + ...
///
/// is free of conflicts for every stride that is a power of two. Let c = 2^b, and q b + r with r <
/// b the stride's exponent. Modulo c, term q of the sum has the lane's lower b - r bits, moved up
/// by r; term q + 1 has its upper r bits, in the r places that this left empty; the other terms are
/// the same in each lane. So the lane's bits are rotated, and no two lanes share a column.
/// `PaddedLayout` is one level of it, enough for c^2 elements.
template <int Every, int By, int Levels>
struct nested_padded_layout {
  STRATA_HD constexpr int operator()(int index) const {
    int position = index;
    int pads = index;
    for (int level = 0; level < Levels; ++level) {
      pads = quotient(pads, level == 0 ? Every : Every / By);
      position += pads * By;
    }
    return position;
  }
  STRATA_HD static constexpr int storage_elements(int elements) {
    return elements > 0 ? nested_padded_layout{}(elements - 1) + 1 : 0;
  }
};

/// The units in which an item is accessed, as in an exchange of one item per thread.
template <class T>
using item_units = ExchangeLayout<T, 1>;

/// Positions of items as `Layout` says, in the units that LayoutStorage counts. Their number per
/// item is odd, so that items meet in a column of banks only if their positions do.
template <class T, class Layout>
struct item_layout {
  static constexpr int unit_bytes = item_units<T>::unit_bytes;
  static constexpr int units_per_item = item_units<T>::units_per_item;

  STRATA_HD constexpr int operator()(int index) const { return Layout{}(index)*units_per_item; }
  STRATA_HD static constexpr int storage_elements(int items) {
    return Layout::storage_elements(items) * units_per_item;
  }
};

template <class T, int Elements>
struct choose_tree_layout {
  static constexpr int unit_bytes = item_units<T>::unit_bytes;
  static constexpr int columns = lanes_per_wavefront(unit_bytes);
  /// Items below 4 bytes share words; padding is by words.
  static constexpr int by = unit_bytes < 4 ? 4 / unit_bytes : 1;

  static constexpr int levels() {
    int count = 0;
    for (long long reach = 1LL * columns * by; reach < Elements; reach *= columns) ++count;
    return count;
  }
  using type = std::conditional_t<levels() <= 1, PaddedLayout<columns * by, by>,
                                  nested_padded_layout<columns * by, by, levels()>>;
};

STRATA_HD constexpr int larger_of(int a, int b) { return a > b ? a : b; }

/// Whether all warps have the degree of the first one. They do in layouts that repeat with the
/// columns of a wavefront; of any other, each warp is looked at.
template <class T, class Layout>
inline constexpr bool warps_are_alike =
    std::is_same_v<Layout, PlainLayout> ||
    std::is_same_v<Layout, typename choose_tree_layout<T, 1>::type>;
template <class T, int Every, int By, int Levels>
inline constexpr bool warps_are_alike<T, nested_padded_layout<Every, By, Levels>> = true;

/// The degree of one access of a block's warps to items of type T.
template <class T, class Layout>
STRATA_HD constexpr int tree_access_degree(int first, int stride, int end) {
  using access = runtime_strided_access<item_units<T>::unit_bytes>;
  const item_layout<T, Layout> layout{};
  int degree = strata::conflict_degree(layout, access{first, stride, end});
  if (!warps_are_alike<T, Layout>) {
    for (int other = first + 32 * stride; other < end; other += 32 * stride) {
      degree = larger_of(degree, strata::conflict_degree(layout, access{other, stride, end}));
    }
  }
  return degree;
}

}  // namespace detail

/// The padding with which block primitives that work on a binary tree of `Elements` items are free
/// of conflicts: `PaddedLayout<32, 1>` for up to 1,024 items of 4 bytes; more levels of padding for
/// more items, and for wider ones, of which a wavefront has fewer. The cost is below one item in
/// 31, 15 and 7 of 4, 8 and 16 bytes.
template <class T, int Elements>
using TreeLayout = typename detail::choose_tree_layout<T, Elements>::type;

STRATA_NAMESPACE_END
