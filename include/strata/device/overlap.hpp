// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// What the host can know of arrays that share memory. Nothing is known of iterators that are no
/// pointers, and null pointers have no bytes: of these nothing overlaps.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The bytes of an array. It has no end, which may lie beyond what a pointer can say.
struct byte_range {
  std::uintptr_t begin = 0;
  std::uintptr_t bytes = 0;
};

template <class Iterator>
STRATA_HD byte_range bytes_of(const Iterator& items, std::size_t count) {
  if constexpr (std::is_pointer_v<Iterator>) {
    if (items == nullptr) return {};
    constexpr std::uintptr_t most = ~std::uintptr_t{0} / sizeof(*items);
    return {reinterpret_cast<std::uintptr_t>(items),
            (count < most ? count : most) * sizeof(*items)};
  } else {
    static_cast<void>(items);
    static_cast<void>(count);
    return {};
  }
}

STRATA_HD constexpr bool have_common_bytes(const byte_range& a, const byte_range& b) {
  if (a.bytes == 0 || b.bytes == 0) return false;
  return a.begin <= b.begin ? b.begin - a.begin < a.bytes : a.begin - b.begin < b.bytes;
}

/// Whether two arrays have a byte in common.
template <class A, class B>
STRATA_HD bool arrays_overlap(const A& a, std::size_t a_count, const B& b, std::size_t b_count) {
  return have_common_bytes(detail::bytes_of(a, a_count), detail::bytes_of(b, b_count));
}

/// Whether item i of one array has the bytes of item i of the other.
template <class A, class B>
STRATA_HD bool are_same_array(const A& a, const B& b) {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    return sizeof(*a) == sizeof(*b) &&
           reinterpret_cast<std::uintptr_t>(a) == reinterpret_cast<std::uintptr_t>(b);
  } else {
    return false;
  }
}

/// Whether the first item of an array has a byte in common with another array of `count` items: what
/// can be said of an array whose length is not known.
template <class Array, class Other>
STRATA_HD bool begins_within(const Array& array, const Other& other, std::size_t count) {
  return detail::arrays_overlap(array, 1, other, count);
}

/// Whether an output of `count` items reaches from outside to the first item of an input.
template <class Out, class In>
STRATA_HD bool reaches_into(const Out& out, std::size_t count, const In& in) {
  return !are_same_array(out, in) && begins_within(in, out, count);
}

/// The bytes of a matrix in memory: `rows` rows of `width` bytes, `pitch` bytes apart.
struct strided_bytes {
  std::uintptr_t begin;
  std::uintptr_t rows;
  std::uintptr_t width;
  std::uintptr_t pitch;  // not below width

  std::uintptr_t end() const { return begin + (rows - 1) * pitch + width; }
  bool is_dense() const { return rows == 1 || pitch == width; }
};

/// Whether [begin, end) meets a row of the matrix.
inline bool meets_a_row(std::uintptr_t begin, std::uintptr_t end, const strided_bytes& matrix) {
  // The first row that ends above `begin`.
  const std::uintptr_t first_end = matrix.begin + matrix.width;
  const std::uintptr_t row = first_end > begin ? 0 : (begin - first_end) / matrix.pitch + 1;
  return row < matrix.rows && matrix.begin + row * matrix.pitch < end;
}

/// Whether two matrices have a byte in common. False too where it would take long to find out: both
/// have gaps between rows and their pitches differ, while neither begins on an element of the other.
inline bool have_common_bytes(const strided_bytes& a, const strided_bytes& b) {
  if (a.rows == 0 || a.width == 0 || b.rows == 0 || b.width == 0) return false;
  if (a.end() <= b.begin || b.end() <= a.begin) return false;
  if (a.is_dense()) return meets_a_row(a.begin, a.end(), b);
  if (b.is_dense()) return meets_a_row(b.begin, b.end(), a);
  if (a.pitch != b.pitch) {
    return meets_a_row(a.begin, a.begin + a.width, b) || meets_a_row(b.begin, b.begin + b.width, a);
  }
  // Parts of one larger matrix: if any row of the later one meets the earlier one, its first does.
  const strided_bytes& early = a.begin <= b.begin ? a : b;
  const strided_bytes& late = a.begin <= b.begin ? b : a;
  return meets_a_row(late.begin, late.begin + late.width, early);
}

}  // namespace detail
STRATA_NAMESPACE_END
