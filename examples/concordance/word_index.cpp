// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "word_index.hpp"

#include "../common/words.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <unordered_map>

namespace concordance {
namespace {

using example::white_space;
constexpr std::size_t least_piece = 500;  // bytes

/// Some whole lines of a text.
struct piece {
  int file;
  std::string_view text;
  long long first_line;
  long long offset;
};

std::vector<piece> cut(const std::vector<std::string_view>& texts) {
  std::vector<piece> pieces;
  for (std::size_t file = 0; file < texts.size(); ++file) {
    const std::string_view text = texts[file];
    long long line = 1;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t newline = text.find('\n', std::min(begin + least_piece, text.size() - 1));
      const std::size_t end = std::min(newline, text.size() - 1) + 1;
      const std::string_view lines = text.substr(begin, end - begin);
      pieces.push_back({static_cast<int>(file), lines, line, static_cast<long long>(begin)});
      line += std::count(lines.begin(), lines.end(), '\n');
      begin = end;
    }
  }
  return pieces;
}

/// Calls `use(word, occurrence)` for each word of a piece.
template <class Use>
void for_each_word(const piece& from, const Use& use) {
  const std::string_view text = from.text;
  std::size_t end = 0;  // of the last word
  long long line = from.first_line;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(white_space, end);
    if (begin == std::string_view::npos) return;
    line += std::count(text.begin() + static_cast<std::ptrdiff_t>(end),
                       text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
    end = std::min(text.find_first_of(white_space, begin), text.size());
    use(text.substr(begin, end - begin), occurrence{line, from.offset + static_cast<long long>(begin), from.file});
  }
}

}  // namespace

word_index unsorted_index(const std::vector<std::string_view>& texts) {
  std::vector<piece> pieces = cut(texts);
  std::shuffle(pieces.begin(), pieces.end(), std::mt19937(20261122));
  word_index index;
  std::unordered_map<std::string_view, std::size_t> numbers;
  std::vector<std::size_t> word_of;  // occurrence
  std::vector<occurrence> found;
  for (const piece& from : pieces) {
    for_each_word(from, [&](std::string_view word, const occurrence& where) {
      const auto [entry, is_new] = numbers.try_emplace(word, index.words.size());
      if (is_new) index.words.push_back(word);
      word_of.push_back(entry->second);
      found.push_back(where);
    });
  }
  index.begins.assign(index.words.size() + 1, 0);
  for (const std::size_t word : word_of) ++index.begins[word + 1];
  std::partial_sum(index.begins.begin(), index.begins.end(), index.begins.begin());
  index.occurrences.resize(found.size());
  std::vector<long long> next = index.begins;
  for (std::size_t i = 0; i < found.size(); ++i) {
    index.occurrences[static_cast<std::size_t>(next[word_of[i]]++)] = found[i];
  }
  return index;
}

std::vector<long long> words_in_order(const word_index& index) {
  std::vector<long long> order(index.words.size());
  std::iota(order.begin(), order.end(), 0LL);
  std::sort(order.begin(), order.end(), [&](long long a, long long b) {
    return index.words[static_cast<std::size_t>(a)] < index.words[static_cast<std::size_t>(b)];
  });
  return order;
}

std::vector<occurrence> sorted_by_host(const word_index& index) {
  std::vector<occurrence> sorted = index.occurrences;
  for (std::size_t word = 0; word < index.words.size(); ++word) {
    std::stable_sort(
        sorted.begin() + index.begins[word], sorted.begin() + index.begins[word + 1],
        [](const occurrence& a, const occurrence& b) { return a.file != b.file ? a.file < b.file : a.line < b.line; });
  }
  return sorted;
}

}  // namespace concordance
