// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

/// \file
/// Loads and stores that say which caches keep the line, as the PTX instructions `ld` and `st` do.

STRATA_NAMESPACE_BEGIN

/// How a load uses the caches. The loaded value does not depend on it, unless others write the memory meanwhile.
enum CacheLoadModifier {
  LOAD_DEFAULT,   ///< the compiler's choice
  LOAD_CA,        ///< all levels keep the line (`ld.ca`)
  LOAD_CG,        ///< L2 keeps the line, L1 does not (`ld.cg`)
  LOAD_CS,        ///< the line is likely read once: it is evicted first (`ld.cs`)
  LOAD_CV,        ///< fetched anew, whatever a cache holds (`ld.cv`)
  LOAD_LDG,       ///< through the read-only cache (`ld.global.nc`): global memory that the kernel does not write
  LOAD_VOLATILE,  ///< neither left out nor merged with another (`ld.volatile`)
};

/// How a store uses the caches. The stored value does not depend on it.
enum CacheStoreModifier {
  STORE_DEFAULT,   ///< the compiler's choice
  STORE_WB,        ///< written back later, by all coherent levels (`st.wb`)
  STORE_CG,        ///< L2 keeps the line, L1 does not (`st.cg`)
  STORE_CS,        ///< the line is likely accessed once: it is evicted first (`st.cs`)
  STORE_WT,        ///< written through to system memory (`st.wt`)
  STORE_VOLATILE,  ///< neither left out nor merged with another (`st.volatile`)
};

