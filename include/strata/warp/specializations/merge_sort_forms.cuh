// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/merge_sort_levels.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The calls of BlockMergeSort and WarpMergeSort: `Derived` has `memory()` and `team()`.
template <class Derived, class KeyT, int ItemsPerThread, int Threads, class ValueT>
class merge_sort_forms {
  using levels = merge_sort_levels<KeyT, ItemsPerThread, Threads, ValueT>;
  template <class T>
  using items = typename levels::template items<T>;

 public:
  template <class CompareOp>
  STRATA_D void StableSort(items<KeyT>& keys, CompareOp compare) {
    NullType no_values;
    sort<true>(keys, no_values, levels::tile_items, compare);
  }
  template <class CompareOp>
  STRATA_D void StableSort(items<KeyT>& keys, items<ValueT>& values, CompareOp compare) {
    sort<true>(keys, values, levels::tile_items, compare);
  }
  template <class CompareOp>
  STRATA_D void StableSortPartialTile(items<KeyT>& keys, int valid_items, CompareOp compare) {
    NullType no_values;
    sort<false>(keys, no_values, valid_items, compare);
  }
  template <class CompareOp>
  STRATA_D void StableSortPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items,
                                      CompareOp compare) {
    sort<false>(keys, values, valid_items, compare);
  }
  template <class CompareOp>
  STRATA_D void StableSort(items<KeyT>& keys, CompareOp compare, int valid_items,
                           KeyT oob_default) {
    StableSortPartialTile(keys, valid_items, compare);
    fill(keys, valid_items, oob_default);
  }
  template <class CompareOp>
  STRATA_D void StableSort(items<KeyT>& keys, items<ValueT>& values, CompareOp compare,
                           int valid_items, KeyT oob_default) {
    StableSortPartialTile(keys, values, valid_items, compare);
    fill(keys, valid_items, oob_default);
  }

  template <class CompareOp>
  STRATA_D void Sort(items<KeyT>& keys, CompareOp compare) {
    StableSort(keys, compare);
  }
  template <class CompareOp>
  STRATA_D void Sort(items<KeyT>& keys, items<ValueT>& values, CompareOp compare) {
    StableSort(keys, values, compare);
  }
  template <class CompareOp>
  STRATA_D void SortPartialTile(items<KeyT>& keys, int valid_items, CompareOp compare) {
    StableSortPartialTile(keys, valid_items, compare);
  }
  template <class CompareOp>
  STRATA_D void SortPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items,
                                CompareOp compare) {
    StableSortPartialTile(keys, values, valid_items, compare);
  }
  template <class CompareOp>
  STRATA_D void Sort(items<KeyT>& keys, CompareOp compare, int valid_items, KeyT oob_default) {
    StableSort(keys, compare, valid_items, oob_default);
  }
  template <class CompareOp>
  STRATA_D void Sort(items<KeyT>& keys, items<ValueT>& values, CompareOp compare, int valid_items,
                     KeyT oob_default) {
    StableSort(keys, values, compare, valid_items, oob_default);
  }

 private:
  STRATA_D Derived& self() { return static_cast<Derived&>(*this); }

  template <bool Full, class Values, class CompareOp>
  STRATA_D void sort(items<KeyT>& keys, Values& values, int valid_items, const CompareOp& compare) {
    compare_requirements<const CompareOp, KeyT>::check();
    levels::template sort<Full>(self().memory(), self().team(), keys, values, valid_items, compare);
  }

  STRATA_D void fill(items<KeyT>& keys, int valid_items, const KeyT& key) {
    const int first = self().team().thread() * ItemsPerThread;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (first + i >= valid_items) keys[i] = key;
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
