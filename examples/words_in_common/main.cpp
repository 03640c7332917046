// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// words_in_common: which words come in both of two sets of texts, by a join of their hashes on a GPU or
// on the host SIMT back end.

#include "../common/program.hpp"
#include "../common/words.hpp"
#include "common_words.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

const char help[] =
    "Usage: words_in_common [--device=WHERE] [--counts] [--hash-bits=N] [--check]\n"
    "                       FILE... --with FILE...\n"
    "\n"
    "Prints the words that come both in the files before --with and in those behind it, in the\n"
    "order of their bytes; with --counts, also how often they come in these and in those.\n"
    "Words are what is not white space: blank, \\t, \\n, \\v, \\f and \\r.\n"
    "WHERE is gpu, host (the host SIMT back end), or auto: the GPU if there is one.\n"
    "--hash-bits=N uses N of 64 bits of the words' hashes, so that some are equal: a test.\n"
    "--check compares with maps of all words.\n"
    "Exit status: 0, 1 if the call is wrong or a file failed, 2 if the device failed, 3 if "
    "--check\n"
    "found a difference.\n";

struct options {
  std::string device = "auto";
  bool counts = false;
  bool checks = false;
  int hash_bits = 64;
  std::vector<std::string> first, second;
};

options parse(const std::vector<std::string>& arguments) {
  options chosen;
  bool is_second = false;
  for (const std::string& argument : arguments) {
    const example::option given(argument);
    if (argument == "--with" && !is_second) {
      is_second = true;
    } else if (is_second) {
      chosen.second.push_back(argument);
    } else if (!chosen.first.empty() || argument.compare(0, 2, "--") != 0) {
      chosen.first.push_back(argument);
    } else if (given.name == "--device") {
      chosen.device = example::parse_device(given);
    } else if (argument == "--counts") {
      chosen.counts = true;
    } else if (argument == "--check") {
      chosen.checks = true;
    } else if (given.name == "--hash-bits") {
      chosen.hash_bits = example::parse_number<int>(given.value);
    } else {
      throw example::wrong_call();
    }
  }
  const bool are_bits = 0 <= chosen.hash_bits && chosen.hash_bits <= 64;
  if (!are_bits || chosen.first.empty() || chosen.second.empty()) throw example::wrong_call();
  return chosen;
}

std::vector<std::string> read_all(const std::vector<std::string>& files) {
  std::vector<std::string> texts;
  for (const std::string& file : files) texts.push_back(example::read_file(file));
  return texts;
}

std::vector<std::string_view> words_of(const std::vector<std::string>& texts) {
  return example::split_into_words({texts.begin(), texts.end()});
}

bool is_same(const std::vector<words_in_common::common_word>& some,
             const std::vector<words_in_common::common_word>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const words_in_common::common_word& a, const words_in_common::common_word& b) {
                      return a.word == b.word && a.in_first == b.in_first && a.in_second == b.in_second;
                    });
}

int run(const std::vector<std::string>& arguments) {
  const options chosen = parse(arguments);
  const std::vector<std::string> first = read_all(chosen.first);
  const std::vector<std::string> second = read_all(chosen.second);
  const auto device = example::choose_device(
      "words_in_common", chosen.device, [] { return words_in_common::on_gpu::make_matcher(); },
      [] { return words_in_common::on_host::make_matcher(); });
  const std::vector<std::string_view> first_words = words_of(first);
  const std::vector<std::string_view> second_words = words_of(second);
  const words_in_common::common_words found =
      words_in_common::find_common_words(*device, first_words, second_words, chosen.hash_bits);
  if (found.collisions != 0) {
    std::fprintf(stderr, "words_in_common: %zu words were hashed again\n", found.collisions);
  }
  for (const words_in_common::common_word& common : found.words) {
    std::fwrite(common.word.data(), 1, common.word.size(), stdout);
    if (chosen.counts) std::printf(" %zu %zu", common.in_first, common.in_second);
    std::putchar('\n');
  }
  example::finish_output();
  if (!chosen.checks) return 0;
  const bool is_right = is_same(found.words, words_in_common::find_on_host(first_words, second_words));
  std::fprintf(stderr, "words_in_common: %zu words: %s maps\n", found.words.size(), is_right ? "as by" : "not as by");
  return is_right ? 0 : example::exit_check_failed;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("words_in_common", help, argc, argv, run); }
