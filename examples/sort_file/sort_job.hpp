// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../common/files.hpp"
#include "../common/program.hpp"
#include "sorter.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace sort_file {

using example::data_file;

struct sort_options {
  std::string in;
  std::string out;
  std::string id_file;  // removed when all ranks have met
  long long memory = 0;
  std::size_t buffer_bytes = std::size_t{1} << 30;
  int merge_threads = 0;  // of each rank; 0: as the host has cores
};

struct phase {
  const char* name;
  long long bytes = 0;
  double seconds = 0;
};

struct sort_report {
  long long records = 0;
  long long runs = 0;
  long long records_of_run = 0;
  int ranks = 0;
  bool is_first = false;  // this process has rank 0
  std::vector<phase> phases;
  double seconds = 0;
};

/// Sorted records in a file, by numbers.
struct sorted_run {
  long long begin;
  long long end;
};

/// Writes those records from the position `begin` to `end - 1` that the stable merge of all runs has. Of equal keys
/// those of an earlier run come first. All buffers together have about `buffer_bytes`. `progress` is told of bytes.
void merge_runs(const data_file& file, const std::vector<sorted_run>& runs, long long begin, long long end,
                const data_file& out, std::size_t buffer_bytes, const std::function<void(std::size_t)>& progress);

/// Sorts a file by all ranks of the group. Phases take the time of the slowest rank.
sort_report sort_by_ranks(example::program& running, sorter_group& group, const sort_options& chosen);

}  // namespace sort_file
