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
  /// Codes of items `first`, `first` + Stride ..., of which those before `valid` exist. With `MayBeFull` there is a
  /// faster branch for tiles without missing items.
  template <int Stride, bool MayBeFull, int Items>
  STRATA_D void load(const row& of, int first, int valid, Code (&codes)[Items]) const {
    const auto from = detail::advanced(keys, of.begin + static_cast<std::size_t>(first));
    if (MayBeFull && valid >= Stride * Items) {
      load_codes<true, Stride>(from, Items * Stride, codes);
    } else {
      load_codes<false, Stride>(from, valid - first, codes);
    }
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

  /// Loads all keys before it looks at the first. Codes that are not exact take more instructions, and few tiles have
  /// any.
  template <bool IsFull, int Stride, int Items>
  STRATA_D static void load_codes(const KeyIterator& from, int valid, Code (&codes)[Items]) {
    Key loaded[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      if constexpr (!IsFull) std::memset(static_cast<void*>(&loaded[i]), 0, sizeof(Key));
      if (IsFull || i * Stride < valid) loaded[i] = detail::item_at(from, static_cast<std::size_t>(i * Stride));
    }
    bool are_exact = true;
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      codes[i] = Codes::encode(loaded[i]);
      are_exact = are_exact & Codes::is_exact(codes[i]);
    }
    if constexpr (!Codes::are_all_exact) {
      if (!are_exact) {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) codes[i] = Codes::ordered(codes[i]);
      }
    }
    if constexpr (!IsFull) {
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) codes[i] = i * Stride < valid ? codes[i] : last_code;
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

/// Results that wait to be sorted, in shared memory.
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
  /// Results of a segment, on their way to the lanes that write them.
  struct in_order {
    unsigned short indices[static_cast<std::size_t>(Lanes * Items)];
  };
  using staged = std::conditional_t<IsSorted, top_k_staged<Code, max_top_k_sorted_by_warp>, in_order>;

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
    constexpr int rows_of_warp = warp_threads / Lanes;
    const long long segments = problem_.segments.num_segments();
    const long long step = static_cast<long long>(gridDim.x) * rows;
    const int local = static_cast<int>(threadIdx.x) / Lanes, first_of_warp = local / rows_of_warp * rows_of_warp;
    for (long long first = static_cast<long long>(blockIdx.x) * rows; first + first_of_warp < segments; first += step) {
      // A logical warp without a segment has one without items.
      Row row{};
      bool is_local = first + local < segments;
      if (is_local) {
        row = problem_.at(first + local);
        is_local = can_have(row.length, row.count);
      }
      if (!is_local) row.length = row.count = 0;
      if (team_.any(row.count > 0)) select(row);
      if (is_local) problem_.pad(row, team_.lanes().lane(), Lanes);
    }
  }

 private:
  STRATA_D void select(const Row& row) {
    const int lane = team_.lanes().lane();
    Code codes[Items];
    problem_.template load<Lanes, true>(row, lane, static_cast<int>(row.length), codes);
    const auto count = static_cast<unsigned>(row.count);
    const auto threshold = team_.any(count > top_k_least<Code>::size)
                               ? detail::find_top_k_threshold(team_, codes, count)
                               : detail::find_threshold_of_few(team_, codes, count);
    detail::for_each_top_k(team_, codes, threshold, [&](unsigned position, int i) {
      const int index = i * Lanes + lane;
      if constexpr (IsSorted) {
        results_.codes[position] = codes[i];
        results_.indices[position] = static_cast<unsigned>(index);
      } else {
        results_.indices[position] = static_cast<unsigned short>(index);
      }
    });
    __syncwarp();
    if constexpr (IsSorted) {
      write_sorted(row, lane);
    } else {
      for (int i = lane; i < static_cast<int>(count); i += Lanes) write(row, i, results_.indices[i]);
    }
    __syncwarp();
  }

  /// The key is read again: its code may be that of several keys.
  STRATA_D void write(const Row& row, int position, std::size_t index) {
    problem_.write(row, static_cast<std::size_t>(position), index, problem_.key_at(row, index));
  }

  // Each result finds how many come before it.
  STRATA_D void write_sorted(const Row& row, int lane) {
    const int count = static_cast<int>(row.count);
    for (int local = lane; local < count; local += Lanes) {
      const Code code = results_.codes[local];
      int rank = 0;
      for (int other = 0; other < count; ++other) {
        const Code that = results_.codes[other];
        rank += that < code || (that == code && other < local) ? 1 : 0;
      }
      write(row, rank, results_.indices[local]);
    }
  }

  staged& results_;
  const Problem& problem_;
  top_k_warp<Lanes, true> team_;
};

