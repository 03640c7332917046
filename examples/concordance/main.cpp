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
    "Usage: concordance [--device=WHERE] [--word=WORD] [--check] FILE...\n"
    "\n"
    "Prints FILE:LINE:OFFSET:WORD for every word of the files, or for all WORDs: word by word, "
    "and\n"
    "the occurrences of a word in the order of files and lines.\n"
    "Words are what is not white space: blank, \\t, \\n, \\v, \\f and \\r.\n"
    "WHERE is gpu, host (the host SIMT back end), or auto: the GPU if there is one.\n"
    "--check compares all with std::stable_sort.\n"
    "Exit status: 0, 1 if the call is wrong or a file failed, 2 if the device failed, 3 if "
    "--check\n"
    "found a difference.\n";

struct options {
  std::string device = "auto";
  bool has_word = false;
  std::string word;
  bool checks = false;
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
    } else if (given.name == "--word" && given.has_value) {
      chosen.has_word = true;
      chosen.word = given.value;
    } else if (argument == "--check") {
      chosen.checks = true;
    } else {
      throw example::wrong_call();
    }
  }
  if (chosen.files.empty()) throw example::wrong_call();
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

int run(const std::vector<std::string>& arguments) {
  const options chosen = parse(arguments);
  std::vector<std::string> texts;
  for (const std::string& file : chosen.files) texts.push_back(example::read_file(file));
  concordance::word_index index = concordance::unsorted_index({texts.begin(), texts.end()});
  const auto device = example::choose_device(
      "concordance", chosen.device, [] { return concordance::on_gpu::make_sorter(); },
      [] { return concordance::on_host::make_sorter(); });
  std::vector<concordance::occurrence> expected;
  if (chosen.checks) expected = concordance::sorted_by_host(index);
  device->sort(index.occurrences, index.begins);
  print(index, chosen);
  example::finish_output();
  if (!chosen.checks) return 0;
  long long longest = 0;
  for (std::size_t word = 0; word < index.words.size(); ++word) {
    longest = std::max(longest, index.begins[word + 1] - index.begins[word]);
  }
  const bool is_right = is_same(expected, index.occurrences);
  std::fprintf(stderr, "concordance: %zu occurrences of %zu words, of one up to %lld: %s std::stable_sort\n",
               index.occurrences.size(), index.words.size(), longest, is_right ? "as by" : "not as by");
  return is_right ? 0 : example::exit_check_failed;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("concordance", help, argc, argv, run); }
