// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_radix_sort.cuh>
#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/detail/radix_code.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/values.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/top_k/agent.cuh>
#include <strata/device/top_k/segmented_arguments.cuh>
#include <strata/device/top_k/segmented_fields.cuh>
#include <strata/device/top_k/segmented_tuning.hpp>
#include <strata/warp/specializations/top_k_threshold.cuh>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True for an iterator whose `from(n)` returns another iterator, to item `n` and the rest of its segment.
template <class Iterator>
inline constexpr bool has_items_of_segments = false;

/// An iterator to the items of a segment that begins at item `n`.
template <class Iterator>
STRATA_HD auto items_from(const Iterator& iterator, std::size_t n) {
  if constexpr (has_items_of_segments<Iterator>) {
    return iterator.from(n);
  } else {
    return detail::advanced(iterator, n);
  }
}

/// Replaces values in calls that write the index of each result in its segment.
struct top_k_indices {};

/// True if values are small, so that a thread loads several before it stores the first.
template <class ValueIterator>
constexpr bool are_values_small_items() {
  if constexpr (std::is_same_v<ValueIterator, NullType> || std::is_same_v<ValueIterator, top_k_indices>) {
    return false;
  } else {
    using Value = iterator_value_t<ValueIterator>;
    return std::is_trivially_default_constructible_v<Value> && std::is_trivially_copyable_v<Value> &&
           sizeof(Value) <= 8;
  }
}
template <class ValueIterator, bool AreSmall>
struct value_of_small {
  using type = iterator_value_t<ValueIterator>;
};
template <class ValueIterator>
struct value_of_small<ValueIterator, false> {
  using type = NullType;
};
template <class ValueIterator, bool AreSmall>
using value_or_nothing = typename value_of_small<ValueIterator, AreSmall>::type;

/// The problem of a call: reads the items of a segment, and writes its results.
template <bool IsMax, class KeyIterator, class Segments, class Results, class KeyOutputIterator, class ValueIterator,
          class ValueOutputIterator>
struct segmented_top_k_problem {
  /// The type of the items: keys, or with a decomposer the codes of keys.
  using Key = iterator_value_t<KeyIterator>;
  using Result = top_k_result_of<KeyIterator>;
  /// Iterator to the keys of a segment.
  using Iterator = decltype(detail::items_from(std::declval<const KeyIterator&>(), std::size_t{}));
  // The k first items of a descending order are the greatest.
  using Digits = radix_digits<Key, IsMax>;
  using Codes = top_k_codes<Key, IsMax>;
  using Code = typename Codes::Code;
  static constexpr bool is_max = IsMax;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  static constexpr Code last_code = static_cast<Code>(~Code{0});
  /// The number of neighbouring keys that one access may load.
  static constexpr int access_keys = is_bulk_array<Iterator> ? vector_bytes / static_cast<int>(sizeof(Key)) : 1;

