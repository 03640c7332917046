// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// concordance: every word of some texts with all places where it is, sorted on a GPU or on the host
// SIMT back end.

#include "../common/program.hpp"
#include "sorter.hpp"
#include "word_index.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

const char help[] =
    "Usage: concordance [OPTION]... FILE...\n"
    "Prints FILE:LINE:OFFSET:WORD for every word of the files: word by word, and the occurrences of\n"
    "a word in the order of files and lines.\n"
    "\n"
    "When FILE is -, reads standard input. Words are what is not white space: blank, \\t, \\n, \\v,\n"
    "\\f and \\r.\n"
    "\n"
    "      --word=WORD     print the occurrences of this word only\n"
    "      --check         compare all with std::stable_sort\n"
    "      --device=WHERE  gpu, host (the host SIMT back end), or auto: the GPU if there is one\n"
    "      --help          print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong or a file failed, 2 if the device failed, 3 if --check\n"
    "found a difference.\n";

struct options {
  std::string device = "auto";
  bool has_word = false;
  std::string word;
  bool checks = false;
  std::vector<std::string> files;
};

options parse(const example::program& running, const std::vector<std::string>& arguments) {
  options chosen;
  const auto use_word = [&](const std::string& word) {
    chosen.word = word;
    return chosen.has_word = true;
  };
  chosen.files = example::parse_options(running, arguments,
                                        {example::device_option(chosen.device),
                                         example::flag_option("check", chosen.checks),
                                         {"word", 0, true, use_word}});
  example::expect_operands(chosen.files, 1);
  return chosen;
}

void print(const concordance::word_index& index, const options& chosen) {
  for (const long long number : concordance::words_in_order(index)) {
    const auto word = static_cast<std::size_t>(number);
    const std::string_view text = index.words[word];
    if (chosen.has_word && text != chosen.word) continue;
    for (long long i = index.begins[word]; i < index.begins[word + 1]; ++i) {
      const concordance::occurrence& where = index.occurrences[static_cast<std::size_t>(i)];
      std::printf("%s:%lld:%lld:", chosen.files[static_cast<std::size_t>(where.file)].c_str(), where.line,
                  where.offset);
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::putchar('\n');
    }
  }
}

bool is_same(const std::vector<concordance::occurrence>& some, const std::vector<concordance::occurrence>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const concordance::occurrence& a, const concordance::occurrence& b) {
                      return a.file == b.file && a.line == b.line && a.offset == b.offset;
                    });
}

int run(example::program& running, const std::vector<std::string>& arguments) {
  const options chosen = parse(running, arguments);
  const std::vector<std::string> texts = example::read_files(running, chosen.files);
  running.begin("splitting into words");
  concordance::word_index index = concordance::unsorted_index({texts.begin(), texts.end()});
  const auto device = example::choose_device(
      running, chosen.device, [] { return concordance::on_gpu::make_sorter(); },
      [] { return concordance::on_host::make_sorter(); });
  std::vector<concordance::occurrence> expected;
  if (chosen.checks) {
    running.begin("sorting by std::stable_sort");
    expected = concordance::sorted_by_host(index);
  }
  running.begin("sorting occurrences");
  device->sort(index.occurrences, index.begins);
  running.hide_progress();
  print(index, chosen);
  example::finish_output();
  if (!chosen.checks) return 0;
  long long longest = 0;
  for (std::size_t word = 0; word < index.words.size(); ++word) {
    longest = std::max(longest, index.begins[word + 1] - index.begins[word]);
  }
  const bool is_right = is_same(expected, index.occurrences);
  running.say(std::to_string(index.occurrences.size()) + " occurrences of " + std::to_string(index.words.size()) +
              " words, of one up to " + std::to_string(longest) + (is_right ? ": as by" : ": not as by") +
              " std::stable_sort");
  return is_right ? 0 : example::exit_check_failed;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("concordance", help, argc, argv, run); }