/// What blocks keep of a long segment in device memory, each part of the segment for itself.
template <class Code>
struct top_k_scratch {
  Code* codes;                  // of candidates, with room for `top_k_candidates_of_part` for each part
  unsigned long long* indices;  // of the same, in the segment
  unsigned* counts;             // of each part: candidates
  unsigned* arrivals;           // of parts, for each segment; 0 at the start

  /// The scratch of a segment that has `parts` parts, of those of segments with so many.
  STRATA_D top_k_scratch of(unsigned segment, unsigned parts) const {
    const std::size_t part = std::size_t{segment} * parts;
    return {codes + part * top_k_candidates_of_part, indices + part * top_k_candidates_of_part, counts + part,
            arrivals + segment};
  }
};

/// Sorts the results of a block by their codes. `staged` gets codes, and numbers by which `index_of` finds indices.
template <class Problem, int Threads>
class top_k_block_sort {
  using Code = typename Problem::Code;
  using Row = typename Problem::row;
  static constexpr int capacity = max_top_k_sorted_by_block;
  using Sort1 = BlockRadixSort<Code, Threads, 1, unsigned>;
  using SortAll = BlockRadixSort<Code, Threads, capacity / Threads, unsigned>;

 public:
  union storage {
    top_k_staged<Code, capacity> staged;
    Uninitialized<typename Sort1::TempStorage> sort1;
    Uninitialized<typename SortAll::TempStorage> sort_all;
  };

  /// By all threads, when all have staged their results.
  template <class IndexOf>
  STRATA_D static void write(storage& shared, const Problem& problem, const Row& row, IndexOf index_of) {
    __syncthreads();
    if (row.count <= Threads) {
      sort<Sort1, 1>(shared, shared.sort1, problem, row, index_of);
    } else {
      sort<SortAll, capacity / Threads>(shared, shared.sort_all, problem, row, index_of);
    }
  }

 private:
  template <class Sort, int Items, class SortStorage, class IndexOf>
  STRATA_D static void sort(storage& shared, SortStorage& sort_storage, const Problem& problem, const Row& row,
                            IndexOf& index_of) {
    const int count = static_cast<int>(row.count), thread = static_cast<int>(threadIdx.x);
    Code codes[Items];
    unsigned numbers[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      const int position = thread * Items + i;
      codes[i] = position < count ? shared.staged.codes[position] : Problem::last_code;
      numbers[i] = position < count ? shared.staged.indices[position] : 0;
    }
    __syncthreads();
    Sort(sort_storage.Alias()).SortBlockedToStripedPartialTile(codes, numbers, count);
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      const int position = i * Threads + thread;
      if (position >= count) break;
      const std::size_t index = index_of(numbers[i]);
      problem.write(row, static_cast<std::size_t>(position), index, problem.key_of(row, index, codes[i]));
    }
  }
};

/// Selects from one segment that is longer than the registers of a block hold.
///
///     sample    neighbouring keys at many random positions; the last candidate is the sample's item of a rank
///     collect   each part of the segment is read once, by a separate block, which keeps its candidates in order
///     select    the block that arrives last selects k of all candidates, in registers
///
/// Candidates are compared by code and index, so that keys which are all equal have no more candidates than others. If
/// there are fewer candidates than results, or more than there is room for, AgentTopK selects from the whole segment,
/// by the last block. Whether that happens depends on the keys alone.
///
/// The grid has one column, so that AgentTopK selects by one block.
template <class Policy, class Problem, int Threads, int Items, bool IsSorted>
class AgentTopKLongSegment {
  using Key = typename Problem::Key;
  using Code = typename Problem::Code;
  using Row = typename Problem::row;
  using Team = top_k_block<Threads, Code>;
  using BlockSort = top_k_block_sort<Problem, Threads>;
  using Whole = AgentTopK<Policy, typename Problem::Iterator, typename Problem::Digits>;
  static constexpr int tile_items = Threads * Items;
  static constexpr unsigned capacity = detail::least(static_cast<unsigned>(tile_items), top_k_candidates_of_part);
  static constexpr int neighbours = 4;  // in the sample
  struct nothing {};

