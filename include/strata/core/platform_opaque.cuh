// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/item_words.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/standard.hpp>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// Returns `value`. The compiler does not know that the result equals it. No instruction.
template <class T>
STRATA_D T opaque(const T& value) {
#if STRATA_DEVICE_PASS
  strata::detail::item_words<T, unsigned> words(value);
  STRATA_UNROLL
  for (std::size_t i = 0; i < strata::detail::item_words<T, unsigned>::count; ++i) {
    asm("" : "+r"(words.word[i]));
  }
  return words.value();
#else
  return value;
#endif
}

}  // namespace platform
STRATA_NAMESPACE_END
