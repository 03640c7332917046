// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// concordance: every word of some texts with all places where it is, sorted on a GPU or on the host
// SIMT back end.

#include "sorter.hpp"
#include "word_index.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

constexpr int exit_file_failed = 1;
constexpr int exit_device_failed = 2;
constexpr int exit_check_failed = 3;

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

struct wrong_call : std::exception {};

options parse(const std::vector<std::string>& arguments) {
  options chosen;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (!chosen.files.empty() || argument.compare(0, 2, "--") != 0) {
      chosen.files.push_back(argument);
    } else if (name == "--device") {
      chosen.device = value;
    } else if (name == "--word" && equals != std::string::npos) {
      chosen.has_word = true;
      chosen.word = value;
    } else if (argument == "--check") {
      chosen.checks = true;
    } else {
      throw wrong_call();
    }
  }
  const bool is_device =
      chosen.device == "gpu" || chosen.device == "host" || chosen.device == "auto";
  if (!is_device || chosen.files.empty()) throw wrong_call();
  return chosen;
}

[[noreturn]] void fail(const std::string& file) {
  throw std::system_error(errno, std::generic_category(), file);
}

std::string read_file(const std::string& name) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "rb"),
                                                             std::fclose);
  if (!file) fail(name);
  std::string text;
  std::vector<char> piece(std::size_t{1} << 20);
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), file.get())) {
    text.append(piece.data(), got);
  }
  if (std::ferror(file.get()) != 0) fail(name);
  return text;
}

std::unique_ptr<concordance::sorter> choose(const options& chosen) {
  const char* reason = "";
  std::unique_ptr<concordance::sorter> made;
  if (chosen.device != "host") {
#if STRATA_EXAMPLE_CUDA
    try {
      made = concordance::sorter_on_gpu();
    } catch (const concordance::no_device&) {
      if (chosen.device == "gpu") throw;
      reason = "no CUDA device, ";
    }
#else
    if (chosen.device == "gpu") throw concordance::no_device("--device=gpu: built without nvcc");
    reason = "built without nvcc, ";
#endif
  }
  if (!made) made = concordance::sorter_on_host();
  std::fprintf(stderr, "concordance: %srunning on %s\n", reason, made->device().c_str());
  return made;
}

void print(const concordance::word_index& index, const options& chosen) {
  for (const long long number : concordance::words_in_order(index)) {
    const auto word = static_cast<std::size_t>(number);
    const std::string_view text = index.words[word];
    if (chosen.has_word && text != chosen.word) continue;
    for (long long i = index.begins[word]; i < index.begins[word + 1]; ++i) {
      const concordance::occurrence& where = index.occurrences[static_cast<std::size_t>(i)];
      std::printf("%s:%lld:%lld:", chosen.files[static_cast<std::size_t>(where.file)].c_str(),
                  where.line, where.offset);
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::putchar('\n');
    }
  }
}

bool is_same(const std::vector<concordance::occurrence>& some,
             const std::vector<concordance::occurrence>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const concordance::occurrence& a, const concordance::occurrence& b) {
                      return a.file == b.file && a.line == b.line && a.offset == b.offset;
                    });
}

int run(const options& chosen) {
  std::vector<std::string> texts;
  for (const std::string& file : chosen.files) texts.push_back(read_file(file));
  concordance::word_index index = concordance::unsorted_index({texts.begin(), texts.end()});
  const std::unique_ptr<concordance::sorter> device = choose(chosen);
  std::vector<concordance::occurrence> expected;
  if (chosen.checks) expected = concordance::sorted_by_host(index);
  device->sort(index.occurrences, index.begins);
  print(index, chosen);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail("write error");
  if (!chosen.checks) return 0;
  long long longest = 0;
  for (std::size_t word = 0; word < index.words.size(); ++word) {
    longest = std::max(longest, index.begins[word + 1] - index.begins[word]);
  }
  const bool is_right = is_same(expected, index.occurrences);
  std::fprintf(
      stderr, "concordance: %zu occurrences of %zu words, of one up to %lld: %s std::stable_sort\n",
      index.occurrences.size(), index.words.size(), longest, is_right ? "as by" : "not as by");
  return is_right ? 0 : exit_check_failed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse({argv + 1, argv + argc}));
  } catch (const wrong_call&) {
    std::fputs(help, stderr);
    return exit_file_failed;
  } catch (const concordance::device_error& error) {
    std::fprintf(stderr, "concordance: %s\n", error.what());
    return exit_device_failed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "concordance: %s\n", error.what());
    return exit_file_failed;
  }
}
