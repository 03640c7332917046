// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "words.hpp"

#include <algorithm>
#include <cstddef>

namespace example {

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

/// FNV-1a, and the last step of MurmurHash3, so that any bits of it are as good as others. The seed
/// enters with each byte.
std::uint64_t hash_word(std::string_view word, std::uint64_t seed, int bits) {
  const std::uint64_t step = 0x100000001b3 + 2 * seed;
  std::uint64_t mixed = 0xcbf29ce484222325 ^ seed;
  for (const char byte : word) mixed = (mixed ^ static_cast<unsigned char>(byte)) * step;
  mixed = (mixed ^ (mixed >> 33)) * 0xff51afd7ed558ccd;
  mixed = (mixed ^ (mixed >> 33)) * 0xc4ceb9fe1a85ec53;
  mixed ^= mixed >> 33;
  return bits == 0 ? 0 : mixed >> (64 - bits);
}

}  // namespace example
