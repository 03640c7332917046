// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

template <std::size_t Bytes>
struct vector_word {
  using type = unsigned char;
};
template <>
struct vector_word<2> {
  using type = unsigned short;
};
template <>
struct vector_word<4> {
  using type = unsigned;
};
template <>
struct vector_word<8> {
  using type = uint2;
};
template <>
struct vector_word<16> {
  using type = uint4;
};

/// The `Items` consecutive items of a thread as the widest words that their bytes are a multiple
/// of.
template <class T, std::size_t Items>
struct vector_access {
  static constexpr std::size_t bytes = sizeof(T) * Items;
  static constexpr std::size_t lowest_bit = bytes & (~bytes + 1);
  static constexpr std::size_t width = lowest_bit < 16 ? lowest_bit : 16;
  static constexpr std::size_t words = bytes / width;
  using word = typename vector_word<width>::type;

  /// Whether words are wider than what the compiler may use for an item anyway.
  static constexpr bool worthwhile = is_trivially_relocatable_v<T> && width > alignof(T);

  /// A block's first item decides for all threads, which are a multiple of `width` bytes apart.
  STRATA_HD static bool aligned(const T* block_items) {
    return reinterpret_cast<std::uintptr_t>(block_items) % width == 0;
  }

  STRATA_D static void load(const T* from, T (&items)[Items]) {
    word buffer[words];
    STRATA_UNROLL
    for (std::size_t i = 0; i < words; ++i) {
#if STRATA_HOST_SIMT
      // The host compiler may take it that a T is not read as a word. As on a GPU, a misaligned
      // word faults.
      const void* const place = reinterpret_cast<const char*>(from) + i * width;
      std::memcpy(&buffer[i], __builtin_assume_aligned(place, width), width);
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
      void* const place = reinterpret_cast<char*>(to) + i * width;
      std::memcpy(__builtin_assume_aligned(place, width), &buffer[i], width);
#else
      reinterpret_cast<word*>(to)[i] = buffer[i];
#endif
    }
  }
};

/// Whether `Iterator` is a plain pointer to items of type `T`.
template <class Iterator, class T>
inline constexpr bool is_pointer_to =
    std::is_same_v<Iterator, T*> || std::is_same_v<Iterator, const T*>;

}  // namespace detail
STRATA_NAMESPACE_END
