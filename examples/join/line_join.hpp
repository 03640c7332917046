// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "joiner.hpp"
#include "sorted_lines.hpp"

#include <string_view>
#include <vector>

namespace join {

/// Which lines are wanted: those without a partner of either file, and pairs.
struct wanted_lines {
  bool only_first;
  bool only_second;
  bool pairs;
};

/// By keys; of equal ones by lines of the first file, then by those of the second one. `bytes` is
/// where the keys are.
std::vector<line_pair> join_lines(const joiner& device, const wanted_lines& wanted, const sorted_lines& first,
                                  const sorted_lines& second, std::string_view bytes, partners which, int hash_bits);

/// The same by one pass over both files: what a device's join is checked against.
std::vector<line_pair> merge_lines(const wanted_lines& wanted, const sorted_lines& first, const sorted_lines& second,
                                   partners which);

}  // namespace join
