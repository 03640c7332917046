// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace lines {

/// A longest run of bytes that are not white space, which is blank, \t, \n, \v, \f and \r.
struct word {
  long long offset;
  long long length;
};

/// A text in the memory of a device, and where its lines and words are. A line ends after its newline
/// or, if it is the last, at the end of the text; what follows the last newline is a line unless it is
/// nothing. The program knows no more of the GPU and of the host SIMT back end than this.
class text_index {
 public:
  virtual ~text_index() = default;

  virtual std::string device() const = 0;

  virtual std::vector<long long> line_offsets() const = 0;
  virtual std::vector<long long> words_of_lines() const = 0;
  /// The words of each line and of all lines before it.
  virtual std::vector<long long> running_totals() const = 0;
  /// At most `wanted` words, the longest first; of equally long ones the first.
  virtual std::vector<word> longest_words(long long wanted) const = 0;
};

// One source, text_index.cu, makes both.
namespace on_gpu {
std::unique_ptr<text_index> make_index(const std::string& text);
}
namespace on_host {
std::unique_ptr<text_index> make_index(const std::string& text);
}

}  // namespace lines
