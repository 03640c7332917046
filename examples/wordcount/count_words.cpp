// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "count_words.hpp"

#include "../common/words.hpp"

#include <algorithm>
#include <cstdint>

namespace wordcount {
namespace {

/// Of each run of words with one hash, counts the first word and all that are equal to it. The
/// others, if there are any, are left over for another seed. So each round counts at least one word
/// of a run, and there is an end even if all hashes are always equal.
std::vector<std::string_view> count_runs(const grouping& runs, const std::vector<std::string_view>& words,
                                         std::vector<counted_word>& counted) {
  std::vector<std::string_view> left_over;
  const long long* next = runs.order.data();
  for (const long long length : runs.lengths) {
    counted.push_back({0, words[static_cast<std::size_t>(*next)]});
    for (const long long* const end = next + length; next != end; ++next) {
      const std::string_view word = words[static_cast<std::size_t>(*next)];
      if (word == counted.back().word) {
        ++counted.back().count;
      } else {
        left_over.push_back(word);
      }
    }
  }
  return left_over;
}

/// The device knows counts, and not words: all that are as frequent as the last of those wanted are
/// ordered by the host.
std::vector<counted_word> select_top(const sorter& device, const std::vector<counted_word>& words, std::size_t wanted) {
  std::vector<long long> counts;
  for (const counted_word& word : words) counts.push_back(word.count);
  std::vector<counted_word> top;
  for (const long long index : device.descending(counts)) {
    const counted_word& word = words[static_cast<std::size_t>(index)];
    if (top.size() >= wanted && (wanted == 0 || word.count < top[wanted - 1].count)) break;
    top.push_back(word);
  }
  std::sort(top.begin(), top.end(), [](const counted_word& a, const counted_word& b) {
    return a.count != b.count ? a.count > b.count : a.word > b.word;
  });
  if (top.size() > wanted) top.resize(wanted);
  return top;
}

}  // namespace

word_counts count_words(const sorter& device, const std::vector<std::string_view>& texts, std::size_t wanted,
                        int hash_bits) {
  std::vector<std::string_view> words = example::split_into_words(texts);
  std::vector<counted_word> counted;
  word_counts result;
  for (std::uint64_t seed = 0; !words.empty(); ++seed) {
    std::vector<std::uint64_t> hashes;
    for (const std::string_view word : words) {
      hashes.push_back(example::hash_word(word, seed, hash_bits));
    }
    words = count_runs(device.group(hashes), words, counted);
    result.collisions += static_cast<long long>(words.size());
  }
  result.top = select_top(device, counted, wanted);
  return result;
}

}  // namespace wordcount
