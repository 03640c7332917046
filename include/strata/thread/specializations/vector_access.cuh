// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/item_vector.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The `Items` consecutive items of a thread as words. Their size is the largest power of two, up to 16 bytes, that
/// divides the bytes of all items.
template <class T, std::size_t Items>
struct vector_access {
  static constexpr std::size_t bytes = sizeof(T) * Items;
  static constexpr std::size_t lowest_bit = bytes & (~bytes + 1);
  static constexpr std::size_t width = detail::least(lowest_bit, 16);
  static constexpr std::size_t words = bytes / width;
  using word = item_vector<unsigned char, static_cast<int>(width)>;

  /// True if `T` is trivially relocatable, and words are wider than the accesses that the compiler may use for an item.
  static constexpr bool worthwhile = is_trivially_relocatable_v<T> && width > alignof(T);

  /// The block's first item decides for all threads: their items begin at multiples of `width` bytes behind it.
  STRATA_HD static bool aligned(const T* block_items) {
    return reinterpret_cast<std::uintptr_t>(block_items) % width == 0;
  }

  STRATA_D static void load(const T* from, T (&items)[Items]) {
    word buffer[words];
    STRATA_UNROLL
    for (std::size_t i = 0; i < words; ++i) buffer[i].load(reinterpret_cast<const unsigned char*>(from) + i * width);
    std::memcpy(static_cast<void*>(items), buffer, bytes);
  }

  STRATA_D static void store(T* to, const T (&items)[Items]) {
    word buffer[words];
    std::memcpy(buffer, items, bytes);
    STRATA_UNROLL
    for (std::size_t i = 0; i < words; ++i) buffer[i].store(reinterpret_cast<unsigned char*>(to) + i * width);
  }
};

/// True if `Iterator` is a plain pointer to items of type `T`.
template <class Iterator, class T>
inline constexpr bool is_pointer_to = std::is_same_v<Iterator, T*> || std::is_same_v<Iterator, const T*>;

}  // namespace detail
STRATA_NAMESPACE_END
