// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// wordcount: finds the most frequent words of texts, by a sort of their hashes on a GPU or on the host SIMT back end.

#include "../common/program.hpp"
#include "count_words.hpp"
#include "sorter.hpp"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

const char help[] =
    "Usage: wordcount [OPTION]... FILE...\n"
    "Prints the most frequent words of all files, as `sort | uniq -c | sort -rn` does.\n"
    "\n"
    "When FILE is -, reads standard input. White space separates words: blank, \\t, \\n, \\v,\n"
    "\\f and \\r.\n"
    "\n"
    "      --top=N         print N words (default: 50)\n"
    "      --hash-bits=N   use only N of the 64 bits of the words' hashes: a test of equal hashes\n"
    "      --device=WHERE  gpu, host (the host SIMT back end), or auto: the GPU if there is one\n"
    "      --help          print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong or a file failed, 2 if the device failed.\n";

struct options {
  std::string device = "auto";
  std::size_t top = 50;
  int hash_bits = 64;
  std::vector<std::string> files;
};

options parse(const example::program& running, const std::vector<std::string>& arguments) {
  options chosen;
  chosen.files =
      example::parse_options(running, arguments,
                             {example::device_option(chosen.device), example::number_option("top", chosen.top),
                              example::number_option("hash-bits", chosen.hash_bits, 0, 64)});
  example::expect_operands(chosen.files, 1);
  return chosen;
}

int run(example::program& running, const std::vector<std::string>& arguments) {
  const options chosen = parse(running, arguments);
  const std::vector<std::string> texts = example::read_files(running, chosen.files);
  const auto device = example::choose_device(
      running, chosen.device, [] { return wordcount::on_gpu::make_sorter(); },
      [] { return wordcount::on_host::make_sorter(); });
  running.begin("counting words");
  const wordcount::word_counts counts =
      wordcount::count_words(*device, {texts.begin(), texts.end()}, chosen.top, chosen.hash_bits);
  running.hide_progress();
  if (counts.collisions != 0) running.say(std::to_string(counts.collisions) + " words were hashed again");
  for (const wordcount::counted_word& counted : counts.top) {
    std::printf("%7lld ", counted.count);
    std::fwrite(counted.word.data(), 1, counted.word.size(), stdout);
    std::putchar('\n');
  }
  example::finish_output();
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("wordcount", help, argc, argv, run); }
