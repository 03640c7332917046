// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "plain_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace sort_file {
namespace {

constexpr long long chunk_records = 10000;
constexpr std::size_t chunk_bytes = chunk_records * record_bytes;

}  // namespace

void generate(example::program& running, const generator& made, long long records, const std::string& name) {
  const bool is_standard = name == "-";
  const std::string shown = is_standard ? "standard output" : name;
  std::FILE* const file = is_standard ? stdout : std::fopen(name.c_str(), "wb");
  if (file == nullptr) example::fail(shown);
  running.begin("generating " + shown);
  std::vector<unsigned char> chunk(chunk_bytes);
  bool is_written = true;
  for (long long begin = 0; is_written && begin < records; begin += chunk_records) {
    const long long count = std::min(chunk_records, records - begin);
    for (long long i = 0; i < count; ++i) {
      made.make(static_cast<std::uint64_t>(begin + i), chunk.data() + i * record_bytes);
    }
    const auto bytes = static_cast<std::size_t>(count) * record_bytes;
    is_written = std::fwrite(chunk.data(), 1, bytes, file) == bytes;
    running.set_bytes((begin + count) * record_bytes, records * record_bytes);
  }
  is_written = std::fflush(file) == 0 && is_written;
  const int error = errno;
  if (!is_standard) is_written = std::fclose(file) == 0 && is_written;
  running.hide_progress();
  if (is_standard) example::finish_output();
  if (is_written) return;
  errno = error;
  example::fail(shown);
}

file_summary summarize(example::program& running, const std::string& name) {
  example::input_file file(name);
  running.begin("reading " + file.shown_name());
  file_summary found;
  std::vector<char> chunk(chunk_bytes);
  long long bytes = 0;
  sort_key last{};
  while (const std::size_t got = file.read(chunk.data(), chunk.size())) {
    bytes += static_cast<long long>(got);
    for (std::size_t at = 0; at + record_bytes <= got; at += record_bytes) {
      const auto* const record = reinterpret_cast<const unsigned char*>(chunk.data() + at);
      const sort_key key = key_of(record);
      if (found.records > 0 && key < last) {
        if (found.descents == 0) found.first_descent = found.records;
        ++found.descents;
      }
      if (found.records > 0 && key == last) ++found.equal_keys;
      found.checksum += hash_of(record);
      last = key;
      ++found.records;
    }
    running.set_bytes(bytes, file.size());
    if (got < chunk.size()) break;
  }
  running.hide_progress();
  if (file.error() != 0) throw std::system_error(file.error(), std::generic_category(), file.shown_name());
  if (bytes % record_bytes != 0) {
    throw std::runtime_error(file.shown_name() + ": " + std::to_string(bytes) + " bytes are not a multiple of " +
                             std::to_string(record_bytes));
  }
  return found;
}

}  // namespace sort_file
