// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The main() of a benchmark program. It measures case by case, all peers of a case together, and reports through
/// Google Benchmark (console, JSON) and as CSV.
///
///     int main(int argc, char** argv) {
///       return bench::run("reduce", argc, argv, [](bench::suite& suite) { suite.add({...}); });
///     }

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "harness/context.cuh"
#include "harness/csv.hpp"
#include "harness/measure.cuh"
#include "harness/options.hpp"
#include "harness/supervisor.hpp"

namespace bench {

/// The list of cases, in the order in which they are measured.
class suite {
 public:
  explicit suite(const options& settings) : settings_(settings) {}

  /// Adds a case if it fits the options. In a run with a cold cache, every sample is a single call that waits for the
  /// flush. Its figures cannot be compared with warm ones, so the name of the case says "cold", and cases about latency
  /// and host cost are left out.
  void add(benchmark_case what) {
    // Now, because later the exception would look like a loss of the CUDA context.
    for (const std::string* name : {&what.algorithm, &what.type, &what.data_case}) check_name(*name);
    for (const std::string& rival : what.rivals) check_name(rival);
    if (what.n > settings_.max_n) return;
    if (settings_.cold && what.how != timing::batched) return;
    if (!settings_.latency && what.how == timing::single_call) return;
    if (settings_.cold) what.data_case += " cold";
    if (what.how == timing::single_call) what.data_case += " single_call";
    cases_.push_back(std::move(what));
  }

  const std::vector<benchmark_case>& cases() const { return cases_; }
  const options& settings() const { return settings_; }

 private:
  options settings_;
  std::vector<benchmark_case> cases_;
};

namespace detail {

/// Exit code of a child process whose CUDA context is lost. Only the supervisor sees it.
inline constexpr int context_lost_exit_code = 70;

/// A row without times, from which the report says that this library has no result.
inline csv_row row_of_failure(const benchmark_case& what, const std::string& lib) {
  csv_row row;
  row.algorithm = what.algorithm;
  row.type = what.type;
  row.data_case = what.data_case;
  row.n = what.n;
  row.lib = lib;
  row.ms_median = row.ms_min = -1;
  return row;
}

/// Measures a case when Google Benchmark asks for its first peer, and keeps the result for its other peers.
class reported_case {
 public:
  reported_case(const benchmark_case& what, int index, const environment& env, progress& shared)
      : what_(what), index_(index), env_(env), shared_(shared) {}

  void report(benchmark::State& state, const std::string& lib) {
    if (!measured_) measure_now();
    const measurement* own = find(lib);
    if (own == nullptr) {
      const std::string why = result_.skipped.empty() ? "not measured" : result_.skipped;
      state.SkipWithError(why.c_str());
      return;
    }
    for (auto _ : state) state.SetIterationTime(own->row.ms_median * 1e-3);
    state.counters["min_us"] = own->row.ms_min * 1e3;
    state.counters["spread_%"] = own->spread * 100;
    state.counters["calls"] = own->batch;
    if (own->row.gb_per_s >= 0) state.counters["GB/s"] = own->row.gb_per_s;
    if (own->row.percent_of_copy >= 0) state.counters["copy_%"] = own->row.percent_of_copy;
    if (own->row.cycles >= 0) state.counters["cycles"] = own->row.cycles;
    if (own->row.use.registers >= 0) {
      state.counters["registers"] = own->row.use.registers;
      state.counters["shared"] = own->row.use.shared_bytes;
      state.counters["blocks"] = own->row.use.blocks_per_multiprocessor;
    }
    if (own->row.percent_of_link >= 0) state.counters["link_%"] = own->row.percent_of_link;
    if (lib != "strata") return;
    for (const std::string& rival : what_.rivals) {
      const measurement* other = find(rival);
      if (other == nullptr) continue;
      state.counters[rival + "/strata"] = other->row.ms_median / own->row.ms_median;
    }
  }

 private:
  void measure_now() {
    measured_ = true;
    const std::string name = what_.algorithm + "/" + what_.type + "/" + what_.data_case + "/" + std::to_string(what_.n);
    shared_.begin(index_, name);
    result_ = measure(env_, what_);
    const csv_file csv(env_.settings.csv_path, env_.settings.columns);
    for (const measurement& taken : result_.measurements) csv.append(taken.row);
    if (!result_.failures.empty()) {
      if (find("strata") == nullptr) csv.append(row_of_failure(what_, "strata"));
      for (const std::string& rival : what_.rivals) {
        if (find(rival) == nullptr) csv.append(row_of_failure(what_, rival));
      }
    }
    for (const std::string& failure : result_.failures) {
      std::cerr << "FAILED " << name << ": " << failure << std::endl;
    }
    if (result_.context_lost && !env_.settings.in_process) {
      std::fflush(nullptr);
      std::_Exit(context_lost_exit_code);  // the case has not ended, so the supervisor skips it
    }
    if (!result_.failures.empty()) ++shared_.failures;
    shared_.end();
  }

