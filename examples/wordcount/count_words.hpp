// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "sorter.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace wordcount {

struct counted_word {
  long long count;
  std::string_view word;
};

struct word_counts {
  /// The most frequent words come first. Of equally frequent words, the one with greater bytes comes first, as with
  /// `sort -rn`.
  std::vector<counted_word> top;
  /// How often a word had to be hashed again, because another word had the same hash.
  long long collisions = 0;
};

/// Finds the `wanted` most frequent words of some texts, exactly. The result refers to the texts. A word is a longest
/// run of bytes of one text that are not white space: blank, \t, \n, \v, \f and \r. Words are grouped by `hash_bits`
/// bits of a hash: the fewer bits, the longer it takes.
word_counts count_words(const sorter& device, const std::vector<std::string_view>& texts, std::size_t wanted,
                        int hash_bits);

}  // namespace wordcount
