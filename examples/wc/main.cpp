// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// wc: counts lines, words and bytes like the Unix tool, on a GPU or on the host SIMT back end.

#include "../common/program.hpp"
#include "back_end.hpp"
#include "count_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

namespace {

const char help[] =
    "Usage: wc [OPTION]... [FILE]...\n"
    "Prints newline, word and byte counts for each FILE, and a total line if there is more than\n"
    "one. With no FILE, or when FILE is -, reads standard input.\n"
    "\n"
    "  -l, --lines          print the newline counts\n"
    "  -w, --words          print the word counts\n"
    "  -c, --bytes          print the byte counts\n"
    "      --longest        print the longest line of all files, too, and where it is\n"
    "      --device=WHERE   gpu, host (the host SIMT back end), or auto: the GPU if there is one\n"
    "      --word-bytes=SET printable: words are made of printable ASCII, and a byte that is\n"
    "                       neither that nor white space is ignored; any: words are made of\n"
    "                       whatever is not white space\n"
    "      --help           print this help\n"
    "\n"
    "Text is taken as bytes: white space is blank, \\t, \\n, \\v, \\f and \\r.\n"
    "Exit status: 0, 1 if the call is wrong or a file failed, 2 if the device failed.\n";

struct options {
  bool lines = false;
  bool words = false;
  bool bytes = false;
  bool longest = false;
  std::string device = "auto";
  wc::word_rule rule = wc::word_rule::printable;
  std::size_t chunk_bytes = std::size_t{64} << 20;
  std::vector<std::string> files;
  bool is_stdin_unnamed = false;
};

options parse(const example::program& running, const std::vector<std::string>& arguments) {
  options chosen;
  const auto use_word_bytes = [&](const std::string& set) {
    chosen.rule = set == "any" ? wc::word_rule::any : wc::word_rule::printable;
    return set == "any" || set == "printable";
  };
  chosen.files = example::parse_options(running, arguments,
                                        {example::flag_option("lines", chosen.lines, 'l'),
                                         example::flag_option("words", chosen.words, 'w'),
                                         example::flag_option("bytes", chosen.bytes, 'c'),
                                         example::flag_option("longest", chosen.longest),
                                         example::device_option(chosen.device),
                                         {"word-bytes", 0, true, use_word_bytes},
                                         // For tests: text is counted in chunks of this size.
                                         example::number_option("chunk-bytes", chosen.chunk_bytes, 1)});
  if (!chosen.lines && !chosen.words && !chosen.bytes) {
    chosen.lines = chosen.words = chosen.bytes = true;
  }
  chosen.is_stdin_unnamed = chosen.files.empty();
  if (chosen.files.empty()) chosen.files.push_back("-");
  return chosen;
}

struct file_sizes {
  long long sum = 0;
  long long largest = 0;
  bool are_known = true;
};

file_sizes ask_for_sizes(const options& chosen) {
  file_sizes sizes;
  for (const std::string& name : chosen.files) {
    struct stat status;
    if ((name == "-" ? fstat(STDIN_FILENO, &status) : stat(name.c_str(), &status)) != 0) continue;
    if (!S_ISREG(status.st_mode)) {
      sizes.are_known = false;
      continue;
    }
    sizes.sum += status.st_size;
    sizes.largest = std::max<long long>(sizes.largest, status.st_size);
  }
  return sizes;
}

/// Small files get a small buffer. Files that do not tell their size, such as those in /proc, are small.
std::size_t chunk_bytes(const options& chosen, const file_sizes& sizes) {
  if (!sizes.are_known) return chosen.chunk_bytes;
  const long long enough = std::max(sizes.largest, 1LL << 20);
  return std::min(chosen.chunk_bytes, static_cast<std::size_t>(enough));
}

/// The width of columns in coreutils. It fits the number of bytes of all regular files, is at least 7 if one file's
/// size is not known beforehand, and is 1 for a single number.
int column_width(const options& chosen, const file_sizes& sizes) {
  const int columns = chosen.lines + chosen.words + chosen.bytes;
  if (columns == 1 && chosen.files.size() == 1) return 1;
  return static_cast<int>(std::max(std::to_string(sizes.sum).size(), std::size_t{sizes.are_known ? 1u : 7u}));
}

void print_counts(const options& chosen, const wc::file_counts& counts, int width, const std::string& name) {
  const char* separator = "";
  const auto print = [&](bool is_wanted, long long count) {
    if (!is_wanted) return;
    std::printf("%s%*lld", separator, width, count);
    separator = " ";
  };
  print(chosen.lines, counts.lines);
  print(chosen.words, counts.words);
  print(chosen.bytes, counts.bytes);
  std::printf("%s%s\n", name.empty() ? "" : " ", name.c_str());
}

void print_longest_line(const wc::longest_line& line, const std::string& name) {
  if (line.length < 0) {
    std::puts("longest line: none");
    return;
  }
  std::string shown = line.excerpt;
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  const bool is_cut = line.length > static_cast<long long>(shown.size());
  std::printf("longest line: %lld bytes, at %s:%lld (byte %lld)\n  %s%s\n", line.length, name.c_str(), line.number,
              line.offset, shown.c_str(), is_cut ? "..." : "");
}

/// Reports a file that failed. The next one is counted nevertheless.
void report(example::program& running, const std::system_error& error) {
  std::fflush(stdout);
  running.say(error.what());
}

int run(example::program& running, const std::vector<std::string>& arguments) {
  const options chosen = parse(running, arguments);
  const file_sizes sizes = ask_for_sizes(chosen);
  const std::size_t chunk = chunk_bytes(chosen, sizes);
  const auto device = example::choose_device(
      running, chosen.device, [&] { return wc::on_gpu::make_back_end(chunk, chosen.rule); },
      [&] { return wc::on_host::make_back_end(chunk, chosen.rule); });
  const int width = column_width(chosen, sizes);
  wc::file_counts total;
  std::string file_of_longest;
  bool has_failed = false;

  for (const std::string& name : chosen.files) {
    wc::file_counts counts;
    try {
      example::input_file file(name);
      counts = wc::count_file(running, *device, file, chosen.longest);
      running.hide_progress();
      if (counts.error != 0) {
        has_failed = true;
        report(running, std::system_error(counts.error, std::generic_category(), file.shown_name()));
      }
    } catch (const std::system_error& error) {
      has_failed = true;
      report(running, error);
      continue;
    }
    print_counts(chosen, counts, width, chosen.is_stdin_unnamed ? "" : name);
    total.lines += counts.lines;
    total.words += counts.words;
    total.bytes += counts.bytes;
    if (counts.longest.length > total.longest.length) {
      total.longest = counts.longest;
      file_of_longest = name;
    }
  }
  if (chosen.files.size() > 1) print_counts(chosen, total, width, "total");
  if (chosen.longest) print_longest_line(total.longest, file_of_longest);
  example::finish_output();
  return has_failed ? example::exit_file_failed : 0;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("wc", help, argc, argv, run); }
