// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Items and an operator that detect calls of the operator that a scan must not make.
#pragma once

#include <strata/core/platform.cuh>

#include <ostream>

namespace strata_test {

// A range of consecutive numbers. Joining ranges is associative and not commutative. `join_ranges` counts calls with an
// input after the last valid one, with operands out of order, and with an item that was joined before.
struct range {
  int first, last;
  STRATA_HD friend bool operator==(const range& a, const range& b) { return a.first == b.first && a.last == b.last; }
  friend std::ostream& operator<<(std::ostream& out, const range& s) { return out << s.first << " .. " << s.last; }
};

struct join_ranges {
  int* wrong_calls;
  STRATA_D range operator()(const range& a, const range& b) const {
    if (a.first < 0 || a.last + 1 != b.first) atomicAdd(wrong_calls, 1);
    return {a.first, b.last};
  }
};

STRATA_HD range no_item() { return {-1000, -1000}; }
STRATA_HD range untouched() { return {-2000, -2000}; }

}  // namespace strata_test
