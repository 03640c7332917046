// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "sorter.hpp"

#include <string_view>
#include <vector>

namespace concordance {

/// The words of some texts, of which it is a view, and where each of them is.
struct word_index {
  std::vector<std::string_view> words;  // each once
  /// Word w has occurrences begins[w] to begins[w + 1] - 1.
  std::vector<long long> begins;
  std::vector<occurrence> occurrences;
};

/// A word is a longest run of bytes of one text that are not white space: blank, \t, \n, \v, \f and \r.
/// Texts are taken in pieces of some whole lines, and pieces in any order, as if many workers handed
/// them in: the occurrences of a word are in order in each piece only.
word_index unsorted_index(const std::vector<std::string_view>& texts);

/// Numbers of the words, in the order of their bytes.
std::vector<long long> words_in_order(const word_index& index);

/// The occurrences that `sorter::sort` makes of those of an index, by the standard library.
std::vector<occurrence> sorted_by_host(const word_index& index);

}  // namespace concordance
