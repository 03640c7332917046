// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What each step of a hash join on a GPU gains, to learn from. Steps 1 to 3 have one table in device memory and differ
// in how threads get positions for what they write: an atomic addition for each result, for each warp, for each block.
// Step 4 is the library's join by one table. Steps 5 and 6 partition both sides first, in one pass or in two, so
// that the rows of a partition are joined by a table in shared memory. The program checks every result, counts the
// additions, and prints a table of Markdown.
#define JOIN_STRATEGIES_NAMESPACE timed
#include "../../common/program.hpp"
#include "sides.hpp"
#include "steps.cuh"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace join_strategies {

using example::check;
using example::device_array;

constexpr const char* names[steps] = {"one table, an addition for each result",
                                      "... for each warp",
                                      "... for each block",
                                      "`JoinStrategy::simple`",
                                      "`JoinStrategy::radix_single`",
                                      "`JoinStrategy::radix_multi`"};

/// Keys of the build side are the numbers below `build_rows`, shuffled.
struct join_case {
  std::string name;
  int build_rows;
  int probe_rows;
};

/// Both sides and their results, on the device. The host knows which rows are partners.
class joined_sides {
 public:
  joined_sides(const join_case& what, int match_percent, unsigned seed)
      : build_keys_(size(what.build_rows)),
        probe_keys_(size(what.probe_rows)),
        row_of_key_(size(what.build_rows)),
        build_(size(what.build_rows)),
        probe_(size(what.probe_rows)),
        build_out_(size(what.probe_rows)),
        probe_out_(size(what.probe_rows)),
        total_(1) {
    std::mt19937_64 random(seed);
    std::iota(build_keys_.begin(), build_keys_.end(), 0u);
    std::shuffle(build_keys_.begin(), build_keys_.end(), random);
    for (std::size_t row = 0; row < build_keys_.size(); ++row) row_of_key_[build_keys_[row]] = static_cast<int>(row);
    for (unsigned& key : probe_keys_) {
      const auto below = static_cast<unsigned>(random() % static_cast<unsigned>(what.build_rows));
      // Probe rows without a partner have keys from `build_rows` on.
      const bool has_partner = static_cast<int>(random() % 100) < match_percent;
      key = has_partner ? below : below + static_cast<unsigned>(what.build_rows);
      results_ += has_partner ? 1 : 0;
    }
    build_ = device_array<unsigned>(build_keys_);
    probe_ = device_array<unsigned>(probe_keys_);
  }

  join_arguments arguments() const {
    return {build_.get(),     static_cast<int>(build_.size()),
            probe_.get(),     static_cast<int>(probe_.size()),
            build_out_.get(), probe_out_.get(),
            total_.get()};
  }

  void clear_results() const {
    check("cudaMemset", cudaMemset(build_out_.get(), 0xff, build_out_.size() * sizeof(int)));
    check("cudaMemset", cudaMemset(probe_out_.get(), 0xff, probe_out_.size() * sizeof(int)));
    check("cudaMemset", cudaMemset(total_.get(), 0, sizeof(unsigned long long)));
  }

  /// True if each probe row with a partner is in the result once, with its partner, and no other row is.
  bool is_result_right() const {
    if (total_.download()[0] != results_) return false;
    const std::vector<int> build_rows = build_out_.download(results_), probe_rows = probe_out_.download(results_);
    std::vector<bool> seen(probe_keys_.size());
    for (std::size_t i = 0; i < results_; ++i) {
      const auto probe_row = static_cast<std::size_t>(probe_rows[i]);
      if (probe_row >= seen.size() || seen[probe_row]) return false;
      seen[probe_row] = true;
      const unsigned key = probe_keys_[probe_row];
      if (key >= row_of_key_.size() || build_rows[i] != row_of_key_[key]) return false;
    }
    return true;
  }

 private:
  static std::size_t size(int rows) { return static_cast<std::size_t>(rows); }

  std::vector<unsigned> build_keys_, probe_keys_;
  std::vector<int> row_of_key_;
  std::size_t results_ = 0;
  device_array<unsigned> build_, probe_;
  device_array<int> build_out_, probe_out_;
  device_array<unsigned long long> total_;
};

