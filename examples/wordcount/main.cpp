// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// wordcount: the most frequent words of texts, by a sort of their hashes on a GPU or on the host
// SIMT back end.

#include "../common/program.hpp"
#include "count_words.hpp"
#include "sorter.hpp"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

const char help[] =
    "Usage: wordcount [--device=WHERE] [--top=N] [--hash-bits=N] FILE...\n"
    "\n"
    "Prints the 50 or N most frequent words of all files, as `sort | uniq -c | sort -rn` does.\n"
    "Words are what is not white space: blank, \\t, \\n, \\v, \\f and \\r.\n"
    "WHERE is gpu, host (the host SIMT back end), or auto: the GPU if there is one.\n"
    "--hash-bits=N uses N of 64 bits of the words' hashes, so that some are equal: a test.\n"
    "Exit status: 0, 1 if the call is wrong or a file failed, 2 if the device failed.\n";

struct options {
  std::string device = "auto";
  std::size_t top = 50;
  int hash_bits = 64;
  std::vector<std::string> files;
};

options parse(const std::vector<std::string>& arguments) {
  options chosen;
  for (const std::string& argument : arguments) {
    const example::option given(argument);
    if (!chosen.files.empty() || argument.compare(0, 2, "--") != 0) {
      chosen.files.push_back(argument);
    } else if (given.name == "--device") {
      chosen.device = example::parse_device(given);
    } else if (given.name == "--top") {
      chosen.top = example::parse_number<std::size_t>(given.value);
    } else if (given.name == "--hash-bits") {
      chosen.hash_bits = example::parse_number<int>(given.value);
    } else {
      throw example::wrong_call();
    }
  }
  const bool are_bits = 0 <= chosen.hash_bits && chosen.hash_bits <= 64;
  if (!are_bits || chosen.files.empty()) throw example::wrong_call();
  return chosen;
}

int run(const std::vector<std::string>& arguments) {
  const options chosen = parse(arguments);
  std::vector<std::string> texts;
  for (const std::string& file : chosen.files) texts.push_back(example::read_file(file));
  const auto device = example::choose_device(
      "wordcount", chosen.device, [] { return wordcount::on_gpu::make_sorter(); },
      [] { return wordcount::on_host::make_sorter(); });
  const wordcount::word_counts counts =
      wordcount::count_words(*device, {texts.begin(), texts.end()}, chosen.top, chosen.hash_bits);
  if (counts.collisions != 0) {
    std::fprintf(stderr, "wordcount: %lld words were hashed again\n", counts.collisions);
  }
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