  /// True if several values of a thread fit in registers.
  static constexpr bool are_values_small = detail::are_values_small_items<ValueIterator>();
  using loaded_value = detail::value_or_nothing<ValueIterator, are_values_small>;

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
    long long count;  // number of results
    std::size_t out;
  };
  STRATA_D row at(long long segment) const {
    const segment_bounds bounds = segments(segment);
    return {segment, static_cast<std::size_t>(bounds.begin), bounds.length, results.count(segment, bounds.length),
            static_cast<std::size_t>(results.begin(segment))};
  }

  STRATA_D Key key_at(const row& of, std::size_t index) const { return detail::item_at(keys, of.begin + index); }
  /// Returns the code of a key, by which keys are ordered. For `float`, an addition makes every key exact: it replaces
  /// -0.0 by +0.0, and each NaN by one NaN.
  STRATA_D static Code code_of(const Key& key) {
    if constexpr (has_exact_encoding) {
      return encode(key);
    } else {
      return Codes::ordered(Codes::encode(key));
    }
  }
  STRATA_D Code code_at(const row& of, long long index) const {
    return index < of.length ? code_of(key_at(of, static_cast<std::size_t>(index))) : last_code;
  }
  /// Loads the codes of the items `first`, `first` + Stride and so on. Items from `valid` on do not exist. With
  /// `MayBeFull`, there is a faster branch for tiles without missing items.
  template <int Stride, bool MayBeFull, int Items>
  STRATA_D void load(const row& of, int first, int valid, Code (&codes)[Items]) const {
    // `first` may lie behind the segment, so items_from() does not get it: it would look for the iterator of a later
    // segment, and behind the last segment there is none.
    const auto from = detail::advanced(detail::items_from(keys, of.begin), static_cast<std::size_t>(first));
    if (MayBeFull && valid >= Stride * Items) {
      load_codes<true, Stride>(from, Items * Stride, codes);
    } else {
      load_codes<false, Stride>(from, valid - first, codes);
    }
  }

  /// Returns the key of an item. It reads the key again if several keys have the code, as with zeros and NaNs.
  STRATA_D Key key_of(const row& of, std::size_t index, Code code) const {
    if constexpr (Codes::are_all_exact) {
      return Codes::decode(code);
    } else {
      Key zero;
      std::memset(static_cast<void*>(&zero), 0, sizeof(zero));
      return code == Codes::encode(zero) || !Codes::is_exact(code) ? key_at(of, index) : Codes::decode(code);
    }
  }

  /// Writes the key of a code, in calls without values. `index_of()` returns the index of the item.
  template <class IndexOf>
  STRATA_D void write_key(const row& of, std::size_t position, Code code, const IndexOf& index_of) const {
    // not for users: the agents check it
    static_assert(!has_values, "write_key is for selections without values");
    if constexpr (Result::has_fields) {
      write(of, position, index_of(), Codes::decode(code));
    } else if constexpr (Codes::are_all_exact) {
      write(of, position, 0, Codes::decode(code));
    } else {
      Key zero;
      std::memset(static_cast<void*>(&zero), 0, sizeof(zero));
      const bool is_of_several = code == Codes::encode(zero) || !Codes::is_exact(code);
      write(of, position, 0, is_of_several ? key_at(of, index_of()) : Codes::decode(code));
    }
  }

  STRATA_D void write(const row& of, std::size_t position, std::size_t index, const Key& key) const {
    const std::size_t to = of.out + position;
    if constexpr (Result::has_fields) {
      // Several keys may have this code.
      static_cast<void>(key);
      using Stored = output_value_t<KeyOutputIterator, typename Result::Key>;
      *detail::advanced(keys_out, to) = static_cast<Stored>(detail::item_at(keys.keys(), of.begin + index));
    } else {
      *detail::advanced(keys_out, to) = static_cast<output_value_t<KeyOutputIterator, Key>>(key);
    }
    if constexpr (std::is_same_v<ValueIterator, top_k_indices>) {
      detail::store_count(detail::advanced(values_out, to), static_cast<long long>(index));
    } else if constexpr (has_values) {
      using Stored = output_value_t<ValueOutputIterator, iterator_value_t<ValueIterator>>;
      *detail::advanced(values_out, to) = static_cast<Stored>(detail::item_at(values, of.begin + index));
    }
  }

  /// Writes the items of `indices` as the results of `positions`, if these are below the number of results. It loads
  /// all keys and values before it writes the first, because the compiler may not move a load past a write.
  template <int Items>
  STRATA_D void write_all(const row& of, const unsigned (&positions)[Items],
                          const unsigned long long (&indices)[Items]) const {
    if constexpr (!Result::has_fields &&
                  (!has_values || std::is_same_v<ValueIterator, top_k_indices> || are_values_small)) {
      Key loaded[Items];
      loaded_value values_of_items[Items];
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) loaded[i] = key_at(of, static_cast<std::size_t>(indices[i]));
      if constexpr (are_values_small) {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) {
          values_of_items[i] = detail::item_at(values, of.begin + static_cast<std::size_t>(indices[i]));
        }
      }
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        if (positions[i] >= of.count) continue;
        const std::size_t to = of.out + positions[i];
        *detail::advanced(keys_out, to) = static_cast<output_value_t<KeyOutputIterator, Key>>(loaded[i]);
        if constexpr (are_values_small) {
          using Stored = output_value_t<ValueOutputIterator, iterator_value_t<ValueIterator>>;
          *detail::advanced(values_out, to) = static_cast<Stored>(values_of_items[i]);
        } else if constexpr (has_values) {
          detail::store_count(detail::advanced(values_out, to), static_cast<long long>(indices[i]));
        }
      }
    } else {
      for (int i = 0; i < Items; ++i) {
        const auto index = static_cast<std::size_t>(indices[i]);
        if (positions[i] < of.count) write(of, positions[i], index, key_at(of, index));
      }
    }
  }

  /// Loads all keys before it computes the first code. The codes of -0.0 and of NaNs, which are not exact, take more
  /// instructions. They are handled apart, because few tiles have any.
  template <bool IsFull, int Stride, int Items>
  STRATA_D static void load_codes(const Iterator& from, int valid, Code (&codes)[Items]) {
    Key loaded[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      if constexpr (!IsFull) std::memset(static_cast<void*>(&loaded[i]), 0, sizeof(Key));
      if (IsFull || i * Stride < valid) loaded[i] = detail::item_at(from, static_cast<std::size_t>(i * Stride));
    }
    encode_all(loaded, codes);
    if constexpr (!IsFull) {
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) codes[i] = i * Stride < valid ? codes[i] : last_code;
    }
  }

  /// Loads the codes of `Items` items in vectors. Vector v of lane l begins at item (v * Lanes + l) * Width of the row.
  template <int Lanes, int Width, int Items>
  STRATA_D void load_vectors(const row& of, int lane, Code (&codes)[Items]) const {
    const auto from = detail::items_from(keys, of.begin);
    const int length = static_cast<int>(of.length);
    if (length >= Lanes * Items && is_aligned_to<Width>(from)) {
      load_vectors<true, Lanes, Width>(from, lane, length, codes);
    } else {
      load_vectors<false, Lanes, Width>(from, lane, length, codes);
    }
  }

  /// Loads the codes of the items `index_of(i)`. Items behind the end of the row do not exist.
  template <int Items, class IndexOf>
  STRATA_D void load_at(const row& of, const IndexOf& index_of, Code (&codes)[Items]) const {
    const int length = static_cast<int>(of.length);
    Key loaded[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      const int index = index_of(i);
      std::memset(static_cast<void*>(&loaded[i]), 0, sizeof(Key));
      if (index < length) loaded[i] = key_at(of, static_cast<std::size_t>(index));
    }
    encode_all(loaded, codes);
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) codes[i] = index_of(i) < length ? codes[i] : last_code;
  }

  /// True if groups of neighbours can be loaded in vectors.
  template <int Group>
  STRATA_D bool has_vectors(const row& of) const {
    return group_access<Group> > 1 && is_aligned_to<group_access<Group>>(detail::items_from(keys, of.begin));
  }

  /// Finds the least code of each of the groups `first`, `first` + 32 and so on. A group has `Group` neighbouring
  /// items.
  template <int Group, int Groups>
  STRATA_D void load_least(const row& of, int first, Code (&least)[Groups]) const {
    const auto from = detail::items_from(keys, of.begin);
    const int length = static_cast<int>(of.length);
    if (!is_aligned_to<group_access<Group>>(from)) {
      load_least<false, 1, Group>(from, first, length, least);
    } else if ((first / warp_threads * warp_threads + Groups * warp_threads) * Group <= length) {
      load_least<true, group_access<Group>, Group>(from, first, length, least);
    } else {
      load_least<false, group_access<Group>, Group>(from, first, length, least);
    }
  }

 private:
  template <int Group>
  static constexpr int group_access = detail::least(access_keys, Group);

  template <bool IsWhole, int Lanes, int Width, int Items>
  STRATA_D static void load_vectors(const Iterator& from, int lane, int length, Code (&codes)[Items]) {
    Key loaded[Items];
    STRATA_UNROLL
    for (int v = 0; v < Items / Width; ++v) {
      Key some[Width];
      load_neighbours<IsWhole>(from, (v * Lanes + lane) * Width, length, some);
      STRATA_UNROLL
      for (int j = 0; j < Width; ++j) loaded[v * Width + j] = some[j];
    }
    encode_all(loaded, codes);
    if constexpr (!IsWhole) {
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        if ((i / Width * Lanes + lane) * Width + i % Width >= length) codes[i] = last_code;
      }
    }
  }

  template <bool AreWhole, int Width, int Group, int Groups>
  STRATA_D static void load_least(const Iterator& from, int first, int length, Code (&least)[Groups]) {
    // Up to 32 registers of keys are loaded before the first code is computed.
    constexpr int batch = detail::most(1, detail::least(Groups, 128 / (Group * static_cast<int>(sizeof(Key)))));
    STRATA_UNROLL
    for (int begin = 0; begin < Groups; begin += batch) {
      Key loaded[batch][Group];
      STRATA_UNROLL
      for (int i = 0; i < batch; ++i) {
        const int item = (first + (begin + i) * warp_threads) * Group;
        if constexpr (!AreWhole) std::memset(static_cast<void*>(&loaded[i]), 0, sizeof(loaded[i]));
        if (!AreWhole && (begin + i >= Groups || item + Group > length)) continue;
        STRATA_UNROLL
        for (int j = 0; j < Group; j += Width) {
          Key some[Width];
          load_neighbours<true>(from, item + j, length, some);
          STRATA_UNROLL
          for (int l = 0; l < Width; ++l) loaded[i][j + l] = some[l];
        }
      }
      STRATA_UNROLL
      for (int i = 0; i < batch; ++i) {
        if (begin + i >= Groups) break;
        Code codes[Group];
        encode_all(loaded[i], codes);
        Code code = codes[0];
        STRATA_UNROLL
        for (int j = 1; j < Group; ++j) code = detail::least(code, codes[j]);
        const int item = (first + (begin + i) * warp_threads) * Group;
        least[begin + i] = AreWhole || item + Group <= length ? code : last_code;
      }
    }
    // One lane has the group that ends early.
    const int last_group = length / Group;
    if (AreWhole || length % Group == 0 || (last_group - first) % warp_threads != 0) return;
    Code code = last_code;
    for (int item = last_group * Group; item < length; ++item) {
      code = detail::least(code, code_of(detail::item_at(from, static_cast<std::size_t>(item))));
    }
    STRATA_UNROLL
    for (int i = 0; i < Groups; ++i) {
      if (first + i * warp_threads == last_group) least[i] = code;
    }
  }

  /// True if one access can load `Width` neighbours from here on, or if the iterator is such that they are loaded one
  /// by one anyway.
  template <int Width>
  STRATA_D static bool is_aligned_to(const Iterator& from) {
    if constexpr (is_bulk_array<Iterator> && Width > 1) {
      return reinterpret_cast<std::uintptr_t>(from) % (Width * sizeof(Key)) == 0;
    } else {
      static_cast<void>(from);
      return true;
    }
  }
  /// Loads the items from `begin` on of a row of `length` items. Missing items get an unspecified key. With `IsWhole`,
  /// no item is missing.
  template <bool IsWhole, int Width>
  STRATA_D static void load_neighbours(const Iterator& from, int begin, int length, Key (&loaded)[Width]) {
    if constexpr (IsWhole && Width > 1 && is_bulk_array<Iterator>) {
      item_vector<Key, Width> vector;
      vector.load(from + begin);
      vector.get(loaded);
    } else {
      STRATA_UNROLL
      for (int j = 0; j < Width; ++j) {
        if constexpr (!IsWhole) std::memset(static_cast<void*>(&loaded[j]), 0, sizeof(Key));
        if (IsWhole || begin + j < length) loaded[j] = detail::item_at(from, static_cast<std::size_t>(begin + j));
      }
    }
  }

 public:
  static constexpr bool has_exact_encoding = std::is_same_v<Key, float>;
  STRATA_D static Code encode(const Key& key) {
    if constexpr (has_exact_encoding) {
      // The code of an exact key, with two instructions for the bits instead of three.
      const float exact = platform::canonical_float(key);
      Code bits;
      std::memcpy(&bits, &exact, sizeof(bits));
      constexpr Code sign = Code{1} << 31;
      const Code signs = (bits & sign) != 0 ? static_cast<Code>(~Code{0}) : Code{0};
      return IsMax ? bits ^ (~signs & ~sign) : bits ^ (signs | sign);
    } else {
      return Codes::encode(key);
    }
  }
  /// Computes codes. Codes that are not exact take more instructions, so they are handled apart: few tiles have any.
  template <int Items>
  STRATA_D static void encode_all(const Key (&loaded)[Items], Code (&codes)[Items]) {
    bool are_exact = true;
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      codes[i] = encode(loaded[i]);
      if constexpr (!has_exact_encoding) are_exact = are_exact & Codes::is_exact(codes[i]);
    }
    if constexpr (!Codes::are_all_exact && !has_exact_encoding) {
      if (!are_exact) {
        STRATA_UNROLL
        for (int i = 0; i < Items; ++i) codes[i] = Codes::ordered(codes[i]);
      }
    }
  }

  /// Writes the padding behind the results of a segment. `threads` threads call this.
  STRATA_D void pad(const row& of, int thread, int threads) const {
    if constexpr (Results::has_padding) {
      for (long long i = of.count + thread; i < results.stride(); i += threads) {
        const std::size_t to = of.out + static_cast<std::size_t>(i);
        using Stored = output_value_t<KeyOutputIterator, typename Result::Key>;
        *detail::advanced(keys_out, to) = static_cast<Stored>(results.key());
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

/// Returns how many of the `count` staged results come before result `local` in a stable sort by code. The lanes of a
/// warp pass neighbouring values of `local`, and the first lane passes a multiple of 32.
template <class Code>
STRATA_D int top_k_rank(const Code* codes, int count, int local) {
  const Code code = codes[detail::least(local, count - 1)];
  const int own = local / warp_threads * warp_threads;  // Other results lie before or behind all results of the warp.
  int rank = 0, other = 0;
  for (; other < own; ++other) rank += codes[other] <= code ? 1 : 0;
  for (const int end = detail::least(own + warp_threads, count); other < end; ++other) {
    rank += codes[other] < code || (codes[other] == code && other < local) ? 1 : 0;
  }
  for (; other < count; ++other) rank += codes[other] < code ? 1 : 0;
  return rank;
}

/// Selects from a segment by groups of neighbouring items.
///
///     groups    each thread finds the least code of some groups, and keeps no other code; the k groups with the least
///               codes are chosen, among equal codes the groups that come first
///     items     the items of the chosen groups are read again, and k of them are the results
///
/// No item of another group is a result, because each of the k chosen groups has an item before it. So a key takes a
/// load, its code and a minimum, whatever the keys are.
template <class Problem, class Team, int Groups, int Group, int Items, bool IsSorted>
class top_k_by_groups {
  using Code = typename Problem::Code;
  using Row = typename Problem::row;
  static constexpr bool is_warp = Team::threads == warp_threads;

 public:
  static constexpr int max_results = Team::threads * Items / Group;
  static constexpr int tile_items = Team::threads * Groups * Group;

 private:
  struct in_order {
    unsigned indices[Problem::has_values ? max_results : 1];
  };

 public:
  struct storage {
    unsigned short groups[max_results];
    std::conditional_t<IsSorted, top_k_staged<Code, max_results>, in_order> results;
  };

  /// True if at most half of the groups are chosen, and items and results fit.
  STRATA_HD static constexpr bool can_have(long long length, long long count) {
    return length <= tile_items && count <= max_results && 2 * count * Group <= length;
  }

  /// Selects from a segment with at least one result. All threads of the team call this, and synchronise afterwards.
  STRATA_D static void select(storage& shared, Team& team, const Problem& problem, const Row& row, int thread) {
    const auto count = static_cast<unsigned>(row.count);
    const int first_group = first_of<Groups>(thread);
    Code first_codes[Groups], first_of_all;
    problem.template load_least<Group>(row, first_group, first_codes);
    const auto chosen = detail::find_top_k_threshold(team, first_codes, count, first_of_all);
    detail::for_each_top_k(team, first_codes, chosen, [&](unsigned position, int i) {
      shared.groups[position] = static_cast<unsigned short>(first_group + i * warp_threads);
    });
    synchronise();
    const int first_item = first_of<Items>(thread);
    const auto index_of = [&](int i) {
      const int item = first_item + i * warp_threads;
      const int group = item / Group;
      return group < static_cast<int>(count) ? shared.groups[group] * Group + item % Group
                                             : static_cast<int>(row.length);
    };
    Code codes[Items];
    problem.template load_at<Items>(row, index_of, codes);
    const auto threshold = detail::search_top_k_threshold(team, codes, count, first_of_all, chosen.code);
    detail::for_each_top_k(team, codes, threshold, [&](unsigned position, int i) {
      const auto index = static_cast<unsigned>(index_of(i));
      if constexpr (IsSorted) {
        shared.results.codes[position] = codes[i];
        shared.results.indices[position] = index;
      } else if constexpr (Problem::has_values) {
        shared.results.indices[position] = index;
      } else {
        problem.write(row, position, index, problem.key_of(row, index, codes[i]));
      }
    });
    if constexpr (IsSorted || Problem::has_values) {
      synchronise();
      for (int local = thread; local / warp_threads * warp_threads < static_cast<int>(count); local += Team::threads) {
        const int result = detail::least(local, static_cast<int>(count) - 1);
        const unsigned long long index[] = {shared.results.indices[result]};
        unsigned position[] = {static_cast<unsigned>(local)};
        if constexpr (IsSorted) {
          const int rank = detail::top_k_rank(shared.results.codes, static_cast<int>(count), local);
          if (local < static_cast<int>(count)) position[0] = static_cast<unsigned>(rank);
        }
        problem.write_all(row, position, index);
      }
    }
  }

 private:
  // The groups of a warp lie side by side.
  template <int Count>
  STRATA_D static int first_of(int thread) {
    return thread / warp_threads * (warp_threads * Count) + thread % warp_threads;
  }
  STRATA_D static void synchronise() {
    if constexpr (is_warp) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
};

/// Items of a group.
inline constexpr int top_k_group = 8;

/// Selects from segments of up to `Lanes` x `Items` items. A logical warp handles a segment. With `IsSorted`, a segment
/// has up to `max_top_k_sorted_by_warp` results.
template <class Problem, int BlockThreads, int Lanes, int Items, bool IsSorted>
class AgentSegmentedTopKWarps {
  using Code = typename Problem::Code;
  using Row = typename Problem::row;
  using Team = top_k_warp<Lanes, true>;
  static constexpr int rows = BlockThreads / Lanes;
  /// Shared memory through which the results of a segment get to the lanes that write them.
  struct in_order {
    unsigned short indices[static_cast<std::size_t>(Lanes * Items)];
  };
  using staged =
      std::conditional_t<IsSorted, top_k_staged<Code, detail::least(max_top_k_sorted_by_warp, Lanes* Items)>, in_order>;
  static constexpr int group = detail::least(top_k_group, Items);
  using by_groups = top_k_by_groups<Problem, Team, Items / group, group, top_k_group, IsSorted>;
  static constexpr bool has_groups = Lanes == warp_threads;
  struct row_storage {
    union {
      staged results;
      std::conditional_t<has_groups, typename by_groups::storage, unsigned char> groups;
    };
    // With this padding, the rows of a warp begin in different banks of shared memory.
    unsigned padding;
  };

 public:
  static constexpr long long tile_items = Lanes * Items;
  struct TempStorage {
    row_storage of_rows[rows];
  };

  /// True if a logical warp can select from the segment.
  STRATA_HD static constexpr bool can_have(long long length, long long count) {
    return length <= tile_items && (!IsSorted || count <= max_top_k_sorted_by_warp);
  }

  STRATA_D AgentSegmentedTopKWarps(TempStorage& storage, const Problem& problem)
      : storage_(storage.of_rows[static_cast<int>(threadIdx.x) / Lanes]),
        results_(storage_.results),
        problem_(problem) {}

  STRATA_D void run() {
    constexpr int rows_of_warp = warp_threads / Lanes;
    const long long segments = problem_.segments.num_segments();
    const long long step = static_cast<long long>(gridDim.x) * rows;
    const int local = static_cast<int>(threadIdx.x) / Lanes, first_of_warp = local / rows_of_warp * rows_of_warp;
    for (long long first = static_cast<long long>(blockIdx.x) * rows; first + first_of_warp < segments; first += step) {
      // A logical warp that has no segment left gets an empty one.
      Row row{};
      bool is_local = first + local < segments;
      if (is_local) {
        row = problem_.at(first + local);
        is_local = can_have(row.length, row.count);
      }
      if (!is_local) row.length = row.count = 0;
      if (team_.any(row.count > 0)) {
        select(row);
        __syncwarp();
      }
      if (is_local) problem_.pad(row, team_.lanes().lane(), Lanes);
    }
  }

 private:
  STRATA_D void select(const Row& row) {
    const int lane = team_.lanes().lane();
    const auto count = static_cast<unsigned>(row.count);
    if constexpr (has_groups) {
      if (by_groups::can_have(row.length, row.count) && problem_.template has_vectors<group>(row)) {
        by_groups::select(storage_.groups, team_, problem_, row, lane);
        return;
      }
    }
    if (!team_.any(count > top_k_least<Code>::size)) {
      select_few(row);
      return;
    }
    select_many(row);
    __syncwarp();
    if constexpr (IsSorted) {
      write_sorted(row, lane);
    } else {
      write_in_order(row, lane);
    }
  }

  STRATA_D void select_many(const Row& row) {
    const int lane = team_.lanes().lane();
    Code codes[Items];
    problem_.template load<Lanes, true>(row, lane, static_cast<int>(row.length), codes);
    const auto threshold = detail::find_top_k_threshold(team_, codes, static_cast<unsigned>(row.count));
    detail::for_each_top_k(team_, codes, threshold, [&](unsigned position, int i) {
      const int index = i * Lanes + lane;
      if constexpr (IsSorted) {
        results_.codes[position] = codes[i];
        results_.indices[position] = static_cast<unsigned>(index);
      } else {
        results_.indices[position] = static_cast<unsigned short>(index);
      }
    });
  }

  // ------------------------------------------------------------------ up to 8 results

  static constexpr int max_vectors = 8;
  static constexpr int width =
      detail::most(detail::least(Problem::access_keys, Items), (Items + max_vectors - 1) / max_vectors);
  static constexpr int vectors = Items / width;
  // One word has a bit for each item of a lane, and another word has the counts of its vectors.
  static_assert(Items <= 32 && vectors * width == Items && is_power_of_two(static_cast<unsigned>(width)),
                "DeviceSegmentedTopK: items_per_lane of narrow, middle and wide must be a power of two, at most 32");

  STRATA_D void select_few(const Row& row) {
    const int lane = team_.lanes().lane();
    const auto count = static_cast<unsigned>(row.count);
    Code codes[Items];
    problem_.template load_vectors<Lanes, width>(row, lane, codes);
    unsigned before;
    top_k_least<Code> first_codes;
    const Code code = detail::find_code_of_few(team_, codes, count, before, first_codes);
    unsigned chosen = 0;
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) chosen |= codes[i] <= code ? 1u << i : 0u;
    if (count == 0) chosen = 0;
    if (team_.any(team_.sum(static_cast<unsigned>(__popc(chosen))) != count)) {
      unsigned equal = 0;
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) equal |= codes[i] == code ? 1u << i : 0u;
      equal &= chosen;
      chosen = (chosen & ~equal) | first_of(equal, count - before);
    }
    // Each vector has 4 bits in a word. They count the results of earlier lanes in this vector, and of all lanes in
    // earlier vectors.
    unsigned all = 0;
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) all |= static_cast<unsigned>(__popc(vector_of(chosen, v))) << 4 * v;
    unsigned positions = sum_before(all);
    positions += all * 0x11111110u;
    for (unsigned left = chosen; left != 0; left &= left - 1) {
      const int i = __ffs(static_cast<int>(left)) - 1;
      const int vector = i / width, shift = 4 * vector;
      const unsigned position = positions >> shift & 15;
      positions += 1u << shift;
      const int index = (vector * Lanes + lane) * width + i % width;
      results_.indices[position] = static_cast<staged_index>(index);
    }
    __syncwarp();
    if constexpr (IsSorted) {
      write_few_sorted(row, lane, first_codes);
    } else {
      write_in_order(row, lane);
    }
  }
  using staged_index = std::conditional_t<IsSorted, unsigned, unsigned short>;

  STRATA_D static unsigned vector_of(unsigned items, int vector) {
    return width == 32 ? items : items >> vector * width & ((1u << width % 32) - 1);
  }
  /// Replaces a lane's count by the sum of all lanes, and returns the sum of the lanes before this one.
  STRATA_D unsigned sum_before(unsigned& count) const {
    unsigned before = 0;
    STRATA_UNROLL
    for (int distance = 1; distance < Lanes; distance *= 2) {
      const unsigned other = platform::shuffle_xor(full_warp_mask, count, distance);
      if ((team_.lanes().lane() & distance) != 0) before += other;
      count += other;
    }
    return before;
  }
  /// Returns the bits of this lane's items that are among the first `wanted` items of all lanes.
  STRATA_D unsigned first_of(unsigned items, unsigned wanted) const {
    unsigned seen = 0, first = 0;
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      unsigned all = static_cast<unsigned>(__popc(vector_of(items, v)));
      unsigned number = seen + sum_before(all);
      seen += all;
      STRATA_UNROLL
      for (int i = v * width; i < (v + 1) * width; ++i) {
        if ((items >> i & 1) == 0) continue;
        if (number < wanted) first |= 1u << i;
        ++number;
      }
    }
    return first;
  }

  // ------------------------------------------------------------------ output

  // Keys are read again, because several keys may have the same code.

  STRATA_D void write_in_order(const Row& row, int lane) {
    constexpr int batch = 4;
    const int count = static_cast<int>(row.count);
    for (int first = lane; first < count; first += batch * Lanes) {
      unsigned positions[batch];
      unsigned long long indices[batch];
      STRATA_UNROLL
      for (int i = 0; i < batch; ++i) {
        const int position = first + i * Lanes;
        positions[i] = static_cast<unsigned>(position);
        indices[i] = results_.indices[detail::least(position, count - 1)];
      }
      problem_.write_all(row, positions, indices);
    }
  }

  // The position of a result is the number of results that come before it.

  STRATA_D void write_sorted(const Row& row, int lane) {
    const int count = static_cast<int>(row.count);
    for (int local = lane; local < count; local += Lanes) {
      const Code code = results_.codes[local];
      int rank = 0;
      for (int other = 0; other < count; ++other) {
        const Code that = results_.codes[other];
        rank += that < code || (that == code && other < local) ? 1 : 0;
      }
      const std::size_t index = results_.indices[local];
      problem_.write(row, static_cast<std::size_t>(rank), index, problem_.key_at(row, index));
    }
  }

  /// Writes up to 8 sorted results. `sorted` holds the codes of all results in order. Results with equal codes are in
  /// the order of their indices.
  STRATA_D void write_few_sorted(const Row& row, int lane, const top_k_least<Code>& sorted) {
    constexpr int size = top_k_least<Code>::size;
    constexpr int batch = detail::most(size / Lanes, 1);
    const int count = static_cast<int>(row.count);
    if (count == 0 || lane >= size) return;
    unsigned positions[batch];
    unsigned long long indices[batch];
    Code codes[batch];
    STRATA_UNROLL
    for (int i = 0; i < batch; ++i) {
      positions[i] = static_cast<unsigned>(lane + i * Lanes);
      indices[i] = results_.indices[detail::least(lane + i * Lanes, count - 1)];
    }
    STRATA_UNROLL
    for (int i = 0; i < batch; ++i) {
      codes[i] = Problem::code_of(problem_.key_at(row, static_cast<std::size_t>(indices[i])));
    }
    bool has_equal = false;
    STRATA_UNROLL
    for (int i = 1; i < size; ++i) has_equal = has_equal || (i < count && sorted.codes[i] == sorted.codes[i - 1]);
    STRATA_UNROLL
    for (int i = 0; i < batch; ++i) {
      const auto local = static_cast<int>(positions[i]);
      if (local >= count) continue;
      unsigned rank = 0;
      STRATA_UNROLL
      for (int other = 0; other < size; ++other) rank += sorted.codes[other] < codes[i] ? 1u : 0u;
      if (has_equal) {
        for (int other = 0; other < local; ++other) {
          const auto index = static_cast<std::size_t>(results_.indices[other]);
          rank += Problem::code_of(problem_.key_at(row, index)) == codes[i] ? 1u : 0u;
        }
      }
      positions[i] = rank;
    }
    problem_.write_all(row, positions, indices);
  }

  row_storage& storage_;
  staged& results_;
  const Problem& problem_;
  Team team_;
};

