// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/future_count.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if STRATA_DEBUG_LOG
#include <cstdio>
#endif

/// \file
/// Each check of an argument asks `is_refused`, which logs in debug builds why a call is refused. This file has the
/// checks of the arrays of a call, for what the host knows of them: null pointers, alignment, common memory. Nothing is
/// known of iterators that are not pointers, so they are never null and overlap nothing.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Returns `condition`. If it holds, the call must return `cudaErrorInvalidValue`, and debug builds
/// (`STRATA_DEBUG_LOG`) print one line: the call, the argument and the reason, followed by `other`. Further reasons to
/// refuse the same call are not printed.
inline bool is_refused(bool condition, const char* argument, const char* reason, const char* other = "") {
#if STRATA_DEBUG_LOG
  nvtx_range::logged_call& call = nvtx_range::call_of_thread();
  if (condition && !call.is_refused) {
    const char* const name = call.name != nullptr ? call.name : "a call";
    std::fprintf(stderr, "strata: refused: %s: %s %s%s\n", name, argument, reason, other);
    call.is_refused = call.name != nullptr;
  }
#endif
  static_cast<void>(argument);
  static_cast<void>(reason);
  static_cast<void>(other);
  return condition;
}

/// The bytes of an array. The struct has no end, because a pointer might not be able to represent it.
struct byte_range {
  std::uintptr_t begin = 0;
  std::uintptr_t bytes = 0;
};

/// What the host knows of an argument. There are specialisations for outputs that consist of other iterators.
template <class Iterator>
struct argument_traits {
  static bool is_null(const Iterator& iterator) {
    if constexpr (std::is_pointer_v<Iterator>) {
      return iterator == nullptr;
    } else {
      static_cast<void>(iterator);
      return false;
    }
  }

  /// The bytes of `count` items. A null pointer has no bytes. If the items have more bytes than there are addresses,
  /// the range has as many whole items as addresses allow.
  STRATA_HD static byte_range bytes(const Iterator& items, std::size_t count) {
    if constexpr (std::is_pointer_v<Iterator>) {
      if (items == nullptr) return {};
      constexpr std::uintptr_t max_count = ~std::uintptr_t{0} / sizeof(*items);
      return {reinterpret_cast<std::uintptr_t>(items), detail::least(count, max_count) * sizeof(*items)};
    } else {
      static_cast<void>(items);
      static_cast<void>(count);
      return {};
    }
  }

  /// True if an output of indices can represent the index of each of `count` items.
  static constexpr bool can_index(std::size_t) { return true; }

  /// True if two arrays of which the output consists begin with common bytes.
  static constexpr bool overlaps_itself(const Iterator&) { return false; }
};

template <class Iterator>
bool is_null(const Iterator& iterator) {
  return argument_traits<Iterator>::is_null(iterator);
}

/// True if a call is refused for a null pointer. `argument` is the documented name of the argument.
template <class Iterator>
bool refuses_null(const Iterator& iterator, const char* argument) {
  return detail::is_refused(detail::is_null(iterator), argument, "is null");
}

/// True if a call is refused because an output cannot represent the index of each of `count` items.
template <class OutputIterator>
bool refuses_index(const OutputIterator&, std::size_t count) {
  return detail::is_refused(!argument_traits<OutputIterator>::can_index(count), "d_out",
                            "has a type that cannot represent the index of each item");
}

// ------------------------------------------------------------------ alignment

/// True if an address is a multiple of `bytes`. False for iterators that are not pointers, of which nothing is known.
template <class Iterator>
bool is_aligned(const Iterator& iterator, std::size_t bytes) {
  if constexpr (std::is_pointer_v<Iterator>) {
    return reinterpret_cast<std::uintptr_t>(iterator) % bytes == 0;
  } else {
    static_cast<void>(iterator);
    static_cast<void>(bytes);
    return false;
  }
}

// ------------------------------------------------------------------ common memory

/// The bytes of `count` items. A negative count is taken as an unsigned number, so the range is as long as possible.
/// Calls refuse such a count.
template <class Iterator, class NumItemsT>
STRATA_HD byte_range bytes_of(const Iterator& items, const NumItemsT& count) {
  return argument_traits<Iterator>::bytes(items, detail::max_items(count));
}

/// The bytes of an array, and the name of the argument.
struct argument_bytes : byte_range {
  const char* argument;
};
template <class Iterator, class NumItemsT>
argument_bytes bytes_of(const Iterator& items, const NumItemsT& count, const char* argument) {
  return {detail::bytes_of(items, count), argument};
}