 public:
  struct TempStorage {
    typename Team::storage team;
    unsigned first_of_part[max_top_k_parts + 1];
    unsigned last_sample;
    bool is_last;
    union {
      std::conditional_t<IsSorted, typename BlockSort::storage, nothing> sort;
      Uninitialized<typename Whole::TempStorage> whole;
    };
  };

  static constexpr long long least_items = tile_items + 1;

  STRATA_D AgentTopKLongSegment(TempStorage& storage, const Problem& problem, const top_k_scratch<Code>& scratch)
      : storage_(storage), problem_(problem), scratch_(scratch), team_(storage.team, static_cast<int>(threadIdx.x)) {}

  /// By `parts` blocks, of which this is number `part`.
  STRATA_D void run(const Row& row, unsigned part, unsigned parts) {
    const unsigned rank = rank_of_sample(row);
    if (rank > 0) {
      find_last_candidate(row, rank);
      const unsigned found = collect(row, part, parts);
      if (!is_last_part(part, parts, found)) return;
      const unsigned candidates = storage_.first_of_part[parts];
      if (candidates >= row.count && candidates <= capacity) {
        select(row, parts, candidates);
        return;
      }
    } else if (part > 0) {
      return;
    }
    select_from_all(row);
  }

 private:
  STRATA_D int first_item() const {
    return static_cast<int>(threadIdx.x) / warp_threads * (warp_threads * Items) +
           static_cast<int>(threadIdx.x) % warp_threads;
  }

  /// 0 if there would be too many candidates. With 4 standard deviations and some items more than expected, no result
  /// is missed by chance.
  STRATA_D static unsigned rank_of_sample(const Row& row) {
    const float items_per_sample = static_cast<float>(row.length) / static_cast<float>(tile_items);
    const float expected = static_cast<float>(row.count) / items_per_sample;
    const float rank = expected + 4 * sqrtf(expected) + 4;
    return (rank + 4 * sqrtf(rank)) * items_per_sample <= static_cast<float>(capacity) ? static_cast<unsigned>(rank)
                                                                                       : 0;
  }

  /// The index of an item of the sample; they ascend.
  STRATA_D static long long index_of_sample(const Row& row, unsigned number) {
    constexpr long long groups = tile_items / neighbours;
    const long long group = number / neighbours;
    const long long length = row.length / groups;  // at least `neighbours`
    unsigned long long hash = (static_cast<unsigned long long>(group) + 1) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ull;
    const auto choices = static_cast<unsigned long long>(length - neighbours + 1);
    const auto offset = static_cast<long long>((hash >> 32) * choices >> 32);
    return group * length + offset + static_cast<long long>(number % neighbours);
  }

  STRATA_D void find_last_candidate(const Row& row, unsigned rank) {
    const int first = first_item();
    Code codes[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      codes[i] = problem_.code_at(row, index_of_sample(row, static_cast<unsigned>(first + i * warp_threads)));
    }
    if (threadIdx.x == 0) storage_.last_sample = 0;
    const auto threshold = detail::find_top_k_threshold(team_, codes, rank);
    last_code_ = threshold.code;
    last_index_ = row.length;
    if (threshold.takes_all_equal) return;
    detail::for_each_top_k(team_, codes, threshold, [&](unsigned, int i) {
      if (codes[i] == threshold.code) {
        atomicMax(&storage_.last_sample, static_cast<unsigned>(first + i * warp_threads));
      }
    });
    __syncthreads();
    last_index_ = index_of_sample(row, storage_.last_sample);
  }

  STRATA_D bool is_candidate(Code code, long long index) const {
    return code < last_code_ || (code == last_code_ && index <= last_index_);
  }

