// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/find/agent_search.cuh>
#include <strata/device/merge_sort/agent_merge_ranges.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Searches for sorted values. The agent merges them with the range, tile by tile. For each value, it keeps the number
/// of range items before the value: the index of the value in the merge, minus the number of values before it.
///
///     range    1   3   3   6          merge for lower bounds   1 [2] [3]  3   3 [5]  6
///     values     2   3   5            index of each value          1   2          5
///                                     minus the values before it   1   1          3
///
/// For lower bounds a value comes before equal items, so the values are the first input of the merge. For upper bounds
/// it comes after them, so the values are the second input. `Arrays` are merge_arrays whose output of keys is the
/// output of the bounds.
template <bound_kind Kind, class ActivePolicy, class Arrays, class Compare>
class AgentSortedSearch : AgentMerge<ActivePolicy, Arrays, Compare> {
  using Merge = AgentMerge<ActivePolicy, Arrays, Compare>;
  using Count = typename Arrays::Count;
  using Key = typename Arrays::Key;
  using Out = decltype(Arrays::keys_out);
  using part_of_ranges = typename Merge::part_of_ranges;
  static constexpr int block_threads = ActivePolicy::tuning.block_threads;
  static constexpr int items_per_thread = ActivePolicy::tuning.items_per_thread;
  static constexpr bool values_are_first = Kind == bound_kind::lower;

 public:
  /// The counts of items before the values reuse the memory of the merge.
  union TempStorage {
    typename Merge::TempStorage merge;
    int before[Merge::tile_items];
  };

  STRATA_D AgentSortedSearch(TempStorage& storage, const Arrays& arrays, Compare& compare)
      : Merge(storage.merge, arrays, compare), before_(storage.before), out_(arrays.keys_out) {}

  /// `splits[t]` is the number of items of the first input in the tiles before tile t. `splits` may be null.
  STRATA_D void search(Count tile, const Count* splits) {
    const Count diagonal = tile * Merge::tile_items, items = Merge::items_of(diagonal);
    const part_of_ranges part =
        Merge::load_part_of_ranges(diagonal, items, Merge::splits_of(tile, diagonal, items, splits));
    const int slice = static_cast<int>(threadIdx.x) * items_per_thread;
    Key merged[static_cast<std::size_t>(items_per_thread)];
    int values[static_cast<std::size_t>(items_per_thread)];  // their numbers in the tile, or -1
    Merge::merge_slice(part, merged, [&](int i, int index) {
      const bool is_value = (index < part.index2) == values_are_first && slice + i < part.count();
      values[i] = is_value ? index - (values_are_first ? part.index1 : part.index2) : -1;
    });
    __syncthreads();
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      if (values[i] >= 0) before_[values[i]] = slice + i - values[i];
    }
    __syncthreads();
    const Count first_value = values_are_first ? part.begin1 : part.begin2;
    const Count first_item = values_are_first ? part.begin2 : part.begin1;
    const int count = values_are_first ? part.count1 : part.count2;
    STRATA_UNROLL_N(4)
    for (int i = static_cast<int>(threadIdx.x); i < count; i += block_threads) {
      out_[static_cast<difference_of<Out>>(first_value + static_cast<unsigned>(i))] =
          static_cast<output_value_t<Out, Count>>(first_item + static_cast<unsigned>(before_[i]));
    }
  }

 private:
  int* before_;
  Out out_;
};

}  // namespace detail
STRATA_NAMESPACE_END
