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
    "Usage: lines [--device=WHERE] offsets FILE    offset of each line's first byte\n"
    "       lines [--device=WHERE] words FILE      number of words of each line\n"
    "       lines [--device=WHERE] totals FILE     the same, with all lines before it\n"
    "       lines [--device=WHERE] longest N FILE  the N longest words: length, offset, word\n"
    "\n"
    "WHERE is gpu, host (the host SIMT back end), or auto: the GPU if there is one.\n"
    "Words are what is not white space: blank, \\t, \\n, \\v, \\f and \\r.\n"
    "Exit status: 0, 1 if the call is wrong or a file failed, 2 if the device failed.\n";

struct options {
  std::string device = "auto";
  std::string verb;
  long long wanted = 0;
  std::string file;
};

options parse(std::vector<std::string> arguments) {
  const auto take = [&] {
    if (arguments.empty()) throw example::wrong_call();
    const std::string first = arguments.front();
    arguments.erase(arguments.begin());
    return first;
  };
  options chosen;
  chosen.verb = take();
  const example::option given(chosen.verb);
  if (given.name == "--device") {
    chosen.device = example::parse_device(given);
    chosen.verb = take();
  }
  if (chosen.verb == "longest") {
    chosen.wanted = example::parse_number<long long>(take());
    if (chosen.wanted < 0) throw example::wrong_call();
  } else if (chosen.verb != "offsets" && chosen.verb != "words" && chosen.verb != "totals") {
    throw example::wrong_call();
  }
  chosen.file = take();
  if (!arguments.empty()) throw example::wrong_call();
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

int run(const std::vector<std::string>& arguments) {
  const options chosen = parse(arguments);
  const std::string text = example::read_file(chosen.file);
  const auto made = example::choose_device(
      "lines", chosen.device, [&] { return lines::on_gpu::make_index(text); },
      [&] { return lines::on_host::make_index(text); });
  if (chosen.verb == "offsets") print(made->line_offsets());
  if (chosen.verb == "words") print(made->words_of_lines());
  if (chosen.verb == "totals") print(made->running_totals());
  if (chosen.verb == "longest") print(made->longest_words(chosen.wanted), text);
  example::finish_output();
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("lines", help, argc, argv, run); }
