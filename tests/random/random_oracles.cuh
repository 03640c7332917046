// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lists of segments, and sequential code for the expected results of the programs in this folder.
#pragma once

#include <strata/core/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "random/random_test.cuh"

namespace random_test {

/// True if `b` replaces `a` as the least, or greatest, item so far. Any number replaces a NaN, and -0.0 is less than
/// +0.0.
template <bool IsMax, class T>
bool replaces(const T& b, const T& a) {
  if constexpr (is_real<T>) {
    const double x = as_double(a);
    const double y = as_double(b);
    if (std::isnan(y)) return false;
    if (std::isnan(x)) return true;
    if (x == y && x == 0) return IsMax ? std::signbit(x) && !std::signbit(y) : !std::signbit(x) && std::signbit(y);
    return IsMax ? x < y : y < x;
  } else {
    return IsMax ? a < b : b < a;
  }
}

template <bool IsMax, class T>
T extreme_of(const T* items, std::size_t count) {
  using limits = strata::detail::value_limits<T>;
  if (count == 0) return IsMax ? limits::lowest() : limits::max();
  T best = items[0];
  for (std::size_t i = 1; i < count; ++i) {
    if (replaces<IsMax>(items[i], best)) best = items[i];
  }
  return best;
}

/// The index of the first of the extreme items. Zeros are equal to each other, and so are NaNs. Without items, it is 1.
template <bool IsMax, class T>
std::size_t index_of_extreme(const T* items, std::size_t count) {
  if (count == 0) return 1;
  std::size_t best = 0;
  for (std::size_t i = 1; i < count; ++i) {
    bool is_zero = false;
    if constexpr (is_real<T>) is_zero = as_double(items[i]) == 0 && as_double(items[best]) == 0;
    if (!is_zero && replaces<IsMax>(items[i], items[best])) best = i;
  }
  return best;
}

template <class T, class Item, class Op>
T reduced(T init, const Item* items, std::size_t count, Op op) {
  for (std::size_t i = 0; i < count; ++i) init = static_cast<T>(op(init, items[i]));
  return init;
}

// ---------------------------------------------------------------------------- segments

/// Segment s has the items [begins[s], ends[s]).
struct segment_list {
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> ends;
  std::size_t items = 0;

  std::size_t size() const { return begins.size(); }
  std::size_t length(std::size_t s) const {
    return ends[s] > begins[s] ? static_cast<std::size_t>(ends[s] - begins[s]) : 0;
  }
};

/// `count` segments of `items` items. They do not overlap, and may be empty, tiny or huge. They are in order without
/// gaps, in order with gaps, or in any order with gaps.
inline segment_list random_segments(source& random, std::size_t count, std::size_t items) {
  std::vector<std::size_t> lengths(count, 0);
  std::size_t left = items;
  const std::size_t kind = random.below(6);
  const std::size_t mean = count == 0 ? 0 : items / count;
  const std::size_t huge = random.below(count);
  for (std::size_t s = 0; s < count; ++s) {
    std::size_t length = 0;
    switch (kind) {
      case 0:
        length = random.below(2 * mean + 1);
        break;
      case 1:
        length = mean;
        break;
      case 2:
        length = s == huge ? items : random.below(3);
        break;  // one segment takes all that is left
      case 3:
        length = random.chance(70) ? 0 : random.below(5);
        break;  // many empty segments
      case 4:
        length = random_size(random, left);
        break;
      default:
        length = random.chance(3) ? random.below(left + 1) : random.below(100);
        break;
    }
    lengths[s] = std::min(length, left);
    left -= lengths[s];
  }
  segment_list list;
  list.items = items;
  list.begins.resize(count);
  list.ends.resize(count);
  std::vector<std::size_t> order(count);
  for (std::size_t s = 0; s < count; ++s) order[s] = s;
  const bool in_order = random.chance(60);
  const bool has_gaps = !in_order || random.chance(50);
  if (!in_order) std::shuffle(order.begin(), order.end(), random);
  std::size_t next = 0;
  for (const std::size_t s : order) {
    if (has_gaps && left > 0 && random.chance(30)) {
      const std::size_t gap = random.below(std::min<std::size_t>(left, 100) + 1);
      next += gap;
      left -= gap;
    }
    list.begins[s] = static_cast<std::int64_t>(next);
    next += lengths[s];
    list.ends[s] = static_cast<std::int64_t>(next);
    // An empty segment may end before it begins.
    if (lengths[s] == 0 && has_gaps && random.chance(50)) list.ends[s] -= random.in(0, 50);
  }
  return list;
}

inline std::size_t random_number_of_segments(source& random, std::size_t most) {
  return random.chance(10)
             ? random.pick({std::size_t{0}, std::size_t{1}, std::size_t{3072}, std::size_t{3073}, std::size_t{4097}})
             : random_size(random, most);
}

}  // namespace random_test
