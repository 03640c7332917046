// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// join: the Unix tools `join` and `comm`, by a hash join on a GPU or on the host SIMT back end.

#include "../common/program.hpp"
#include "joiner.hpp"
#include "line_join.hpp"
#include "sorted_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

const char help[] =
    "Usage: join [OPTION]... join [-1 N] [-2 N] [-j N] [-t C] [-a N]... [-v N]... FILE1 FILE2\n"
    "       join [OPTION]... comm [-1] [-2] [-3] FILE1 FILE2\n"
    "\n"
    "Prints what the tools of these names print of two sorted files, in the C locale.\n"
    "  --device=WHERE  gpu, host (the host SIMT back end), or auto: the GPU if there is one\n"
    "  --hash-bits=N   uses N of 64 bits of the keys' hashes, so that some are equal: a test\n"
    "  --check         compares with a merge of both files\n"
    "Exit status: 0, 1 if the call is wrong, or a file failed or is not sorted, 2 if the device\n"
    "failed, 3 if --check found a difference.\n";

using arguments = std::vector<std::string>;

struct device_options {
  std::string device = "auto";
  int hash_bits = 64;
  bool checks = false;
};

// ------------------------------------------------------------------ arguments

/// Takes options from the front of `given` for as long as there are any, and calls `use(letter,
/// value)`, where `value()` is what follows the letter, or the next argument.
template <class Use>
void take_options(arguments& given, const Use& use) {
  while (!given.empty() && given.front().size() > 1 && given.front()[0] == '-') {
    std::string letters = given.front().substr(1);
    given.erase(given.begin());
    if (letters == "-") break;
    while (!letters.empty()) {
      const char letter = letters[0];
      letters.erase(0, 1);
      use(letter, [&] {
        std::string value = letters;
        letters.clear();
        if (!value.empty()) return value;
        if (given.empty()) throw example::wrong_call();
        value = given.front();
        given.erase(given.begin());
        return value;
      });
    }
  }
  if (given.size() != 2) throw example::wrong_call();
}

device_options take_device_options(arguments& given) {
  device_options chosen;
  while (!given.empty() && given.front().compare(0, 2, "--") == 0) {
    const example::option option(given.front());
    given.erase(given.begin());
    if (option.name == "--device") {
      chosen.device = example::parse_device(option);
    } else if (option.name == "--hash-bits") {
      chosen.hash_bits = example::parse_number<int>(option.value);
    } else if (option.name == "--check" && !option.has_value) {
      chosen.checks = true;
    } else {
      throw example::wrong_call();
    }
  }
  if (chosen.hash_bits < 0 || chosen.hash_bits > 64) throw example::wrong_call();
  return chosen;
}

/// 1 or 2.
int parse_file(const std::string& text) {
  const int file = example::parse_number<int>(text);
  if (file != 1 && file != 2) throw example::wrong_call();
  return file;
}

std::size_t parse_field(const std::string& text) {
  const auto field = example::parse_number<std::size_t>(text);
  if (field == 0) throw example::wrong_call();
  return field - 1;
}

join::separator parse_separator(const std::string& text) {
  if (text.empty()) return {join::separator::nothing, '\n'};
  if (text == "\\0") return {join::separator::byte, '\0'};
  if (text.size() > 1) throw example::wrong_call();
  return {join::separator::byte, text[0]};
}

// ------------------------------------------------------------------ join and print

/// Both files, one behind the other.
struct two_files {
  std::string bytes;
  std::size_t first_size;

  two_files(const std::string& first, const std::string& second)
      : bytes(example::read_file(first)), first_size(bytes.size()) {
    bytes += example::read_file(second);
  }
  std::string_view first() const { return std::string_view(bytes).substr(0, first_size); }
  std::string_view second() const { return std::string_view(bytes).substr(first_size); }
};

bool is_same(const std::vector<join::line_pair>& some, const std::vector<join::line_pair>& others) {
  return std::equal(
      some.begin(), some.end(), others.begin(), others.end(),
      [](const join::line_pair& a, const join::line_pair& b) { return a.first == b.first && a.second == b.second; });
}

