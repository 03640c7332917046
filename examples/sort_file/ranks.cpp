// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ranks.hpp"

#include "../common/program.hpp"
#include "files.hpp"

#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace sort_file {
namespace {

bool read_number(const char* name, int& number) {
  const char* const text = std::getenv(name);
  return text != nullptr && example::parse_number(text, number, 0, 1 << 20);
}

bool read_ranks(const std::string& prefix, const char* size, process_rank& process) {
  process_rank found;
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
    data_file file(unfinished, data_file::mode::create);
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
  data_file(name, data_file::mode::read).read(bytes, count, 0);
}

}  // namespace

process_rank rank_of_process(const std::string& id_file) {
  process_rank process;
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

}  // namespace sort_file
