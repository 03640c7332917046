// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_radix_sort.cuh>
#include <strata/core/detail/radix_code.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/top_k/agent.cuh>
#include <strata/device/top_k/segmented_arguments.cuh>
#include <strata/device/top_k/segmented_tuning.hpp>
#include <strata/warp/specializations/top_k_threshold.cuh>

#include <cstddef>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// In the place of values: the index of each result in its segment.
struct top_k_indices {};

/// What a call does with a segment: where its items are, and where its results go.
template <bool IsMax, class KeyIterator, class Segments, class Results, class KeyOutputIterator, class ValueIterator,
          class ValueOutputIterator>
struct segmented_top_k_problem {
  using Key = iterator_value_t<KeyIterator>;
  using Iterator = KeyIterator;
  // The k first items of a descending order are the greatest.
  using Digits = radix_digits<Key, IsMax>;
  using Codes = radix_codes<Digits>;
  using Code = typename Codes::Code;
  static constexpr bool is_max = IsMax;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  static constexpr Code last_code = static_cast<Code>(~Code{0});

  KeyIterator keys;
  Segments segments;
  Results results;
  KeyOutputIterator keys_out;
  ValueIterator values;
  ValueOutputIterator values_out;

  struct row {
    long long number;
    std::size_t begin;
    long long length;
    long long count;  // results
    std::size_t out;
  };
  STRATA_D row at(long long segment) const {
    const segment_bounds bounds = segments(segment);
    return {segment, static_cast<std::size_t>(bounds.begin), bounds.length, results.count(segment, bounds.length),
            static_cast<std::size_t>(results.begin(segment))};
  }

  STRATA_D Key key_at(const row& of, std::size_t index) const { return detail::item_at(keys, of.begin + index); }
  STRATA_D static Code code_of(const Key& key) { return Codes::ordered(Codes::encode(key)); }
  STRATA_D Code code_at(const row& of, long long index) const {
    return index < of.length ? code_of(key_at(of, static_cast<std::size_t>(index))) : last_code;
  }
  /// The key of an item. The codes of zeros and of NaN are those of several keys.
  STRATA_D Key key_of(const row& of, std::size_t index, Code code) const {
    if constexpr (Codes::are_all_exact) {
      return Codes::decode(code);
    } else {
      Key zero;
      std::memset(static_cast<void*>(&zero), 0, sizeof(zero));
      return code == Codes::encode(zero) || !Codes::is_exact(code) ? key_at(of, index) : Codes::decode(code);
    }
  }

  STRATA_D void write(const row& of, std::size_t position, std::size_t index, const Key& key) const {
    const std::size_t to = of.out + position;
    *detail::advanced(keys_out, to) = static_cast<output_value_t<KeyOutputIterator, Key>>(key);
    if constexpr (std::is_same_v<ValueIterator, top_k_indices>) {
      detail::store_count(detail::advanced(values_out, to), static_cast<long long>(index));
    } else if constexpr (has_values) {
      using Stored = output_value_t<ValueOutputIterator, iterator_value_t<ValueIterator>>;
      *detail::advanced(values_out, to) = static_cast<Stored>(detail::item_at(values, of.begin + index));
    }
  }

  /// By `threads` threads: what lies behind the results of a segment.
  STRATA_D void pad(const row& of, int thread, int threads) const {
    if constexpr (Results::has_padding) {
      for (long long i = of.count + thread; i < results.stride(); i += threads) {
        const std::size_t to = of.out + static_cast<std::size_t>(i);
        *detail::advanced(keys_out, to) = static_cast<output_value_t<KeyOutputIterator, Key>>(results.key());
        if constexpr (has_values) {
          using Value = std::decay_t<decltype(results.value())>;
          *detail::advanced(values_out, to) = static_cast<output_value_t<ValueOutputIterator, Value>>(results.value());
        }
      }
    } else {
      static_cast<void>(of);
      static_cast<void>(thread);
      static_cast<void>(threads);
    }
  }
};

/// A result that waits to be sorted, in shared memory.
template <class Code, int Count>
struct top_k_staged {
  Code codes[Count];
  unsigned indices[Count];
};

/// Segments of up to `Lanes` x `Items` items, each by a logical warp. With `IsSorted` each has up to
/// `max_top_k_sorted_by_warp` results.
template <class Problem, int BlockThreads, int Lanes, int Items, bool IsSorted>
class AgentSegmentedTopKWarps {
  using Code = typename Problem::Code;
  using Row = typename Problem::row;
  static constexpr int rows = BlockThreads / Lanes;
  static constexpr int capacity = IsSorted ? max_top_k_sorted_by_warp : 1;
  using staged = top_k_staged<Code, capacity>;

 public:
  static constexpr long long tile_items = Lanes * Items;
  struct TempStorage {
    staged results[rows];
  };

