// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// wordcount: the most frequent words of texts, by a sort of their hashes on a GPU or on the host
// SIMT back end.

#include "count_words.hpp"
#include "sorter.hpp"

#include <cerrno>
#include <charconv>
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

struct wrong_call : std::exception {};

template <class Number>
Number parse_number(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) throw wrong_call();
  return number;
}

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
    } else if (name == "--top") {
      chosen.top = parse_number<std::size_t>(value);
    } else if (name == "--hash-bits") {
      chosen.hash_bits = parse_number<int>(value);
    } else {
      throw wrong_call();
    }
  }
  const bool is_device =
      chosen.device == "gpu" || chosen.device == "host" || chosen.device == "auto";
  const bool are_bits = 0 <= chosen.hash_bits && chosen.hash_bits <= 64;
  if (!is_device || !are_bits || chosen.files.empty()) throw wrong_call();
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

std::unique_ptr<wordcount::sorter> choose(const options& chosen) {
  const char* reason = "";
  std::unique_ptr<wordcount::sorter> made;
  if (chosen.device != "host") {
#if STRATA_EXAMPLE_CUDA
    try {
      made = wordcount::sorter_on_gpu();
    } catch (const wordcount::no_device&) {
      if (chosen.device == "gpu") throw;
      reason = "no CUDA device, ";
    }
#else
    if (chosen.device == "gpu") throw wordcount::no_device("--device=gpu: built without nvcc");
    reason = "built without nvcc, ";
#endif
  }
  if (!made) made = wordcount::sorter_on_host();
  std::fprintf(stderr, "wordcount: %srunning on %s\n", reason, made->device().c_str());
  return made;
}

void run(const options& chosen) {
  std::vector<std::string> texts;
  for (const std::string& file : chosen.files) texts.push_back(read_file(file));
  const std::unique_ptr<wordcount::sorter> device = choose(chosen);
  const wordcount::word_counts counts = wordcount::count_words(
      *device, {texts.begin(), texts.end()}, chosen.top, chosen.hash_bits);
  if (counts.collisions != 0) {
    std::fprintf(stderr, "wordcount: %lld words were hashed again\n", counts.collisions);
  }
  for (const wordcount::counted_word& counted : counts.top) {
    std::printf("%7lld ", counted.count);
    std::fwrite(counted.word.data(), 1, counted.word.size(), stdout);
    std::putchar('\n');
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail("write error");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse({argv + 1, argv + argc}));
    return 0;
  } catch (const wrong_call&) {
    std::fputs(help, stderr);
    return exit_file_failed;
  } catch (const wordcount::device_error& error) {
    std::fprintf(stderr, "wordcount: %s\n", error.what());
    return exit_device_failed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wordcount: %s\n", error.what());
    return exit_file_failed;
  }
}
