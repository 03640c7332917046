// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

/// What the programs here share on the host: arguments, files, messages and progress. Each program has an interface of
/// its own to a device. One source implements it for the GPU and for the host SIMT back end: see device.cuh.
namespace example {

constexpr int exit_file_failed = 1;  // or the call is wrong, as for wc, join and comm
constexpr int exit_device_failed = 2;
constexpr int exit_check_failed = 3;

/// A wrong call. Its message is printed, followed by how to get help.
struct wrong_call : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct device_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct no_device : device_error {
  using device_error::device_error;
};

/// The running program: its name, and its output on standard error.
class program {
 public:
  explicit program(const char* name);
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  const char* name() const { return name_; }

  /// Sets what the program does from now on. If standard error is a terminal and the program has run for a second, this
  /// is shown there with the time. Call `hide_progress` before output to remove it.
  void begin(const std::string& step);
  /// Sets how many bytes a step has read. `all` is the number of all bytes, or negative if it is not known.
  void set_bytes(long long done, long long all);
  void hide_progress();

  /// Prints `name: message`.
  void say(const std::string& message);

 private:
  struct progress;

  const char* name_;
  std::unique_ptr<progress> progress_;  // none without a terminal
};

/// Calls `run` with the arguments and returns its exit status. If it throws, prints the error on standard error and
/// returns the exit status for it. With --help, prints `help` and returns 0.
int run_program(const char* name, const char* help, int argc, char** argv,
                int (*run)(program& running, const std::vector<std::string>& arguments));

// ------------------------------------------------------------------ arguments

/// An option, and what it does.
struct option {
  const char* name;  // of `--name`, or null
  char letter;       // of `-l`, or 0
  bool has_value;
  std::function<bool(const std::string& value)> use;  // returns false if the value is not allowed
};

enum class option_place { anywhere, before_operands };

/// Applies the options among the arguments, by the rules of GNU's getopt_long, and returns the operands. Each program
/// has the option --help.
std::vector<std::string> parse_options(const program& running, const std::vector<std::string>& arguments,
                                       const std::vector<option>& options, option_place place = option_place::anywhere);

/// Throws if there are fewer or more operands.
void expect_operands(const std::vector<std::string>& operands, std::size_t least,
                     std::size_t most = std::numeric_limits<std::size_t>::max());

/// True if all of `text` is a number from `least` to `most`. If so, stores it.
template <class Number>
bool parse_number(const std::string& text, Number& number,
                  std::common_type_t<Number> least = std::numeric_limits<Number>::lowest(),
                  std::common_type_t<Number> most = std::numeric_limits<Number>::max()) {
  Number parsed{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, parsed);
  if (result.ec != std::errc() || result.ptr != end || parsed < least || parsed > most) return false;
  number = parsed;
  return true;
}

template <class Number>
option number_option(const char* name, Number& number,
                     std::common_type_t<Number> least = std::numeric_limits<Number>::lowest(),
                     std::common_type_t<Number> most = std::numeric_limits<Number>::max()) {
  return {name, 0, true, [=, &number](const std::string& text) { return parse_number(text, number, least, most); }};
}

/// The option --name, or -l, without a value.
option flag_option(const char* name, bool& flag, char letter = 0);

/// The option --device=gpu, host or auto.
option device_option(std::string& device);

// ------------------------------------------------------------------ files

/// Throws the error in errno.
[[noreturn]] void fail(const std::string& file);

/// A file that is read, or standard input if its name is "-".
class input_file {
 public:
  explicit input_file(const std::string& name);  // throws the error in errno
  ~input_file();
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  /// The name in messages.
  const std::string& shown_name() const { return shown_name_; }
  /// The size in bytes, or -1 if it is not known before the file has been read.
  long long size() const { return size_; }

  /// Returns less than `bytes` at the end of the file, and if reading fails.
  std::size_t read(char* to, std::size_t bytes);
  /// The error of a `read` that failed, or 0.
  int error() const { return error_; }

 private:
  std::string shown_name_;
  int descriptor_;
  long long size_ = -1;
  int error_ = 0;
};

/// Reads a whole file, or all of standard input.
std::string read_file(program& running, const std::string& name);
std::vector<std::string> read_files(program& running, const std::vector<std::string>& names);

/// Flushes standard output. Throws if this or an earlier write has failed.
void finish_output();

// ------------------------------------------------------------------ devices

#ifndef STRATA_EXAMPLE_LACKS  // what a program without GPU support lacks
#define STRATA_EXAMPLE_LACKS "nvcc"
#endif

/// Returns what `on_gpu` makes. If there is no GPU and `wanted` is not "gpu", returns what `on_host` makes. Both have a
/// member `device()`, and standard error says which one it is.
template <class OnGpu, class OnHost>
auto choose_device(program& running, const std::string& wanted, const OnGpu& on_gpu, const OnHost& on_host) {
  std::string reason;
  decltype(on_host()) made;
  running.begin("opening the device");
  if (wanted != "host") {
#if STRATA_EXAMPLE_CUDA
    try {
      made = on_gpu();
    } catch (const no_device&) {
      if (wanted == "gpu") throw;
      reason = "no CUDA device, ";
    }
#else
    static_cast<void>(on_gpu);
    if (wanted == "gpu") throw no_device("--device=gpu: built without " STRATA_EXAMPLE_LACKS);
    reason = "built without " STRATA_EXAMPLE_LACKS ", ";
#endif
  }
  if (!made) made = on_host();
  running.say(reason + "running on " + made->device());
  return made;
}

}  // namespace example
