// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// sort_file: sorts a file of records that may be larger than the memory of all GPUs, on all GPUs or on the host SIMT
// back end; makes such files, and checks them.

#include "../common/files.hpp"
#include "../common/program.hpp"
#include "plain_files.hpp"
#include "record.hpp"
#include "sort_job.hpp"
#include "sorter.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

const char help[] =
    "Usage: sort_file [OPTION]... IN OUT\n"
    "  or:  sort_file --validate FILE\n"
    "  or:  sort_file --generate=N [--ascii] [--skew] [--seed=N] FILE\n"
    "Sorts a file of records of 100 bytes by their first 10 bytes. Equal keys keep their order. The\n"
    "first form sorts IN into OUT, which must be another file; beside OUT it needs as much room on\n"
    "the disk once more if one run is not enough. When IN or FILE is -, it is standard input; a file\n"
    "that is generated goes to standard output then.\n"
    "\n"
    "      --memory=BYTES     take so much memory of each device, not most of what is free\n"
    "      --buffers=BYTES    take so much memory of the host for buffers, not 1073741824\n"
    "      --merge-threads=N  merge by N threads for each rank, not by as many as there are cores\n"
    "      --check            compare the checksums of IN and OUT, and check the order\n"
    "      --id-file=FILE     be one of several processes, each with one GPU, that torchrun or mpirun\n"
    "                         has started; rank 0 says by FILE, which must not exist, how to reach it\n"
    "      --device=WHERE     gpu, host (the host SIMT back end), or auto: the GPU if there is one\n"
    "      --validate         print how many records there are, a checksum that does not depend on\n"
    "                         their order, and whether they are sorted\n"
    "      --generate=N       make N records of pseudo-random bytes\n"
    "      --ascii            make lines of printable characters\n"
    "      --skew             make some keys much more frequent than others\n"
    "      --seed=N           make other records\n"
    "      --help             print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong or a file failed, 2 if the device failed, 3 if --validate\n"
    "or --check found a difference.\n";

struct options {
  std::string device = "auto";
  sort_file::sort_options sort;
  sort_file::generator made;
  long long generated = -1;
  bool validates = false;
  bool checks = false;
  std::vector<std::string> files;
};

options parse(const example::program& running, const std::vector<std::string>& arguments) {
  using example::flag_option;
  using example::number_option;
  constexpr long long most_records = 1LL << 52;  // whose bytes are below 2^63 by far
  constexpr std::size_t most_buffers = std::size_t{1} << 50;
  options chosen;
  const auto use_id_file = [&](const std::string& name) {
    chosen.sort.id_file = name;
    return !name.empty();
  };
  chosen.files = example::parse_options(running, arguments,
                                        {example::device_option(chosen.device),
                                         number_option("memory", chosen.sort.memory, 1),
                                         number_option("buffers", chosen.sort.buffer_bytes, 0, most_buffers),
                                         number_option("merge-threads", chosen.sort.merge_threads, 1, 1024),
                                         flag_option("check", chosen.checks),
                                         {"id-file", 0, true, use_id_file},
                                         flag_option("validate", chosen.validates),
                                         number_option("generate", chosen.generated, 0, most_records),
                                         flag_option("ascii", chosen.made.is_ascii),
                                         flag_option("skew", chosen.made.is_skewed),
                                         number_option("seed", chosen.made.seed)});
  if (chosen.validates && chosen.generated >= 0)
    throw example::wrong_call("--validate and --generate exclude each other");
  const std::size_t files = chosen.validates || chosen.generated >= 0 ? 1 : 2;
  example::expect_operands(chosen.files, files, files);
  if (files == 2 && chosen.files[1] == "-") throw example::wrong_call("OUT cannot be standard output");
  return chosen;
}

// ------------------------------------------------------------------ ranks that are processes

bool read_number(const char* name, int& number) {
  const char* const text = std::getenv(name);
  return text != nullptr && example::parse_number(text, number, 0, 1 << 20);
}

bool read_ranks(const std::string& prefix, const char* size, sort_file::process_rank& process) {
  sort_file::process_rank found;
  if (!read_number((prefix + "RANK").c_str(), found.rank)) return false;
  if (!read_number((prefix + size).c_str(), found.ranks) || found.rank >= found.ranks) return false;
  if (!read_number((prefix + "LOCAL_RANK").c_str(), found.local_rank)) return false;
  process = found;
  return true;
}

constexpr auto longest_wait = std::chrono::minutes(2);

void share_by_file(const std::string& name, bool is_first, char* bytes, std::size_t count) {
  const std::string unfinished = name + ".partial";
  if (is_first) {
    struct stat status;
    if (stat(name.c_str(), &status) == 0) throw std::runtime_error(name + ": is there already");
    example::data_file file(unfinished, example::data_file::mode::create);
    file.write(bytes, count, 0);
    file.close();
    // With the other name it is complete.
    if (std::rename(unfinished.c_str(), name.c_str()) != 0) example::fail(name);
    return;
  }
  const auto end = std::chrono::steady_clock::now() + longest_wait;
  struct stat status;
  while (stat(name.c_str(), &status) != 0) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error(name + ": rank 0 has not written it");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  example::data_file(name, example::data_file::mode::read).read(bytes, count, 0);
}

