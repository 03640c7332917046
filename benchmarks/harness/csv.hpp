// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The CSV that the report script reads. Host code only.

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace bench {

inline constexpr const char* csv_header =
    "algorithm,type,case,n,lib,ms_median,ms_min,items_per_s,gb_per_s,percent_of_copy";
/// One column more, in the files of programs that work on several devices.
inline constexpr const char* link_column = "percent_of_link";

/// A number that does not exist (the bandwidth of a host call, the time of a call that failed) is negative here and an
/// empty field in the file.
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
};

inline std::string to_text(const csv_row& row, bool has_link_column = false) {
  for (const std::string* text : {&row.algorithm, &row.type, &row.data_case, &row.lib}) {
    if (text->find_first_of(",\"\n") != std::string::npos) {
      throw std::invalid_argument("a name in the CSV must have no comma, quotation mark or end of line: " + *text);
    }
  }
  const auto number = [](double value) -> std::string {
    if (value < 0) return "";
    char text[32];
    std::snprintf(text, sizeof text, "%.7g", value);
    return text;
  };
  return row.algorithm + "," + row.type + "," + row.data_case + "," + std::to_string(row.n) + "," + row.lib + "," +
         number(row.ms_median) + "," + number(row.ms_min) + "," + number(row.items_per_s) + "," + number(row.gb_per_s) +
         "," + number(row.percent_of_copy) + (has_link_column ? "," + number(row.percent_of_link) : std::string());
}

/// Every row is in the file when `append` returns: what was measured survives the next case.
class csv_file {
 public:
  csv_file() = default;
  explicit csv_file(std::string path, bool has_link_column = false)
      : path_(std::move(path)), has_link_column_(has_link_column) {}

  void start() const { write("w", csv_header + (has_link_column_ ? std::string(",") + link_column : std::string())); }
  void append(const csv_row& row) const { write("a", to_text(row, has_link_column_)); }

 private:
  void write(const char* mode, const std::string& line) const {
    if (path_.empty()) return;
    std::FILE* file = std::fopen(path_.c_str(), mode);
    const bool written = file != nullptr && std::fputs((line + "\n").c_str(), file) >= 0;
    const bool closed = file != nullptr && std::fclose(file) == 0;
    if (!written || !closed) throw std::runtime_error("cannot write " + path_);
  }

  std::string path_;
  bool has_link_column_ = false;
};

}  // namespace bench
