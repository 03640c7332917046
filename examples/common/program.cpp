// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "program.hpp"

#include <fcntl.h>
#include <getopt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace example {
namespace {

struct help_wanted {};

}  // namespace

// ------------------------------------------------------------------ progress

/// One line on the terminal. A thread of its own writes it, because a step may be a single call of the device.
struct program::progress {
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t columns = 79;

  const std::string prefix;
  const clock::time_point start = clock::now();
  std::mutex mutex;
  std::condition_variable has_ended;
  bool ends = false;
  bool is_shown = false;
  std::string step;  // empty while the program prints
  long long done = -1;
  long long all = -1;
  std::thread writer;

  explicit progress(const char* name) : prefix(std::string(name) + ": "), writer([this] { write(); }) {}

  ~progress() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      hide();
      step.clear();
      ends = true;
    }
    has_ended.notify_one();
    writer.join();
  }

  void hide() {
    if (is_shown) std::fprintf(stderr, "\r%*s\r", static_cast<int>(columns), "");
    is_shown = false;
  }

  void write() {
    std::unique_lock<std::mutex> lock(mutex);
    has_ended.wait_until(lock, start + std::chrono::seconds(1), [this] { return ends; });
    while (!ends) {
      if (!step.empty()) show();
      has_ended.wait_for(lock, std::chrono::milliseconds(200), [this] { return ends; });
    }
  }

  void show() {
    std::string end;
    if (done >= 0) end += ": " + std::to_string(done >> 20);
    if (done >= 0 && all > 0) end += " of " + std::to_string(all >> 20);
    if (done >= 0) end += " MiB";
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - start).count();
    end += ", " + std::to_string(seconds) + " s";
    std::string line = prefix + step;
    if (line.size() + end.size() > columns) line.resize(columns - end.size());
    line += end;
    std::fprintf(stderr, "\r%-*s", static_cast<int>(columns), line.c_str());
    std::fflush(stderr);
    is_shown = true;
  }
};

program::program(const char* name) : name_(name) {
  if (isatty(STDERR_FILENO) != 0) progress_ = std::make_unique<progress>(name);
}

program::~program() = default;

void program::begin(const std::string& step) {
  if (!progress_) return;
  const std::lock_guard<std::mutex> lock(progress_->mutex);
  progress_->step = step;
  progress_->done = progress_->all = -1;
}

void program::set_bytes(long long done, long long all) {
  if (!progress_) return;
  const std::lock_guard<std::mutex> lock(progress_->mutex);
  progress_->done = done;
  progress_->all = all;
}

void program::hide_progress() {
  if (!progress_) return;
  const std::lock_guard<std::mutex> lock(progress_->mutex);
  progress_->hide();
  progress_->step.clear();
}

void program::say(const std::string& message) {
  hide_progress();
  std::fprintf(stderr, "%s: %s\n", name_, message.c_str());
}

int run_program(const char* name, const char* help, int argc, char** argv,
                int (*run)(program& running, const std::vector<std::string>& arguments)) {
  program running(name);
  try {
    try {
      return run(running, {argv + 1, argv + argc});
    } catch (const help_wanted&) {
      std::fputs(help, stdout);
      finish_output();
      return 0;
    }
  } catch (const wrong_call& error) {
    if (*error.what() != '\0') running.say(error.what());
    std::fprintf(stderr, "Try '%s --help' for more information.\n", name);
    return exit_file_failed;
  } catch (const device_error& error) {
    running.say(error.what());
    return exit_device_failed;
  } catch (const std::exception& error) {
    running.say(error.what());
    return exit_file_failed;
  }
}

// ------------------------------------------------------------------ arguments

std::vector<std::string> parse_options(const program& running, const std::vector<std::string>& arguments,
                                       const std::vector<option>& options, option_place place) {
  // getopt_long takes characters that it might write to, and moves the operands to the end.
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), running.name());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int argc = static_cast<int>(words.size());

  constexpr int first_code = 256;  // codes of names; a letter is its own code
  const int help_code = first_code + static_cast<int>(options.size());
  std::string letters = place == option_place::before_operands ? "+" : "";
  std::vector<::option> names{{"help", no_argument, nullptr, help_code}};
  for (std::size_t i = 0; i < options.size(); ++i) {
    const option& known = options[i];
    if (known.letter != 0) letters.append(1, known.letter).append(known.has_value ? ":" : "");
    if (known.name == nullptr) continue;
    names.push_back(
        {known.name, known.has_value ? required_argument : no_argument, nullptr, first_code + static_cast<int>(i)});
  }
  names.push_back({nullptr, 0, nullptr, 0});

#if defined(__GLIBC__)
  optind = 0;  // begins anew
#else
  optind = 1;
#endif
  for (int code; (code = getopt_long(argc, argv.data(), letters.c_str(), names.data(), nullptr)) != -1;) {
    if (code == '?') throw wrong_call("");  // getopt_long has said what is wrong.
    if (code == help_code) throw help_wanted();
    for (std::size_t i = 0; i < options.size(); ++i) {
      const option& known = options[i];
      const bool is_name = code == first_code + static_cast<int>(i);
      if (!is_name && code != known.letter) continue;
      const std::string value = known.has_value ? optarg : "";
      if (known.use(value)) continue;
      throw wrong_call("invalid argument '" + value + "' for '" +
                       (is_name ? std::string("--") + known.name : std::string("-") + known.letter) + "'");
    }
  }
  return {argv.begin() + optind, argv.end() - 1};
}

void expect_operands(const std::vector<std::string>& operands, std::size_t least, std::size_t most) {
  if (operands.size() > most) throw wrong_call("extra operand '" + operands[most] + "'");
  if (operands.size() >= least) return;
  throw wrong_call(operands.empty() ? "missing operand" : "missing operand after '" + operands.back() + "'");
}

option flag_option(const char* name, bool& flag, char letter) {
  return {name, letter, false, [&flag](const std::string&) { return flag = true; }};
}

option device_option(std::string& device) {
  return {"device", 0, true, [&device](const std::string& value) {
            device = value;
            return value == "gpu" || value == "host" || value == "auto";
          }};
}

// ------------------------------------------------------------------ files

void fail(const std::string& file) { throw std::system_error(errno, std::generic_category(), file); }

input_file::input_file(const std::string& name)
    : shown_name_(name == "-" ? "standard input" : name),
      descriptor_(name == "-" ? STDIN_FILENO : open(name.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail(shown_name_);
  struct stat status;
  if (fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) size_ = status.st_size;
}

input_file::~input_file() {
  if (descriptor_ != STDIN_FILENO) close(descriptor_);
}

std::size_t input_file::read(char* to, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {  // a pipe may give less than the program asks for
    const ssize_t got = ::read(descriptor_, to + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error_ = errno;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::string read_file(program& running, const std::string& name) {
  input_file file(name);
  running.begin("reading " + file.shown_name());
  std::string text;
  std::vector<char> piece(std::size_t{1} << 20);
  while (const std::size_t got = file.read(piece.data(), piece.size())) {
    text.append(piece.data(), got);
    running.set_bytes(static_cast<long long>(text.size()), file.size());
  }
  if (file.error() != 0) throw std::system_error(file.error(), std::generic_category(), file.shown_name());
  return text;
}

std::vector<std::string> read_files(program& running, const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const std::string& name : names) texts.push_back(read_file(running, name));
  return texts;
}

void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail("write error");
}

}  // namespace example
