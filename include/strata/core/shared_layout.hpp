// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

/// \file
/// Layouts say where elements lie in shared memory. A layout is a type without data. It maps the index of an element,
/// or its row and column, to a position, which counts elements. It also says how many elements the storage has. So the
/// bank conflicts of an access follow from types. Code whose positions are known at compile time asserts that it has
/// none: see bank_conflicts.hpp.
///
///     using layout = strata::PaddedLayout<32, 1>;
///     static_assert(strata::conflict_degree(layout{}, strata::blocked_access<4, 8>{}) == 1, "");
///     STRATA_SHARED(storage, float[layout::storage_elements(256 * 8)]);
///     storage[layout{}(index)] = value;

STRATA_NAMESPACE_BEGIN

namespace detail {

STRATA_HD constexpr int greatest_common_divisor(int a, int b) {
  while (b != 0) {
    const int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Unsigned: indices are not negative, so that shifts and masks need no correction.
STRATA_HD constexpr int quotient(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) / static_cast<unsigned>(b));
}
STRATA_HD constexpr int remainder(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) % static_cast<unsigned>(b));
}

STRATA_HD constexpr bool is_access_size(int bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

}  // namespace detail

/// Layout without padding: element i is at position i.
struct PlainLayout {
  /// Returns the position of an element: its index.
  STRATA_HD constexpr int operator()(int index) const { return index; }
  /// Returns how many elements of storage `elements` elements need.
  STRATA_HD static constexpr int storage_elements(int elements) { return elements; }
};

/// A layout with `By` unused elements after every `Every` elements. The classical choice is one after 32: accesses with
/// a stride of a power of two up to 32 then use all banks.
template <int Every, int By = 1>
struct PaddedLayout {
  static_assert(Every > 0 && By >= 0, "PaddedLayout: Every must be positive, and By must not be negative");
  /// Returns the position of an element.
  STRATA_HD constexpr int operator()(int index) const { return index + detail::quotient(index, Every) * By; }
  /// Returns how many elements of storage `elements` elements need, with padding.
  STRATA_HD static constexpr int storage_elements(int elements) {
    return elements > 0 ? elements + (elements - 1) / Every * By : 0;
  }
};

/// A matrix that is stored by rows, each followed by `Pad` unused elements. With an odd pitch, a column of 4-byte
/// elements uses all banks, as a row does: for example, 32 x 32 elements with `Pad` 1.
template <int Rows, int Columns, int Pad>
struct PaddedMatrixLayout {
  static_assert(Rows > 0 && Columns > 0 && Pad >= 0,
                "PaddedMatrixLayout: Rows and Columns must be positive, and Pad "
                "must not be negative");
  static constexpr int rows = Rows;                             ///< Rows of the matrix.
  static constexpr int columns = Columns;                       ///< Columns of the matrix.
  static constexpr int pitch = Columns + Pad;                   ///< Elements from the beginning of one row to the next.
  static constexpr int storage = (Rows - 1) * pitch + Columns;  ///< Elements of the storage.

  /// Returns the position of the element in a row and column.
  STRATA_HD constexpr int operator()(int row, int column) const { return row * pitch + column; }
  /// Returns the position of an element, numbered by rows.
  STRATA_HD constexpr int operator()(int index) const {
    return (*this)(detail::quotient(index, Columns), detail::remainder(index, Columns));
  }
  /// Returns how many elements of storage `elements` elements need, with padding.
  STRATA_HD static constexpr int storage_elements(int elements) {
    return elements > 0 ? (elements - 1) / Columns * pitch + (elements - 1) % Columns + 1 : 0;
  }
};