/// Which rank the environment says that this process is: as torchrun (RANK, WORLD_SIZE, LOCAL_RANK) or Open MPI
/// (OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK) starts it. Rank 0 brings bytes to the others by a file of the name
/// `id_file`, which must not be there before; without such a name the process has all ranks.
sort_file::process_rank rank_of_process(const std::string& id_file) {
  sort_file::process_rank process;
  const bool is_rank = read_ranks("OMPI_COMM_WORLD_", "SIZE", process) || read_ranks("", "WORLD_SIZE", process);
  if (id_file.empty()) {
    if (process.ranks > 1) throw example::wrong_call("one of several ranks needs --id-file");
    return {};
  }
  if (!is_rank) throw example::wrong_call("--id-file: the environment does not say which rank this is");
  const bool is_first = process.rank == 0;
  process.share = [=](char* bytes, std::size_t count) { share_by_file(id_file, is_first, bytes, count); };
  return process;
}

// ------------------------------------------------------------------ the three things that it does

void print(const sort_file::file_summary& found) {
  std::printf("records: %lld\nchecksum: %016llx\nequal keys: %lld\n", found.records,
              static_cast<unsigned long long>(found.checksum), found.equal_keys);
  if (found.descents == 0) {
    std::puts("sorted: yes");
  } else {
    std::printf("sorted: no, %lld records are less than those before, the first is number %lld\n", found.descents,
                found.first_descent);
  }
}

/// 1234567 as 1,234,567.
std::string with_commas(long long number) {
  std::string text = std::to_string(number);
  for (int place = static_cast<int>(text.size()) - 3; place > 0; place -= 3) {
    text.insert(static_cast<std::size_t>(place), ",");
  }
  return text;
}

void print_times(const sort_file::sort_report& report) {
  std::fprintf(stderr, "sort_file: %s records in %s run%s of up to %s, by %d rank%s\n",
               with_commas(report.records).c_str(), with_commas(report.runs).c_str(), report.runs == 1 ? "" : "s",
               with_commas(report.records_of_run).c_str(), report.ranks, report.ranks == 1 ? "" : "s");
  double longest = 0;
  for (const sort_file::phase& phase : report.phases) longest = std::max(longest, phase.seconds);
  constexpr double bar_width = 30;
  const std::string full_bar(static_cast<std::size_t>(bar_width), '#');
  const auto print_row = [&](const char* name, long long bytes, double seconds, double bar) {
    const double speed = seconds > 0 ? static_cast<double>(bytes) / seconds * 1e-9 : 0;
    std::fprintf(stderr, "%-18s %10.3f %10.3f%s%.*s\n", name, seconds, speed, std::lround(bar) > 0 ? " " : "",
                 static_cast<int>(std::lround(bar)), full_bar.c_str());
  };
  std::fprintf(stderr, "%-18s %10s %10s\n", "", "s", "GB/s");
  for (const sort_file::phase& phase : report.phases) {
    print_row(phase.name, phase.bytes, phase.seconds, longest > 0 ? bar_width * phase.seconds / longest : 0);
  }
  print_row("all", report.records * sort_file::record_bytes, report.seconds, 0);
}

bool check(example::program& running, const options& chosen) {
  const sort_file::file_summary in = sort_file::summarize(running, chosen.sort.in);
  const sort_file::file_summary out = sort_file::summarize(running, chosen.sort.out);
  const bool is_right = out.records == in.records && out.checksum == in.checksum && out.descents == 0;
  running.say(std::string("the output ") + (is_right ? "is" : "is not") + " the sorted input");
  return is_right;
}

int sort(example::program& running, options chosen) {
  chosen.sort.in = chosen.files[0];
  chosen.sort.out = chosen.files[1];
  const sort_file::process_rank process = rank_of_process(chosen.sort.id_file);
  const auto group = example::choose_device(
      running, chosen.device, [&] { return sort_file::on_gpu::make_group(process); },
      [&] { return sort_file::on_host::make_group(process); });
  const sort_file::sort_report report = sort_file::sort_by_ranks(running, *group, chosen.sort);
  if (!report.is_first) return 0;
  print_times(report);
  if (chosen.checks && !check(running, chosen)) return example::exit_check_failed;
  return 0;
}

int run(example::program& running, const std::vector<std::string>& arguments) {
  const options chosen = parse(running, arguments);
  example::ignore_size_signal();
  if (chosen.generated >= 0) {
    sort_file::generate(running, chosen.made, chosen.generated, chosen.files[0]);
    return 0;
  }
  if (!chosen.validates) return sort(running, chosen);
  const sort_file::file_summary found = sort_file::summarize(running, chosen.files[0]);
  print(found);
  example::finish_output();
  return found.descents == 0 ? 0 : example::exit_check_failed;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("sort_file", help, argc, argv, run); }
