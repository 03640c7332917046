// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "count_file.hpp"

#include <algorithm>

namespace wc {
namespace {

constexpr long long excerpt_bytes = 72;

/// Appends text[begin, end) to an excerpt, as far as it fits.
void extend_excerpt(std::string& excerpt, const char* text, long long begin, long long end) {
  const long long room = excerpt_bytes - static_cast<long long>(excerpt.size());
  excerpt.append(text + begin, static_cast<std::size_t>(std::min(room, end - begin)));
}

}  // namespace

file_counts count_file(example::program& running, back_end& device, example::input_file& file,
                       bool wants_longest_line) {
  file_counts result;
  text_summary total;
  std::string open_line;  // the first bytes of the line that no newline has ended yet

  running.begin("counting " + file.shown_name());
  while (file.error() == 0) {
    const std::size_t size = file.read(device.chunk(), device.chunk_bytes());
    if (size == 0) break;
    device.upload(size);
    const text_summary chunk = device.summarize(size);
    const auto bytes = static_cast<long long>(size);

    if (wants_longest_line) {
      const line_end line = device.longest_line(size, total.tail);
      const long long begin = line.position - line.length;  // negative if the line begins in an earlier chunk
      // A line that the end of the chunk cuts is found again in the next chunk, with its full length.
      if (line.length > result.longest.length) {
        result.longest.length = line.length;
        result.longest.number = total.lines + device.summarize(static_cast<std::size_t>(line.position)).lines + 1;
        result.longest.offset = result.bytes + begin;
        result.longest.excerpt = begin < 0 ? open_line : "";
        extend_excerpt(result.longest.excerpt, device.chunk(), std::max(begin, 0LL), line.position);
      }
      if (chunk.lines > 0) open_line.clear();
      extend_excerpt(open_line, device.chunk(), bytes - chunk.tail, bytes);
    }
    total = concatenate{}(total, chunk);
    result.bytes += bytes;
    running.set_bytes(result.bytes, file.size());
  }
  result.lines = total.lines;
  result.words = total.words;
  result.error = file.error();
  return result;
}

}  // namespace wc