STRATA_HD constexpr bool have_common_bytes(const byte_range& a, const byte_range& b) {
  if (a.bytes == 0 || b.bytes == 0) return false;
  return a.begin <= b.begin ? b.begin - a.begin < a.bytes : a.begin - b.begin < b.bytes;
}

/// True if two arrays have a byte in common.
template <class A, class ACount, class B, class BCount>
STRATA_HD bool arrays_overlap(const A& a, ACount a_count, const B& b, BCount b_count) {
  return detail::have_common_bytes(detail::bytes_of(a, a_count), detail::bytes_of(b, b_count));
}

/// True if a call is refused for an output that has a byte in common with another array.
inline bool refuses_overlap(const argument_bytes& output, const argument_bytes& other) {
  return detail::is_refused(have_common_bytes(output, other), output.argument, "overlaps ", other.argument);
}

/// True if a call is refused for two outputs with a byte in common.
template <std::size_t Outputs>
bool outputs_overlap(const argument_bytes (&outputs)[Outputs]) {
  for (std::size_t i = 1; i < Outputs; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (detail::refuses_overlap(outputs[i], outputs[j])) return true;
    }
  }
  return false;
}

/// True if a call is refused for an output with a byte in common with another output or with an input. If only the
/// device knows the length of an output, the caller passes the bytes of its first item only.
template <std::size_t Outputs, std::size_t Inputs>
bool outputs_overlap(const argument_bytes (&outputs)[Outputs], const argument_bytes (&inputs)[Inputs]) {
  for (const argument_bytes& out : outputs) {
    for (const argument_bytes& in : inputs) {
      if (detail::refuses_overlap(out, in)) return true;
    }
  }
  return detail::outputs_overlap(outputs);
}

/// True if a call is refused because buffers of `count` items, which it writes, have a byte in common.
template <class Key, class Integer>
bool buffers_overlap(const DoubleBuffer<Key>& keys, Integer count) {
  return detail::outputs_overlap({detail::bytes_of(keys.d_buffers[0], count, "d_keys.d_buffers[0]"),
                                  detail::bytes_of(keys.d_buffers[1], count, "d_keys.d_buffers[1]")});
}
template <class Key, class Value, class Integer>
bool buffers_overlap(const DoubleBuffer<Key>& keys, const DoubleBuffer<Value>& values, Integer count) {
  return detail::outputs_overlap({detail::bytes_of(keys.d_buffers[0], count, "d_keys.d_buffers[0]"),
                                  detail::bytes_of(keys.d_buffers[1], count, "d_keys.d_buffers[1]"),
                                  detail::bytes_of(values.d_buffers[0], count, "d_values.d_buffers[0]"),
                                  detail::bytes_of(values.d_buffers[1], count, "d_values.d_buffers[1]")});
}

/// True if item i of one array has the bytes of item i of the other, for each i.
template <class A, class B>
STRATA_HD bool are_same_array(const A& a, const B& b) {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    return sizeof(*a) == sizeof(*b) && reinterpret_cast<std::uintptr_t>(a) == reinterpret_cast<std::uintptr_t>(b);
  } else {
    return false;
  }
}

/// True if a call is refused for an output that has a byte in common with an input, but is not the same array.
template <class Out, class In, class Integer>
bool refuses_partial_overlap(const Out& out, const char* out_argument, const In& in, const char* in_argument,
                             Integer count) {
  return !detail::are_same_array(out, in) &&
         detail::refuses_overlap(detail::bytes_of(out, count, out_argument), detail::bytes_of(in, count, in_argument));
}

/// The arguments of a sort of pairs.
struct pair_arguments {
  const char* keys_in = "d_keys_in";
  const char* keys_out = "d_keys_out";
  const char* values_in = "d_values_in";
  const char* values_out = "d_values_out";
};

/// True if a sort of pairs, of `count` items each, is refused for an output that overlaps another array. Sorts may
/// write over their own input.
template <class KeysIn, class KeysOut, class ValuesIn, class ValuesOut, class Integer>
bool pairs_overlap(const KeysIn& keys_in, const KeysOut& keys_out, const ValuesIn& values_in,
                   const ValuesOut& values_out, Integer count, const pair_arguments& names = {}) {
  const argument_bytes keys = detail::bytes_of(keys_out, count, names.keys_out);
  const argument_bytes values = detail::bytes_of(values_out, count, names.values_out);
  return detail::refuses_partial_overlap(keys_out, names.keys_out, keys_in, names.keys_in, count) ||
         detail::refuses_partial_overlap(values_out, names.values_out, values_in, names.values_in, count) ||
         detail::refuses_overlap(keys, detail::bytes_of(values_in, count, names.values_in)) ||
         detail::refuses_overlap(values, detail::bytes_of(keys_in, count, names.keys_in)) ||
         detail::refuses_overlap(keys, values);
}

