// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How many of the items each rank has.
#pragma once

#include <support/test_support.cuh>

#include <cstddef>
#include <vector>

namespace rank_parts {

enum class law { equal, random, first, last, none, some_empty };
constexpr law all_laws[] = {law::equal, law::random, law::first, law::last, law::none, law::some_empty};

inline std::vector<std::size_t> parts_of(law how, int ranks, std::size_t items) {
  const auto size = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> parts(size, how == law::none ? 0 : items / size);
  const std::vector<int> random = strata_test::random_integers(size, 0, static_cast<int>(2 * items / size), items);
  for (std::size_t r = 0; r < size; ++r) {
    if (how == law::random) parts[r] = static_cast<std::size_t>(random[r]);
    if (how == law::first) parts[r] = r == 0 ? items : 0;
    if (how == law::last) parts[r] = r + 1 == size ? items : 0;
    if (how == law::some_empty && r % 2 == 0) parts[r] = 0;
  }
  return parts;
}

inline std::size_t sum(const std::vector<std::size_t>& parts) {
  std::size_t result = 0;
  for (const std::size_t part : parts) result += part;
  return result;
}

/// Where the items of a rank begin among all.
inline std::size_t begin_of(const std::vector<std::size_t>& parts, int rank) {
  std::size_t begin = 0;
  for (int r = 0; r < rank; ++r) begin += parts[static_cast<std::size_t>(r)];
  return begin;
}

template <class T>
std::vector<T> part(const std::vector<T>& all, const std::vector<std::size_t>& parts, int rank) {
  const auto begin = static_cast<std::ptrdiff_t>(begin_of(parts, rank));
  return std::vector<T>(all.begin() + begin,
                        all.begin() + begin + static_cast<std::ptrdiff_t>(parts[static_cast<std::size_t>(rank)]));
}

}  // namespace rank_parts