/// A matrix that is stored by rows of `RowElements`, a power of two, without padding. Each row is permuted: an
/// element's position in its row is its column exclusive-or r, where r is the index of the row modulo the number of
/// lanes of a wavefront. A wavefront has 32 lanes for elements of 4 bytes, 16 for 8 bytes, and 8 for 16. With as many
/// rows and columns as lanes, both rows and columns use all banks. Rows that are shorter than a wavefront are permuted
/// together, as one row of the wavefront's length. Then there are no conflicts if lanes read neighbouring elements, or
/// if each lane reads a row.
template <int ElementBytes, int RowElements>
struct SwizzledLayout {
  static_assert(ElementBytes == 4 || ElementBytes == 8 || ElementBytes == 16,
                "SwizzledLayout is for elements of 4, 8 or 16 bytes: use PaddedLayout for other elements");
  static_assert(RowElements > 0 && (RowElements & (RowElements - 1)) == 0,
                "SwizzledLayout: RowElements must be a power of two: use PaddedMatrixLayout for other rows");
  static constexpr int lanes = lanes_per_wavefront(ElementBytes);        ///< Lanes of a wavefront.
  static constexpr int row_elements = detail::most(RowElements, lanes);  ///< Elements of a permuted row.

  /// Returns the position of an element, numbered by rows.
  STRATA_HD constexpr int operator()(int index) const {
    return index ^ detail::remainder(detail::quotient(index, row_elements), lanes);
  }
  /// Returns the position of the element in a row and column.
  STRATA_HD constexpr int operator()(int row, int column) const { return (*this)(row * RowElements + column); }
  /// Returns how many elements of storage `elements` elements need: whole wavefronts.
  STRATA_HD static constexpr int storage_elements(int elements) { return (elements + lanes - 1) / lanes * lanes; }
};

/// Layout of tiles that threads write striped and read blocked, or the other way round. Both ways are free of
/// conflicts, with any `ItemsPerThread` and any `sizeof(T)`.
///
/// The elements of this layout are called units. A unit is the widest access that the alignment of `T` allows, and at
/// least 4 bytes if the item is not one access.
/// - An item that is one access (1, 2, 4, 8 or 16 bytes) fills one unit. Any other item is accessed in
///   pieces and fills an odd number of units, so that neighbours begin in different banks.
/// - A wavefront has c columns: the number of units in 128 bytes. Blocked accesses have a stride of n units. (If units
///   have less than 4 bytes, c, n and the padding count words instead.) With g = gcd(n, c) they use every g-th column
///   and return to the first after c / g lanes. If g is above 1, there is one unit of padding at this point, after
///   every lcm(n, c) units: it shifts the next c / g lanes to columns not used yet. It lies between two wavefronts of
///   striped accesses, which stay free of conflicts.
/// - Several items below 4 bytes lie in one word. Where a warp's items exceed 32 words, the items of a thread
///   are rounded up to whole words. A wavefront of striped accesses reads 32 items of 1 or 2 bytes. Without gaps they
///   fill at most 16 words. With gaps they still lie within 32 neighbouring words, so the gaps cause no conflicts.
///
/// One storage serves any number of threads, unless `GroupThreads`, a power of two, is below 32. Then
/// storages form an array, one for each group of `GroupThreads` threads, and all groups of a warp access
/// theirs by the same instructions. A group's items lie as if a wavefront had `GroupThreads` columns (or c,
/// if that is less). If `GroupThreads` is below c, and a warp's items exceed 32 words, the size of a storage is an odd
/// multiple of these columns, so that the next group's lanes use the next columns. There is one exception: striped
/// accesses of groups of 2 threads to items below 4 bytes may take 2 wavefronts instead of 1.
template <class T, int ItemsPerThread, int GroupThreads = 32>
struct ExchangeLayout {
  static_assert(ItemsPerThread > 0, "ExchangeLayout needs at least one item per thread");
  static_assert(GroupThreads > 0 && GroupThreads <= 32 && detail::is_power_of_two(GroupThreads),
                "ExchangeLayout: GroupThreads must be a power of two up to 32: pass 32 for groups of another size");
  static constexpr int item_bytes = static_cast<int>(sizeof(T));  ///< Bytes of an item.
  /// True if one instruction accesses an item.
  static constexpr bool is_one_access = detail::is_access_size(item_bytes) && alignof(T) == sizeof(T);
  /// Bytes of a unit. An alignment above 16 bytes does not make accesses wider.
  static constexpr int unit_bytes = is_one_access     ? item_bytes
                                    : alignof(T) > 16 ? 16
                                    : alignof(T) < 4  ? 4
                                                      : static_cast<int>(alignof(T));
  /// Units of an item.
  static constexpr int units_per_item = is_one_access ? 1 : detail::ceiling_divide(item_bytes, unit_bytes) | 1;