  /// Whether a logical warp can select from the segment.
  STRATA_HD static constexpr bool can_have(long long length, long long count) {
    return length <= tile_items && (!IsSorted || count <= max_top_k_sorted_by_warp);
  }

  STRATA_D AgentSegmentedTopKWarps(TempStorage& storage, const Problem& problem)
      : results_(storage.results[static_cast<int>(threadIdx.x) / Lanes]), problem_(problem) {}

  STRATA_D void run() {
    const long long step = static_cast<long long>(gridDim.x) * rows;
    for (long long segment = static_cast<long long>(blockIdx.x) * rows + static_cast<int>(threadIdx.x) / Lanes;
         segment < problem_.segments.num_segments(); segment += step) {
      const Row row = problem_.at(segment);
      if (can_have(row.length, row.count)) select(row);
    }
  }

 private:
  STRATA_D void select(const Row& row) {
    const int lane = team_.lanes().lane();
    if (row.count > 0) {
      Code codes[Items];
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) codes[i] = problem_.code_at(row, i * Lanes + lane);
      const auto threshold = detail::find_top_k_threshold(team_, codes, static_cast<unsigned>(row.count));
      detail::for_each_top_k(team_, codes, threshold, [&](unsigned position, int i) {
        const auto index = static_cast<unsigned>(i * Lanes + lane);
        if constexpr (IsSorted) {
          results_.codes[position] = codes[i];
          results_.indices[position] = index;
        } else {
          problem_.write(row, position, index, problem_.key_of(row, index, codes[i]));
        }
      });
      if constexpr (IsSorted) sort(row, lane);
    }
    problem_.pad(row, lane, Lanes);
  }

  // Each result finds how many come before it.
  STRATA_D void sort(const Row& row, int lane) {
    const unsigned mask = team_.lanes().mask();
    const int count = static_cast<int>(row.count);
    __syncwarp(mask);
    for (int own = lane; own < count; own += Lanes) {
      const Code code = results_.codes[own];
      unsigned rank = 0;
      for (int other = 0; other < count; ++other) {
        const Code that = results_.codes[other];
        rank += that < code || (that == code && other < own) ? 1u : 0u;
      }
      const unsigned index = results_.indices[own];
      problem_.write(row, rank, index, problem_.key_of(row, index, code));
    }
    __syncwarp(mask);
  }

  staged& results_;
  const Problem& problem_;
  top_k_warp<Lanes> team_;
};

/// Scratch of a block for results that are to be sorted, in device memory.
template <class Code>
struct top_k_scratch {
  Code* codes;
  unsigned long long* indices;
};

/// Segments that logical warps have left, each by a block: one that fits registers is read once. With `HasLong` others
/// are selected by AgentTopK, which reads them several times. With `IsSorted` each has up to
/// `max_top_k_sorted_by_block` results.
///
/// The grid has one column, so that AgentTopK selects by one block.
template <class Policy, class Problem, int Threads, int Items, bool IsSorted, bool HasLong>
class AgentSegmentedTopKBlock {
  using Key = typename Problem::Key;
  using Code = typename Problem::Code;
  using Row = typename Problem::row;
  using Team = top_k_block<Threads, Code>;
  static constexpr int capacity = max_top_k_sorted_by_block;
  static constexpr int warps = Team::warps;
  using Sort1 = BlockRadixSort<Code, Threads, 1, unsigned>;
  using SortAll = BlockRadixSort<Code, Threads, capacity / Threads, unsigned>;
  using Long = AgentTopK<Policy, typename Problem::Iterator, typename Problem::Digits>;
  struct nothing {};

 public:
  static constexpr long long tile_items = Threads * Items;
  struct TempStorage {
    unsigned chosen[warps];
    typename Team::storage team;
    union {
      std::conditional_t<IsSorted, top_k_staged<Code, capacity>, nothing> staged;
      std::conditional_t<IsSorted, Uninitialized<typename Sort1::TempStorage>, nothing> sort1;
      std::conditional_t<IsSorted, Uninitialized<typename SortAll::TempStorage>, nothing> sort_all;
      std::conditional_t<HasLong, Uninitialized<typename Long::TempStorage>, nothing> long_rows;
    };
  };

  STRATA_D AgentSegmentedTopKBlock(TempStorage& storage, const Problem& problem, const top_k_scratch<Code>& scratch)
      : storage_(storage),
        problem_(problem),
        team_(storage.team, static_cast<int>(threadIdx.x)),
        scratch_{scratch.codes + std::size_t{blockIdx.y} * capacity,
                 scratch.indices + std::size_t{blockIdx.y} * capacity} {}

