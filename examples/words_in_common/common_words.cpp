// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "common_words.hpp"

#include "../common/words.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

namespace words_in_common {
namespace {

/// The words of a set that have one hash.
class equal_hashes {
 public:
  equal_hashes(const std::vector<std::string_view>& words, const std::vector<std::uint32_t>& order,
               const run_of_items& run)
      : words_(words), numbers_(order.data() + run.begin), length_(run.length) {}

  std::size_t size() const { return length_; }
  std::string_view operator[](std::size_t i) const { return words_[numbers_[i]]; }

  bool are_all(std::string_view word) const {
    for (std::size_t i = 0; i < length_; ++i) {
      if ((*this)[i] != word) return false;
    }
    return true;
  }
  void append_to(std::vector<std::string_view>& others) const {
    for (std::size_t i = 0; i < length_; ++i) others.push_back((*this)[i]);
  }

 private:
  const std::vector<std::string_view>& words_;
  const std::uint32_t* numbers_;
  std::size_t length_;
};

std::vector<std::uint64_t> hash_all(const std::vector<std::string_view>& words, std::uint64_t seed, int bits) {
  std::vector<std::uint64_t> hashes;
  for (const std::string_view word : words) {
    hashes.push_back(example::hash_word(word, seed, bits));
  }
  return hashes;
}

}  // namespace

common_words find_common_words(const matcher& device, const std::vector<std::string_view>& first,
                               const std::vector<std::string_view>& second, int hash_bits) {
  common_words result{{}, 0};
  std::vector<std::string_view> first_words = first;
  std::vector<std::string_view> second_words = second;
  // A word without an equal hash in the other set is not in that set. One with an equal hash is, if
  // all words of both sets with this hash are the same one; if not, all of them are hashed again, with
  // another seed, and if there were too few bits, with more.
  for (std::uint64_t seed = 0; !first_words.empty() && !second_words.empty(); ++seed) {
    const matching found =
        device.match(hash_all(first_words, seed, hash_bits), hash_all(second_words, seed, hash_bits));
    std::vector<std::string_view> first_again, second_again;
    for (const matching::pair& pair : found.pairs) {
      const equal_hashes in_first(first_words, found.first_order, pair.first);
      const equal_hashes in_second(second_words, found.second_order, pair.second);
      const std::string_view word = in_first[0];
      if (in_first.are_all(word) && in_second.are_all(word)) {
        result.words.push_back({word, in_first.size(), in_second.size()});
      } else {
        in_first.append_to(first_again);
        in_second.append_to(second_again);
      }
    }
    result.collisions += first_again.size() + second_again.size();
    first_words.swap(first_again);
    second_words.swap(second_again);
    hash_bits = std::min(hash_bits + 1, 64);
  }
  std::sort(result.words.begin(), result.words.end(),
            [](const common_word& a, const common_word& b) { return a.word < b.word; });
  return result;
}

std::vector<common_word> find_on_host(const std::vector<std::string_view>& first,
                                      const std::vector<std::string_view>& second) {
  std::map<std::string_view, std::size_t> counts;
  for (const std::string_view word : first) ++counts[word];
  std::map<std::string_view, std::size_t> other_counts;
  for (const std::string_view word : second) ++other_counts[word];
  std::vector<common_word> found;
  for (const auto& [word, count] : counts) {
    const auto other = other_counts.find(word);
    if (other != other_counts.end()) found.push_back({word, count, other->second});
  }
  return found;
}

}  // namespace words_in_common