/// Selects by groups from segments of one size. A block handles a segment.
template <class Problem, int Threads, int Items, bool IsSorted>
class AgentSegmentedTopKGroups {
  using Code = typename Problem::Code;
  using Row = typename Problem::row;
  using Team = top_k_block<Threads, Code>;
  static constexpr int group = detail::least(top_k_group, Items);
  using by_groups = top_k_by_groups<Problem, Team, Items / group, group, top_k_group, IsSorted>;

 public:
  struct TempStorage {
    typename Team::storage team;
    typename by_groups::storage groups;
  };

  STRATA_HD static constexpr bool can_have(long long length, long long count) {
    return by_groups::can_have(length, count);
  }

  STRATA_D AgentSegmentedTopKGroups(TempStorage& storage, const Problem& problem)
      : storage_(storage), problem_(problem), team_(storage.team, static_cast<int>(threadIdx.x)) {}

  STRATA_D void run() {
    const int thread = static_cast<int>(threadIdx.x);
    for (long long segment = blockIdx.x; segment < problem_.segments.num_segments(); segment += gridDim.x) {
      const Row row = problem_.at(segment);
      if (row.count > 0) {
        by_groups::select(storage_.groups, team_, problem_, row, thread);
        __syncthreads();
      }
      problem_.pad(row, thread, Threads);
    }
  }

