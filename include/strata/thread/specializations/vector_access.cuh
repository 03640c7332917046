// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The `Items` consecutive items of a thread as words, of the largest size that divides their bytes.
template <class T, std::size_t Items>
struct vector_access {
  static constexpr std::size_t bytes = sizeof(T) * Items;
  static constexpr std::size_t lowest_bit = bytes & (~bytes + 1);
  static constexpr std::size_t width = detail::least(lowest_bit, 16);
  static constexpr std::size_t words = bytes / width;
  using word = access_word<width>;

  /// Whether words are wider than the accesses that the compiler may use for an item.
  static constexpr bool worthwhile = is_trivially_relocatable_v<T> && width > alignof(T);

  /// The block's first item decides for all threads: theirs are multiples of `width` bytes behind it.
  STRATA_HD static bool aligned(const T* block_items) {
    return reinterpret_cast<std::uintptr_t>(block_items) % width == 0;
  }

  STRATA_D static void load(const T* from, T (&items)[Items]) {
    word buffer[words];
    STRATA_UNROLL
    for (std::size_t i = 0; i < words; ++i) {
#if STRATA_HOST_SIMT
      // The host compiler may assume that no T is read as a word. As on a GPU, a misaligned word faults.
      const void* const address = reinterpret_cast<const char*>(from) + i * width;
      std::memcpy(&buffer[i], STRATA_DETAIL_ASSUME_ALIGNED(address, width), width);
#else
      buffer[i] = reinterpret_cast<const word*>(from)[i];
#endif
    }
    std::memcpy(static_cast<void*>(items), buffer, bytes);
  }

  STRATA_D static void store(T* to, const T (&items)[Items]) {
    word buffer[words];
    std::memcpy(buffer, items, bytes);
    STRATA_UNROLL
    for (std::size_t i = 0; i < words; ++i) {
#if STRATA_HOST_SIMT
      void* const address = reinterpret_cast<char*>(to) + i * width;
      std::memcpy(STRATA_DETAIL_ASSUME_ALIGNED(address, width), &buffer[i], width);
#else
      reinterpret_cast<word*>(to)[i] = buffer[i];
#endif
    }
  }
};

/// Whether `Iterator` is a plain pointer to items of type `T`.
template <class Iterator, class T>
inline constexpr bool is_pointer_to = std::is_same_v<Iterator, T*> || std::is_same_v<Iterator, const T*>;

}  // namespace detail
STRATA_NAMESPACE_END