  /// Returns how many candidates the part has, of which up to `capacity` are kept.
  STRATA_D unsigned collect(const Row& row, unsigned part, unsigned parts) {
    const long long tiles = detail::ceiling_divide<long long>(row.length, tile_items);
    const long long share = detail::ceiling_divide<long long>(tiles, parts);
    const long long begin = share * part;
    const long long end = detail::least(begin + share, tiles);
    const int lane = static_cast<int>(threadIdx.x) % warp_threads;
    const unsigned lower = (1u << lane) - 1;
    Code* const kept_codes = scratch_.codes + std::size_t{part} * top_k_candidates_of_part;
    unsigned long long* const kept_indices = scratch_.indices + std::size_t{part} * top_k_candidates_of_part;
    unsigned found = 0;
    Code codes[Items];
    long long first = begin * tile_items + first_item();
    for (long long tile = begin; tile < end; ++tile, first += tile_items) {
      Row part_of_row = row;
      part_of_row.begin = row.begin + static_cast<std::size_t>(tile * tile_items);
      const int valid =
          static_cast<int>(detail::least(row.length - tile * tile_items, static_cast<long long>(tile_items)));
      problem_.template load<warp_threads, false>(part_of_row, first_item(), valid, codes);
      unsigned before = 0, all = 0;
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        const long long index = first + i * warp_threads;
        if (index < row.length && is_candidate(codes[i], index)) ++before;
      }
      team_.sum_before(before, all);
      unsigned position = found + before;
      found += all;
      if (all == 0) continue;
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        const long long index = first + i * warp_threads;
        const bool is_kept = index < row.length && is_candidate(codes[i], index);
        const unsigned kept = __ballot_sync(full_warp_mask, is_kept);
        const unsigned to = position + static_cast<unsigned>(__popc(kept & lower));
        if (is_kept && to < capacity) {
          kept_codes[to] = codes[i];
          kept_indices[to] = static_cast<unsigned long long>(index);
        }
        position += static_cast<unsigned>(__popc(kept));
      }
    }
    return found;
  }

  /// Whether all parts are collected. Then it is known where the candidates of each begin.
  STRATA_D bool is_last_part(unsigned part, unsigned parts, unsigned found) {
    if (parts > 1) {
      if (threadIdx.x == 0) scratch_.counts[part] = found;
      __syncthreads();
      if (threadIdx.x == 0) storage_.is_last = detail::arrive_is_last(scratch_.arrivals, parts);
      __syncthreads();
      if (!storage_.is_last) return false;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned sum = 0;
      for (unsigned i = 0; i < parts; ++i) {
        storage_.first_of_part[i] = sum;
        const unsigned of_part = parts > 1 ? scratch_.counts[i] : found;
        // More than there is room for in a part are more than there is room for in all.
        sum = of_part > capacity || sum > capacity ? capacity + 1 : sum + of_part;
      }
      storage_.first_of_part[parts] = sum;
    }
    __syncthreads();
    return true;
  }

  /// The slot of a candidate in the scratch of the segment.
  STRATA_D std::size_t slot_of(unsigned candidate, unsigned parts) const {
    unsigned part = 0;
    for (unsigned beyond = parts; beyond - part > 1;) {
      const unsigned middle = part + (beyond - part) / 2;
      if (storage_.first_of_part[middle] <= candidate) {
        part = middle;
      } else {
        beyond = middle;
      }
    }
    return std::size_t{part} * top_k_candidates_of_part + (candidate - storage_.first_of_part[part]);
  }

  STRATA_D void select(const Row& row, unsigned parts, unsigned candidates) {
    const int first = first_item();
    Code codes[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      const auto candidate = static_cast<unsigned>(first + i * warp_threads);
      codes[i] = candidate < candidates ? scratch_.codes[slot_of(candidate, parts)] : Problem::last_code;
    }
    const auto threshold = detail::find_top_k_threshold(team_, codes, static_cast<unsigned>(row.count));
    const auto index_of = [&](unsigned candidate) {
      return static_cast<std::size_t>(scratch_.indices[slot_of(candidate, parts)]);
    };
    detail::for_each_top_k(team_, codes, threshold, [&](unsigned position, int i) {
      const auto candidate = static_cast<unsigned>(first + i * warp_threads);
      if constexpr (IsSorted) {
        storage_.sort.staged.codes[position] = codes[i];
        storage_.sort.staged.indices[position] = candidate;
      } else {
        const std::size_t index = index_of(candidate);
        problem_.write(row, position, index, problem_.key_of(row, index, codes[i]));
      }
    });
    if constexpr (IsSorted) BlockSort::write(storage_.sort, problem_, row, index_of);
  }

  STRATA_D void select_from_all(const Row& row) {
    __syncthreads();
    const top_k_workspace workspace{};
    Whole agent(storage_.whole.Alias(), detail::advanced(problem_.keys, row.begin),
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
      for (int i = static_cast<int>(threadIdx.x); i < row.count; i += Threads) {
        storage_.sort.staged.codes[i] = scratch_.codes[i];
        storage_.sort.staged.indices[i] = static_cast<unsigned>(i);
      }
      BlockSort::write(storage_.sort, problem_, row,
                       [&](unsigned position) { return static_cast<std::size_t>(scratch_.indices[position]); });
    }
  }

  TempStorage& storage_;
  const Problem& problem_;
  const top_k_scratch<Code> scratch_;
  Team team_;
  // The last candidate: of equal codes those up to the index are candidates, too.
  Code last_code_ = 0;
  long long last_index_ = 0;
};

