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
    "Prints what the tools of these names print of two sorted files, in the C locale.\n"
    "\n"
    "When one of the files is -, reads standard input.\n"
    "\n"
    "      --hash-bits=N   use N of 64 bits of the keys' hashes, so that some are equal: a test\n"
    "      --check         compare with a merge of both files\n"
    "      --device=WHERE  gpu, host (the host SIMT back end), or auto: the GPU if there is one\n"
    "      --help          print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong, or a file failed or is not sorted, 2 if the device\n"
    "failed, 3 if --check found a difference.\n";

using arguments = std::vector<std::string>;

struct device_options {
  std::string device = "auto";
  int hash_bits = 64;
  bool checks = false;
};

// ------------------------------------------------------------------ arguments

/// The two files, after what is common to all of the tools' options.
arguments parse_tool(const example::program& running, const arguments& given,
                     const std::vector<example::option>& options) {
  arguments files = example::parse_options(running, given, options);
  example::expect_operands(files, 2, 2);
  if (files[0] == "-" && files[1] == "-") throw example::wrong_call("both files cannot be standard input");
  return files;
}

/// -l FIELD, from 1; `field` counts from 0.
example::option field_option(char letter, std::size_t& field) {
  return {nullptr, letter, true, [&field](const std::string& text) {
            const bool is_field = example::parse_number(text, field, 1);
            field -= is_field ? 1 : 0;
            return is_field;
          }};
}

bool parse_separator(const std::string& text, join::separator& between) {
  if (text.empty()) {
    between = {join::separator::nothing, '\n'};
  } else {
    between = {join::separator::byte, text == "\\0" ? '\0' : text[0]};
  }
  return text.size() <= 1 || text == "\\0";
}

// ------------------------------------------------------------------ join and print

/// Both files, one behind the other.
struct two_files {
  std::string bytes;
  std::size_t first_size;

  two_files(example::program& running, const arguments& names)
      : bytes(example::read_file(running, names[0])), first_size(bytes.size()) {
    bytes += example::read_file(running, names[1]);
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
int join_and_print(example::program& running, const device_options& chosen, const join::wanted_lines& wanted,
                   const join::sorted_lines& first, const join::sorted_lines& second, std::string_view bytes,
                   join::partners partners, const Print& print) {
  check_order(first);
  check_order(second);
  const auto device = example::choose_device(
      running, chosen.device, [] { return join::on_gpu::make_joiner(); }, [] { return join::on_host::make_joiner(); });
  running.begin("joining lines");
  const std::vector<join::line_pair> found =
      join::join_lines(*device, wanted, first, second, bytes, partners, chosen.hash_bits);
  std::string printed;
  for (const join::line_pair& pair : found) print(pair, printed);
  running.hide_progress();
  std::fwrite(printed.data(), 1, printed.size(), stdout);
  example::finish_output();
  if (!chosen.checks) return 0;
  running.begin("comparing with a merge");
  const bool is_right = is_same(found, join::merge_lines(wanted, first, second, partners));
  running.say(std::to_string(found.size()) + " lines: " + (is_right ? "as by" : "not as by") + " a merge");
  return is_right ? 0 : example::exit_check_failed;
}

int run_join(example::program& running, const device_options& chosen, const arguments& given) {
  std::size_t fields[2] = {0, 0};
  join::wanted_lines wanted{false, false, true};
  join::separator between;
  const auto use_both_fields = [&](const std::string& text) {
    const bool is_field = field_option('j', fields[0]).use(text);
    fields[1] = fields[0];
    return is_field;
  };
  const auto use_separator = [&](const std::string& text) { return parse_separator(text, between); };
  const auto add_unpairable = [&](const std::string& text) {
    int file = 0;
    if (!example::parse_number(text, file, 1, 2)) return false;
    (file == 1 ? wanted.only_first : wanted.only_second) = true;
    return true;
  };
  const auto only_unpairable = [&](const std::string& text) {
    wanted.pairs = false;
    return add_unpairable(text);
  };
  const arguments names = parse_tool(running, given,
                                     {field_option('1', fields[0]),
                                      field_option('2', fields[1]),
                                      {nullptr, 'j', true, use_both_fields},
                                      {nullptr, 't', true, use_separator},
                                      {nullptr, 'a', true, add_unpairable},
                                      {nullptr, 'v', true, only_unpairable}});

  const two_files files(running, names);
  const join::sorted_lines first = join::lines_by_field(names[0], files.first(), between, fields[0]);
  const join::sorted_lines second = join::lines_by_field(names[1], files.second(), between, fields[1]);
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
  return join_and_print(running, chosen, wanted, first, second, files.bytes, join::partners::all, print);
}

int run_comm(example::program& running, const device_options& chosen, const arguments& given) {
  bool hidden[3] = {};
  const arguments names =
      parse_tool(running, given,
                 {example::flag_option(nullptr, hidden[0], '1'), example::flag_option(nullptr, hidden[1], '2'),
                  example::flag_option(nullptr, hidden[2], '3')});
  const join::wanted_lines wanted{!hidden[0], !hidden[1], !hidden[2]};

  const two_files files(running, names);
  const join::sorted_lines first = join::lines_of(names[0], files.first());
  const join::sorted_lines second = join::lines_of(names[1], files.second());
  const auto print = [&](const join::line_pair& pair, std::string& printed) {
    const bool is_only_first = pair.second == join::no_line;
    if (!is_only_first && wanted.only_first) printed += '\t';
    if (pair.first != join::no_line && !is_only_first && wanted.only_second) printed += '\t';
    printed.append(is_only_first ? first.lines[pair.first] : second.lines[pair.second]) += '\n';
  };
  return join_and_print(running, chosen, wanted, first, second, files.bytes, join::partners::in_turn, print);
}

int run(example::program& running, const arguments& all) {
  device_options chosen;
  const arguments given = example::parse_options(
      running, all,
      {example::device_option(chosen.device), example::number_option("hash-bits", chosen.hash_bits, 0, 64),
       example::flag_option("check", chosen.checks)},
      example::option_place::before_operands);
  example::expect_operands(given, 1);
  const arguments tool_arguments(given.begin() + 1, given.end());
  if (given[0] == "join") return run_join(running, chosen, tool_arguments);
  if (given[0] == "comm") return run_comm(running, chosen, tool_arguments);
  throw example::wrong_call("no such tool: '" + given[0] + "'");
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("join", help, argc, argv, run); }
