// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// `Count` numbers of 16 bits, two in a register. Numbers are set in ascending order of their indices. Loops over them
/// must be unrolled, so that the compiler knows the indices.
template <int Count>
class packed_array {
 public:
  STRATA_D void set(int i, unsigned value) {
    unsigned& word = words_[i / 2];
    word = i % 2 == 0 ? value : word | value << 16;
  }
  STRATA_D unsigned get(int i) const { return i % 2 == 0 ? words_[i / 2] & 0xffff : words_[i / 2] >> 16; }

 private:
  unsigned words_[detail::ceiling_divide(Count, 2)];
};

}  // namespace detail
STRATA_NAMESPACE_END