/// Joins lines, and prints what `print(pair, printed)` adds for each result.
template <class Print>
int join_and_print(const device_options& chosen, const join::wanted_lines& wanted, const join::sorted_lines& first,
                   const join::sorted_lines& second, std::string_view bytes, join::partners partners,
                   const Print& print) {
  check_order(first);
  check_order(second);
  const auto device = example::choose_device(
      "join", chosen.device, [] { return join::on_gpu::make_joiner(); }, [] { return join::on_host::make_joiner(); });
  const std::vector<join::line_pair> found =
      join::join_lines(*device, wanted, first, second, bytes, partners, chosen.hash_bits);
  std::string printed;
  for (const join::line_pair& pair : found) print(pair, printed);
  std::fwrite(printed.data(), 1, printed.size(), stdout);
  example::finish_output();
  if (!chosen.checks) return 0;
  const bool is_right = is_same(found, join::merge_lines(wanted, first, second, partners));
  std::fprintf(stderr, "join: %zu lines: %s a merge\n", found.size(), is_right ? "as by" : "not as by");
  return is_right ? 0 : example::exit_check_failed;
}

int run_join(const device_options& chosen, arguments given) {
  std::size_t fields[2] = {0, 0};
  join::wanted_lines wanted{false, false, true};
  join::separator between;
  take_options(given, [&](char letter, const auto& value) {
    if (letter == '1' || letter == '2') {
      fields[letter - '1'] = parse_field(value());
    } else if (letter == 'j') {
      fields[0] = fields[1] = parse_field(value());
    } else if (letter == 't') {
      between = parse_separator(value());
    } else if (letter == 'a' || letter == 'v') {
      (parse_file(value()) == 1 ? wanted.only_first : wanted.only_second) = true;
      if (letter == 'v') wanted.pairs = false;
    } else {
      throw example::wrong_call();
    }
  });

  const two_files files(given[0], given[1]);
  const join::sorted_lines first = join::lines_by_field(given[0], files.first(), between, fields[0]);
  const join::sorted_lines second = join::lines_by_field(given[1], files.second(), between, fields[1]);
  const auto add_other_fields = [&](std::string& printed, const join::sorted_lines& file, std::uint32_t line,
                                    std::size_t field) {
    if (line == join::no_line) return;
    const std::vector<std::string_view> all = join::split(file.lines[line], between);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i != field) printed.append(1, between.value).append(all[i]);
    }
  };
  const auto print = [&](const join::line_pair& pair, std::string& printed) {
    printed += pair.first != join::no_line ? first.keys[pair.first] : second.keys[pair.second];
    add_other_fields(printed, first, pair.first, fields[0]);
    add_other_fields(printed, second, pair.second, fields[1]);
    printed += '\n';
  };
  return join_and_print(chosen, wanted, first, second, files.bytes, join::partners::all, print);
}

int run_comm(const device_options& chosen, arguments given) {
  join::wanted_lines wanted{true, true, true};
  take_options(given, [&](char letter, const auto&) {
    if (letter == '1') {
      wanted.only_first = false;
    } else if (letter == '2') {
      wanted.only_second = false;
    } else if (letter == '3') {
      wanted.pairs = false;
    } else {
      throw example::wrong_call();
    }
  });

  const two_files files(given[0], given[1]);
  const join::sorted_lines first = join::lines_of(given[0], files.first());
  const join::sorted_lines second = join::lines_of(given[1], files.second());
  const auto print = [&](const join::line_pair& pair, std::string& printed) {
    const bool is_only_first = pair.second == join::no_line;
    if (!is_only_first && wanted.only_first) printed += '\t';
    if (pair.first != join::no_line && !is_only_first && wanted.only_second) printed += '\t';
    printed.append(is_only_first ? first.lines[pair.first] : second.lines[pair.second]) += '\n';
  };
  return join_and_print(chosen, wanted, first, second, files.bytes, join::partners::in_turn, print);
}

int run(const arguments& all) {
  arguments given = all;
  const device_options chosen = take_device_options(given);
  if (given.empty()) throw example::wrong_call();
  const std::string tool = given.front();
  given.erase(given.begin());
  if (tool == "join") return run_join(chosen, given);
  if (tool == "comm") return run_comm(chosen, given);
  throw example::wrong_call();
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("join", help, argc, argv, run); }
