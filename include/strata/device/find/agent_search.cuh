// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/find/tuning.hpp>
#include <strata/warp/specializations/warp_partition_point.cuh>

#include <cstddef>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

enum class bound_kind { lower, upper };

/// Sorted items, values to search for, and the output. `Count` is the type of numbers of items and values.
template <bound_kind Kind, class RangeIterator, class ValuesIterator, class OutputIterator, class CountT>
struct search_arrays {
  using Count = CountT;
  using Item = iterator_value_t<RangeIterator>;
  using Value = iterator_value_t<ValuesIterator>;

  RangeIterator range;
  Count range_items;
  ValuesIterator values;
  Count value_items;
  OutputIterator out;

  /// True if an item lies before the bound of a value.
  template <class Compare, class AnItem>
  STRATA_D static bool is_before(Compare& compare, const AnItem& item, const Value& value) {
    if constexpr (Kind == bound_kind::lower) {
      return static_cast<bool>(compare(item, value));
    } else {
      return !static_cast<bool>(compare(value, item));
    }
  }
  STRATA_D decltype(auto) item(Count index) const { return detail::item_at(range, static_cast<std::size_t>(index)); }
  STRATA_D void store(Count index, Count bound) {
    out[static_cast<difference_of<OutputIterator>>(index)] = static_cast<output_value_t<OutputIterator, Count>>(bound);
  }
};

/// How the range is cut, and how many threads search for a value.
template <class Count>
struct search_plan {
  /// The range has 2^`log2_parts` parts of `part` items. The first `longer_parts` of them have one item more.
  int log2_parts;
  Count part;
  Count longer_parts;
  /// 2^`log2_lanes` lanes search for one value. If it is 0, each thread searches for `searches` values at a time.
  int log2_lanes;
  int searches;

  static search_plan cut(Count items, int log2_parts) {
    const Count part = static_cast<Count>(items >> log2_parts);
    return {log2_parts, part, static_cast<Count>(items - (part << log2_parts)), 0, 1};
  }
  STRATA_HD Count begin(Count number) const { return number * part + detail::least(number, longer_parts); }
};

/// Searches for many values. A block keeps the first item of each part of the range in shared memory, as a search tree
/// without pointers: node i has the children 2i and 2i + 1.
///
///                  4                 nodes   1 | 2  3 | 4  5  6  7
///              2       6             parts   4 | 2  6 | 1  3  5  7      node i holds the first item of this part
///            1   3   5   7
///
/// The nodes of a level lie side by side, so that lanes that search for different values mostly access different banks.
/// (Eytzinger's layout: Khuong and Morin, Array Layouts for Comparison-Based Searching, 2015.) The rest of a search is
/// a binary search in device memory. All searches have windows of the same length, so no lane waits for another. A
/// thread may make several searches at a time, so that their loads overlap.
template <class Policy, class Arrays, class Compare>
class AgentSearch {
  static constexpr search_tuning tuning = Policy::search;
  static constexpr int block_threads = tuning.block_threads;
  using Count = typename Arrays::Count;
  using Item = typename Arrays::Item;
  using Value = typename Arrays::Value;
  static constexpr bool has_samples = is_trivially_relocatable_v<Item> && std::is_default_constructible_v<Item>;

 public:
  /// The maximum number of parts of the range. Node 0 is not used.
  static constexpr int max_parts = has_samples && tuning.sample_bytes / static_cast<int>(sizeof(Item)) >= 2
                                       ? tuning.sample_bytes / static_cast<int>(sizeof(Item))
                                       : 1;

  struct TempStorage {
    Uninitialized<Item[static_cast<std::size_t>(max_parts)]> nodes;
  };

  STRATA_D AgentSearch(TempStorage& storage, const Arrays& arrays, const search_plan<Count>& plan, Compare& compare)
      : storage_(storage), arrays_(arrays), plan_(plan), compare_(compare) {}

  STRATA_D void search() {
    if (plan_.log2_lanes > 0) {
      search_by_lanes();
      return;
    }
    if constexpr (max_parts > 1) {
      if (plan_.log2_parts > 0) {
        load_samples();
        __syncthreads();
      }
    }
    if (plan_.searches == 1) {
      search_tiles<1>();
    } else {
      search_tiles<tuning.searches>();
    }
  }

 private:
  STRATA_D void search_by_lanes() {
    const unsigned thread = blockIdx.x * static_cast<unsigned>(block_threads) + threadIdx.x;
    const Count index = thread >> plan_.log2_lanes;
    const bool has_value = index < arrays_.value_items;
    const Value value = detail::item_at(arrays_.values, static_cast<std::size_t>(has_value ? index : 0));
    const Count bound =
        detail::warp_partition_point(Count{0}, has_value ? arrays_.range_items : Count{0}, plan_.log2_lanes,
                                     [&](Count i) { return !Arrays::is_before(compare_, arrays_.item(i), value); });
    const bool is_first_lane = (thread & ((1u << plan_.log2_lanes) - 1)) == 0;
    if (has_value && is_first_lane) arrays_.store(index, bound);
  }

