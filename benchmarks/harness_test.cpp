// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests the parts of the benchmark harness that need no device.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/csv.hpp"
#include "harness/options.hpp"
#include "harness/power_law.hpp"
#include "harness/statistics.hpp"
#include "harness/supervisor.hpp"

namespace {

// ------------------------------------------------------------------ statistics

TEST(summary, median_is_the_middle_sample_or_the_mean_of_the_two_middle_ones) {
  EXPECT_DOUBLE_EQ(bench::summarize({5, 1, 3}).median, 3);
  EXPECT_DOUBLE_EQ(bench::summarize({4, 1, 3, 2}).median, 2.5);
  EXPECT_DOUBLE_EQ(bench::summarize({7}).median, 7);
}

TEST(summary, one_outlier_moves_neither_median_nor_minimum) {
  const bench::summary times = bench::summarize({10, 10, 11, 10, 1000});
  EXPECT_DOUBLE_EQ(times.median, 10);
  EXPECT_DOUBLE_EQ(times.minimum, 10);
}

TEST(summary, spread_is_the_distance_of_the_quartiles_over_the_median) {
  EXPECT_DOUBLE_EQ(bench::summarize({1, 2, 3, 4, 5}).spread, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(bench::summarize({2, 2, 2}).spread, 0);
}

TEST(summary, of_nothing_is_refused) { EXPECT_THROW(bench::summarize({}), std::invalid_argument); }

TEST(batch_size, fills_the_target_within_its_limits) {
  EXPECT_EQ(bench::batch_size(0.1, 1.0), 10);
  EXPECT_EQ(bench::batch_size(0.3, 1.0), 4);
  EXPECT_EQ(bench::batch_size(0.001, 1.0), 100);
  EXPECT_EQ(bench::batch_size(50.0, 1.0), 1);
  EXPECT_EQ(bench::batch_size(0.0, 1.0), 100);
}

TEST(interleave, contenders_take_turns_and_the_first_place_rotates) {
  std::vector<std::size_t> order;
  const auto taken = bench::interleave(3, 4, [&](std::size_t contender) {
    order.push_back(contender);
    return static_cast<double>(order.size());
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 1, 2, 0, 2, 0, 1, 0, 1, 2}));
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0], (std::vector<double>{1, 6, 8, 10}));
}

