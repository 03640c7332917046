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
  /// The most frequent first; of equally frequent ones the one whose bytes are greater, as
  /// `sort -rn` has them.
  std::vector<counted_word> top;
  /// How often a word had to be hashed again, since another one had its hash.
  long long collisions = 0;
};

/// The `wanted` most frequent words of some texts, exactly, of which the result is a view. A word
/// is a longest run of bytes of one text that are not white space: blank, \t, \n, \v, \f and \r.
/// Words are grouped by `hash_bits` bits of a hash: the fewer, the longer it takes.
word_counts count_words(const sorter& device, const std::vector<std::string_view>& texts, std::size_t wanted,
                        int hash_bits);

}  // namespace wordcount
