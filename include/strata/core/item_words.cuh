// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/standard.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// An item as an array of `Word`s. If its size is no multiple of theirs, the last one is filled up with 0.
template <class T, class Word>
class item_words {
 public:
  static constexpr std::size_t count = (sizeof(T) + sizeof(Word) - 1) / sizeof(Word);
  Word word[count];

  item_words() = default;
  STRATA_D explicit item_words(const T& item) {
    if constexpr (sizeof(T) % sizeof(Word) != 0) word[count - 1] = Word{};
    std::memcpy(word, &item, sizeof(T));
    order_accesses();
  }
  STRATA_D T value() const {
    // A union, for T need not have a default constructor.
    union storage {
      T object;
      unsigned char bytes[sizeof(T)];
      STRATA_D storage() {}
    } result;
    order_accesses();
    std::memcpy(result.bytes, word, sizeof(T));
    return result.object;
  }

 private:
  // clang 19 leaves out the copy, keeps the type with which the copy is accessed, and then takes accesses to the item
  // and to its words for accesses to different objects. On a GPU both are in registers.
  STRATA_D void order_accesses() const {
#if STRATA_HOST_SIMT
    asm volatile("" : : "r"(word) : "memory");
#endif
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