  const measurement* find(const std::string& lib) const {
    for (const measurement& taken : result_.measurements) {
      if (taken.row.lib == lib) return &taken;
    }
    return nullptr;
  }

  const benchmark_case& what_;
  int index_;
  const environment& env_;
  progress& shared_;
  bool measured_ = false;
  case_result result_;
};

inline void register_case(const std::shared_ptr<reported_case>& reported, const benchmark_case& what) {
  std::vector<std::string> libs = {"strata"};
  libs.insert(libs.end(), what.rivals.begin(), what.rivals.end());
  if (what.how != timing::host_call && what.beside_copy) libs.emplace_back("copy");
  for (const std::string& lib : libs) {
    const std::string name =
        what.algorithm + "/" + what.type + "/" + what.data_case + "/" + std::to_string(what.n) + "/" + lib;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [reported, lib](benchmark::State& state) { reported->report(state, lib); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMicrosecond);
  }
}

/// Measures the cases from `first_case` on in this process.
template <class AddCases>
int run_cases(const char* program, const options& settings, AddCases&& add_cases, int first_case, int process_number,
              progress& shared) {
  std::vector<std::string> arguments = {program};
  const std::vector<std::string> rest =
      process_number == 1 ? settings.rest : with_output_suffix(settings.rest, "." + std::to_string(process_number));
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 1;
  std::cout << std::unitbuf;  // a line is out before the next case can end the process

  environment env;
  env.settings = settings;
  suite all(settings);
  add_cases(all);
  for (std::size_t i = static_cast<std::size_t>(first_case); i < all.cases().size(); ++i) {
    register_case(std::make_shared<reported_case>(all.cases()[i], static_cast<int>(i), env, shared), all.cases()[i]);
  }
  if (settings.list_only) {
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  }

  check(cudaStreamCreateWithFlags(&env.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  if (settings.cold) {
    const int l2_bytes = device_attribute(cudaDevAttrL2CacheSize);
    env.flush = device_array<unsigned char>(2 * static_cast<std::size_t>(l2_bytes));
  }
  const double roof_before = copy_roof_gb_per_s(env.stream);
  for (const auto& [key, value] : describe_run(env, roof_before)) {
    benchmark::AddCustomContext(key, value);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();

  const double roof_after = copy_roof_gb_per_s(env.stream);
  std::cerr << "copy of 1 GiB, GB/s before and after: " << roof_before << ", " << roof_after
            << "; clocks.sm, clocks.mem, power, temperature after: "
            << ask_driver("clocks.sm,clocks.mem,power.draw,temperature.gpu") << std::endl;
  if (std::abs(roof_after / roof_before - 1) > 0.03) {
    std::cerr << "WARNING: the device changed its speed during the run" << std::endl;
  }
  return 0;
}

}  // namespace detail

/// Returns the exit code of the program: 0 if every case that fits was measured and gave the right result.
template <class AddCases>
int run(const char* program, int argc, char** argv, AddCases&& add_cases, more_columns columns = more_columns::none) {
  try {
    options settings = parse_options({argv + 1, argv + argc});
    settings.columns = columns;
    if (settings.help) {
      std::cout << program << ": strata beside CUB and a copy\n" << usage_text;
      return 0;
    }
    csv_file(settings.csv_path, columns).start();
    const auto work = [&](int first_case, int process_number, progress& shared) {
      try {
        return detail::run_cases(program, settings, add_cases, first_case, process_number, shared);
      } catch (const std::exception& error) {
        std::cerr << program << ": " << error.what() << std::endl;
        return 1;
      }
    };
    int failures = 0;
    if (settings.in_process) {
      progress shared;
      failures = work(0, 1, shared) + shared.failures;
    } else {
      failures = supervise(settings.case_timeout_s, work);
    }
    if (failures != 0) std::cerr << program << ": " << failures << " failures" << std::endl;
    return failures == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << "\n" << usage_text;
    return 2;
  }
}

}  // namespace bench
