// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "record.hpp"
#include "sort_job.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace sort_file {

std::runtime_error wrong_size(const std::string& name, long long bytes) {
  return std::runtime_error(name + ": " + std::to_string(bytes) + " bytes are not a multiple of " +
                            std::to_string(record_bytes));
}

bool validate(example::program& running, const std::string& name) {
  example::input_file file(name);
  running.begin("reading " + file.shown_name());
  std::uint64_t checksum = 0;  // the sum of the hashes of all records
  long long descents = 0;
  long long bytes = 0;
  std::vector<char> chunk(std::size_t{10000} * record_bytes);
  sort_key last{};  // No key is less.
  while (const std::size_t got = file.read(chunk.data(), chunk.size())) {
    bytes += static_cast<long long>(got);
    for (std::size_t at = 0; at + record_bytes <= got; at += record_bytes) {
      const sort_key key = key_of(chunk.data() + at);
      descents += key < last;
      last = key;
      checksum += std::hash<std::string_view>()({chunk.data() + at, record_bytes});
    }
    running.set_bytes(bytes, file.size());
  }
  running.hide_progress();
  if (file.error() != 0) throw std::system_error(file.error(), std::generic_category(), file.shown_name());
  if (bytes % record_bytes != 0) throw wrong_size(file.shown_name(), bytes);
  std::printf("records: %lld\nchecksum: %016llx\nless than the record before: %lld\n", bytes / record_bytes,
              static_cast<unsigned long long>(checksum), descents);
  example::finish_output();
  return descents == 0;
}

}  // namespace sort_file