namespace platform {

template <CacheLoadModifier Modifier>
using load_modifier = std::integral_constant<CacheLoadModifier, Modifier>;
template <CacheStoreModifier Modifier>
using store_modifier = std::integral_constant<CacheStoreModifier, Modifier>;

// Loads and stores of a word of 1, 2, 4, 8 or 16 aligned bytes.
#if STRATA_DEVICE_PASS
// LOAD_LDG reads global memory only and has no clobber. In all other loads, addresses are generic, so shared memory
// works too, and the clobber keeps a load after the stores that precede it.
#define STRATA_DETAIL_LOAD_WORD(modifier, ptx, clobber)                                       \
  STRATA_D std::uint8_t load_word(load_modifier<modifier>, const std::uint8_t* p) {           \
    unsigned v;                                                                               \
    asm volatile("ld." ptx ".u8 %0, [%1];" : "=r"(v) : "l"(p)clobber);                        \
    return static_cast<std::uint8_t>(v);                                                      \
  }                                                                                           \
  STRATA_D std::uint16_t load_word(load_modifier<modifier>, const std::uint16_t* p) {         \
    std::uint16_t v;                                                                          \
    asm volatile("ld." ptx ".u16 %0, [%1];" : "=h"(v) : "l"(p)clobber);                       \
    return v;                                                                                 \
  }                                                                                           \
  STRATA_D std::uint32_t load_word(load_modifier<modifier>, const std::uint32_t* p) {         \
    std::uint32_t v;                                                                          \
    asm volatile("ld." ptx ".u32 %0, [%1];" : "=r"(v) : "l"(p)clobber);                       \
    return v;                                                                                 \
  }                                                                                           \
  STRATA_D uint2 load_word(load_modifier<modifier>, const uint2* p) {                         \
    uint2 v;                                                                                  \
    asm volatile("ld." ptx ".v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p)clobber); \
    return v;                                                                                 \
  }                                                                                           \
  STRATA_D uint4 load_word(load_modifier<modifier>, const uint4* p) {                         \
    uint4 v;                                                                                  \
    asm volatile("ld." ptx ".v4.u32 {%0, %1, %2, %3}, [%4];"                                  \
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                 \
                 : "l"(p)clobber);                                                            \
    return v;                                                                                 \
  }
#define STRATA_DETAIL_ORDERED : "memory"
STRATA_DETAIL_LOAD_WORD(LOAD_CA, "ca", STRATA_DETAIL_ORDERED)
STRATA_DETAIL_LOAD_WORD(LOAD_CG, "cg", STRATA_DETAIL_ORDERED)
STRATA_DETAIL_LOAD_WORD(LOAD_CS, "cs", STRATA_DETAIL_ORDERED)
STRATA_DETAIL_LOAD_WORD(LOAD_CV, "cv", STRATA_DETAIL_ORDERED)
STRATA_DETAIL_LOAD_WORD(LOAD_LDG, "global.nc", )
STRATA_DETAIL_LOAD_WORD(LOAD_VOLATILE, "volatile", STRATA_DETAIL_ORDERED)
#undef STRATA_DETAIL_ORDERED
#undef STRATA_DETAIL_LOAD_WORD

#define STRATA_DETAIL_STORE_WORD(modifier, ptx)                                                               \
  STRATA_D void store_word(store_modifier<modifier>, std::uint8_t* p, std::uint8_t v) {                       \
    asm volatile("st." ptx ".u8 [%0], %1;" ::"l"(p), "r"(static_cast<unsigned>(v)) : "memory");               \
  }                                                                                                           \
  STRATA_D void store_word(store_modifier<modifier>, std::uint16_t* p, std::uint16_t v) {                     \
    asm volatile("st." ptx ".u16 [%0], %1;" ::"l"(p), "h"(v) : "memory");                                     \
  }                                                                                                           \
  STRATA_D void store_word(store_modifier<modifier>, std::uint32_t* p, std::uint32_t v) {                     \
    asm volatile("st." ptx ".u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");                                     \
  }                                                                                                           \
  STRATA_D void store_word(store_modifier<modifier>, uint2* p, uint2 v) {                                     \
    asm volatile("st." ptx ".v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(v.x), "r"(v.y) : "memory");                \
  }                                                                                                           \
  STRATA_D void store_word(store_modifier<modifier>, uint4* p, uint4 v) {                                     \
    asm volatile("st." ptx ".v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) \
                 : "memory");                                                                                 \
  }
STRATA_DETAIL_STORE_WORD(STORE_WB, "wb")
STRATA_DETAIL_STORE_WORD(STORE_CG, "cg")
STRATA_DETAIL_STORE_WORD(STORE_CS, "cs")
STRATA_DETAIL_STORE_WORD(STORE_WT, "wt")
STRATA_DETAIL_STORE_WORD(STORE_VOLATILE, "volatile")
#undef STRATA_DETAIL_STORE_WORD
#else
/// The type of the largest part of a word that a volatile access of C++ reads or writes at once.
template <class Word>
struct volatile_part {
  static constexpr std::size_t bytes = strata::detail::least(sizeof(Word), 8);
  using type STRATA_DETAIL_MAY_ALIAS = typename strata::detail::unsigned_of_bytes<bytes>::type;
};

template <CacheLoadModifier Modifier, class Word>
STRATA_D Word load_word(load_modifier<Modifier>, const Word* p) {
  Word result;
  if constexpr (Modifier == LOAD_VOLATILE || Modifier == LOAD_CV) {
    using part = typename volatile_part<Word>::type;
    for (std::size_t i = 0; i < sizeof(Word) / sizeof(part); ++i) {
      reinterpret_cast<part*>(&result)[i] = reinterpret_cast<const volatile part*>(p)[i];
    }
  } else {
    // A copy, because the host compiler may assume that no item is read as a word.
    platform::expect_aligned(p, sizeof(Word));
    std::memcpy(&result, STRATA_DETAIL_ASSUME_ALIGNED(p, sizeof(Word)), sizeof(Word));
  }
  return result;
}

template <CacheStoreModifier Modifier, class Word>
STRATA_D void store_word(store_modifier<Modifier>, Word* p, Word value) {
  if constexpr (Modifier == STORE_VOLATILE) {
    using part = typename volatile_part<Word>::type;
    for (std::size_t i = 0; i < sizeof(Word) / sizeof(part); ++i) {
      reinterpret_cast<volatile part*>(p)[i] = reinterpret_cast<const part*>(&value)[i];
    }
  } else {
    platform::expect_aligned(p, sizeof(Word));
    std::memcpy(STRATA_DETAIL_ASSUME_ALIGNED(p, sizeof(Word)), &value, sizeof(Word));
  }
}
#endif

}  // namespace platform

namespace detail {

/// An item as words that are as large as its alignment allows.
template <class T>
using access_words = item_words<T, access_word<detail::least(alignof(T), 16)>>;

/// Loads the item at an address, by the instruction of `Modifier`.
template <CacheLoadModifier Modifier, class T>
STRATA_D T load_item(const T* from) {
  if constexpr (Modifier == LOAD_DEFAULT) {
    return *from;
  } else {
    static_assert(is_trivially_relocatable_v<T>,
                  "loads with a cache modifier copy T as bits: specialise strata::is_trivially_relocatable if that "
                  "is correct for T, or use the modifier LOAD_DEFAULT");
    using words = access_words<T>;
    using word = std::remove_reference_t<decltype(words::word[0])>;
    words result;
    STRATA_UNROLL
    for (std::size_t i = 0; i < words::count; ++i) {
      result.word[i] =
          platform::load_word(platform::load_modifier<Modifier>{}, reinterpret_cast<const word*>(from) + i);
    }
    return result.value();
  }
}

/// Writes an item to an address, by the instruction of `Modifier`.
template <CacheStoreModifier Modifier, class T>
STRATA_D void store_item(T* to, const T& item) {
  if constexpr (Modifier == STORE_DEFAULT) {
    *to = item;
  } else {
    static_assert(is_trivially_relocatable_v<T>,
                  "stores with a cache modifier copy T as bits: specialise strata::is_trivially_relocatable if that "
                  "is correct for T, or use the modifier STORE_DEFAULT");
    using words = access_words<T>;
    using word = std::remove_reference_t<decltype(words::word[0])>;
    const words source(item);
    STRATA_UNROLL
    for (std::size_t i = 0; i < words::count; ++i) {
      platform::store_word(platform::store_modifier<Modifier>{}, reinterpret_cast<word*>(to) + i, source.word[i]);
    }
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
