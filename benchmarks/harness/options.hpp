// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The options of every benchmark program. Host code only.

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/csv.hpp"

namespace bench {

inline constexpr const char* usage_text =
    "  --csv FILE          write the results, a row per algorithm, type, case, n and library\n"
    "  --filter REGEX      only the cases whose name matches (algorithm/type/case/n/library)\n"
    "  --samples N         samples of each peer (default 21, at least 15 to be published)\n"
    "  --target-us T       length of a sample that is a batch of calls (default 1000)\n"
    "  --cold              flush the L2 cache before each sample; every sample is one call\n"
    "  --no-latency        leave out the single_call cases\n"
    "  --max-n N           leave out larger cases\n"
    "  --seed N            of the random inputs\n"
    "  --git-hash TEXT     recorded in the context\n"
    "  --case-timeout S    give a case up after so many seconds (default 30)\n"
    "  --list              print the names of the cases; needs no device\n"
    "  --in-process        measure in this process, for profilers and debuggers; then a case that\n"
    "                      loses the CUDA context ends the run\n"
    "  --benchmark_*       Google Benchmark's own; --benchmark_out=FILE writes JSON\n";

struct options {
  std::string csv_path;
  std::string filter;
  std::string git_hash;
  int samples = 21;
  double target_us = 1000;
  bool cold = false;
  bool latency = true;
  std::int64_t max_n = INT64_MAX;
  std::uint64_t seed = 20260101;
  double case_timeout_s = 30;
  bool in_process = false;
  bool help = false;
  /// True if the program only lists its cases, which needs no device.
  bool list_only = false;
  /// Set by the program, not by a command-line option.
  more_columns columns = more_columns::none;
  /// Arguments that are left for Google Benchmark.
  std::vector<std::string> rest;
};

namespace detail {

inline double parse_number(const std::string& name, const std::string& text, double least) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least)) {
    throw std::invalid_argument(name + " wants a number of at least " + std::to_string(least) + ", not '" + text + "'");
  }
  return value;
}

}  // namespace detail

/// Parses `--name value` and `--name=value`. Throws std::invalid_argument, which says what is wrong.
inline options parse_options(const std::vector<std::string>& arguments) {
  options parsed;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const auto value = [&]() -> std::string {
      if (equals != std::string::npos) return argument.substr(equals + 1);
      if (i + 1 == arguments.size()) throw std::invalid_argument(name + " wants a value");
      return arguments[++i];
    };
    const auto number = [&](double least) { return detail::parse_number(name, value(), least); };
    if (name == "--csv") {
      parsed.csv_path = value();
    } else if (name == "--filter") {
      parsed.filter = value();
    } else if (name == "--git-hash") {
      parsed.git_hash = value();
    } else if (name == "--samples") {
      parsed.samples = static_cast<int>(number(1));
    } else if (name == "--target-us") {
      parsed.target_us = number(0);
    } else if (name == "--max-n") {
      parsed.max_n = static_cast<std::int64_t>(number(0));
    } else if (name == "--seed") {
      parsed.seed = static_cast<std::uint64_t>(number(0));
    } else if (name == "--case-timeout") {
      parsed.case_timeout_s = number(0.1);
    } else if (argument == "--cold") {
      parsed.cold = true;
    } else if (argument == "--no-latency") {
      parsed.latency = false;
    } else if (argument == "--in-process") {
      parsed.in_process = true;
    } else if (argument == "--list") {
      parsed.list_only = true;
      parsed.rest.emplace_back("--benchmark_list_tests=true");
    } else if (argument == "--help" || argument == "-h") {
      parsed.help = true;
    } else if (name.rfind("--benchmark_", 0) == 0 || name == "--v") {
      parsed.rest.push_back(argument);
    } else {
      throw std::invalid_argument("unknown argument '" + argument + "'");
    }
  }
  if (!parsed.filter.empty()) parsed.rest.push_back("--benchmark_filter=" + parsed.filter);
  return parsed;
}

/// Adds the suffix to the file name of --benchmark_out, so that a second process of the same run does not overwrite the
/// JSON of the first one.
inline std::vector<std::string> with_output_suffix(std::vector<std::string> arguments, const std::string& suffix) {
  for (std::string& argument : arguments) {
    if (argument.rfind("--benchmark_out=", 0) == 0) argument += suffix;
  }
  return arguments;
}

}  // namespace bench