 private:
  TempStorage& storage_;
  const Problem& problem_;
  Team team_;
};

/// Device memory for long segments: the candidates of each part of a segment.
struct top_k_scratch {
  using Gather = last_block_gather<unsigned>;

  unsigned long long* indices;  // indices of candidates; a part has room for `top_k_candidates_of_part` of them
  Gather::arguments gather;     // exchanges the number of candidates of each part

  /// Returns the memory of one segment, if each segment has `parts` parts.
  STRATA_D top_k_scratch of(unsigned segment, unsigned parts) const {
    const std::size_t part = std::size_t{segment} * parts;
    return {indices + part * top_k_candidates_of_part,
            {gather.words + part * std::size_t{Gather::words_per_value}, gather.epoch}};
  }
};

/// Sorts the results of a block by their codes. `staged` holds codes, and numbers that `index_of` maps to indices.
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

  /// Sorts and writes the results. All threads call this, after all have staged their results.
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

/// A sample of a segment: `rounds()` times the items that the threads of a block hold. The item of rank `rank` in it is
/// the last candidate. Ranks begin at 1.
struct segment_sample {
  unsigned rank;  // 0 if there would be too many candidates
  int rounds_log;

  STRATA_HD int rounds() const { return 1 << rounds_log; }
};
inline constexpr int top_k_sample_slack = 16;  // The search may end at a rank that is up to 1/16 larger.
inline constexpr int max_top_k_sample_rounds = 64;