  STRATA_D void load_samples() {
    const unsigned parts = 1u << plan_.log2_parts;
    STRATA_UNROLL_N(4)
    for (unsigned node = threadIdx.x + 1; node < parts; node += block_threads) {
      const int level = 31 - __clz(static_cast<int>(node));
      const unsigned part = (2 * (node - (1u << level)) + 1) << (plan_.log2_parts - 1 - level);
      storage_.nodes.Alias()[node] = static_cast<Item>(arrays_.item(plan_.begin(part)));
    }
  }

  template <int Searches>
  STRATA_D void search_tiles() {
    constexpr Count tile_items = static_cast<Count>(block_threads) * Searches;
    const Count stride = static_cast<Count>(gridDim.x) * tile_items;
    Count tile = static_cast<Count>(blockIdx.x) * tile_items;
    while (tile < arrays_.value_items) {
      search_tile<Searches>(tile);
      if (arrays_.value_items - tile <= stride) break;  // the sum of both might not fit
      tile += stride;
    }
  }

  template <int Searches>
  STRATA_D void search_tile(Count tile) {
    // Searches after the last value repeat the search for it, so that loads need no condition.
    const Count left = arrays_.value_items - tile;
    Count index[Searches];
    searched values[Searches];
    STRATA_UNROLL
    for (int i = 0; i < Searches; ++i) {
      index[i] = static_cast<Count>(threadIdx.x + static_cast<unsigned>(i * block_threads));
      const Count read = detail::least(index[i], static_cast<Count>(left - 1));
      values[i].load(arrays_.values, static_cast<std::size_t>(tile + read));
    }
    Count first[Searches];
    find_parts(values, first);
    Count length = plan_.part + (plan_.longer_parts > 0 ? 1 : 0);
    STRATA_UNROLL
    for (int i = 0; i < Searches; ++i) {
      first[i] = detail::least(plan_.begin(first[i]), static_cast<Count>(arrays_.range_items - length));
    }
    STRATA_UNROLL_N(1)
    while (length > 1) {
      const Count half = length / 2;
      bool is_before[Searches];
      STRATA_UNROLL
      for (int i = 0; i < Searches; ++i) {
        is_before[i] = Arrays::is_before(compare_, arrays_.item(first[i] + (half - 1)), values[i].get());
      }
      STRATA_UNROLL
      for (int i = 0; i < Searches; ++i) first[i] = is_before[i] ? first[i] + half : first[i];
      length -= half;
    }
    STRATA_UNROLL
    for (int i = 0; i < Searches; ++i) {
      if (length > 0 && Arrays::is_before(compare_, arrays_.item(first[i]), values[i].get())) ++first[i];
    }
    STRATA_UNROLL
    for (int i = 0; i < Searches; ++i) {
      if (index[i] < left) arrays_.store(tile + index[i], first[i]);
    }
  }

  /// A value, kept as bits, because its type need not have a default constructor.
  struct searched {
    union {
      Value value;
    };
    STRATA_D searched() {}
    template <class Iterator>
    STRATA_D void load(const Iterator& values, std::size_t index) {
      const Value loaded = detail::item_at(values, index);
      std::memcpy(static_cast<void*>(&value), static_cast<const void*>(&loaded), sizeof(Value));
    }
    STRATA_D const Value& get() const { return value; }
  };

  /// Finds the part in which, or at whose end, the bound of each value lies: the last part whose first item lies before
  /// the bound, or part 0 if there is none.
  template <int Searches>
  STRATA_D void find_parts(const searched (&values)[Searches], Count (&part)[Searches]) {
    unsigned node[Searches];
    STRATA_UNROLL
    for (int i = 0; i < Searches; ++i) node[i] = 1;
    if constexpr (max_parts > 1) {
      STRATA_UNROLL_N(1)
      for (int level = 0; level < plan_.log2_parts; ++level) {
        STRATA_UNROLL
        for (int i = 0; i < Searches; ++i) {
          const bool is_before = Arrays::is_before(compare_, storage_.nodes.Alias()[node[i]], values[i].get());
          node[i] = 2 * node[i] + (is_before ? 1 : 0);
        }
      }
    }
    STRATA_UNROLL
    for (int i = 0; i < Searches; ++i) part[i] = static_cast<Count>(node[i] - (1u << plan_.log2_parts));
  }

  TempStorage& storage_;
  Arrays arrays_;
  const search_plan<Count>& plan_;
  Compare& compare_;
};

}  // namespace detail
STRATA_NAMESPACE_END
