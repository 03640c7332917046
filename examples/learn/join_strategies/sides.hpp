// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace join_strategies {

/// The joins, from three ways to write the result of one table to the library's strategies.
enum class step { by_row, by_warp, by_block, simple, one_pass, two_passes };
constexpr int steps = 6;

/// All pointers are to device memory. The outputs have room for as many rows as the probe side has.
struct join_arguments {
  const unsigned* build_keys;
  int build_rows;
  const unsigned* probe_keys;
  int probe_rows;
  int* build_out;
  int* probe_out;
  unsigned long long* total;
};

/// Joins once, and returns how many atomic additions were made to `*total`.
unsigned long long count_additions(step which, const join_arguments& join);

}  // namespace join_strategies