/// Returns the smallest sample with which a segment of random keys has fewer candidates than `count`, or more than
/// `capacity`, only once in a million. `items` is the number of items of a round.
STRATA_HD segment_sample find_top_k_sample(long long length, long long count, int items, unsigned capacity,
                                           int max_rounds = max_top_k_sample_rounds) {
  for (int log = 0; 1 << log <= max_rounds && length >= static_cast<long long>(items) << log; ++log) {
    const float share = static_cast<float>(items) * static_cast<float>(1 << log) / static_cast<float>(length);
    // Numbers of items in the sample have Poisson distributions. The margin is five standard deviations, and some items
    // more, because the distributions are skewed.
    const float results = static_cast<float>(count) * share;
    const float rank = results + 5 * sqrtf(results) + 5;
    const float last = rank + rank / top_k_sample_slack;
    float candidates = static_cast<float>(capacity) * share;
    // A thread takes one item for each of its places in each round, and keeps the least code of each place. If several
    // items of a place are candidates, only one counts.
    if (log > 0) candidates -= candidates * candidates / static_cast<float>(2 * items);
    if (last + 5 * sqrtf(last) + 13 <= candidates) return {static_cast<unsigned>(rank), log};
  }
  return {0, 0};
}

inline constexpr int top_k_neighbours = 4;

