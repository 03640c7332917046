// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// lines: where the lines of a text are, how many words they have, and which words are the longest;
// computed on a GPU or on the host SIMT back end.

#include "../common/program.hpp"
#include "text_index.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace {

const char help[] =
    "Usage: lines [OPTION]... offsets FILE    offset of each line's first byte\n"
    "       lines [OPTION]... words FILE      number of words of each line\n"
    "       lines [OPTION]... totals FILE     the same, with all lines before it\n"
    "       lines [OPTION]... longest N FILE  the N longest words: length, offset, word\n"
    "\n"
    "When FILE is -, reads standard input. Words are what is not white space: blank, \\t, \\n, \\v,\n"
    "\\f and \\r.\n"
    "\n"
    "      --device=WHERE  gpu, host (the host SIMT back end), or auto: the GPU if there is one\n"
    "      --help          print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong or a file failed, 2 if the device failed.\n";

struct options {
  std::string device = "auto";
  std::string verb;
  long long wanted = 0;
  std::string file;
};

options parse(const example::program& running, const std::vector<std::string>& arguments) {
  options chosen;
  const std::vector<std::string> operands =
      example::parse_options(running, arguments, {example::device_option(chosen.device)});
  example::expect_operands(operands, 1);
  chosen.verb = operands[0];
  const bool is_longest = chosen.verb == "longest";
  if (!is_longest && chosen.verb != "offsets" && chosen.verb != "words" && chosen.verb != "totals") {
    throw example::wrong_call("no such thing to print: '" + chosen.verb + "'");
  }
  const std::size_t count = is_longest ? 3 : 2;
  example::expect_operands(operands, count, count);
  if (is_longest && !example::parse_number(operands[1], chosen.wanted, 0)) {
    throw example::wrong_call("invalid number: '" + operands[1] + "'");
  }
  chosen.file = operands.back();
  return chosen;
}

void print(const std::vector<long long>& numbers) {
  for (const long long number : numbers) std::printf("%lld\n", number);
}

void print(const std::vector<lines::word>& words, const std::string& text) {
  for (const lines::word& word : words) {
    std::printf("%lld %lld ", word.length, word.offset);
    std::fwrite(text.data() + word.offset, 1, static_cast<std::size_t>(word.length), stdout);
    std::putchar('\n');
  }
}

int run(example::program& running, const std::vector<std::string>& arguments) {
  const options chosen = parse(running, arguments);
  const std::string text = example::read_file(running, chosen.file);
  const auto made = example::choose_device(
      running, chosen.device, [&] { return lines::on_gpu::make_index(text); },
      [&] { return lines::on_host::make_index(text); });
  running.begin("finding " + chosen.verb);
  std::vector<long long> numbers;
  std::vector<lines::word> words;
  if (chosen.verb == "offsets") numbers = made->line_offsets();
  if (chosen.verb == "words") numbers = made->words_of_lines();
  if (chosen.verb == "totals") numbers = made->running_totals();
  if (chosen.verb == "longest") words = made->longest_words(chosen.wanted);
  running.hide_progress();
  print(numbers);
  print(words, text);
  example::finish_output();
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("lines", help, argc, argv, run); }
