// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../common/files.hpp"
#include "../common/program.hpp"
#include "sorter.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace sort_file {

struct sort_options {
  std::string in;
  std::string out;
  long long memory = 0;  // bytes of each device; 0: most of what is free
  std::size_t buffer_bytes = std::size_t{1} << 30;
};

struct phase {
  const char* name;
  double seconds = 0;  // of the slowest rank
};

struct sort_report {
  long long records = 0;
  long long runs = 0;
  int ranks = 0;
  bool is_first = false;  // This process has rank 0, so the rest is known.
  std::vector<phase> phases;
};

/// Merges sorted runs of the records of `file`, and writes the records `mine` of the result to `out`. The merge is
/// stable: of equal keys, those of an earlier run come first. All buffers together have about `buffer_bytes`.
void merge_runs(const example::data_file& file, const std::vector<share>& runs, share mine,
                const example::data_file& out, std::size_t buffer_bytes);

/// The error of a file whose length is not a multiple of a record's.
std::runtime_error wrong_size(const std::string& name, long long bytes);

/// Prints the number of records of a file and a checksum that does not depend on their order. Returns true if they are
/// sorted.
bool validate(example::program& running, const std::string& name);

/// Sorts a file by all ranks of the group.
sort_report sort_by_ranks(example::program& running, sorter_group& group, const sort_options& chosen);

}  // namespace sort_file
