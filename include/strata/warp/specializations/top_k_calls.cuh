// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/radix_code.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/top_k_threshold.cuh>

/// \file
/// The calls of WarpTopK and BlockTopK.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True if a key comes before another one among results that are sorted.
template <class Key, bool IsMax>
struct comes_first {
  using codes = top_k_codes<Key, IsMax>;

  STRATA_D bool operator()(const Key& a, const Key& b) const {
    return codes::ordered(codes::encode(a)) < codes::ordered(codes::encode(b));
  }
};

/// `Derived` has the threads: `thread()`, `team()`, `synchronise()`, `sum_before(count)`, `exchange()` and
/// `sort<IsMax>(keys, values, count)`.
template <class Derived, class KeyT, int ItemsPerThread, class ValueT>
class top_k_calls {
  static constexpr bool has_values = !std::is_same_v<ValueT, NullType>;
  template <class T>
  using items = T[static_cast<std::size_t>(ItemsPerThread)];

 public:
  /// The type of a key's code. Codes are unsigned integers, and their order is the order of the keys.
  using code = typename RadixTraits<KeyT>::word;

  /// Moves the `k` greatest keys to the front, in the order of the input, and returns their number.
  STRATA_D int MaxKeys(items<KeyT>& keys, int k) {
    NullType none;
    return select<true, false>(keys, none, k, Derived::threads * ItemsPerThread);
  }
  /// Moves the `k` greatest keys of the first `valid_items` to the front, in the order of the input, and returns their
  /// number.
  STRATA_D int MaxKeys(items<KeyT>& keys, int k, int valid_items) {
    NullType none;
    return select<true, false>(keys, none, k, valid_items);
  }
  /// Moves the `k` smallest keys to the front, in the order of the input, and returns their number.
  STRATA_D int MinKeys(items<KeyT>& keys, int k) {
    NullType none;
    return select<false, false>(keys, none, k, Derived::threads * ItemsPerThread);
  }
  /// Moves the `k` smallest keys of the first `valid_items` to the front, in the order of the input, and returns their
  /// number.
  STRATA_D int MinKeys(items<KeyT>& keys, int k, int valid_items) {
    NullType none;
    return select<false, false>(keys, none, k, valid_items);
  }
  /// Moves the `k` greatest keys, with their values, to the front, in the order of the input, and returns their number.
  STRATA_D int MaxPairs(items<KeyT>& keys, items<ValueT>& values, int k) {
    return select<true, false>(keys, values, k, Derived::threads * ItemsPerThread);
  }
  /// Moves the `k` greatest keys, with their values, of the first `valid_items` to the front, in the order of the
  /// input, and returns their number.
  STRATA_D int MaxPairs(items<KeyT>& keys, items<ValueT>& values, int k, int valid_items) {
    return select<true, false>(keys, values, k, valid_items);
  }
  /// Moves the `k` smallest keys, with their values, to the front, in the order of the input, and returns their number.
  STRATA_D int MinPairs(items<KeyT>& keys, items<ValueT>& values, int k) {
    return select<false, false>(keys, values, k, Derived::threads * ItemsPerThread);
  }
  /// Moves the `k` smallest keys, with their values, of the first `valid_items` to the front, in the order of the
  /// input, and returns their number.
  STRATA_D int MinPairs(items<KeyT>& keys, items<ValueT>& values, int k, int valid_items) {
    return select<false, false>(keys, values, k, valid_items);
  }
  /// Moves the `k` greatest keys to the front, sorted, the greatest first, and returns their number.
  STRATA_D int MaxKeysSorted(items<KeyT>& keys, int k) {
    NullType none;
    return select<true, true>(keys, none, k, Derived::threads * ItemsPerThread);
  }
  /// Moves the `k` greatest keys of the first `valid_items` to the front, sorted, the greatest first, and returns their
  /// number.
  STRATA_D int MaxKeysSorted(items<KeyT>& keys, int k, int valid_items) {
    NullType none;
    return select<true, true>(keys, none, k, valid_items);
  }
  /// Moves the `k` smallest keys to the front, sorted, the smallest first, and returns their number.
  STRATA_D int MinKeysSorted(items<KeyT>& keys, int k) {
    NullType none;
    return select<false, true>(keys, none, k, Derived::threads * ItemsPerThread);
  }
  /// Moves the `k` smallest keys of the first `valid_items` to the front, sorted, the smallest first, and returns their
  /// number.
  STRATA_D int MinKeysSorted(items<KeyT>& keys, int k, int valid_items) {
    NullType none;
    return select<false, true>(keys, none, k, valid_items);
  }
  /// Moves the `k` greatest keys, with their values, to the front, sorted, the greatest first, and returns their
  /// number.
  STRATA_D int MaxPairsSorted(items<KeyT>& keys, items<ValueT>& values, int k) {
    return select<true, true>(keys, values, k, Derived::threads * ItemsPerThread);
  }
  /// Moves the `k` greatest keys, with their values, of the first `valid_items` to the front, sorted, the greatest
  /// first, and returns their number.
  STRATA_D int MaxPairsSorted(items<KeyT>& keys, items<ValueT>& values, int k, int valid_items) {
    return select<true, true>(keys, values, k, valid_items);
  }
  /// Moves the `k` smallest keys, with their values, to the front, sorted, the smallest first, and returns their
  /// number.
  STRATA_D int MinPairsSorted(items<KeyT>& keys, items<ValueT>& values, int k) {
    return select<false, true>(keys, values, k, Derived::threads * ItemsPerThread);
  }
  /// Moves the `k` smallest keys, with their values, of the first `valid_items` to the front, sorted, the smallest
  /// first, and returns their number.
  STRATA_D int MinPairsSorted(items<KeyT>& keys, items<ValueT>& values, int k, int valid_items) {
    return select<false, true>(keys, values, k, valid_items);
  }

