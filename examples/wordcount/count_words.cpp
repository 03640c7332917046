// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "count_words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace wordcount {
namespace {

/// A word is a longest run of bytes that are not these.
constexpr std::string_view white_space = " \t\n\v\f\r";

/// All words of all texts, in their order.
std::vector<std::string_view> split_into_words(const std::vector<std::string_view>& texts) {
  std::vector<std::string_view> words;
  for (const std::string_view text : texts) {
    std::size_t begin = text.find_first_not_of(white_space);
    while (begin < text.size()) {
      const std::size_t end = std::min(text.find_first_of(white_space, begin), text.size());
      words.push_back(text.substr(begin, end - begin));
      begin = text.find_first_not_of(white_space, end);
    }
  }
  return words;
}

/// Hashes a word to `bits` bits. Different words may have the same hash, above all with few bits. Words with the same
/// hash for one seed have different ones for another seed. The hash is FNV-1a, with the last step of MurmurHash3, so
/// that all its bits are equally good. The seed enters with each byte.
std::uint64_t hash_word(std::string_view word, std::uint64_t seed, int bits) {
  const std::uint64_t step = 0x100000001b3 + 2 * seed;
  std::uint64_t mixed = 0xcbf29ce484222325 ^ seed;
  for (const char byte : word) mixed = (mixed ^ static_cast<unsigned char>(byte)) * step;
  mixed = (mixed ^ (mixed >> 33)) * 0xff51afd7ed558ccd;
  mixed = (mixed ^ (mixed >> 33)) * 0xc4ceb9fe1a85ec53;
  mixed ^= mixed >> 33;
  return bits == 0 ? 0 : mixed >> (64 - bits);
}

/// For each run of words with the same hash, counts the first word and all words that equal it. The other words of the
/// run are left over for another seed. So each round counts at least one word of a run, and the rounds end even if all
/// hashes are always equal.
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

/// The device knows counts, but no words. So the host orders the words that are at least as frequent as the last wanted
/// word.
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
  std::vector<std::string_view> words = split_into_words(texts);
  std::vector<counted_word> counted;
  word_counts result;
  for (std::uint64_t seed = 0; !words.empty(); ++seed) {
    std::vector<std::uint64_t> hashes;
    for (const std::string_view word : words) {
      hashes.push_back(hash_word(word, seed, hash_bits));
    }
    words = count_runs(device.group(hashes), words, counted);
    result.collisions += static_cast<long long>(words.size());
  }
  result.top = select_top(device, counted, wanted);
  return result;
}

}  // namespace wordcount
