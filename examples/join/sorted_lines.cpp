// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sorted_lines.hpp"

#include "../common/words.hpp"

#include <algorithm>
#include <stdexcept>

namespace join {
namespace {

std::vector<std::string_view> split_at_blanks(std::string_view line) {
  constexpr std::string_view blanks = " \t";
  std::vector<std::string_view> fields;
  std::size_t begin = line.find_first_not_of(blanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = line.find_first_of(blanks, begin);
    fields.push_back(line.substr(begin, end - begin));
    if (end == std::string_view::npos) return fields;
    begin = line.find_first_not_of(blanks, end);
  }
  if (!fields.empty()) fields.push_back(line.substr(line.size()));
  return fields;
}

}  // namespace

std::vector<std::string_view> split(std::string_view line, const separator& between) {
  if (between.what == separator::blanks) return split_at_blanks(line);
  std::vector<std::string_view> fields;
  if (line.empty()) return fields;
  if (between.what == separator::byte) {
    for (std::size_t end; (end = line.find(between.value)) != std::string_view::npos;) {
      fields.push_back(line.substr(0, end));
      line.remove_prefix(end + 1);
    }
  }
  fields.push_back(line);
  return fields;
}

sorted_lines lines_of(const std::string& name, std::string_view text) {
  sorted_lines found{name, {}, {}};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    found.lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  found.keys = found.lines;
  return found;
}

sorted_lines lines_by_field(const std::string& name, std::string_view text, const separator& between,
                            std::size_t field) {
  sorted_lines found = lines_of(name, text);
  for (std::string_view& key : found.keys) {
    const std::vector<std::string_view> fields = split(key, between);
    key = field < fields.size() ? fields[field] : key.substr(0, 0);
  }
  return found;
}

void check_order(const sorted_lines& checked) {
  const auto wrong = std::is_sorted_until(checked.keys.begin(), checked.keys.end());
  if (wrong == checked.keys.end()) return;
  throw std::runtime_error(checked.name + ":" + std::to_string(wrong - checked.keys.begin() + 1) + ": is not sorted");
}

std::vector<key> device_keys(const sorted_lines& lines, std::string_view all_bytes, partners which, int hash_bits) {
  std::vector<key> keys;
  long long number = 0;
  for (std::size_t i = 0; i < lines.keys.size(); ++i) {
    const std::string_view bytes = lines.keys[i];
    if (which == partners::in_turn) {
      number = i > 0 && bytes == lines.keys[i - 1] ? number + 1 : 0;
    }
    keys.push_back({example::hash_word(bytes, static_cast<std::uint64_t>(number), hash_bits),
                    bytes.data() - all_bytes.data(), static_cast<long long>(bytes.size()), number});
  }
  return keys;
}

}  // namespace join