/// Returns the index of the first of the neighbouring items that a sample takes at a position. It is a random place in
/// part number `position` of the segment. Parts have `part` items, at least `top_k_neighbours`.
STRATA_HD long long top_k_sample_index(long long part, long long position) {
  unsigned hash = static_cast<unsigned>(position + 1) * 0x9e3779b1u;
  hash = (hash ^ hash >> 15) * 0x85ebca77u;
  const auto choices = static_cast<unsigned long long>(part - top_k_neighbours + 1);
  return position * part + static_cast<long long>(hash * choices >> 32);
}

/// Selects from one segment that is longer than the registers of a block hold.
///
///     sample    neighbouring keys at many random positions, in one round or several; the item of a certain rank in the
///               sample is the last candidate
///     collect   each part of the segment is read once, by a block of its own, which keeps its candidates in order
///     select    the block that arrives last selects k of all candidates, in registers
///
/// If more keys than expected equal the last candidate, candidates are compared by code and index. So a segment of
/// equal keys has no more candidates than another. If there are fewer candidates than results, or more than the
/// capacity, the last block selects from the whole segment, by AgentTopK. Whether this happens depends only on the
/// keys.
///
/// `gridDim.x` is 1, so that each AgentTopK works with one block.
template <class Policy, class Problem, int Threads, int Items, bool IsSorted>
class AgentTopKLongSegment {
  using Key = typename Problem::Key;
  using Code = typename Problem::Code;
  using Row = typename Problem::row;
  using Team = top_k_block<Threads, Code>;
  using BlockSort = top_k_block_sort<Problem, Threads>;
  using Whole = AgentTopK<Policy, typename Problem::Iterator, typename Problem::Digits>;
  using Gather = top_k_scratch::Gather;
  static constexpr int tile_items = Threads * Items;
  static constexpr unsigned capacity = detail::least(static_cast<unsigned>(tile_items), top_k_candidates_of_part);
  static constexpr int few_items = detail::most(Items / 4, 1);
  static constexpr int few_tile_items = Threads * few_items;
  struct nothing {};

  // A thread loads its items of a tile in vectors of neighbours.
  static constexpr int max_vectors = 4;
  static constexpr int width =
      detail::most(detail::least(Problem::access_keys, Items), (Items + max_vectors - 1) / max_vectors);
  static constexpr int vectors = Items / width;
  // A word has a bit for each item of a lane. A vector's bits are stored in whole bytes, and a vector is loaded by one
  // or more whole accesses.
  static_assert(Items <= 32 && vectors * width == Items && is_power_of_two(static_cast<unsigned>(width)),
                "DeviceSegmentedTopK: block.items_per_thread must be a power of two, at most 32");
  static constexpr int items_of_byte = detail::least(width, 8);
  static constexpr int bytes_of_vector = width / items_of_byte;
  static constexpr int mark_bytes =  // bytes of the marks of a tile
      Threads * vectors * bytes_of_vector;
  /// Returns how many tiles are marked before their candidates are kept. `bytes` is the room for marks.
  static constexpr int tiles_in(int bytes) { return bytes >= 2 * 4 * mark_bytes ? 2 * tiles_in(bytes / 2) : 4; }
  static constexpr int marked_tiles = tiles_in(32768);

 public:
  struct TempStorage {
    typename Team::storage team;
    typename Gather::TempStorage gather;
    unsigned first_of_part[max_top_k_parts + 1];
    unsigned last_sample;
    union {
      unsigned marks[marked_tiles * mark_bytes / 4];
      unsigned short order[IsSorted || !Problem::has_values ? 1 : capacity];
      std::conditional_t<IsSorted, typename BlockSort::storage, nothing> sort;
      Uninitialized<typename Whole::TempStorage> whole;
    };
  };

  static constexpr long long least_items = tile_items + 1;

  STRATA_D AgentTopKLongSegment(TempStorage& storage, const Problem& problem, const top_k_scratch& scratch)
      : storage_(storage), problem_(problem), scratch_(scratch), team_(storage.team, static_cast<int>(threadIdx.x)) {}

  /// True if a sample bounds the candidates of `count` results.
  STRATA_HD static bool has_sample(long long length, long long count) { return sample_of(length, count).rank > 0; }

  /// Selects from a segment. `parts` blocks call this for the same segment, with `part` from 0 to `parts` - 1.
  STRATA_D void run(const Row& row, unsigned part, unsigned parts) {
    if (has_sample(row.length, row.count)) {
      const segment_sample quarter = detail::find_top_k_sample(row.length, row.count, few_tile_items, capacity, 1);
      if (suffices(quarter, row.length)) {
        find_last_candidate<few_items, false>(row, quarter);
      } else {
        // One round has code of its own: the loops over rounds take registers.
        const segment_sample sample = sample_of(row.length, row.count);
        if (sample.rounds_log == 0) {
          find_last_candidate<Items, false>(row, sample);
        } else {
          find_last_candidate<Items, true>(row, sample);
        }
      }
      const unsigned found = collect(row, part, parts);
      if (!is_last_part(part, parts, found)) return;
      const unsigned candidates = storage_.first_of_part[parts];
      if (candidates >= row.count && candidates <= capacity) {
        if (candidates <= few_tile_items * 2) {
          select<few_items * 2>(row, parts, candidates);
        } else {
          select<Items>(row, parts, candidates);
        }
        return;
      }
    } else if (part > 0) {
      return;
    }
    select_from_all(storage_, problem_, scratch_.indices, Row(row));
  }

 private:
  template <int Count>
  STRATA_D static int first_item() {
    return static_cast<int>(threadIdx.x) / warp_threads * (warp_threads * Count) +
           static_cast<int>(threadIdx.x) % warp_threads;
  }

  STRATA_HD static segment_sample sample_of(long long length, long long count) {
    return detail::find_top_k_sample(length, count, tile_items, capacity);
  }

  /// True if a quarter of the sample suffices: many of its items are results, or few items of the segment are expected
  /// to be candidates.
  STRATA_D static bool suffices(const segment_sample& quarter, long long length) {
    constexpr long long items = few_tile_items;
    return quarter.rank > 100 || (quarter.rank > 0 && quarter.rank * length <= items * items);
  }

  /// Returns the index of an item that a thread takes for the sample. The indices of a round ascend.
  template <int Count>
  STRATA_D static long long index_of_sample(const Row& row, const segment_sample& sample, int round, unsigned number) {
    constexpr int positions = Threads * Count / top_k_neighbours;
    const long long position = static_cast<long long>(round) * positions + number / top_k_neighbours;
    // A division by a constant and a shift take fewer instructions than one division.
    return detail::top_k_sample_index((row.length / positions) >> sample.rounds_log, position) +
           static_cast<long long>(number % top_k_neighbours);
  }
  template <int Count>
  STRATA_D void load_sample(const Row& row, const segment_sample& sample, int round, Code (&codes)[Count]) const {
    Key keys[Count];
    STRATA_UNROLL
    for (int i = 0; i < Count; ++i) {
      const auto number = static_cast<unsigned>(first_item<Count>() + i * warp_threads);
      keys[i] = problem_.key_at(row, static_cast<std::size_t>(index_of_sample<Count>(row, sample, round, number)));
    }
    Problem::encode_all(keys, codes);
  }

  /// Takes the sample. For each of its `Count` places, a thread keeps the least code of all rounds.
  template <int Count, bool HasRounds>
  STRATA_D void find_last_candidate(const Row& row, segment_sample sample) {
    if constexpr (!HasRounds) sample.rounds_log = 0;
    Code codes[Count];
    load_sample(row, sample, 0, codes);
    for (int round = 1; round < sample.rounds(); ++round) {
      Code others[Count];
      load_sample(row, sample, round, others);
      STRATA_UNROLL
      for (int i = 0; i < Count; ++i) codes[i] = detail::least(codes[i], others[i]);
    }
    if (threadIdx.x == 0) storage_.last_sample = 0;
    Code least;
    const auto threshold =
        detail::find_top_k_threshold(team_, codes, sample.rank, least, sample.rank / top_k_sample_slack);
    last_code_ = threshold.code;
    last_index_ = row.length;
    has_last_index_ = !threshold.takes_all_equal;
    if (has_last_index_) find_last_index<Count>(row, sample, threshold.equal);
  }