  /// All segments for which `is_chosen(length, count)`.
  template <class IsChosen>
  STRATA_D void run(IsChosen is_chosen) {
    const long long segments = problem_.segments.num_segments();
    const long long step = gridDim.y;
    for (long long first = blockIdx.y; first < segments; first += step * Threads) {
      // Each thread looks at one segment.
      const long long own = first + step * static_cast<int>(threadIdx.x);
      bool is_own_chosen = false;
      if (own < segments) {
        const Row row = problem_.at(own);
        is_own_chosen = is_chosen(row.length, row.count);
      }
      const unsigned chosen = __ballot_sync(full_warp_mask, is_own_chosen);
      if (threadIdx.x % warp_threads == 0) storage_.chosen[threadIdx.x / warp_threads] = chosen;
      __syncthreads();
      for (int warp = 0; warp < warps; ++warp) {
        for (unsigned bits = storage_.chosen[warp]; bits != 0; bits &= bits - 1) {
          select(problem_.at(first + step * (warp * warp_threads + __ffs(static_cast<int>(bits)) - 1)));
          __syncthreads();
        }
      }
      __syncthreads();
    }
  }

 private:
  STRATA_D void select(const Row& row) {
    if (row.count > 0) {
      if (row.length <= tile_items) {
        select_tile(row);
      } else {
        if constexpr (HasLong) select_long(row);
      }
    }
    problem_.pad(row, static_cast<int>(threadIdx.x), Threads);
  }

  STRATA_D void select_tile(const Row& row) {
    const int first = static_cast<int>(threadIdx.x) / warp_threads * (warp_threads * Items) +
                      static_cast<int>(threadIdx.x) % warp_threads;
    Code codes[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) codes[i] = problem_.code_at(row, first + i * warp_threads);
    const auto threshold = detail::find_top_k_threshold(team_, codes, static_cast<unsigned>(row.count));
    detail::for_each_top_k(team_, codes, threshold, [&](unsigned position, int i) {
      const auto index = static_cast<unsigned>(first + i * warp_threads);
      if constexpr (IsSorted) {
        storage_.staged.codes[position] = codes[i];
        storage_.staged.indices[position] = index;
      } else {
        problem_.write(row, position, index, problem_.key_of(row, index, codes[i]));
      }
    });
    if constexpr (IsSorted) {
      __syncthreads();
      sort(
          row, storage_.staged.codes, [&](unsigned position) { return storage_.staged.indices[position]; },
          [](unsigned index) { return std::size_t{index}; });
    }
  }

  STRATA_D void select_long(const Row& row) {
    const top_k_workspace workspace{};
    Long agent(storage_.long_rows.Alias(), detail::advanced(problem_.keys, row.begin),
               static_cast<std::size_t>(row.length), static_cast<std::size_t>(row.count), workspace);
    agent.template run<false>([&](std::size_t position, std::size_t index, const Key& key, bool) {
      if constexpr (IsSorted) {
        scratch_.codes[position] = Problem::code_of(key);
        scratch_.indices[position] = index;
      } else {
        problem_.write(row, position, index, key);
      }
    });
    if constexpr (IsSorted) {
      __syncthreads();
      sort(
          row, scratch_.codes, [](unsigned position) { return position; },
          [&](unsigned position) { return static_cast<std::size_t>(scratch_.indices[position]); });
    }
  }

  /// Sorts codes with what `value_of` has for their positions. `index_of` has the index for such a value.
  template <class ValueOf, class IndexOf>
  STRATA_D void sort(const Row& row, const Code* codes, ValueOf value_of, IndexOf index_of) {
    if (row.count <= Threads) {
      sort<Sort1, 1>(storage_.sort1, row, codes, value_of, index_of);
    } else {
      sort<SortAll, capacity / Threads>(storage_.sort_all, row, codes, value_of, index_of);
    }
  }
  template <class Sort, int SortItems, class Storage, class ValueOf, class IndexOf>
  STRATA_D void sort(Storage& storage, const Row& row, const Code* codes, ValueOf& value_of, IndexOf& index_of) {
    const int count = static_cast<int>(row.count), thread = static_cast<int>(threadIdx.x);
    Code thread_codes[SortItems];
    unsigned values[SortItems];
    STRATA_UNROLL
    for (int i = 0; i < SortItems; ++i) {
      const int position = thread * SortItems + i;
      thread_codes[i] = position < count ? codes[position] : Problem::last_code;
      values[i] = position < count ? value_of(static_cast<unsigned>(position)) : 0;
    }
    __syncthreads();
    Sort(storage.Alias()).SortBlockedToStripedPartialTile(thread_codes, values, count);
    STRATA_UNROLL
    for (int i = 0; i < SortItems; ++i) {
      const int position = i * Threads + thread;
      if (position >= count) break;
      const std::size_t index = index_of(values[i]);
      problem_.write(row, static_cast<std::size_t>(position), index, problem_.key_of(row, index, thread_codes[i]));
    }
  }

  TempStorage& storage_;
  const Problem& problem_;
  Team team_;
  top_k_scratch<Code> scratch_;
};

}  // namespace detail
STRATA_NAMESPACE_END
