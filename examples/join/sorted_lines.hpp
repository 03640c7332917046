// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "joiner.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace join {

/// What is between fields: blanks, a byte, or nothing, so that the line is one field.
struct separator {
  enum { blanks, byte, nothing } what = blanks;
  char value = ' ';  // and what is printed between fields
};

/// As the tool `join` has them: with blanks around it is no field that begins a line, but one that
/// ends it; between two separators of another kind there is a field of no bytes.
std::vector<std::string_view> split(std::string_view line, const separator& between);

/// A file, and for each of its lines what it is joined by.
struct sorted_lines {
  std::string name;
  std::vector<std::string_view> lines;  // without newlines
  std::vector<std::string_view> keys;
};

/// By whole lines.
sorted_lines lines_of(const std::string& name, std::string_view text);

/// By a field, from 0; a line that has it not has a key of no bytes.
sorted_lines lines_by_field(const std::string& name, std::string_view text, const separator& between,
                            std::size_t field);

/// Throws if keys are not in the order of their bytes.
void check_order(const sorted_lines& checked);

/// How lines with equal keys are joined.
enum class partners {
  all,     // each with each
  in_turn  // the first one with the first one, the second one with the second one, ...
};

/// `all_bytes` is where the keys are.
std::vector<key> device_keys(const sorted_lines& lines, std::string_view all_bytes, partners which, int hash_bits);

}  // namespace join