  /// Finds the index of the last candidate: item number `wanted` among the items of the sample with its code.
  template <int Count>
  STRATA_D void find_last_index(const Row& row, const segment_sample& sample, unsigned wanted) {
    for (int round = 0; round < sample.rounds(); ++round) {
      Code codes[Count];
      load_sample(row, sample, round, codes);
      unsigned equal = 0, all;
      STRATA_UNROLL
      for (int i = 0; i < Count; ++i) {
        codes[i] = codes[i] == last_code_ ? Code{0} : Code{1};
        equal += codes[i] == Code{0} ? 1u : 0u;
      }
      team_.sum_before(equal, all);
      if (all < wanted) {
        wanted -= all;
        continue;
      }
      detail::for_each_top_k(team_, codes, top_k_threshold<Code>{0, wanted, false}, [&](unsigned, int i) {
        atomicMax(&storage_.last_sample, static_cast<unsigned>(first_item<Count>() + i * warp_threads));
      });
      __syncthreads();
      last_index_ = index_of_sample<Count>(row, sample, round, storage_.last_sample);
      return;
    }
  }

  // ------------------------------------------------------------------ candidates

  /// Loads the items of this thread in a tile. Vector v begins at item `begin` + v * 32 * width.
  template <bool IsWhole>
  STRATA_D void load(const Row& row, long long begin, Key (&keys)[Items]) const {
    const auto from = detail::items_from(problem_.keys, row.begin);
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const long long first = begin + v * (warp_threads * width);
      Key some[width];
      if constexpr (IsWhole && is_bulk_array<typename Problem::Iterator>) {
        constexpr int access = detail::least(Problem::access_keys, width);
        STRATA_UNROLL
        for (int j = 0; j < width; j += access) {
          Key neighbours_of_access[access];
          item_vector<Key, access> vector;
          vector.load(from + first + j);
          vector.get(neighbours_of_access);
          STRATA_UNROLL
          for (int l = 0; l < access; ++l) some[j + l] = neighbours_of_access[l];
        }
      } else {
        STRATA_UNROLL
        for (int j = 0; j < width; ++j) {
          std::memset(static_cast<void*>(&some[j]), 0, sizeof(Key));
          if (first + j >= 0 && first + j < row.length) {
            some[j] = detail::item_at(from, static_cast<std::size_t>(first + j));
          }
        }
      }
      STRATA_UNROLL
      for (int j = 0; j < width; ++j) keys[v * width + j] = some[j];
    }
  }

  /// Returns by how many items the first tile begins before the row, so that its accesses are aligned.
  STRATA_D int shift_of(const Row& row) const {
    if constexpr (is_bulk_array<typename Problem::Iterator>) {
      const auto address = reinterpret_cast<std::uintptr_t>(detail::items_from(problem_.keys, row.begin));
      return static_cast<int>(address % vector_bytes / sizeof(Key));
    } else {
      return 0;
    }
  }
  STRATA_D bool can_access(const Row& row) const {
    if constexpr (is_bulk_array<typename Problem::Iterator>) {
      return reinterpret_cast<std::uintptr_t>(detail::items_from(problem_.keys, row.begin)) % sizeof(Key) == 0;
    } else {
      return false;
    }
  }

  /// Collects the candidates of a part. Returns their number, or, if there are more than `capacity`, some number above
  /// it. Keeps up to `capacity` of them.
  STRATA_D unsigned collect(const Row& row, unsigned part, unsigned parts) {
    const int shift = shift_of(row);
    const long long tiles = detail::ceiling_divide<long long>(row.length + shift, tile_items);
    const long long share = detail::ceiling_divide<long long>(tiles, parts);
    const long long first_tile = share * part;
    const long long end_tile = detail::least(first_tile + share, tiles);
    const int lane = static_cast<int>(threadIdx.x) % warp_threads;
    const int first_of_thread =
        static_cast<int>(threadIdx.x) / warp_threads * (warp_threads * Items) + lane * width - shift;
    const bool may_access = can_access(row);
    const auto is_whole = [&](long long tile) {
      return may_access && tile * tile_items >= shift && (tile + 1) * tile_items - shift <= row.length;
    };
    const auto load_tile = [&](long long tile, Key(&keys)[Items]) {
      const long long begin = tile * tile_items + first_of_thread;
      if (is_whole(tile)) {
        load<true>(row, begin, keys);
      } else {
        load<false>(row, begin, keys);
      }
    };
    unsigned found = 0;
    Key keys[Items];
    if (first_tile < end_tile) load_tile(first_tile, keys);
    long long first_marked = first_tile;
    for (long long tile = first_tile; tile < end_tile; ++tile) {
      Code codes[Items];
      Problem::encode_all(keys, codes);
      // The next tile is loaded while this one is processed.
      if (tile + 1 < end_tile) load_tile(tile + 1, keys);
      const auto marked = static_cast<int>(tile - first_marked);
      mark(candidates_of(row, codes, tile * tile_items + first_of_thread, is_whole(tile)), marked);
      if (marked == marked_tiles - 1 || tile + 1 == end_tile) {
        found += keep(first_marked * tile_items - shift, marked + 1, found, part);
        if (found > capacity) break;
        first_marked = tile + 1;
      }
    }
    return found;
  }

  /// Returns a bit for each item of this thread: 1 if it is a candidate.
  STRATA_D unsigned candidates_of(const Row& row, const Code (&codes)[Items], long long begin, bool is_whole) const {
    unsigned candidates = 0;
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) candidates |= codes[i] <= last_code_ ? 1u << i : 0u;
    if (!is_whole || has_last_index_) {
      STRATA_UNROLL
      for (int i = 0; i < Items; ++i) {
        const long long index = begin + i / width * (warp_threads * width) + i % width;
        const bool is_kept = index >= 0 && index < row.length && (codes[i] < last_code_ || index <= last_index_);
        if (!is_kept) candidates &= ~(1u << i);
      }
    }
    return candidates;
  }

  /// Stores the marks of a tile. Bytes are in the order of the items, and a byte has the bits of up to eight items.
  STRATA_D void mark(unsigned candidates, int tile) {
    const int warp = static_cast<int>(threadIdx.x) / warp_threads, lane = static_cast<int>(threadIdx.x) % warp_threads;
    auto* const bytes = reinterpret_cast<unsigned char*>(storage_.marks);
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const int first = ((tile * Team::warps + warp) * vectors + v) * warp_threads + lane;
      STRATA_UNROLL
      for (int b = 0; b < bytes_of_vector; ++b) {
        const unsigned items = candidates >> (v * width + b * items_of_byte) & ((1u << items_of_byte) - 1);
        bytes[first * bytes_of_vector + b] = static_cast<unsigned char>(items);
      }
    }
  }

  /// Appends the marked candidates of some tiles to the `found` candidates that are kept already. Returns the number of
  /// marked candidates of these tiles.
  STRATA_D unsigned keep(long long begin, int tiles, unsigned found, unsigned part) {
    const int words = tiles * mark_bytes / 4;
    // An odd number of words, so that threads begin in different banks of shared memory.
    const int words_of_thread = detail::ceiling_divide(words, Threads) | 1;
    const int first = detail::least(static_cast<int>(threadIdx.x) * words_of_thread, words);
    const int end = detail::least(first + words_of_thread, words);
    __syncthreads();
    unsigned count = 0;
    for (int i = first; i < end; ++i) count += static_cast<unsigned>(__popc(storage_.marks[i]));
    unsigned all;
    unsigned to = found + sum_before(count, all);
    for (int i = first; i < end; ++i) {
      for (unsigned left = storage_.marks[i]; left != 0; left &= left - 1) {
        const int bit = __ffs(static_cast<int>(left)) - 1;
        const int item = (i * 4 + bit / 8) * items_of_byte + bit % 8;
        if (to < capacity) {
          scratch_.indices[std::size_t{part} * top_k_candidates_of_part + to] =
              static_cast<unsigned long long>(begin + item);
        }
        ++to;
      }
    }
    __syncthreads();
    return all;
  }

  /// Returns the sum of the counts of the threads before this one. `all` becomes the sum of all threads.
  STRATA_D unsigned sum_before(unsigned count, unsigned& all) {
    unsigned before = 0, of_warp = count;
    STRATA_UNROLL
    for (int distance = 1; distance < warp_threads; distance *= 2) {
      const unsigned other = platform::shuffle_xor(full_warp_mask, of_warp, distance);
      if ((threadIdx.x & static_cast<unsigned>(distance)) != 0) before += other;
      of_warp += other;
    }
    unsigned before_warp = count;
    team_.sum_before(before_warp, all);
    return before_warp + before;
  }

  /// True for the block that arrives last, when all parts are collected. It then knows where the candidates of each
  /// part begin.
  STRATA_D bool is_last_part(unsigned part, unsigned parts, unsigned found) {
    // is_last_to_collect() begins with a barrier. So all threads have stored their candidates before the block
    // publishes their number.
    if (parts > 1 && !Gather(storage_.gather, scratch_.gather, part, parts).is_last_to_collect(found)) return false;
    // If a part has more candidates than its capacity, the segment has too many as well.
    const unsigned own = threadIdx.x < parts ? detail::least(found, capacity + 1) : 0;
    unsigned all;
    const unsigned before = sum_before(own, all);
    if (threadIdx.x < parts) storage_.first_of_part[threadIdx.x] = before;
    if (threadIdx.x == 0) storage_.first_of_part[parts] = all;
    __syncthreads();
    return true;
  }

  /// Returns the slot of a candidate in the memory of the segment.
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

  template <int Count>
  STRATA_D void select(const Row& row, unsigned parts, unsigned candidates) {
    const int first = first_item<Count>();
    const auto index_of = [&](unsigned candidate) {
      return static_cast<std::size_t>(scratch_.indices[slot_of(candidate, parts)]);
    };
    const auto candidate_of = [&](int i) { return static_cast<unsigned>(first + i * warp_threads); };
    Key keys[Count];
    STRATA_UNROLL
    for (int i = 0; i < Count; ++i) {
      keys[i] = problem_.key_at(row, index_of(detail::least(candidate_of(i), candidates - 1)));
    }
    Code codes[Count];
    Problem::encode_all(keys, codes);
    STRATA_UNROLL
    for (int i = 0; i < Count; ++i) {
      if (candidate_of(i) >= candidates) codes[i] = Problem::last_code;
    }
    const auto threshold = detail::find_top_k_threshold(team_, codes, static_cast<unsigned>(row.count));
    detail::for_each_top_k(team_, codes, threshold, [&](unsigned position, int i) {
      if constexpr (IsSorted) {
        storage_.sort.staged.codes[position] = codes[i];
        storage_.sort.staged.indices[position] = candidate_of(i);
      } else if constexpr (Problem::has_values) {
        storage_.order[position] = static_cast<unsigned short>(candidate_of(i));
      } else {
        problem_.write_key(row, position, codes[i], [&] { return index_of(candidate_of(i)); });
      }
    });
    if constexpr (IsSorted) {
      BlockSort::write(storage_.sort, problem_, row, index_of);
    } else if constexpr (Problem::has_values) {
      __syncthreads();
      write_in_order(row, index_of);
    }
  }

  template <class IndexOf>
  STRATA_D void write_in_order(const Row& row, const IndexOf& index_of) {
    constexpr int batch = 4;
    const auto count = static_cast<unsigned>(row.count);
    for (unsigned first = threadIdx.x; first < count; first += batch * Threads) {
      unsigned positions[batch];
      unsigned long long indices[batch];
      STRATA_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        positions[i] = first + i * Threads;
        indices[i] = index_of(storage_.order[detail::least(positions[i], count - 1)]);
      }
      problem_.write_all(row, positions, indices);
    }
  }

  /// Selects from the whole segment by AgentTopK. It is not inlined, because it takes many registers, and would cause
  /// spills in its caller.
  STRATA_DETAIL_D_NOINLINE static void select_from_all(TempStorage& storage, const Problem& problem,
                                                       unsigned long long* indices, const Row& row) {
    __syncthreads();
    const top_k_workspace workspace{};
    Whole agent(storage.whole.Alias(), detail::items_from(problem.keys, row.begin),
                static_cast<std::size_t>(row.length), static_cast<std::size_t>(row.count), workspace);
    agent.template run<false>([&](std::size_t position, std::size_t index, const Key& key, bool) {
      if constexpr (IsSorted) {
        indices[position] = index;
      } else {
        problem.write(row, position, index, key);
      }
    });
    if constexpr (IsSorted) {
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < row.count; i += Threads) {
        storage.sort.staged.codes[i] = problem.code_at(row, static_cast<long long>(indices[i]));
        storage.sort.staged.indices[i] = static_cast<unsigned>(i);
      }
      BlockSort::write(storage.sort, problem, row,
                       [&](unsigned position) { return static_cast<std::size_t>(indices[position]); });
    }
  }

  TempStorage& storage_;
  const Problem& problem_;
  const top_k_scratch scratch_;
  Team team_;
  // The last candidate. Items with an equal code are candidates if their indices are not above its index.
  Code last_code_ = 0;
  long long last_index_ = 0;
  bool has_last_index_ = false;  // False if all items with an equal code are candidates.
};

