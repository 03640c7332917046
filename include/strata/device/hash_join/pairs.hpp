// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/overlap.hpp>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Kinds whose result names the partners.
STRATA_HD constexpr bool has_pairs(JoinKind kind) {
  return kind == JoinKind::inner || kind == JoinKind::left || kind == JoinKind::full;
}

/// Writes pairs of rows; the build rows only if somebody wants them.
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
bool join_outputs_are_valid(JoinKind kind, const Index* build_out, const Index* probe_out,
                            std::int64_t capacity, const Key* build_keys, std::int64_t build_rows,
                            const Key* probe_keys, std::int64_t probe_rows) {
  if (capacity <= 0) return true;
  if (probe_out == nullptr || (build_out == nullptr && has_pairs(kind))) return false;
  const auto bytes = [](const auto* items, std::int64_t count) {
    return detail::bytes_of(items, count > 0 ? static_cast<std::size_t>(count) : 0);
  };
  const byte_range build = bytes(build_keys, build_rows), probe = bytes(probe_keys, probe_rows),
                   outs[] = {bytes(build_out, capacity), bytes(probe_out, capacity)};
  for (const byte_range& out : outs) {
    if (have_common_bytes(out, build) || have_common_bytes(out, probe)) return false;
  }
  return !have_common_bytes(outs[0], outs[1]);
}

}  // namespace detail
STRATA_NAMESPACE_END
