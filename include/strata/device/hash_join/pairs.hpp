// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/arguments/arrays.hpp>
#include <strata/device/hash_join/join_types.hpp>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Kinds whose result has a row for each pair of partners.
STRATA_HD constexpr bool has_pairs(JoinKind kind) {
  return kind == JoinKind::inner || kind == JoinKind::left || kind == JoinKind::full;
}

/// Writes pairs of rows. `build_out` is null if build rows are not wanted.
template <class Index>
struct join_pairs_sink {
  Index* build_out;
  Index* probe_out;

  STRATA_HD void operator()(std::int64_t position, Index build_row, Index probe_row) const {
    if (build_out != nullptr) build_out[position] = build_row;
    probe_out[position] = probe_row;
  }
};

template <class Key, class Index>
bool join_outputs_are_valid(JoinKind kind, const Index* build_out, const Index* probe_out, const std::int64_t* num_out,
                            std::int64_t capacity, const Key* build_keys, std::int64_t build_rows,
                            const Key* probe_keys, std::int64_t probe_rows) {
  if (capacity > 0 && (probe_out == nullptr || (build_out == nullptr && has_pairs(kind)))) {
    return false;
  }
  return !detail::outputs_overlap(
      {detail::bytes_of(build_out, capacity), detail::bytes_of(probe_out, capacity), detail::bytes_of(num_out, 1)},
      {detail::bytes_of(build_keys, build_rows), detail::bytes_of(probe_keys, probe_rows)});
}

}  // namespace detail
STRATA_NAMESPACE_END
