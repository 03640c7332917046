// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

template <class Iterator>
bool is_null(const Iterator& iterator) {
  if constexpr (std::is_pointer_v<Iterator>) {
    return iterator == nullptr;
  } else {
    static_cast<void>(iterator);
    return false;
  }
}

/// Whether two arrays have memory in common; of iterators that are no pointers nothing is known.
template <class A, class B>
bool may_overlap(const A& a, const B& b, std::size_t num_items) {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    const auto first_a = reinterpret_cast<std::uintptr_t>(a);
    const auto first_b = reinterpret_cast<std::uintptr_t>(b);
    return first_b < first_a + num_items * sizeof(*a) && first_a < first_b + num_items * sizeof(*b);
  } else {
    return false;
  }
}

/// An initial value that takes no part in the reduction: it is the result of an empty input.
template <class T>
struct only_if_empty {
  T value;
};
template <class T>
inline constexpr bool is_only_if_empty = false;
template <class T>
inline constexpr bool is_only_if_empty<only_if_empty<T>> = true;

/// Writes the end of a reduction: `init` combined with the result of the items, if there were any.
template <class Agent, class OutputIterator, class InitT, class AccumT>
STRATA_D void store_result(Agent& agent, OutputIterator d_out, const InitT& init,
                           const AccumT& result, bool has_result) {
  using Output = output_value_t<OutputIterator, AccumT>;
  if constexpr (is_only_if_empty<InitT>) {
    *d_out = has_result ? static_cast<Output>(result) : static_cast<Output>(init.value);
  } else {
    *d_out =
        has_result ? static_cast<Output>(agent.combine(init, result)) : static_cast<Output>(init);
  }
}

/// An output of (index, value) pairs that go to two places.
template <class ValueIterator, class IndexIterator>
struct arg_output {
  ValueIterator values;
  IndexIterator indices;

  struct reference {
    arg_output output;
    template <class Index, class T>
    STRATA_D void operator=(const KeyValuePair<Index, T>& pair) {
      *output.values = static_cast<output_value_t<ValueIterator, T>>(pair.value);
      *output.indices = static_cast<output_value_t<IndexIterator, Index>>(pair.key);
    }
  };
  STRATA_D reference operator*() const { return {*this}; }
  STRATA_D arg_output operator+(std::ptrdiff_t n) const { return {values + n, indices + n}; }
};

/// An output of (index, value) pairs that go to one place, whose type has members `key` and
/// `value`, such as CUB's pair.
template <class Iterator>
struct pair_output {
  Iterator pairs;

  struct reference {
    Iterator pairs;
    template <class Index, class T>
    STRATA_D void operator=(const KeyValuePair<Index, T>& pair) {
      using Pair = output_value_t<Iterator, KeyValuePair<Index, T>>;
      Pair stored;
      stored.key = static_cast<decltype(stored.key)>(pair.key);
      stored.value = static_cast<decltype(stored.value)>(pair.value);
      *pairs = stored;
    }
  };
  STRATA_D reference operator*() const { return {pairs}; }
  STRATA_D pair_output operator+(std::ptrdiff_t n) const { return {pairs + n}; }
};

template <class ValueIterator, class IndexIterator>
bool is_null(const arg_output<ValueIterator, IndexIterator>& output) {
  return detail::is_null(output.values) || detail::is_null(output.indices);
}
template <class Iterator>
bool is_null(const pair_output<Iterator>& output) {
  return detail::is_null(output.pairs);
}

}  // namespace detail
STRATA_NAMESPACE_END
