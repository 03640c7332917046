// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/contiguous_iterator.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <iterator>
#include <type_traits>
#include <vector>

namespace {

using strata::detail::pointer_or_iterator;

template <class Iterator>
constexpr bool is_kept = std::is_same_v<Iterator, decltype(pointer_or_iterator(std::declval<Iterator>()))>;

TEST(contiguous_iterator, iterators_of_vectors_become_pointers) {
  std::vector<int> items{1, 2, 3};
  EXPECT_EQ(items.data(), pointer_or_iterator(items.begin()));
  EXPECT_EQ(items.data() + 2, pointer_or_iterator(items.cbegin() + 2));
  static_assert(std::is_same_v<const int*, decltype(pointer_or_iterator(items.cbegin()))>);
}

TEST(contiguous_iterator, others_stay_what_they_are) {
  // Of a vector, but backwards; of a vector, but of bits.
  static_assert(is_kept<std::vector<int>::reverse_iterator>);
  static_assert(is_kept<std::vector<bool>::iterator>);
  static_assert(is_kept<std::deque<int>::iterator>);
  static_assert(is_kept<std::move_iterator<std::vector<int>::iterator>>);
  static_assert(is_kept<int*> && is_kept<const int*>);
}

}  // namespace
