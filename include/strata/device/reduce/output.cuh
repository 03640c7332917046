// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Transformations as the agents call them, with the item and its index in the input or in the segment.
/// AgentReproducible passes 0 as the index. `computes`: the transformation runs the user's code.
struct keep_item {
  static constexpr bool computes = false;
  template <class T>
  STRATA_D const T& operator()(const T& item, std::size_t) const {
    return item;
  }
};

template <class TransformOp>
struct transform_item {
  static constexpr bool computes = true;
  TransformOp transform_op;
  template <class T>
  STRATA_D auto operator()(const T& item, std::size_t) {
    return transform_op(item);
  }
};

struct number_item {
  static constexpr bool computes = false;
  template <class T>
  STRATA_D KeyValuePair<long long, T> operator()(const T& item, std::size_t index) const {
    return {static_cast<long long>(index), item};
  }
};

/// An initial value that takes no part in the reduction: it is the result of an empty input.
template <class T>
struct only_if_empty {
  T value;
};
template <class T>
inline constexpr bool is_only_if_empty = false;
template <class T>
inline constexpr bool is_only_if_empty<only_if_empty<T>> = true;

/// Writes the final result of a reduction: `init` combined with the result of the items, or `init` if there are none.
/// An `only_if_empty` value is not combined.
template <class Agent, class OutputIterator, class InitT, class AccumT>
STRATA_D void store_result(Agent& agent, OutputIterator d_out, const InitT& init, const AccumT& result,
                           bool has_result) {
  using Output = output_value_t<OutputIterator, AccumT>;
  if constexpr (is_only_if_empty<InitT>) {
    *d_out = has_result ? static_cast<Output>(result) : static_cast<Output>(init.value);
  } else {
    *d_out = has_result ? static_cast<Output>(agent.combine(init, result)) : static_cast<Output>(init);
  }
}

/// An output of (index, value) pairs that writes indices and values to two arrays.
template <class ValueIterator, class IndexIterator>
struct arg_output {
  ValueIterator values;
  IndexIterator indices;

  struct reference {
    arg_output output;
    template <class Index, class T>
    STRATA_D void operator=(const KeyValuePair<Index, T>& pair) {
      *output.values = static_cast<output_value_t<ValueIterator, T>>(pair.value);
      detail::store_count(output.indices, pair.key);
    }
  };
  STRATA_D reference operator*() const { return {*this}; }
  STRATA_D arg_output operator+(std::ptrdiff_t n) const { return {values + n, indices + n}; }
};

/// The members of a pair of index and value: `key` and `value`, as CUB's pair has them, else `first` and `second`.
template <class Pair, class = void>
struct pair_members {
  using index_type = decltype(Pair::first);
  STRATA_D static auto& index(Pair& pair) { return pair.first; }
  STRATA_D static auto& value(Pair& pair) { return pair.second; }
};
template <class Pair>
struct pair_members<Pair, std::void_t<decltype(Pair::key), decltype(Pair::value)>> {
  using index_type = decltype(Pair::key);
  STRATA_D static auto& index(Pair& pair) { return pair.key; }
  STRATA_D static auto& value(Pair& pair) { return pair.value; }
};

/// An output of (index, value) pairs that writes to one array of pairs: see pair_members.
template <class Iterator>
struct pair_output {
  Iterator pairs;

  struct reference {
    Iterator pairs;
    template <class Index, class T>
    STRATA_D void operator=(const KeyValuePair<Index, T>& pair) {
      using Pair = declared_value_t<Iterator, KeyValuePair<Index, T>>;
      using members = pair_members<Pair>;
      using index_type = typename members::index_type;
      Pair stored;
      STRATA_ASSERT(can_index<index_type>(pair.key + 1), "the index %lld of an extremum does not fit the output's type",
                    static_cast<long long>(pair.key));
      members::index(stored) = static_cast<index_type>(pair.key);
      auto& value = members::value(stored);
      value = static_cast<std::remove_reference_t<decltype(value)>>(pair.value);
      *pairs = stored;
    }
  };
  STRATA_D reference operator*() const { return {pairs}; }
  STRATA_D pair_output operator+(std::ptrdiff_t n) const { return {pairs + n}; }
};

template <class ValueIterator, class IndexIterator>
struct argument_traits<arg_output<ValueIterator, IndexIterator>> {
  static bool is_null(const arg_output<ValueIterator, IndexIterator>& output) {
    return detail::is_null(output.values) || detail::is_null(output.indices);
  }
  static constexpr bool can_index(std::size_t count) {
    return detail::can_index<declared_value_t<IndexIterator, long long>>(count);
  }
  static bool overlaps_itself(const arg_output<ValueIterator, IndexIterator>& output) {
    return detail::arrays_overlap(output.values, 1, output.indices, 1);
  }
};

template <class Iterator>
struct argument_traits<pair_output<Iterator>> {
  static bool is_null(const pair_output<Iterator>& output) { return detail::is_null(output.pairs); }
  STRATA_HD static byte_range bytes(const pair_output<Iterator>& output, std::size_t count) {
    return detail::bytes_of(output.pairs, count);
  }
  static constexpr bool can_index(std::size_t count) {
    using Pair = declared_value_t<Iterator, KeyValuePair<long long, char>>;
    return detail::can_index<typename pair_members<Pair>::index_type>(count);
  }
  static constexpr bool overlaps_itself(const pair_output<Iterator>&) { return false; }
};

template <class OutputIterator>
inline constexpr const char* name_of_output = "d_out";
template <class ValueIterator, class IndexIterator>
inline constexpr const char* name_of_output<arg_output<ValueIterator, IndexIterator>> =
    "the output of the extreme item, or d_index_out,";

/// True if a call is refused for a null output, or because the outputs of an extreme item and its index overlap.
template <class OutputIterator>
bool refuses_result(const OutputIterator& d_out) {
  return detail::refuses_null(d_out, name_of_output<OutputIterator>) ||
         detail::is_refused(argument_traits<OutputIterator>::overlaps_itself(d_out), "d_index_out",
                            "overlaps the output of the extreme item");
}

}  // namespace detail
STRATA_NAMESPACE_END
