// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../common/program.hpp"

#include <cstdint>
#include <string>

namespace sort_file {

/// What records are made: pseudo-random bytes, as functions of the numbers of the records.
struct generator {
  std::uint64_t seed = 0;
  bool is_ascii = false;
  bool is_skewed = false;
};

/// What is to be known of a file's records.
struct file_summary {
  long long records = 0;
  std::uint64_t checksum = 0;    // of the records in any order
  long long equal_keys = 0;      // records whose key is that of the record before
  long long descents = 0;        // records whose key is less
  long long first_descent = -1;  // the number of the first such record
};

/// Makes a file of so many records. A name of "-" is standard output.
void generate(example::program& running, const generator& made, long long records, const std::string& name);

file_summary summarize(example::program& running, const std::string& name);

}  // namespace sort_file
