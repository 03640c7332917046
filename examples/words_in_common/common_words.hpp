// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "matcher.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace words_in_common {

struct common_word {
  std::string_view word;
  std::size_t in_first;  // how often
  std::size_t in_second;
};

struct common_words {
  std::vector<common_word> words;  // in the order of their bytes
  std::size_t collisions;          // words that were hashed again
};

/// Takes `hash_bits` of 64 bits of the words' hashes, and more of them for words that have to be
/// hashed again.
common_words find_common_words(const matcher& device, const std::vector<std::string_view>& first,
                               const std::vector<std::string_view>& second, int hash_bits);

/// The same by maps: what a device's result is checked against.
std::vector<common_word> find_on_host(const std::vector<std::string_view>& first,
                                      const std::vector<std::string_view>& second);

}  // namespace words_in_common
