// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>

/// \file
/// Binary trees in shared memory: the barrier between two levels, and the positions of elements. On level k of such a
/// tree neighbouring threads access elements that are 2^k apart: without padding, up to 32 lanes access one bank.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A barrier between two levels of a tree. On both levels only the first `active` threads of the block access
/// shared memory. If these are in one warp, other warps do not wait. All threads call it, with the same
/// `active`.
template <int BlockThreads>
STRATA_D void tree_barrier(int thread, int active) {
  if (active > warp_threads) {
    __syncthreads();
  } else if (thread < warp_threads) {
    constexpr unsigned first_warp =
        BlockThreads < warp_threads ? (1u << (BlockThreads % warp_threads)) - 1u : full_warp_mask;
    __syncwarp(first_warp);
  }
}

/// A layout with `Levels` levels of padding. `By` unused elements follow every `Every` elements. A wavefront has c =
/// Every / By columns. `By` more unused elements follow every `Every * c` elements, and so on. With By = 1:
///
///     position(i) = i + i / c + i / c^2 + ...
///
/// is free of conflicts for every stride that is a power of two. Let c = 2^b, and let the stride be
/// 2^(q b + r) with r < b. Modulo c, term q of the sum has the lane's lower b - r bits, shifted left by r.
/// Term q + 1 is the number that the lane's upper r bits form. The r low bits of term q are 0, so the sum of both terms
/// has all bits of the lane. The other terms are the same in all lanes. So the columns are the lanes' bits, rotated,
/// and no two lanes have the same column. `PaddedLayout` is one level of it, enough for c^2 elements.
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

/// An item consists of units, the widest accesses that its alignment allows, as in ExchangeLayout.
template <class T>
using item_units = ExchangeLayout<T, 1>;

/// The positions of `Layout`, multiplied by the units per item: LayoutStorage counts units. The factor is odd, so two
/// items share a column of banks only if their positions in `Layout` share a column.
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
  /// Several items below 4 bytes lie in one word; padding is by words.
  static constexpr int by = unit_bytes < 4 ? 4 / unit_bytes : 1;

  STRATA_HD static constexpr int levels() {
    int count = 0;
    for (long long reach = 1LL * columns * by; reach < Elements; reach *= columns) ++count;
    return count;
  }
  using type = std::conditional_t<levels() <= 1, PaddedLayout<columns * by, by>,
                                  nested_padded_layout<columns * by, by, levels()>>;
};

/// True if all warps have the conflict degree of the first one. They do in these layouts: in every access of a tree,
/// the positions of another warp are the first warp's positions plus a constant. For other layouts, the model counts
/// each warp.
template <class T, class Layout>
inline constexpr bool warps_are_alike =
    std::is_same_v<Layout, PlainLayout> || std::is_same_v<Layout, typename choose_tree_layout<T, 1>::type>;
template <class T, int Every, int By, int Levels>
inline constexpr bool warps_are_alike<T, nested_padded_layout<Every, By, Levels>> = true;

/// The conflict degree of one access of a block's warps to items of type T.
template <class T, class Layout>
STRATA_HD constexpr int tree_access_degree(int first, int stride, int end) {
  using access = runtime_strided_access<item_units<T>::unit_bytes>;
  const item_layout<T, Layout> layout{};
  int degree = strata::conflict_degree(layout, access{first, stride, end});
  if (!warps_are_alike<T, Layout>) {
    for (int other = first + 32 * stride; other < end; other += 32 * stride) {
      degree = detail::most(degree, strata::conflict_degree(layout, access{other, stride, end}));
    }
  }
  return degree;
}

}  // namespace detail

/// The padding with which a block primitive on a binary tree of `Elements` items has no bank conflicts:
/// `PaddedLayout<32, 1>` for up to 1,024 items of 4 bytes. More items take more levels of padding, and so do wider
/// items, because a wavefront serves fewer of them. Padding adds less than one item to every 31, 15 or 7 items of 4, 8
/// or 16 bytes.
template <class T, int Elements>
using TreeLayout = typename detail::choose_tree_layout<T, Elements>::type;

STRATA_NAMESPACE_END