#if !STRATA_HOST_SIMT
/// The median time of a join in several rounds. In each round, all joins run one after another.
double milliseconds(timed::join_strategies::joiner& joiner) {
  constexpr int rounds = 11, joins = 20;
  cudaEvent_t begin{}, end{};
  check("cudaEventCreate", cudaEventCreate(&begin));
  check("cudaEventCreate", cudaEventCreate(&end));
  std::vector<float> times;
  for (int round = 0; round < rounds; ++round) {
    joiner.start();  // so that the timed joins do not wait for the host
    check("cudaEventRecord", cudaEventRecord(begin));
    for (int i = 0; i < joins; ++i) joiner.start();
    check("cudaEventRecord", cudaEventRecord(end));
    check("cudaEventSynchronize", cudaEventSynchronize(end));
    times.push_back(0);
    check("cudaEventElapsedTime", cudaEventElapsedTime(&times.back(), begin, end));
  }
  check("cudaEventDestroy", cudaEventDestroy(begin));
  check("cudaEventDestroy", cudaEventDestroy(end));
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return static_cast<double>(times[rounds / 2]) / joins;
}
#else
double milliseconds(timed::join_strategies::joiner& joiner) {
  joiner.start();
  return 0;
}
#endif

/// A cell of the table for each step. Also notes if all results are right.
bool compare_steps(example::program& running, const join_case& what, int match_percent, unsigned seed,
                   std::vector<std::string>& cells) {
  running.begin("making " + what.name);
  const joined_sides sides(what, match_percent, seed);
  bool are_right = true;
  for (int i = 0; i < steps; ++i) {
    running.begin("joining " + what.name + ", step " + std::to_string(i + 1));
    const auto which = static_cast<step>(i);
    sides.clear_results();
    const unsigned long long additions = count_additions(which, sides.arguments());
    bool is_right = sides.is_result_right();
    sides.clear_results();
    timed::join_strategies::joiner joiner(which, sides.arguments());
    const double time = milliseconds(joiner);
    is_right = sides.is_result_right() && is_right;
    char cell[64];
    std::snprintf(cell, sizeof(cell), " %.3f | %llu |", time, additions);
    cells[static_cast<std::size_t>(i)] += STRATA_HOST_SIMT ? std::strchr(cell, '|') + 1 : cell;
    if (!is_right) running.say(what.name + ", step " + std::to_string(i + 1) + ": the result is wrong");
    are_right = are_right && is_right;
  }
  running.hide_progress();
  return are_right;
}

const char help[] =
    "Usage: join_strategies [OPTION]...\n"
    "Joins two arrays of keys by six steps, checks their results, times them on a GPU, and counts the\n"
    "atomic additions to the number of results. Without options the sides have\n"
    "  J1  100,000 and 1,000,000 rows\n"
    "  J2  1,000,000 and 1,000,000\n"
    "  J3  1,000,000 and 10,000,000\n"
    "and on the host SIMT back end 20,000 and 50,000.\n"
    "\n"
    "      --build-rows=N  rows of the build side, whose keys are unique\n"
    "      --probe-rows=N  rows of the probe side\n"
    "      --match=P       P percent of the probe rows have a partner (default: 100)\n"
    "      --seed=N        take other keys\n"
    "      --help          print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong, 2 if the device failed, 3 if a result is wrong.\n";

int run(example::program& running, const std::vector<std::string>& arguments) {
  constexpr int most_rows = 1 << 28;
  int build_rows = 0, probe_rows = 0, match_percent = 100;
  unsigned seed = 1;
  const std::vector<std::string> operands = example::parse_options(
      running, arguments,
      {example::number_option("build-rows", build_rows, 1, most_rows),
       example::number_option("probe-rows", probe_rows, 1, most_rows),
       example::number_option("match", match_percent, 0, 100), example::number_option("seed", seed)});
  example::expect_operands(operands, 0, 0);
  std::vector<join_case> cases = {{"J1", 100000, 1000000}, {"J2", 1000000, 1000000}, {"J3", 1000000, 10000000}};
  if (STRATA_HOST_SIMT || build_rows > 0 || probe_rows > 0) {
    const int rows = build_rows > 0 ? build_rows : 20000;
    cases = {{"sides", rows, probe_rows > 0 ? probe_rows : 50000}};
  }
  running.say("running on " + example::open_device());

  std::vector<std::string> cells(steps);
  bool are_right = true;
  for (const join_case& what : cases) are_right = compare_steps(running, what, match_percent, seed, cells) && are_right;

  std::printf("| join |");
  for (const join_case& what : cases) {
    std::printf("%s additions |", STRATA_HOST_SIMT ? "" : (" " + what.name + ", ms |").c_str());
  }
  std::printf("\n|---|");
  for (std::size_t i = 0; i < cases.size() * (STRATA_HOST_SIMT ? 1 : 2); ++i) std::printf("--:|");
  std::printf("\n");
  for (std::size_t i = 0; i < steps; ++i) std::printf("| %s |%s\n", names[i], cells[i].c_str());
  example::finish_output();
  return are_right ? 0 : example::exit_check_failed;
}

}  // namespace join_strategies

int main(int argc, char** argv) {
  return example::run_program("join_strategies", join_strategies::help, argc, argv, join_strategies::run);
}
