// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace concordance {

/// Where a word is.
struct occurrence {
  long long line;    // of its file, from 1
  long long offset;  // bytes from the begin of its file
  int file;          // as they were given, from 0
};

/// What a device does for the program, which knows no more of the GPU and of the host SIMT back
/// end.
class sorter {
 public:
  virtual ~sorter() = default;

  virtual std::string device() const = 0;

  /// Sorts the occurrences of each word by file and line; those of one line stay as they are. Word w
  /// has occurrences begins[w] to begins[w + 1] - 1.
  virtual void sort(std::vector<occurrence>& occurrences, const std::vector<long long>& begins) const = 0;
};

// One source, sorter.cu, makes both.
namespace on_gpu {
std::unique_ptr<sorter> make_sorter();
}
namespace on_host {
std::unique_ptr<sorter> make_sorter();
}

}  // namespace concordance
