// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files.hpp"

#include "program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace example {

data_file::data_file(const std::string& name, mode how) : shown_name_(name) {
  if (how == mode::read && name == "-") {
    shown_name_ = "standard input";
    descriptor_ = dup(STDIN_FILENO);
  } else {
    const int flags = how == mode::read ? O_RDONLY : how == mode::change ? O_RDWR : O_RDWR | O_CREAT | O_EXCL;
    descriptor_ = open(name.c_str(), flags | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) fail(shown_name_);
}

data_file::data_file(data_file&& other) noexcept
    : shown_name_(std::move(other.shown_name_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

data_file& data_file::operator=(data_file&& other) noexcept {
  std::swap(shown_name_, other.shown_name_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

data_file::~data_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

long long data_file::size() const {
  struct stat status;
  if (fstat(descriptor_, &status) != 0) fail(shown_name_);
  if (S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    fail(shown_name_);
  }
  if (!S_ISREG(status.st_mode)) throw std::runtime_error(shown_name_ + ": not a regular file");
  return status.st_size;
}

bool data_file::is_same_as(const std::string& name) const {
  struct stat ours;
  struct stat theirs;
  return fstat(descriptor_, &ours) == 0 && stat(name.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
         ours.st_ino == theirs.st_ino;
}

void data_file::reserve(long long bytes) const {
#if defined(__linux__)
  if (bytes > 0) {
    while (fallocate(descriptor_, 0, 0, bytes) != 0) {
      if (errno == EINTR) continue;
      if (errno == EOPNOTSUPP || errno == ENOSYS) break;
      fail(shown_name_);
    }
  }
#endif
  if (ftruncate(descriptor_, bytes) != 0) fail(shown_name_);
}

void data_file::read(char* to, std::size_t bytes, long long at) const {
  while (bytes > 0) {
    const ssize_t got = pread(descriptor_, to, bytes, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(shown_name_);
    if (got == 0) throw std::runtime_error(shown_name_ + ": has become shorter");
    to += got;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}

void data_file::write(const char* from, std::size_t bytes, long long at) const {
  while (bytes > 0) {
    const ssize_t put = pwrite(descriptor_, from, bytes, static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(shown_name_);
    from += put;
    at += put;
    bytes -= static_cast<std::size_t>(put);
  }
}

void data_file::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0 && ::close(descriptor) != 0) fail(shown_name_);
}

// ------------------------------------------------------------------ files that are removed

namespace {

// A signal handler may read these and call unlink.
constexpr int slots = 2;
char* volatile unfinished_names[slots]{};

void remove_and_end(int signal_number) {
  unfinished_file::remove_now();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

constexpr int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};

}  // namespace

unfinished_file::unfinished_file(std::string name) : name_(std::move(name)), slot_(unfinished_names[0] != nullptr) {
  unfinished_names[slot_] = name_.data();
  for (const int number : ending_signals) {
    struct sigaction old;
    if (sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_DFL) signal(number, remove_and_end);
  }
}

unfinished_file::~unfinished_file() {
  if (unfinished_names[slot_] == nullptr) return;
  unlink(name_.c_str());
  unfinished_names[slot_] = nullptr;
}

void unfinished_file::remove_now() {
  for (const char* const name : unfinished_names) {
    if (name != nullptr) unlink(name);
  }
}

void unfinished_file::rename_to(const std::string& name) {
  if (std::rename(name_.c_str(), name.c_str()) != 0) fail(name);
  unfinished_names[slot_] = nullptr;
}

void ignore_size_signal() { signal(SIGXFSZ, SIG_IGN); }

std::string output_name(const std::string& name) {
  struct stat status;
  if (stat(name.c_str(), &status) != 0) return name;  // other faults are found when it is created
  if (S_ISDIR(status.st_mode)) errno = EISDIR;
  if (S_ISDIR(status.st_mode) || access(name.c_str(), W_OK) != 0) fail(name);
  if (!S_ISREG(status.st_mode)) throw std::runtime_error(name + ": not a regular file");
  char* const resolved = realpath(name.c_str(), nullptr);
  if (resolved == nullptr) fail(name);
  std::string result = resolved;
  std::free(resolved);
  return result;
}

void remove_file(const std::string& name) {
  if (unlink(name.c_str()) != 0) fail(name);
}

}  // namespace example
