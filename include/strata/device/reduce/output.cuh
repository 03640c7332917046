// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/overlap.hpp>

#include <cstddef>
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
      STRATA_ASSERT(can_index<decltype(stored.key)>(pair.key + 1),
                    "the index %lld of an extremum does not fit the output's type",
                    static_cast<long long>(pair.key));
      stored.key = static_cast<decltype(stored.key)>(pair.key);
      stored.value = static_cast<decltype(stored.value)>(pair.value);
      *pairs = stored;
    }
  };
  STRATA_D reference operator*() const { return {pairs}; }
  STRATA_D pair_output operator+(std::ptrdiff_t n) const { return {pairs + n}; }
};

/// Whether an output has room for the number of any of `count` items.
template <class OutputIterator>
bool has_room_for_indices(const OutputIterator&, std::size_t) {
  return true;
}
template <class ValueIterator, class IndexIterator>
bool has_room_for_indices(const arg_output<ValueIterator, IndexIterator>&, std::size_t count) {
  return can_index<output_value_t<IndexIterator, long long>>(count);
}
template <class Iterator>
bool has_room_for_indices(const pair_output<Iterator>&, std::size_t count) {
  using Pair = output_value_t<Iterator, KeyValuePair<long long, char>>;
  return can_index<decltype(Pair::key)>(count);
}

template <class Iterator>
byte_range bytes_of(const pair_output<Iterator>& output, std::size_t count) {
  return bytes_of(output.pairs, count);
}

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
