// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/device/hash_join/host_join.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace host_join_test {

using strata::HostJoinOptions;
using strata::HostJoinStatus;
using strata::JoinKind;
using strata::JoinOrder;

constexpr JoinKind every_kind[] = {JoinKind::inner, JoinKind::left, JoinKind::full, JoinKind::semi,
                                   JoinKind::anti};

// Sizes at which a few rows have many partitions, slices, chunks and tasks.
constexpr strata::HostJoinTuning tiny_tuning{3, 4, 5, 4, 7};

// A side whose keys are told by numbers: different numbers, different keys.
struct side_ids {
  std::vector<std::uint32_t> ids;
  // Rows that have no key; empty if all have.
  std::vector<bool> null;

  bool is_null(std::size_t row) const { return !null.empty() && null[row]; }

  std::vector<std::uint32_t> valid_words() const {
    // Bits behind the last row are set: nobody may look at them.
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

// What a probe row with these partners adds to the result.
inline void put_probe_row(JoinKind kind, std::size_t probe_row,
                          const std::vector<std::size_t>& partners, row_pairs& out) {
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

// The result in the order of probe rows, by comparing each row with each.
inline row_pairs nested_loop_join(JoinKind kind, const side_ids& build, const side_ids& probe,
                                  bool nulls_equal) {
  row_pairs out;
  std::vector<bool> found(build.ids.size());
  for (std::size_t p = 0; p < probe.ids.size(); ++p) {
    std::vector<std::size_t> partners;
    for (std::size_t b = 0; b < build.ids.size(); ++b) {
      const bool equal = build.is_null(b) || probe.is_null(p)
                             ? nulls_equal && build.is_null(b) && probe.is_null(p)
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

// The same for larger sides, without rows that have no key, by sorting the build rows.
inline row_pairs sort_merge_join(JoinKind kind, const side_ids& build, const side_ids& probe) {
  std::vector<std::size_t> sorted(build.ids.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&build](std::size_t a, std::size_t b) { return build.ids[a] < build.ids[b]; });
  std::vector<std::size_t> asked(probe.ids.size());
  std::iota(asked.begin(), asked.end(), std::size_t{0});
  std::stable_sort(asked.begin(), asked.end(),
                   [&probe](std::size_t a, std::size_t b) { return probe.ids[a] < probe.ids[b]; });
  // Of each probe row, its partners' place in `sorted`.
  std::vector<std::pair<std::size_t, std::size_t>> ranges(probe.ids.size());
  std::vector<bool> found(build.ids.size());
  std::size_t first = 0;
  std::size_t last = 0;
  for (const std::size_t p : asked) {
    const std::uint32_t id = probe.ids[p];
    while (first < sorted.size() && build.ids[sorted[first]] < id) ++first;
    if (last < first) last = first;
    while (last < sorted.size() && build.ids[sorted[last]] == id) found[sorted[last++]] = true;
    ranges[p] = {first, last};
  }
  row_pairs out;
  for (std::size_t p = 0; p < probe.ids.size(); ++p) {
    const auto place = [&sorted](std::size_t i) {
      return sorted.begin() + static_cast<std::ptrdiff_t>(i);
    };
    put_probe_row(kind, p, {place(ranges[p].first), place(ranges[p].second)}, out);
  }
  put_lonely_build_rows(kind, found, out);
  return out;
}

// Storage of exactly so many bytes at an odd address, with arbitrary contents between guards.
class guarded_storage {
 public:
  explicit guarded_storage(std::size_t bytes) : bytes_(bytes), all_(bytes + 1 + guard, 0xa5) {}
  void* get() { return all_.data() + 1; }
  bool guard_is_intact() const {
    return all_[0] == 0xa5 &&
           std::all_of(all_.begin() + 1 + static_cast<std::ptrdiff_t>(bytes_), all_.end(),
                       [](unsigned char byte) { return byte == 0xa5; });
  }

 private:
  static constexpr std::size_t guard = 64;
  std::size_t bytes_;
  std::vector<unsigned char> all_;
};

// The keys that numbers stand for.
template <class Key, class MakeKey>
std::vector<Key> keys_of(const side_ids& side, MakeKey make_key) {
  std::vector<Key> keys;
  keys.reserve(side.ids.size());
  for (const std::uint32_t id : side.ids) keys.push_back(make_key(id));
  return keys;
}

// Keys, and a way to join them; storage is measured, poisoned and guarded.
template <class Key, class Index, class Hash = strata::JoinHash,
          class Equal = strata::detail::host_equality>
class joiner {
 public:
  template <class MakeKey>
  joiner(const side_ids& build, const side_ids& probe, MakeKey make_key, Hash hash = {},
         Equal equal = {})
      : build_(keys_of<Key>(build, make_key)),
        probe_(keys_of<Key>(probe, make_key)),
        build_valid_(build.valid_words()),
        probe_valid_(probe.valid_words()),
        has_nulls_(!build.null.empty() || !probe.null.empty()),
        hash_(hash),
        equal_(equal) {}

  // The first `capacity` rows of the result.
  row_pairs run(JoinKind kind, HostJoinOptions options, std::int64_t capacity,
                std::int64_t& total) {
    if (has_nulls_) {
      options.build_valid = build_valid_.data();
      options.probe_valid = probe_valid_.data();
    }
    const Index untouched = 77777;
    const auto room = static_cast<std::size_t>(capacity);
    std::vector<Index> build_out(room + 8, untouched);
    std::vector<Index> probe_out(room + 8, untouched);
    std::size_t bytes = 0;
    const auto call = [&](void* storage) {
      return strata::detail::host_join_pairs(
          storage, bytes, kind, build_.data(), static_cast<std::int64_t>(build_.size()),
          probe_.data(), static_cast<std::int64_t>(probe_.size()), build_out.data(),
          probe_out.data(), &total, capacity, options, hash_, equal_);
    };
    EXPECT_EQ(call(nullptr), HostJoinStatus::success);
    guarded_storage storage(bytes);
    total = -1;
    EXPECT_EQ(call(storage.get()), HostJoinStatus::success);
    EXPECT_TRUE(storage.guard_is_intact());
    const std::size_t written = static_cast<std::size_t>(std::min(capacity, total));
    row_pairs out;
    for (std::size_t i = 0; i < written; ++i) {
      out.emplace_back(widened(build_out[i]), widened(probe_out[i]));
    }
    for (std::size_t i = written; i < room + 8; ++i) {
      EXPECT_TRUE(build_out[i] == untouched && probe_out[i] == untouched)
          << "written at " << i << ", behind the end";
    }
    return out;
  }

  // Compares with what is expected, given in the order of probe rows.
  void check(JoinKind kind, const HostJoinOptions& options, row_pairs expected) {
    std::int64_t total = 0;
    const auto size = static_cast<std::int64_t>(expected.size());
    row_pairs out = run(kind, options, size + 1, total);
    EXPECT_EQ(total, size);
    // Any order of partitions is the same for all capacities.
    for (const std::int64_t capacity : {std::int64_t{0}, size / 2, size - 1, size}) {
      if (capacity < 0 || capacity > 100000) continue;
      const row_pairs part = run(kind, options, capacity, total);
      EXPECT_EQ(total, size);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), out.begin(), out.begin() + capacity))
          << "with a capacity of " << capacity;
    }
    if (options.order == JoinOrder::any) {
      std::sort(out.begin(), out.end());
      std::sort(expected.begin(), expected.end());
    }
    EXPECT_TRUE(out == expected) << out.size() << " rows, expected " << expected.size();
  }

 private:
  static std::int64_t widened(Index row) {
    return row == strata::no_row<Index> ? -1 : static_cast<std::int64_t>(row);
  }

  std::vector<Key> build_;
  std::vector<Key> probe_;
  std::vector<std::uint32_t> build_valid_;
  std::vector<std::uint32_t> probe_valid_;
  bool has_nulls_;
  Hash hash_;
  Equal equal_;
};

}  // namespace host_join_test
