// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// lines: where the lines of a text are, how many words they have, and which words are the longest;
// computed on a GPU or on the host SIMT back end.

#include "text_index.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

constexpr int exit_file_failed = 1;
constexpr int exit_device_failed = 2;

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

struct wrong_call : std::exception {};

options parse(std::vector<std::string> arguments) {
  const auto take = [&] {
    if (arguments.empty()) throw wrong_call();
    const std::string first = arguments.front();
    arguments.erase(arguments.begin());
    return first;
  };
  options chosen;
  const std::string option = "--device=";
  chosen.verb = take();
  if (chosen.verb.compare(0, option.size(), option) == 0) {
    chosen.device = chosen.verb.substr(option.size());
    chosen.verb = take();
  }
  if (chosen.device != "gpu" && chosen.device != "host" && chosen.device != "auto") {
    throw wrong_call();
  }
  if (chosen.verb == "longest") {
    const std::string number = take();
    const char* end = number.data() + number.size();
    const auto parsed = std::from_chars(number.data(), end, chosen.wanted);
    if (parsed.ec != std::errc() || parsed.ptr != end || chosen.wanted < 0) throw wrong_call();
  } else if (chosen.verb != "offsets" && chosen.verb != "words" && chosen.verb != "totals") {
    throw wrong_call();
  }
  chosen.file = take();
  if (!arguments.empty()) throw wrong_call();
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

std::unique_ptr<lines::text_index> index(const options& chosen, const std::string& text) {
  const char* reason = "";
  std::unique_ptr<lines::text_index> made;
  if (chosen.device != "host") {
#if STRATA_EXAMPLE_CUDA
    try {
      made = lines::index_on_gpu(text);
    } catch (const lines::no_device&) {
      if (chosen.device == "gpu") throw;
      reason = "no CUDA device, ";
    }
#else
    if (chosen.device == "gpu") throw lines::no_device("--device=gpu: built without nvcc");
    reason = "built without nvcc, ";
#endif
  }
  if (!made) made = lines::index_on_host(text);
  std::fprintf(stderr, "lines: %srunning on %s\n", reason, made->device().c_str());
  return made;
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

void run(const options& chosen) {
  const std::string text = read_file(chosen.file);
  const std::unique_ptr<lines::text_index> made = index(chosen, text);
  if (chosen.verb == "offsets") print(made->line_offsets());
  if (chosen.verb == "words") print(made->words_of_lines());
  if (chosen.verb == "totals") print(made->running_totals());
  if (chosen.verb == "longest") print(made->longest_words(chosen.wanted), text);
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
  } catch (const lines::device_error& error) {
    std::fprintf(stderr, "lines: %s\n", error.what());
    return exit_device_failed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lines: %s\n", error.what());
    return exit_file_failed;
  }
}
