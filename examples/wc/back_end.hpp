// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "text.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace wc {

/// Where a line ends and how long it is, without the newline.
struct line_end {
  long long position;  // of the newline, or of the end of the text
  long long length;
};

/// Text in the memory of a device, and the calls that count it. The rest of the program knows nothing else of the GPU
/// and of the host SIMT back end.
class back_end {
 public:
  virtual ~back_end() = default;

  virtual std::string device() const = 0;

  /// Host memory for one chunk of text.
  virtual char* chunk() = 0;
  virtual std::size_t chunk_bytes() const = 0;

  /// Copies the first `bytes` bytes of the chunk to the device, for the calls below.
  virtual void upload(std::size_t bytes) = 0;

  virtual text_summary summarize(std::size_t bytes) = 0;

  /// Finds the longest line, or the first of several. The first line of the text began `carried` bytes before the
  /// chunk. Bytes after the last newline are a line, too.
  virtual line_end longest_line(std::size_t bytes, long long carried) = 0;
};

// One source, count.cu, makes both.
namespace on_gpu {
std::unique_ptr<back_end> make_back_end(std::size_t chunk_bytes, word_rule rule);
}
namespace on_host {
std::unique_ptr<back_end> make_back_end(std::size_t chunk_bytes, word_rule rule);
}

}  // namespace wc
