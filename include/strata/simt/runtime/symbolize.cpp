// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Check flavour: which source line an instruction belongs to, and what is part of the program.
#include <strata/simt/runtime/check_state.hpp>

#if defined(STRATA_SIMT_CHECK)

#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <map>

namespace strata {
namespace simt {
namespace engine {
namespace check {
namespace {

struct segment {
  const char *begin, *end;
};
struct module {
  std::string path;
  uintptr_t bias;
};
std::vector<segment> segments;
std::map<const char*, module> modules;  // by first address

int add_module(dl_phdr_info* info, size_t, void*) {
  const char* first = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const char* const begin = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    segments.push_back({begin, begin + header.p_memsz});
    if (first == nullptr || begin < first) first = begin;
  }
  const bool program = info->dlpi_name == nullptr || *info->dlpi_name == 0;
  modules[first] = {program ? "/proc/self/exe" : info->dlpi_name, info->dlpi_addr};
  return 0;
}

// addr2line prints a function's chain of inlined calls, innermost first. Our own helpers are not
// what the reader looks for.
bool is_own_helper(const std::string& path) {
  return path.find("/strata/simt/") != std::string::npos &&
         path.find("/tests/") == std::string::npos;
}

// binutils' tool does not follow the chain of inlined calls in what clang writes.
#if defined(__clang__)
#define STRATA_SIMT_TEXT_(x) #x
#define STRATA_SIMT_TEXT(x) STRATA_SIMT_TEXT_(x)
constexpr const char* tools[] = {("llvm-addr2line-" STRATA_SIMT_TEXT(__clang_major__)),
                                 "llvm-addr2line", "addr2line"};
#else
constexpr const char* tools[] = {"addr2line", "llvm-addr2line"};
#endif

std::string run_addr2line(const void* pc) {
  const auto next = modules.upper_bound(static_cast<const char*>(pc));
  if (next == modules.begin()) return "?";
  const module& home = std::prev(next)->second;
  char path[512];
  std::snprintf(path, sizeof path, "%s", home.path.c_str());
  if (home.path == "/proc/self/exe") {  // addr2line is another process
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
  }
  char where[640];
  std::snprintf(where, sizeof where, " -i -e '%s' %#lx", path,
                reinterpret_cast<uintptr_t>(pc) - 1 - home.bias);
  std::string command = "(";
  for (const char* tool : tools) command += std::string(tool) + where + " || ";
  command += "true) 2>/dev/null";
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "?";
  constexpr int shown = 4;
  std::string chain, last_resort = "?";
  char line[1024];
  int frames = 0;
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    line[std::strcspn(line, "\n ")] = 0;  // a discriminator may follow the line number
    if (line[0] == '?' || frames == shown) continue;
    if (is_own_helper(line)) {
      last_resort = file_name(line);
      continue;
    }
    ++frames;
    if (!chain.empty()) chain += " < ";
    chain += file_name(line);
  }
  pclose(pipe);
  return chain.empty() ? last_resort : chain;
}

}  // namespace

void refresh_modules() {
  segments.clear();
  modules.clear();
  dl_iterate_phdr(&add_module, nullptr);
}

bool is_program_image(const char* address) {
  for (const segment& part : segments) {
    if (address >= part.begin && address < part.end) return true;
  }
  return false;
}

std::string source_line(const void* pc) {
  static auto* const known = new std::map<const void*, std::string>;
  const auto found = known->find(pc);
  if (found != known->end()) return found->second;
  return (*known)[pc] = run_addr2line(pc);
}

}  // namespace check
}  // namespace engine
}  // namespace simt
}  // namespace strata

#endif
