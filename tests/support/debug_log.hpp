// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Captures the log that debug builds write to standard error. A source must define STRATA_DEBUG_LOG as 1 before its
// first include.
#pragma once

#include <strata/core/macros.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace strata_test {

static_assert(STRATA_DEBUG_LOG == 1, "define STRATA_DEBUG_LOG as 1: nothing is logged without it");

/// Redirects standard error during its lifetime. At the end, it prints the lines that do not belong to the log.
class debug_log {
 public:
  debug_log() : standard_error_(dup(2)), file_(std::tmpfile()) {
    std::fflush(stderr);
    dup2(fileno(file_), 2);
  }
  ~debug_log() {
    static_cast<void>(take_refusals());
    dup2(standard_error_, 2);
    close(standard_error_);
    std::fclose(file_);
    std::fputs(other_.c_str(), stderr);
  }
  debug_log(const debug_log&) = delete;
  debug_log& operator=(const debug_log&) = delete;

  /// Returns the log lines on calls refused since this function was last called, without "strata: refused: ".
  std::vector<std::string> take_refusals() {
    std::fflush(stderr);
    char bytes[4096];
    for (ssize_t size = 0; (size = pread(fileno(file_), bytes, sizeof(bytes), taken_)) > 0; taken_ += size) {
      unread_.append(bytes, static_cast<std::size_t>(size));
    }
    std::vector<std::string> refusals;
    const std::string log = "strata: ", refusal = log + "refused: ";
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = unread_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string line = unread_.substr(begin, end - begin);
      if (line.rfind(refusal, 0) == 0) refusals.push_back(line.substr(refusal.size()));
      if (line.rfind(log, 0) != 0) other_ += line + "\n";
    }
    unread_.erase(0, begin);
    return refusals;
  }

 private:
  int standard_error_;
  std::FILE* file_;
  off_t taken_ = 0;
  std::string unread_, other_;
};

/// Expects exactly one log line, which begins with the call's name and then says at least two words.
inline void expect_refusal(debug_log& log, const std::string& call) {
  const std::vector<std::string> lines = log.take_refusals();
  ASSERT_EQ(1u, lines.size()) << call << testing::PrintToString(lines);
  EXPECT_EQ(0u, lines[0].rfind(call + ": ", 0)) << call << ": " << lines[0];
  EXPECT_NE(std::string::npos, lines[0].find(' ', call.size() + 2)) << lines[0];
}

}  // namespace strata_test
