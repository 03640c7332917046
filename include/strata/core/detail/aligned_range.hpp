// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

/// \file
/// Where an array can be accessed 16 bytes at a time. strata's widest load or store of a thread has 16 bytes, and bulk
/// copies move multiples of 16 bytes; both need addresses that are multiples of 16.

STRATA_NAMESPACE_BEGIN
namespace detail {

inline constexpr int vector_bytes = 16;

/// True if items of `Iterator` may be moved 16 bytes at a time: it is a pointer, 16 bytes hold whole items,
/// and the bytes of the items may be copied.
template <class Iterator>
inline constexpr bool is_bulk_array = false;
template <class T>
inline constexpr bool is_bulk_array<T*> = vector_bytes % sizeof(T) == 0 && is_trivially_relocatable_v<T> &&
                                          !std::is_volatile_v<T>;

/// True if the first item of an array lies on a 16-byte boundary. False for iterators that are
/// not pointers.
template <class Iterator>
STRATA_HD bool is_at_boundary(const Iterator& iterator) {
  if constexpr (std::is_pointer_v<Iterator>) {
    return reinterpret_cast<std::uintptr_t>(iterator) % vector_bytes == 0;
  } else {
    return false;
  }
}

/// An array whose items are cut at 16-byte boundaries. `Size` is the type of the counts of items.
///
///     items     0 .. head | head .. body_end() | body_end() .. count
///               singly    | 16 bytes at a time | singly
///
/// 16 bytes hold whole items: `is_bulk_array<T*>`.
template <class T, class Size>
struct aligned_range {
  static constexpr Size width = static_cast<Size>(vector_bytes / sizeof(T));  // items in 16 bytes

  Size head;
  Size vectors;  // in the body, of `width` items each

  STRATA_HD aligned_range(const T* first, Size count) {
    const Size before = items_before_boundary(first);
    head = detail::least(before, count);
    vectors = (count - head) / width;
  }
  STRATA_HD Size body_end() const { return head + vectors * width; }

  /// True if some item begins on a boundary. A struct may have a smaller alignment than its size, and then every
  /// boundary may lie within an item.
  STRATA_HD static bool has_boundary(const T* first) {
    return bytes_behind_boundary(first) % static_cast<Size>(sizeof(T)) == 0;
  }
  /// Returns the number of items before the first boundary of an array that has one, however long the array is.
  STRATA_HD static Size items_before_boundary(const T* first) {
    constexpr auto bytes = static_cast<Size>(vector_bytes);
    return (bytes - bytes_behind_boundary(first)) % bytes / static_cast<Size>(sizeof(T));
  }

 private:
  STRATA_HD static Size bytes_behind_boundary(const T* first) {
    return static_cast<Size>(reinterpret_cast<std::uintptr_t>(first) % vector_bytes);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
