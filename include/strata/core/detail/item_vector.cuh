// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// `Count` neighbouring items that a thread loads or stores in one access. Together they have 1, 2, 4, 8 or 16 bytes.
template <class T, int Count>
struct item_vector {
  using word = access_word<Count * sizeof(T)>;
  word bits;

  template <class U>
  STRATA_D void get(U (&items)[Count]) const {
    std::memcpy(static_cast<void*>(items), &bits, sizeof(bits));
  }
  template <class U>
  STRATA_D void set(const U (&items)[Count]) {
    std::memcpy(&bits, static_cast<const void*>(items), sizeof(bits));
  }
  STRATA_D void load(const T* from) {
#if STRATA_HOST_SIMT
    // A copy, because the host compiler may assume that no T is read as a word.
    platform::expect_aligned(from, sizeof(bits));
    std::memcpy(&bits, STRATA_DETAIL_ASSUME_ALIGNED(static_cast<const void*>(from), sizeof(bits)), sizeof(bits));
#else
    bits = *reinterpret_cast<const word*>(from);
#endif
  }
  STRATA_D void store(T* to) const {
#if STRATA_HOST_SIMT
    platform::expect_aligned(to, sizeof(bits));
    std::memcpy(STRATA_DETAIL_ASSUME_ALIGNED(static_cast<void*>(to), sizeof(bits)), &bits, sizeof(bits));
#else
    *reinterpret_cast<word*>(to) = bits;
#endif
  }
  /// Stores the items to global memory. The compiler may split a plain store into one for each component of the word,
  /// even where it knows that the address is aligned.
  STRATA_D void store_global(T* to) const {
#if STRATA_HOST_SIMT || STRATA_CLANG_CUDA
    store(to);
#else
    __stwb(reinterpret_cast<word*>(to), bits);
#endif
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
