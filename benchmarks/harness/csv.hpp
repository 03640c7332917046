// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The CSV that the report script reads. Host code only.

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

namespace bench {

inline constexpr const char* csv_header =
    "algorithm,type,case,n,lib,ms_median,ms_min,items_per_s,gb_per_s,percent_of_copy";
/// The columns that some programs add after the common ones.
enum class more_columns {
  none,
  link,   ///< programs that work on several devices
  kernel  ///< programs that time collectives in a kernel
};
inline std::string header_of(more_columns more) {
  if (more == more_columns::link) return std::string(csv_header) + ",percent_of_link";
  if (more == more_columns::kernel) {
    return std::string(csv_header) + ",cycles,registers,shared_bytes,blocks_per_multiprocessor";
  }
  return csv_header;
}

/// The resources of a multiprocessor that one block of a kernel takes, and how many blocks fit it at once.
struct kernel_use {
  int registers = -1;
  int shared_bytes = -1;
  int blocks_per_multiprocessor = -1;
};

/// One line of the file. A number is negative if it does not exist, such as the bandwidth of a host call or the time of
/// a call that failed. Its field in the file is empty.
struct csv_row {
  std::string algorithm;
  std::string type;
  std::string data_case;
  std::int64_t n = 0;
  std::string lib;
  double ms_median = 0;
  double ms_min = 0;
  double items_per_s = -1;
  double gb_per_s = -1;
  double percent_of_copy = -1;
  double percent_of_link = -1;
  /// Cycles of one collective, by the clock of its multiprocessor.
  double cycles = -1;
  kernel_use use = {};
};

/// Throws std::invalid_argument if a field of the file cannot have this name.
inline void check_name(const std::string& name) {
  if (name.find_first_of(",\"\n") != std::string::npos) {
    throw std::invalid_argument("a name in the CSV must have no comma, quotation mark or end of line: " + name);
  }
}

inline std::string to_text(const csv_row& row, more_columns more = more_columns::none) {
  for (const std::string* name : {&row.algorithm, &row.type, &row.data_case, &row.lib}) check_name(*name);
  const auto number = [](double value) -> std::string {
    if (value < 0) return "";
    char text[32];
    std::snprintf(text, sizeof text, "%.7g", value);
    return text;
  };
  const std::string common = row.algorithm + "," + row.type + "," + row.data_case + "," + std::to_string(row.n) + "," +
                             row.lib + "," + number(row.ms_median) + "," + number(row.ms_min) + "," +
                             number(row.items_per_s) + "," + number(row.gb_per_s) + "," + number(row.percent_of_copy);
  if (more == more_columns::link) return common + "," + number(row.percent_of_link);
  if (more == more_columns::kernel) {
    return common + "," + number(row.cycles) + "," + number(row.use.registers) + "," + number(row.use.shared_bytes) +
           "," + number(row.use.blocks_per_multiprocessor);
  }
  return common;
}

/// Appends rows to a file. A row is in the file when `append` returns, so a crash in the next case does not lose it.
class csv_file {
 public:
  csv_file() = default;
  explicit csv_file(std::string path, more_columns more = more_columns::none) : path_(std::move(path)), more_(more) {}

  void start() const { write("w", header_of(more_)); }
  void append(const csv_row& row) const { write("a", to_text(row, more_)); }

 private:
  void write(const char* mode, const std::string& line) const {
    if (path_.empty()) return;
    std::FILE* file = std::fopen(path_.c_str(), mode);
    const bool written = file != nullptr && std::fputs((line + "\n").c_str(), file) >= 0;
    const bool closed = file != nullptr && std::fclose(file) == 0;
    if (!written || !closed) throw std::runtime_error("cannot write " + path_);
  }

  std::string path_;
  more_columns more_ = more_columns::none;
};

}  // namespace bench
