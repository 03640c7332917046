// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reference joins, which are right because they are simple.
#pragma once

#include <strata/device/join/common/join_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace join_oracles {

using strata::JoinKind;
using strata::JoinOrder;

constexpr JoinKind every_kind[] = {JoinKind::inner, JoinKind::left, JoinKind::full, JoinKind::semi, JoinKind::anti};

// A side whose keys are given by numbers: different numbers, different keys.
struct side_ids {
  std::vector<std::uint32_t> ids;
  // The rows that have no key; empty if all rows have one.
  std::vector<bool> null;

  bool is_null(std::size_t row) const { return !null.empty() && null[row]; }

  std::vector<std::uint32_t> valid_words() const {
    // Bits after the last row are set: a join must not read them.
    std::vector<std::uint32_t> words(ids.size() / 32 + 1, ~std::uint32_t{0});
    for (std::size_t row = 0; row < ids.size(); ++row) {
      if (is_null(row)) words[row / 32] &= ~(std::uint32_t{1} << (row % 32));
    }
    return words;
  }
};

// A build row and a probe row, -1 if there is none.
using row_pair = std::pair<std::int64_t, std::int64_t>;
using row_pairs = std::vector<row_pair>;

// Adds to the result what a probe row with these partners contributes.
inline void put_probe_row(JoinKind kind, std::size_t probe_row, const std::vector<std::size_t>& partners,
                          row_pairs& out) {
  const auto row = static_cast<std::int64_t>(probe_row);
  const bool alone = partners.empty();
  if (kind == JoinKind::semi || kind == JoinKind::anti) {
    if (alone == (kind == JoinKind::anti)) out.emplace_back(-1, row);
    return;
  }
  for (const std::size_t partner : partners) {
    out.emplace_back(static_cast<std::int64_t>(partner), row);
  }
  if (alone && kind != JoinKind::inner) out.emplace_back(-1, row);
}

inline void put_lonely_build_rows(JoinKind kind, const std::vector<bool>& found, row_pairs& out) {
  for (std::size_t row = 0; row < found.size() && kind == JoinKind::full; ++row) {
    if (!found[row]) out.emplace_back(static_cast<std::int64_t>(row), -1);
  }
}

// Joins by comparing each row with each. The result is in the order of the probe rows.
inline row_pairs nested_loop_join(JoinKind kind, const side_ids& build, const side_ids& probe, bool nulls_equal) {
  row_pairs out;
  std::vector<bool> found(build.ids.size());
  for (std::size_t p = 0; p < probe.ids.size(); ++p) {
    std::vector<std::size_t> partners;
    for (std::size_t b = 0; b < build.ids.size(); ++b) {
      const bool equal = build.is_null(b) || probe.is_null(p) ? nulls_equal && build.is_null(b) && probe.is_null(p)
                                                              : build.ids[b] == probe.ids[p];
      if (!equal) continue;
      partners.push_back(b);
      found[b] = true;
    }
    put_probe_row(kind, p, partners, out);
  }
  put_lonely_build_rows(kind, found, out);
  return out;
}

// Joins larger sides, in which all rows have keys, by sorting the build rows.
inline row_pairs sort_merge_join(JoinKind kind, const side_ids& build, const side_ids& probe) {
  std::vector<std::size_t> sorted(build.ids.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&build](std::size_t a, std::size_t b) { return build.ids[a] < build.ids[b]; });
  std::vector<std::size_t> probe_order(probe.ids.size());
  std::iota(probe_order.begin(), probe_order.end(), std::size_t{0});
  std::stable_sort(probe_order.begin(), probe_order.end(),
                   [&probe](std::size_t a, std::size_t b) { return probe.ids[a] < probe.ids[b]; });
  // The range of each probe row's partners in `sorted`.
  std::vector<std::pair<std::size_t, std::size_t>> ranges(probe.ids.size());
  std::vector<bool> found(build.ids.size());
  std::size_t first = 0;
  std::size_t last = 0;
  for (const std::size_t p : probe_order) {
    const std::uint32_t id = probe.ids[p];
    while (first < sorted.size() && build.ids[sorted[first]] < id) ++first;
    if (last < first) last = first;
    while (last < sorted.size() && build.ids[sorted[last]] == id) found[sorted[last++]] = true;
    ranges[p] = {first, last};
  }
  row_pairs out;
  for (std::size_t p = 0; p < probe.ids.size(); ++p) {
    const auto iterator_at = [&sorted](std::size_t i) { return sorted.begin() + static_cast<std::ptrdiff_t>(i); };
    put_probe_row(kind, p, {iterator_at(ranges[p].first), iterator_at(ranges[p].second)}, out);
  }
  put_lonely_build_rows(kind, found, out);
  return out;
}

// Returns the key of each id of a side.
template <class Key, class MakeKey>
std::vector<Key> keys_of(const side_ids& side, MakeKey make_key) {
  std::vector<Key> keys;
  keys.reserve(side.ids.size());
  for (const std::uint32_t id : side.ids) keys.push_back(make_key(id));
  return keys;
}

}  // namespace join_oracles
