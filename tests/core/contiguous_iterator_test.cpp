// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/detail/contiguous_iterator.hpp>
#include <strata/core/detail/type_name.hpp>

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
  // The first one goes backwards, and the second one goes through a vector of bits: neither is contiguous.
  static_assert(is_kept<std::vector<int>::reverse_iterator>);
  static_assert(is_kept<std::vector<bool>::iterator>);
  static_assert(is_kept<std::deque<int>::iterator>);
  static_assert(is_kept<std::move_iterator<std::vector<int>::iterator>>);
  static_assert(is_kept<int*> && is_kept<const int*>);
}

// The texts are what g++, clang and MSVC give as the name of a function template.
TEST(type_name, stands_in_the_names_that_compilers_have_for_a_function) {
  const auto is_plus = [](const char* function) {
    return strata::detail::is_name(strata::detail::type_name_in(function), "cuda::std::plus");
  };
  EXPECT_TRUE(is_plus("constexpr const char* strata::type_name() [with Type = cuda::std::plus<int>]"));
  EXPECT_TRUE(is_plus("const char *strata::type_name() [Type = cuda::std::plus<int>]"));
  EXPECT_TRUE(is_plus("const char *__cdecl strata::type_name<struct cuda::std::plus<int>>(void)"));
  EXPECT_TRUE(is_plus("const char *__cdecl strata::type_name<class cuda::std::plus<int>>(void)"));
  EXPECT_FALSE(is_plus("const char *__cdecl strata::type_name<struct mine<struct cuda::std::plus<int>>>(void)"));
  EXPECT_FALSE(is_plus("const char *__cdecl strata::type_name<int>(void)"));
}

}  // namespace
