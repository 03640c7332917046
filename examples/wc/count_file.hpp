// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../common/program.hpp"
#include "back_end.hpp"

#include <string>

namespace wc {

struct longest_line {
  long long length = -1;  // in bytes, without the newline; -1: there is no line
  long long number = 0;   // from 1
  long long offset = 0;   // of its first byte in the file
  std::string excerpt;    // its first bytes
};

struct file_counts {
  long long lines = 0;
  long long words = 0;
  long long bytes = 0;
  longest_line longest;
  int error = 0;  // errno of the read that failed, after which the rest is not counted
};

/// Reads the file to its end, one chunk of the back end after the other.
file_counts count_file(example::program& running, back_end& device, example::input_file& file, bool wants_longest_line);

}  // namespace wc
