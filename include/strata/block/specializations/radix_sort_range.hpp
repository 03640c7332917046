// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The bits that a block sorts by.
template <class Decomposer>
struct radix_sort_bits {
  Decomposer decomposer;
  int begin_bit;
  int end_bit;
};

/// Reads the range arguments of BlockRadixSort: nothing, bits, a decomposer, or a decomposer and bits. There is no
/// `of` for other arguments.
template <class Key>
struct radix_sort_range {
  template <class Decomposer>
  using if_decomposer = std::enable_if_t<std::is_invocable_v<const Decomposer&, Key&>, radix_sort_bits<Decomposer>>;

  STRATA_HD static radix_sort_bits<identity_decomposer> of() { return {{}, 0, RadixTraits<Key>::bits}; }
  STRATA_HD static radix_sort_bits<identity_decomposer> of(int begin_bit) {
    return {{}, begin_bit, RadixTraits<Key>::bits};
  }
  STRATA_HD static radix_sort_bits<identity_decomposer> of(int begin_bit, int end_bit) {
    return {{}, begin_bit, end_bit};
  }
  template <class Decomposer>
  STRATA_HD static if_decomposer<Decomposer> of(const Decomposer& decomposer) {
    return {decomposer, 0, radix_digits<Key, false, Decomposer>::key_bits};
  }
  template <class Decomposer>
  STRATA_HD static if_decomposer<Decomposer> of(const Decomposer& decomposer, int begin_bit, int end_bit) {
    return {decomposer, begin_bit, end_bit};
  }
};

/// Which of a thread's items are valid.
struct all_items {
  STRATA_HD bool operator()(int) const { return true; }
};
struct first_items {
  int first_of_thread;
  int valid_items;

  STRATA_HD bool operator()(int i) const { return first_of_thread + i < valid_items; }
};

}  // namespace detail
STRATA_NAMESPACE_END