 protected:
  /// Items on their way to other threads.
  template <int Threads>
  union exchange {
    Uninitialized<KeyT[static_cast<std::size_t>(Threads * ItemsPerThread)]> keys;
    Uninitialized<std::conditional_t<has_values, ValueT, KeyT>[static_cast<std::size_t>(Threads * ItemsPerThread)]>
        values;
  };

 private:
  STRATA_D Derived& self() { return static_cast<Derived&>(*this); }

  template <bool IsMax, bool IsSorted, class Values>
  STRATA_D int select(items<KeyT>& keys, Values& values, int k, int valid_items) {
    const int valid = detail::most(0, detail::least(valid_items, Derived::threads * ItemsPerThread));
    const int count = detail::most(0, detail::least(k, valid));
    if (count == 0) return 0;
    // With as many results as items, no item moves.
    if (count < valid) move_results<IsMax>(keys, values, static_cast<unsigned>(count), valid);
    if constexpr (IsSorted) {
      if (count < valid) self().synchronise();
      self().template sort<IsMax>(keys, values, count);
    }
    return count;
  }

  template <bool IsMax, class Values>
  STRATA_D void move_results(items<KeyT>& keys, Values& values, unsigned count, int valid) {
    using codes_of = top_k_codes<KeyT, IsMax>;
    const int first = self().thread() * ItemsPerThread;
    items<code> codes;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      codes[i] = first + i < valid ? codes_of::ordered(codes_of::encode(keys[i])) : static_cast<code>(~code{0});
    }
    const auto threshold = detail::find_top_k_threshold(self().team(), codes, count);
    // Each of the two counts is at most 32,768, so one word holds both.
    unsigned local = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (first + i >= valid) break;
      local += codes[i] < threshold.code ? 1u : codes[i] == threshold.code ? 1u << 16 : 0u;
    }
    const unsigned before = self().sum_before(local);
    unsigned position_before = before & 0xffffu, position_equal = before >> 16;
    items<unsigned> positions;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const bool is_before = codes[i] < threshold.code, is_equal = codes[i] == threshold.code;
      const bool is_result = first + i < valid && (is_before || (is_equal && position_equal < threshold.equal));
      positions[i] = is_result ? position_before + detail::least(position_equal, threshold.equal) : count;
      if (is_before) ++position_before;
      if (is_equal) ++position_equal;
    }
    move(self().exchange().keys.Alias(), keys, positions, count);
    if constexpr (!std::is_same_v<Values, NullType>) {
      self().synchronise();
      move(self().exchange().values.Alias(), values, positions, count);
    }
  }

  /// Moves each item whose position is less than `count` to the thread that owns this position.
  template <class T, class Shared>
  STRATA_D void move(Shared& shared, items<T>& local, const items<unsigned>& positions, unsigned count) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (positions[i] < count) shared[positions[i]] = local[i];
    }
    self().synchronise();
    const auto first = static_cast<unsigned>(self().thread() * ItemsPerThread);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (first + static_cast<unsigned>(i) < count) local[i] = shared[first + static_cast<unsigned>(i)];
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
