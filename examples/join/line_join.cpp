// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "line_join.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace join {
namespace {

/// Lines without a partner of the second file come last. Puts each behind all lines of the first file
/// that are not greater.
std::vector<line_pair> in_order(const std::vector<line_pair>& pairs, const sorted_lines& first,
                                const sorted_lines& second) {
  const auto middle =
      std::find_if(pairs.begin(), pairs.end(), [](const line_pair& pair) { return pair.first == no_line; });
  std::vector<line_pair> merged(pairs.size());
  std::merge(pairs.begin(), middle, middle, pairs.end(), merged.begin(),
             [&](const line_pair& second_only, const line_pair& other) {
               return second.keys[second_only.second] < first.keys[other.first];
             });
  return merged;
}

std::size_t end_of_run(const std::vector<std::string_view>& keys, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < keys.size() && keys[end] == keys[begin]) ++end;
  return end;
}

}  // namespace

std::vector<line_pair> join_lines(const joiner& device, const wanted_lines& wanted, const sorted_lines& first,
                                  const sorted_lines& second, std::string_view bytes, partners which, int hash_bits) {
  const std::vector<key> first_keys = device_keys(first, bytes, which, hash_bits);
  const std::vector<key> second_keys = device_keys(second, bytes, which, hash_bits);
  std::vector<line_pair> found;
  if (wanted.pairs) {
    const kind wanted_kind = wanted.only_second ? kind::both_too : wanted.only_first ? kind::first_too : kind::pairs;
    found = device.join(wanted_kind, bytes, first_keys, second_keys);
    if (!wanted.only_first) {
      const auto is_unwanted = [](const line_pair& pair) { return pair.second == no_line; };
      found.erase(std::remove_if(found.begin(), found.end(), is_unwanted), found.end());
    }
  } else {
    if (wanted.only_first) {
      found = device.join(kind::only_lonely, bytes, first_keys, second_keys);
    }
    if (wanted.only_second) {
      for (const line_pair& pair : device.join(kind::only_lonely, bytes, second_keys, first_keys)) {
        found.push_back({no_line, pair.first});
      }
    }
  }
  return in_order(found, first, second);
}

std::vector<line_pair> merge_lines(const wanted_lines& wanted, const sorted_lines& first, const sorted_lines& second,
                                   partners which) {
  std::vector<line_pair> found;
  const auto add = [&](bool is_wanted, std::size_t line, std::size_t other) {
    if (!is_wanted) return;
    found.push_back({static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(other)});
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < first.keys.size() || j < second.keys.size()) {
    if (j == second.keys.size() || (i < first.keys.size() && first.keys[i] < second.keys[j])) {
      add(wanted.only_first, i++, no_line);
    } else if (i == first.keys.size() || second.keys[j] < first.keys[i]) {
      add(wanted.only_second, no_line, j++);
    } else {
      const std::size_t first_end = end_of_run(first.keys, i);
      const std::size_t second_end = end_of_run(second.keys, j);
      if (which == partners::all) {
        for (; i < first_end; ++i) {
          for (std::size_t other = j; other < second_end; ++other) add(wanted.pairs, i, other);
        }
      } else {
        while (i < first_end && j < second_end) add(wanted.pairs, i++, j++);
        while (i < first_end) add(wanted.only_first, i++, no_line);
        while (j < second_end) add(wanted.only_second, no_line, j++);
      }
      i = first_end;
      j = second_end;
    }
  }
  return found;
}

}  // namespace join
