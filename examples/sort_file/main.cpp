// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// sort_file: sorts a file of records that may be larger than the memory of all GPUs, on all GPUs or on the host SIMT
// back end. It also checks such files.

#include "../common/files.hpp"
#include "../common/program.hpp"
#include "record.hpp"
#include "sort_job.hpp"
#include "sorter.hpp"

#include <unistd.h>

#include <chrono>
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
    "Sorts a file of records of 100 bytes by their first 10 bytes. Equal keys keep their order. The\n"
    "first form sorts IN into OUT, which must be another file. If one run is not enough, a temporary\n"
    "file as large as IN lies beside OUT. If IN or FILE is -, it is standard input.\n"
    "\n"
    "      --memory=BYTES   take this much memory of each device (default: most of what is free)\n"
    "      --buffers=BYTES  take this much host memory for buffers (default: 1073741824)\n"
    "      --id-file=FILE   be one of several processes, each with one GPU, as torchrun starts\n"
    "                       them; rank 0 writes to FILE, which must not exist, how to reach it\n"
    "      --device=WHERE   gpu, host (the host SIMT back end), or auto: the GPU if there is one\n"
    "      --validate       print the number of records, a checksum that does not depend on their\n"
    "                       order, and how many are less than the record before\n"
    "      --help           print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong or a file failed, 2 if the device failed, 3 if --validate\n"
    "finds that FILE is not sorted.\n";

struct options {
  std::string device = "auto";
  std::string id_file;
  sort_file::sort_options sort;
  bool validates = false;
};

options parse(const example::program& running, const std::vector<std::string>& arguments) {
  using example::number_option;
  options chosen;
  const auto use_id_file = [&](const std::string& name) {
    chosen.id_file = name;
    return !name.empty();
  };
  const std::vector<std::string> files =
      example::parse_options(running, arguments,
                             {example::device_option(chosen.device),
                              number_option("memory", chosen.sort.memory, 1),
                              number_option("buffers", chosen.sort.buffer_bytes, 0, std::size_t{1} << 50),
                              {"id-file", 0, true, use_id_file},
                              example::flag_option("validate", chosen.validates)});
  const std::size_t count = chosen.validates ? 1 : 2;
  example::expect_operands(files, count, count);
  chosen.sort.in = files.front();
  chosen.sort.out = files.back();
  if (count == 2 && chosen.sort.out == "-") throw example::wrong_call("OUT cannot be standard output");
  return chosen;
}

// ------------------------------------------------------------------ ranks that are processes

bool read_number(const char* name, int& number) {
  const char* const text = std::getenv(name);
  return text != nullptr && example::parse_number(text, number, 0, 1 << 20);
}

/// Brings bytes from rank 0 to the others. If rank 0 fails, the launcher ends the ranks that wait.
void share_by_file(const std::string& name, bool is_first, char* bytes, std::size_t count) {
  if (is_first) {
    if (access(name.c_str(), F_OK) == 0) throw std::runtime_error(name + ": is there already");
    const std::string partial = name + ".partial";
    example::data_file file(partial, example::data_file::mode::create);
    example::unfinished_file unfinished(partial);
    file.write(bytes, count, 0);
    file.close();
    unfinished.rename_to(name);  // Others see it when it is complete.
    return;
  }
  while (access(name.c_str(), F_OK) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  example::data_file(name, example::data_file::mode::read).read(bytes, count, 0);
}

/// Finds out which rank torchrun has started this process as. Without --id-file, the process has all ranks.
sort_file::process_rank rank_of_process(const std::string& id_file) {
  sort_file::process_rank process;
  const bool is_rank = read_number("RANK", process.rank) && read_number("WORLD_SIZE", process.ranks) &&
                       read_number("LOCAL_RANK", process.local_rank) && process.rank < process.ranks;
  if (id_file.empty()) {
    if (is_rank && process.ranks > 1) throw example::wrong_call("one of several ranks needs --id-file");
    return {};
  }
  if (!is_rank) throw example::wrong_call("--id-file: the environment does not say which rank this is");
  process.share = [id_file, is_first = process.rank == 0](char* bytes, std::size_t count) {
    share_by_file(id_file, is_first, bytes, count);
  };
  return process;
}

void sort(example::program& running, const options& chosen) {
  const sort_file::process_rank process = rank_of_process(chosen.id_file);
  const auto group = example::choose_device(
      running, chosen.device, [&] { return sort_file::on_gpu::make_group(process); },
      [&] { return sort_file::on_host::make_group(process); });
  // Rank 0 has a group when all ranks have read the file.
  if (!chosen.id_file.empty() && process.rank == 0) example::remove_file(chosen.id_file);
  const sort_file::sort_report report = sort_file::sort_by_ranks(running, *group, chosen.sort);
  if (!report.is_first) return;
  running.say(std::to_string(report.records) + " records, runs: " + std::to_string(report.runs) +
              ", ranks: " + std::to_string(report.ranks));
  const auto bytes = static_cast<double>(report.records * sort_file::record_bytes);
  for (const sort_file::phase& phase : report.phases) {
    if (phase.seconds == 0) continue;
    std::fprintf(stderr, "%-18s %10.3f s %10.3f GB/s\n", phase.name, phase.seconds, bytes / phase.seconds * 1e-9);
  }
}

int run(example::program& running, const std::vector<std::string>& arguments) {
  const options chosen = parse(running, arguments);
  example::ignore_size_signal();
  if (chosen.validates) return sort_file::validate(running, chosen.sort.in) ? 0 : example::exit_check_failed;
  sort(running, chosen);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("sort_file", help, argc, argv, run); }