 private:
  static constexpr int per_word = unit_bytes < 4 ? 4 / unit_bytes : 1;
  static constexpr int all_columns = lanes_per_wavefront(unit_bytes);
  static constexpr int columns = detail::least(GroupThreads, all_columns);
  static constexpr int units_per_thread = ItemsPerThread * units_per_item;
  static constexpr bool fits_one_wavefront = 32 * units_per_thread * unit_bytes <= 128;

 public:
  /// Units from a thread's first item to the next thread's first item, without padding.
  static constexpr int pitch = fits_one_wavefront ? units_per_thread : detail::round_up(units_per_thread, per_word);

 private:
  // The g of the description. It counts words if units have less than 4 bytes, otherwise units.
  static constexpr int common = fits_one_wavefront ? 1 : detail::greatest_common_divisor(pitch / per_word, columns);

 public:
  /// Unused units after the items of every `threads_per_pad` threads.
  static constexpr int pad = common == 1 ? 0 : per_word;
  static constexpr int threads_per_pad = common == 1 ? 1 : columns / common;  ///< Threads between two gaps.

  /// The position of an item's first unit. Most layouts have one kind of gap, and so need one division.
  STRATA_HD constexpr int operator()(int index) const {
    return index * units_per_item + detail::quotient(index, ItemsPerThread) * (pitch - units_per_thread) +
           detail::quotient(index, ItemsPerThread * threads_per_pad) * pad;
  }
  /// The position of the first unit of the first item of a thread. It takes no division by the items per thread.
  STRATA_HD static constexpr int of_thread(int thread) {
    return thread * pitch + detail::quotient(thread, threads_per_pad) * pad;
  }
  /// Returns how many units of storage `items` items need.
  STRATA_HD static constexpr int storage_elements(int items) {
    if (items <= 0) return 0;
    const int used = ExchangeLayout{}(items - 1) + units_per_item;
    if (GroupThreads == 32) return used;
    if (fits_one_wavefront || GroupThreads >= all_columns) return detail::round_up(used, per_word);
    return (detail::ceiling_divide(used, columns * per_word) | 1) * columns * per_word;
  }
};

