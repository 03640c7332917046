// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

/// \file
/// The names of types, by which strata recognises types of libraries whose headers it does not include. It cannot
/// declare these types itself, because they are in inline namespaces whose names change with the version.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True if `text` begins with `word`. If so, moves `text` behind the word.
STRATA_HD constexpr bool skips(const char*& text, const char* word) {
  const char* rest = text;
  for (; *word != '\0'; ++word, ++rest) {
    if (*rest != *word) return false;
  }
  text = rest;
  return true;
}
STRATA_HD constexpr bool is_of_identifier(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
STRATA_HD constexpr bool is_name(const char* text, const char* name) {
  return skips(text, name) && !is_of_identifier(*text);
}

/// Returns the part of a qualified name that follows its namespaces.
STRATA_HD constexpr const char* without_namespaces(const char* text) {
  for (const char* next = text; detail::is_of_identifier(*next);) {
    while (detail::is_of_identifier(*next)) ++next;
    if (detail::skips(next, "::")) text = next;
  }
  return text;
}

/// Returns where the name of the template argument begins in `text`. `text` is what a compiler calls the function
/// type_name(): "... [with Type = name]", "... [Type = name]", or MSVC's "... type_name<struct name>(void)". Other text
/// follows the name.
STRATA_HD constexpr const char* type_name_in(const char* text) {
  while (*text != '\0' && !detail::skips(text, "Type =") && !detail::skips(text, "Type=") &&
         !detail::skips(text, "type_name<struct") && !detail::skips(text, "type_name<class")) {
    ++text;
  }
  return *text == ' ' ? text + 1 : text;
}

/// Returns a text that begins with the qualified name of `Type`; other text follows.
template <class Type>
STRATA_HD constexpr const char* type_name() {
  return detail::type_name_in(STRATA_DETAIL_FUNCTION_NAME);
}

}  // namespace detail
STRATA_NAMESPACE_END
