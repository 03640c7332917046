// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

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
