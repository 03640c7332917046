// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs the example of a header and compares what it prints.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "support/test_support.cuh"

namespace header_examples {

/// The lines of a text, without trailing blanks.
inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line); lines.push_back(line)) {
    line.erase(line.find_last_not_of(' ') + 1);
  }
  return lines;
}

/// Runs `example`, the main function of an example, and expects that it prints `lines`.
inline void expect_output(int (*example)(), const std::vector<std::string>& lines) {
  testing::internal::CaptureStdout();
  const int status = example();
  std::fflush(stdout);
  EXPECT_EQ(lines_of(testing::internal::GetCapturedStdout()), lines);
  EXPECT_EQ(status, 0);
}

}  // namespace header_examples