/// Storage of the agent of long segments. It is empty if the kernel does not handle long segments.
template <class Long, bool IsUsed>
struct top_k_long_storage {
  Uninitialized<typename Long::TempStorage> value;
};
template <class Long>
struct top_k_long_storage<Long, false> {};

/// Selects from segments that logical warps have left. A block handles a segment. Without `IsLong`, these are the
/// segments that fit in registers, which are read once. With `IsLong`, these are the longer ones, which
/// AgentTopKLongSegment handles. With `IsSorted`, a segment has up to `max_top_k_sorted_by_block` results.
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

  STRATA_D AgentSegmentedTopKBlock(TempStorage& storage, const Problem& problem, const top_k_scratch& scratch)
      : storage_(storage), problem_(problem), team_(storage.team, static_cast<int>(threadIdx.x)), scratch_(scratch) {}

  /// Handles all segments for which `is_chosen(length, count)` is true.
  template <class IsChosen>
  STRATA_D void run(IsChosen is_chosen) {
    const long long segments = problem_.segments.num_segments();
    const long long step = gridDim.y;
    for (long long first = blockIdx.y; first < segments; first += step * Threads) {
      // Each thread checks one segment.
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
  const top_k_scratch scratch_;
};

}  // namespace detail
STRATA_NAMESPACE_END
