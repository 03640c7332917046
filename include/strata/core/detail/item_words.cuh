// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The type that a thread loads or stores in one access of `Bytes` bytes: 1, 2, 4, 8 or 16. The larger
/// ones are vectors, which need no 64-bit registers and no 128-bit integers.
template <std::size_t Bytes>
struct access_word_of : unsigned_of_bytes<Bytes> {};
template <>
struct access_word_of<8> {
  using type = uint2;
};
template <>
struct access_word_of<16> {
  using type = uint4;
};

template <std::size_t Bytes>
using access_word = typename access_word_of<Bytes>::type;

/// An item as an array of `Word`s. If its size is not a multiple of theirs, the last word is filled up with 0.
///
/// clang 19 removes the memcpy between the item and its words. An access to a word then becomes an access to the item,
/// but still with the type `Word`. By these types, clang assumes that the two accesses are to different objects, and
/// may reorder them. The fences prevent that. On a GPU, both are in registers.
template <class T, class Word>
struct item_words {
  static constexpr std::size_t count = (sizeof(T) + sizeof(Word) - 1) / sizeof(Word);
  Word word[count];

  item_words() = default;
  STRATA_D explicit item_words(const T& item) {
    if constexpr (sizeof(T) % sizeof(Word) != 0) word[count - 1] = Word{};
    std::memcpy(word, &item, sizeof(T));
    platform::compiler_fence(word);
  }
  STRATA_D T value() const {
    // This is a union because T need not have a default constructor.
    union storage {
      T object;
      unsigned char bytes[sizeof(T)];
      STRATA_D storage() {}
    } result;
    platform::compiler_fence(word);
    std::memcpy(result.bytes, word, sizeof(T));
    return result.object;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