/// Storage of the agent of long segments; none where there are none.
template <class Long, bool IsUsed>
struct top_k_long_storage {
  Uninitialized<typename Long::TempStorage> value;
};
template <class Long>
struct top_k_long_storage<Long, false> {};

/// Segments that logical warps have left, each by a block: those that fit registers are read once. With `IsLong` the
/// others, which are left to AgentTopKLongSegment. With `IsSorted` each has up to `max_top_k_sorted_by_block` results.
template <class Policy, class Problem, int Threads, int Items, bool IsSorted, bool IsLong>
class AgentSegmentedTopKBlock {
  using Code = typename Problem::Code;
  using Row = typename Problem::row;
  using Team = top_k_block<Threads, Code>;
  using BlockSort = top_k_block_sort<Problem, Threads>;
  static constexpr int warps = Team::warps;
  using Long = AgentTopKLongSegment<Policy, Problem, Threads, Items, IsSorted>;
  struct nothing {};

 public:
  static constexpr long long tile_items = Threads * Items;
  struct TempStorage {
    unsigned chosen[warps];
    typename Team::storage team;
    union {
      std::conditional_t<IsSorted && !IsLong, typename BlockSort::storage, nothing> sort;
      top_k_long_storage<Long, IsLong> long_segment;
    };
  };

  STRATA_HD static constexpr bool can_have(long long length) { return (length > tile_items) == IsLong; }

  STRATA_D AgentSegmentedTopKBlock(TempStorage& storage, const Problem& problem, const top_k_scratch<Code>& scratch)
      : storage_(storage), problem_(problem), team_(storage.team, static_cast<int>(threadIdx.x)), scratch_(scratch) {}

  /// All segments for which `is_chosen(length, count)`.
  template <class IsChosen>
  STRATA_D void run(IsChosen is_chosen) {
    const long long segments = problem_.segments.num_segments();
    const long long step = gridDim.y;
    for (long long first = blockIdx.y; first < segments; first += step * Threads) {
      // Each thread looks at one segment.
      const long long local = first + step * static_cast<int>(threadIdx.x);
      bool is_local_chosen = false;
      if (local < segments) {
        const Row row = problem_.at(local);
        is_local_chosen = is_chosen(row.length, row.count);
      }
      const unsigned chosen = __ballot_sync(full_warp_mask, is_local_chosen);
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
      if constexpr (IsLong) {
        Long(storage_.long_segment.value.Alias(), problem_, scratch_.of(blockIdx.y, 1)).run(row, 0, 1);
      } else {
        select_tile(row);
      }
    }
    problem_.pad(row, static_cast<int>(threadIdx.x), Threads);
  }

  STRATA_D void select_tile(const Row& row) {
    const int first = static_cast<int>(threadIdx.x) / warp_threads * (warp_threads * Items) +
                      static_cast<int>(threadIdx.x) % warp_threads;
    Code codes[Items];
    problem_.template load<warp_threads, false>(row, first, static_cast<int>(row.length), codes);
    const auto threshold = detail::find_top_k_threshold(team_, codes, static_cast<unsigned>(row.count));
    detail::for_each_top_k(team_, codes, threshold, [&](unsigned position, int i) {
      const auto index = static_cast<unsigned>(first + i * warp_threads);
      if constexpr (IsSorted) {
        storage_.sort.staged.codes[position] = codes[i];
        storage_.sort.staged.indices[position] = index;
      } else {
        problem_.write(row, position, index, problem_.key_of(row, index, codes[i]));
      }
    });
    if constexpr (IsSorted) {
      BlockSort::write(storage_.sort, problem_, row, [](unsigned index) { return std::size_t{index}; });
    }
  }

  TempStorage& storage_;
  const Problem& problem_;
  Team team_;
  const top_k_scratch<Code> scratch_;
};

}  // namespace detail
STRATA_NAMESPACE_END
