// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace platform {
namespace detail {

template <class T>
using shuffle_words = strata::detail::item_words<T, unsigned>;

}  // namespace detail

#if STRATA_HOST_SIMT
#define STRATA_DETAIL_CALLER , const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define STRATA_DETAIL_CALLED_FROM , file, line
#else
#define STRATA_DETAIL_CALLER
#define STRATA_DETAIL_CALLED_FROM
#endif

#define STRATA_DETAIL_SHUFFLE(name, builtin, Source)                                                             \
  template <class T>                                                                                             \
  STRATA_D T name(unsigned mask, const T& value, Source source, int width = warp_threads STRATA_DETAIL_CALLER) { \
    static_assert(strata::detail::relocatable_requirements<T>::check());                                         \
    if constexpr (std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)) {                               \
      return builtin(mask, value, source, width STRATA_DETAIL_CALLED_FROM);                                      \
    } else {                                                                                                     \
      detail::shuffle_words<T> words(value);                                                                     \
      STRATA_UNROLL                                                                                              \
      for (std::size_t i = 0; i < detail::shuffle_words<T>::count; ++i) {                                        \
        words.word[i] = builtin(mask, words.word[i], source, width STRATA_DETAIL_CALLED_FROM);                   \
      }                                                                                                          \
      return words.value();                                                                                      \
    }                                                                                                            \
  }

/// `__shfl_sync` and its variants for any trivially relocatable type, in 32-bit pieces.
STRATA_DETAIL_SHUFFLE(shuffle, __shfl_sync, int)
STRATA_DETAIL_SHUFFLE(shuffle_up, __shfl_up_sync, unsigned)
STRATA_DETAIL_SHUFFLE(shuffle_down, __shfl_down_sync, unsigned)
STRATA_DETAIL_SHUFFLE(shuffle_xor, __shfl_xor_sync, int)
#undef STRATA_DETAIL_SHUFFLE
#undef STRATA_DETAIL_CALLER
#undef STRATA_DETAIL_CALLED_FROM

}  // namespace platform
STRATA_NAMESPACE_END