namespace detail {

template <class Layout, class... Patterns>
inline constexpr bool is_free_of_conflicts = !(detail::has_conflicts(Layout{}, Patterns{}) || ...);

struct no_free_layout {
  STRATA_HD static constexpr int storage_elements(int) { return 0; }
};

// The first of the candidates that is free of conflicts for all patterns.
template <class... Candidates>
struct candidate_layouts {
  template <class...>
  struct first_free {
    using type = no_free_layout;
  };
};
template <class Candidate, class... Others>
struct candidate_layouts<Candidate, Others...> {
  template <class... Patterns>
  struct first_free {
    using type = typename std::conditional_t<is_free_of_conflicts<Candidate, Patterns...>, candidate_layouts<Candidate>,
                                             candidate_layouts<Others...>>::template first_free<Patterns...>::type;
  };
};
template <class Candidate>
struct candidate_layouts<Candidate> {
  template <class... Patterns>
  struct first_free {
    using type = std::conditional_t<is_free_of_conflicts<Candidate, Patterns...>, Candidate, no_free_layout>;
  };
};

template <int ElementBytes>
struct layouts_to_try {
  using type = candidate_layouts<PlainLayout, PaddedLayout<128 / ElementBytes, 4 / ElementBytes>>;
};
template <>
struct layouts_to_try<4> {
  using type = candidate_layouts<PlainLayout, SwizzledLayout<4, 32>, PaddedLayout<32, 1>>;
};
template <>
struct layouts_to_try<8> {
  using type = candidate_layouts<PlainLayout, SwizzledLayout<8, 16>, PaddedLayout<16, 1>>;
};
template <>
struct layouts_to_try<16> {
  using type = candidate_layouts<PlainLayout, SwizzledLayout<16, 8>, PaddedLayout<8, 1>>;
};

// A PaddedMatrixLayout whose pitch is a value. A loop over types would take longer to compile.
struct matrix_of_pitch {
  int pitch;
  STRATA_HD constexpr int operator()(int row, int column) const { return row * pitch + column; }
};

/// Returns the smallest padding of the rows of a matrix, in elements, with which none of the patterns has conflicts, or
/// -1 if there is none. The search ends at the number of lanes of a wavefront. With elements of 4 bytes or more, banks
/// repeat from there on. With smaller elements, the search has tried a pitch of an odd number of words by then.
template <class Pattern, class... Patterns>
STRATA_HD constexpr int least_free_pad(int columns, const Pattern& pattern, const Patterns&... patterns) {
  for (int pad = 0; pad <= strata::lanes_per_wavefront(Pattern::element_bytes); ++pad) {
    const matrix_of_pitch layout{columns + pad};
    if (!(detail::has_conflicts(layout, pattern) || ... || detail::has_conflicts(layout, patterns))) return pad;
  }
  return -1;
}

template <int ElementBytes, int Rows, int Columns>
struct conflict_free_matrix {
  static constexpr int pad = detail::least_free_pad(Columns, column_access<ElementBytes, Rows, Columns>{},
                                                    row_access<ElementBytes, Rows, Columns>{});
  // not for users: a pitch of an odd number of words is always found.
  static_assert(pad >= 0, "there is no padding with which both rows and columns are free of conflicts");
  using type = PaddedMatrixLayout<Rows, Columns, pad>;
};

template <class Pattern, class... Patterns>
struct conflict_free_layout {
  static_assert(((Patterns::element_bytes == Pattern::element_bytes) && ...),
                "the patterns of one layout must have the same element_bytes");
  using type = typename layouts_to_try<Pattern::element_bytes>::type::template first_free<Pattern, Patterns...>::type;
  static_assert(!std::is_same_v<type, no_free_layout>,
                "no plain, padded or swizzled layout is free of conflicts for these patterns: change the stride, or "
                "use ExchangeLayout for blocked and striped access");
};

}  // namespace detail

/// The first of plain, swizzled and padded layouts that is free of conflicts for all of the patterns, which
/// access elements by index.
template <class... Patterns>
using ConflictFreeLayout = typename detail::conflict_free_layout<Patterns...>::type;

/// A matrix whose rows and columns are free of conflicts, with the smallest padding per row.
template <int ElementBytes, int Rows, int Columns>
using ConflictFreeMatrixLayout = typename detail::conflict_free_matrix<ElementBytes, Rows, Columns>::type;

/// Storage for `Items` items at the positions of `Layout`, which are accessed as `T` or as pieces of it. It begins
/// at a multiple of 4 bytes whatever the size of an item, because layouts assume the beginning of a bank. Its alignment
/// is that of a unit, also if `T` has a larger one: otherwise there could be gaps between the storages of an array.
template <class T, class Layout, int Items>
struct alignas(detail::most(Layout::unit_bytes, 4)) LayoutStorage {
  unsigned char bytes[static_cast<std::size_t>(Layout::storage_elements(Items)) * Layout::unit_bytes];

  /// Returns the element of an index.
  STRATA_HD T& operator[](int index) {
    static_assert(alignof(T) <= 16,
                  "LayoutStorage aligns items to at most 16 bytes: access an item of a larger alignment as several "
                  "smaller pieces");
    return *reinterpret_cast<T*>(bytes + Layout{}(index)*Layout::unit_bytes);
  }
};

STRATA_NAMESPACE_END