/// True if the first item of an array has a byte in common with another array of `count` items. It is for an array
/// whose length only the device knows.
template <class Array, class Other, class Integer>
STRATA_HD bool begins_within(const Array& array, const Other& other, Integer count) {
  return detail::arrays_overlap(array, 1, other, count);
}

/// True if an output of `count` items has a byte of the first item of an input, but is not the same array.
template <class Out, class In>
STRATA_HD bool reaches_into(const Out& out, std::size_t count, const In& in) {
  return !detail::are_same_array(out, in) && detail::begins_within(in, out, count);
}

/// The arrays of a compaction, by the names of the call's arguments.
struct compaction_arguments {
  const char* keys;
  const char* values;
  const char* keys_out;
  const char* values_out;
  const char* number_out;
};

/// True if the arrays of a compaction (select, reduce by key) are not null, and its outputs overlap nothing. Only the
/// device knows the lengths of outputs, so only their first `known_outputs` items are compared.
template <class KeysIn, class ValuesIn, class KeysOut, class ValuesOut, class NumberOut>
bool are_compaction_arrays_valid(std::size_t num_items, std::size_t known_outputs, const KeysIn& keys,
                                 const ValuesIn& values, const KeysOut& keys_out, const ValuesOut& values_out,
                                 const NumberOut& number_out, const compaction_arguments& names) {
  if (detail::refuses_null(number_out, names.number_out)) return false;
  if (num_items > 0 &&
      (detail::refuses_null(keys, names.keys) || detail::refuses_null(values, names.values) ||
       detail::refuses_null(keys_out, names.keys_out) || detail::refuses_null(values_out, names.values_out))) {
    return false;
  }
  return !detail::outputs_overlap(
      {detail::bytes_of(keys_out, known_outputs, names.keys_out),
       detail::bytes_of(values_out, known_outputs, names.values_out),
       detail::bytes_of(number_out, 1, names.number_out)},
      {detail::bytes_of(keys, num_items, names.keys), detail::bytes_of(values, num_items, names.values)});
}

// ------------------------------------------------------------------ matrices

/// The bytes of a matrix in memory: `rows` rows of `width` bytes, `pitch` bytes apart. The matrix has
/// no more bytes than an address can represent.
struct strided_bytes {
  std::uintptr_t begin;
  std::uintptr_t rows;
  std::uintptr_t width;
  std::uintptr_t pitch;  // not below width

  bool is_empty() const { return rows == 0 || width == 0; }
  bool is_dense() const { return rows == 1 || pitch == width; }
  byte_range first_row() const { return {begin, width}; }
  byte_range all() const { return {begin, (rows - 1) * pitch + width}; }
};

/// True if a range and a row of the matrix have a byte in common. The code compares offsets, because ends may not be
/// representable.
inline bool has_bytes_of_row(const byte_range& range, const strided_bytes& matrix) {
  if (range.begin <= matrix.begin) return matrix.begin - range.begin < range.bytes;
  const std::uintptr_t offset = range.begin - matrix.begin;
  const std::uintptr_t row = offset / matrix.pitch;
  const std::uintptr_t in_row = offset % matrix.pitch;
  if (row >= matrix.rows) return false;
  return in_row < matrix.width || (row + 1 < matrix.rows && matrix.pitch - in_row < range.bytes);
}

/// True if two matrices have a byte in common. Also false if it would take long to find out: if both have gaps between
/// rows, their pitches differ, and the first row of neither has a byte of the other.
inline bool have_common_bytes(const strided_bytes& a, const strided_bytes& b) {
  if (a.is_empty() || b.is_empty()) return false;
  if (a.is_dense()) return detail::has_bytes_of_row(a.all(), b);
  if (b.is_dense()) return detail::has_bytes_of_row(b.all(), a);
  if (a.pitch != b.pitch) {
    return detail::has_bytes_of_row(a.first_row(), b) || detail::has_bytes_of_row(b.first_row(), a);
  }
  // Both are parts of one larger matrix. If any row of the later part has bytes of the earlier part, so has the first
  // row of the later part.
  const strided_bytes& early = a.begin <= b.begin ? a : b;
  const strided_bytes& late = a.begin <= b.begin ? b : a;
  return detail::has_bytes_of_row(late.first_row(), early);
}

}  // namespace detail
STRATA_NAMESPACE_END
