// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "files.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace sort_file {

/// Sorted records in a file, by numbers.
struct sorted_run {
  long long begin;
  long long end;
};

/// Writes those records from the position `begin` to `end - 1` that the stable merge of all runs has. Of equal keys
/// those of an earlier run come first. All buffers together have about `buffer_bytes`. `progress` is told of bytes.
void merge_runs(const data_file& file, const std::vector<sorted_run>& runs, long long begin, long long end,
                const data_file& out, std::size_t buffer_bytes, const std::function<void(std::size_t)>& progress);

}  // namespace sort_file