TEST(wall_milliseconds, last_as_long_as_the_work) {
  const double taken = bench::wall_milliseconds([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  EXPECT_GE(taken, 20);
  EXPECT_LT(taken, 2000);
}

// ------------------------------------------------------------------ laws of keys

/// The share of each rank among evenly spread arguments.
std::vector<double> shares_of_ranks(double exponent, std::uint64_t ranks) {
  constexpr int draws = 1 << 20;
  std::vector<double> shares(ranks);
  for (int i = 0; i < draws; ++i) {
    shares.at(bench::power_law_rank((i + 0.5) / draws, exponent, ranks)) += 1.0 / draws;
  }
  return shares;
}

TEST(power_law_rank, falls_as_zipfs_law_of_any_exponent) {
  constexpr std::uint64_t ranks = 1000;
  for (const double exponent : {0.0, 0.5, 1.0, 1.5}) {
    double sum = 0;
    for (std::uint64_t rank = 1; rank <= ranks; ++rank) {
      sum += std::pow(static_cast<double>(rank), -exponent);
    }
    const std::vector<double> shares = shares_of_ranks(exponent, ranks);
    for (const unsigned rank : {1u, 2u, 3u, 10u, 30u}) {
      const double expected = std::pow(static_cast<double>(rank), -exponent) / sum;
      EXPECT_NEAR(shares[rank - 1] / expected, 1, 0.11) << "exponent " << exponent << ", rank " << rank;
    }
  }
}

TEST(power_law_rank, reaches_both_ends_and_goes_no_further) {
  const double last = 1 - 0x1p-53;
  for (const double exponent : {0.0, 1.0, 1.5}) {
    for (const std::uint64_t ranks : {1u, 2u, 1000u, 1u << 27}) {
      EXPECT_EQ(bench::power_law_rank(0, exponent, ranks), 0u);
      EXPECT_EQ(bench::power_law_rank(last, exponent, ranks), ranks - 1) << exponent << ", " << ranks;
    }
  }
}

// ------------------------------------------------------------------ options

TEST(options, take_their_value_from_the_next_argument_or_behind_an_equals_sign) {
  const bench::options parsed = bench::parse_options({"--csv", "a.csv", "--samples=31", "--cold", "--max-n", "4096"});
  EXPECT_EQ(parsed.csv_path, "a.csv");
  EXPECT_EQ(parsed.samples, 31);
  EXPECT_TRUE(parsed.cold);
  EXPECT_EQ(parsed.max_n, 4096);
}

TEST(options, leave_google_benchmark_its_own) {
  const bench::options parsed = bench::parse_options({"--benchmark_out=x.json", "--filter=Sum"});
  EXPECT_EQ(parsed.rest, (std::vector<std::string>{"--benchmark_out=x.json", "--benchmark_filter=Sum"}));
  EXPECT_EQ(bench::with_output_suffix(parsed.rest, ".2").front(), "--benchmark_out=x.json.2");
}

TEST(options, refuse_what_they_do_not_know_and_numbers_that_are_none) {
  EXPECT_THROW(bench::parse_options({"--sample", "3"}), std::invalid_argument);
  EXPECT_THROW(bench::parse_options({"--samples", "many"}), std::invalid_argument);
  EXPECT_THROW(bench::parse_options({"--samples", "3x"}), std::invalid_argument);
  EXPECT_THROW(bench::parse_options({"--samples", "0"}), std::invalid_argument);
  EXPECT_THROW(bench::parse_options({"--csv"}), std::invalid_argument);
}

// ------------------------------------------------------------------ CSV

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(csv, has_the_agreed_columns_and_a_row_is_in_the_file_at_once) {
  const std::string path = testing::TempDir() + "strata_harness_test.csv";
  const bench::csv_file csv(path);
  csv.start();
  csv.append({"DeviceReduce::Sum", "i32", "uniform", 8192, "cub", 0.0082, 0.0081, 1e9, 4, 150});
  EXPECT_EQ(content_of(path),
            "algorithm,type,case,n,lib,ms_median,ms_min,items_per_s,gb_per_s,percent_of_copy\n"
            "DeviceReduce::Sum,i32,uniform,8192,cub,0.0082,0.0081,1e+09,4,150\n");
  std::remove(path.c_str());
}

TEST(csv, a_name_with_a_comma_is_refused) {
  EXPECT_THROW(bench::to_text({"A", "i32", "one, others", 1, "strata", 1, 1}), std::invalid_argument);
  EXPECT_THROW(bench::to_text({"A", "i32", "one", 1, "a\nb", 1, 1}), std::invalid_argument);
}

TEST(csv, what_does_not_exist_is_an_empty_field) {
  EXPECT_EQ(bench::to_text({"A", "i32", "host_call", 1, "cub", 0.5, 0.25}), "A,i32,host_call,1,cub,0.5,0.25,,,");
}

TEST(csv, has_a_column_of_the_link_where_the_program_says_so) {
  const std::string path = testing::TempDir() + "strata_harness_link_test.csv";
  const bench::csv_file csv(path, bench::more_columns::link);
  csv.start();
  csv.append({"A", "i32", "c", 1, "strata", 0.5, 0.25, 1, 2, 3, 75});
  csv.append({"A", "i32", "c", 1, "copy", 0.5, 0.25, 1, 2, 3});
  EXPECT_EQ(content_of(path),
            "algorithm,type,case,n,lib,ms_median,ms_min,items_per_s,gb_per_s,percent_of_copy,percent_of_link\n"
            "A,i32,c,1,strata,0.5,0.25,1,2,3,75\n"
            "A,i32,c,1,copy,0.5,0.25,1,2,3,\n");
  std::remove(path.c_str());
}

TEST(csv, has_columns_of_the_kernel_where_the_program_says_so) {
  const std::string path = testing::TempDir() + "strata_harness_kernel_test.csv";
  const bench::csv_file csv(path, bench::more_columns::kernel);
  csv.start();
  bench::csv_row row{"A", "i32", "c", 1, "strata", 0.5, 0.25, 1, 2};
  row.cycles = 120.5;
  row.use = {32, 0, 8};
  csv.append(row);
  csv.append({"A", "i32", "c", 1, "cub"});
  EXPECT_EQ(content_of(path),
            "algorithm,type,case,n,lib,ms_median,ms_min,items_per_s,gb_per_s,percent_of_copy,cycles,registers,"
            "shared_bytes,blocks_per_multiprocessor\n"
            "A,i32,c,1,strata,0.5,0.25,1,2,,120.5,32,0,8\n"
            "A,i32,c,1,cub,0,0,,,,,,,\n");
  std::remove(path.c_str());
}

TEST(csv, a_file_that_cannot_be_written_is_an_error) {
  EXPECT_THROW(bench::csv_file("/nonexistent/folder/file.csv").start(), std::runtime_error);
}

// ------------------------------------------------------------------ supervisor

/// Runs five cases in children. `fault` may end or stop the process. Each case that ends appends its number to a file,
/// which outlives the children.
template <class Fault>
std::pair<int, std::string> run_five_cases(Fault fault) {
  const std::string path = testing::TempDir() + "strata_supervisor_test.txt";
  std::remove(path.c_str());
  const int failures = bench::supervise(0.3, [&](int first, int, bench::progress& shared) {
    for (int i = first; i < 5; ++i) {
      shared.begin(i, std::to_string(i));
      fault(i, shared);
      std::ofstream(path, std::ios::app) << i;
      shared.end();
    }
    return 0;
  });
  std::string done = content_of(path);
  std::remove(path.c_str());
  return {failures, done};
}

TEST(supervisor, one_child_does_all_if_nothing_goes_wrong) {
  EXPECT_EQ(run_five_cases([](int, bench::progress&) {}), std::make_pair(0, std::string("01234")));
}

TEST(supervisor, goes_on_behind_a_case_that_kills_its_process) {
  const auto result = run_five_cases([](int i, bench::progress&) {
    if (i == 1) raise(SIGKILL);
    if (i == 3) std::_Exit(70);
  });
  EXPECT_EQ(result, std::make_pair(2, std::string("024")));
}

TEST(supervisor, goes_on_behind_a_case_that_hangs_and_ends_its_process) {
  const std::string path = testing::TempDir() + "strata_supervisor_test_pid.txt";
  const auto result = run_five_cases([&](int i, bench::progress&) {
    if (i != 2) return;
    std::ofstream(path) << getpid();
    pause();
  });
  EXPECT_EQ(result, std::make_pair(1, std::string("0134")));
  const pid_t hung = std::stoi(content_of(path));
  EXPECT_EQ(kill(hung, 0), -1) << "process " << hung << " is still there";
  std::remove(path.c_str());
}

TEST(supervisor, counts_the_failures_that_the_children_report) {
  const auto result = run_five_cases([](int i, bench::progress& shared) {
    if (i == 4) ++shared.failures;
  });
  EXPECT_EQ(result, std::make_pair(1, std::string("01234")));
}

TEST(supervisor, does_not_repeat_a_child_that_dies_outside_of_the_cases) {
  const int failures = bench::supervise(0.3, [](int, int, bench::progress&) -> int {
    raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(failures, 1);
}

TEST(supervisor, gives_up_when_every_case_kills_its_process) {
  const int failures = bench::supervise(0.3, [](int first, int, bench::progress& shared) -> int {
    shared.begin(first, "case");
    raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(failures, bench::most_processes);
}

}  // namespace
