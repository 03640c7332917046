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
    "Usage: words_in_common [OPTION]... FILE... --with FILE...\n"
    "Prints the words that come both in the files before --with and in those behind it, in the\n"
    "order of their bytes.\n"
    "\n"
    "When FILE is -, reads standard input. Words are what is not white space: blank, \\t, \\n, \\v,\n"
    "\\f and \\r.\n"
    "\n"
    "      --counts        also print how often a word comes in these files and in those\n"
    "      --hash-bits=N   use N of 64 bits of the words' hashes, so that some are equal: a test\n"
    "      --check         compare with maps of all words\n"
    "      --device=WHERE  gpu, host (the host SIMT back end), or auto: the GPU if there is one\n"
    "      --help          print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong or a file failed, 2 if the device failed, 3 if --check\n"
    "found a difference.\n";

struct options {
  std::string device = "auto";
  bool counts = false;
  bool checks = false;
  int hash_bits = 64;
  std::vector<std::string> first, second;
};

options parse(const example::program& running, const std::vector<std::string>& arguments) {
  options chosen;
  const std::vector<example::option> known = {
      example::device_option(chosen.device), example::flag_option("counts", chosen.counts),
      example::flag_option("check", chosen.checks), example::number_option("hash-bits", chosen.hash_bits, 0, 64)};
  const auto with = std::find(arguments.begin(), arguments.end(), "--with");
  chosen.first = example::parse_options(running, {arguments.begin(), with}, known);
  example::expect_operands(chosen.first, 1);
  if (with == arguments.end()) throw example::wrong_call("missing --with");
  chosen.second = example::parse_options(running, {with + 1, arguments.end()}, known);
  if (chosen.second.empty()) throw example::wrong_call("missing operand after '--with'");
  return chosen;
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

int run(example::program& running, const std::vector<std::string>& arguments) {
  const options chosen = parse(running, arguments);
  const std::vector<std::string> first = example::read_files(running, chosen.first);
  const std::vector<std::string> second = example::read_files(running, chosen.second);
  const auto device = example::choose_device(
      running, chosen.device, [] { return words_in_common::on_gpu::make_matcher(); },
      [] { return words_in_common::on_host::make_matcher(); });
  running.begin("joining words");
  const std::vector<std::string_view> first_words = words_of(first);
  const std::vector<std::string_view> second_words = words_of(second);
  const words_in_common::common_words found =
      words_in_common::find_common_words(*device, first_words, second_words, chosen.hash_bits);
  running.hide_progress();
  if (found.collisions != 0) running.say(std::to_string(found.collisions) + " words were hashed again");
  for (const words_in_common::common_word& common : found.words) {
    std::fwrite(common.word.data(), 1, common.word.size(), stdout);
    if (chosen.counts) std::printf(" %zu %zu", common.in_first, common.in_second);
    std::putchar('\n');
  }
  example::finish_output();
  if (!chosen.checks) return 0;
  running.begin("comparing with maps");
  const bool is_right = is_same(found.words, words_in_common::find_on_host(first_words, second_words));
  running.say(std::to_string(found.words.size()) + " words: " + (is_right ? "as by" : "not as by") + " maps");
  return is_right ? 0 : example::exit_check_failed;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("words_in_common", help, argc, argv, run); }
