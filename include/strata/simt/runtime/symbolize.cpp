// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds the source line of an instruction, and what is part of the program.
#include <strata/simt/runtime/engine_state.hpp>

#include <execinfo.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#else
#include <link.h>
#endif
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>

namespace strata {
namespace simt {
namespace engine {
namespace {

struct module {
  std::string path;
  uintptr_t bias;
  bool is_program;
};
std::map<const char*, module> modules;  // by first address
std::vector<program_segment> segments;

#if defined(__APPLE__)

void add_module(uint32_t index) {
  const auto* const header = reinterpret_cast<const mach_header_64*>(_dyld_get_image_header(index));
  if (header == nullptr) return;
  const auto bias = static_cast<uintptr_t>(_dyld_get_image_vmaddr_slide(index));
  const char* first = nullptr;
  const auto* command = reinterpret_cast<const load_command*>(header + 1);
  for (uint32_t i = 0; i < header->ncmds; ++i) {
    const auto& segment = *reinterpret_cast<const segment_command_64*>(command);
    if (command->cmd == LC_SEGMENT_64 && segment.initprot != 0) {  // __PAGEZERO has no access
      const char* const begin = reinterpret_cast<const char*>(bias + segment.vmaddr);
      segments.push_back({begin, begin + segment.vmsize, (segment.initprot & VM_PROT_EXECUTE) != 0});
      if (first == nullptr || begin < first) first = begin;
    }
    command = reinterpret_cast<const load_command*>(reinterpret_cast<const char*>(command) + command->cmdsize);
  }
  modules[first] = {_dyld_get_image_name(index), bias, header->filetype == MH_EXECUTE};
}

void add_modules() {
  for (uint32_t i = 0; i < _dyld_image_count(); ++i) add_module(i);
}

#else

int add_module(dl_phdr_info* info, size_t, void*) {
  const char* first = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const char* const begin = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    segments.push_back({begin, begin + header.p_memsz, (header.p_flags & PF_X) != 0});
    if (first == nullptr || begin < first) first = begin;
  }
  module& entry = modules[first];
  entry.is_program = info->dlpi_name == nullptr || *info->dlpi_name == 0;
  entry.bias = info->dlpi_addr;
  entry.path = entry.is_program ? "" : info->dlpi_name;
  if (entry.is_program) {  // for the tools, /proc/self is another process
    char path[512];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length > 0) entry.path.assign(path, static_cast<size_t>(length));
  }
  return 0;
}

void add_modules() { dl_iterate_phdr(&add_module, nullptr); }

#endif

const module* module_of(const void* address) {
  const auto next = modules.upper_bound(static_cast<const char*>(address));
  return next == modules.begin() ? nullptr : &std::prev(next)->second;
}

// The output of the first of the tools that can do it.
std::vector<std::string> output_of(std::initializer_list<const char*> tools, const std::string& arguments) {
  std::string command = "(";
  for (const char* tool : tools) command += tool + (" " + arguments) + " || ";
  command += "true) 2>/dev/null";
  std::vector<std::string> lines;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return lines;
  std::string line;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    lines.push_back(line);
    line.clear();
  }
  pclose(pipe);
  return lines;
}

// The tool of binutils does not follow the chain of inlined calls in clang's output.
#if defined(__clang__)
#define STRATA_SIMT_TEXT_(x) #x
#define STRATA_SIMT_TEXT(x) STRATA_SIMT_TEXT_(x)
#define STRATA_SIMT_ADDR2LINE \
  { "llvm-addr2line-" STRATA_SIMT_TEXT(__clang_major__), "llvm-addr2line", "addr2line" }
#else
#define STRATA_SIMT_ADDR2LINE \
  { "addr2line", "llvm-addr2line" }
#endif

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
bool starts_with(const std::string& text, const char* part) { return text.rfind(part, 0) == 0; }

// The reader does not look for our own helpers.
bool is_simt_helper(const std::string& path) { return contains(path, "/strata/simt/") && !contains(path, "/tests/"); }

struct code_location {
  std::string lines;     // a function's chain of inlined calls, innermost first; "" if unknown
  std::string helper;    // the lines of our own helpers, if there are no others
  std::string function;  // "" if unknown
  bool in_runtime, in_program;
};
constexpr int shown_frames = 4;

code_location find_location(const void* return_address) {
  code_location result{"", "", "", false, false};
  const module* const home = module_of(return_address);
  if (home == nullptr) return result;
  result.in_program = home->is_program;
  char arguments[640];
  std::snprintf(arguments, sizeof arguments, "-f -C -i -e '%s' %#lx", home->path.c_str(),
                reinterpret_cast<uintptr_t>(return_address) - 1 - home->bias);
  int frames = 0;
  const std::vector<std::string> output = output_of(STRATA_SIMT_ADDR2LINE, arguments);
  for (size_t i = 0; i + 1 < output.size(); i += 2) {
    // A discriminator may follow the line number.
    const std::string line = output[i + 1].substr(0, output[i + 1].find(" ("));
    const bool is_known = !starts_with(line, "?") && !contains(line, ":?");
    if (contains(output[i], "bound_arguments")) break;  // the caller of the kernel
    if (output[i][0] != '?') result.function = output[i];
    result.in_runtime = is_known
                            ? contains(line, "/strata/simt/runtime/")
                            : starts_with(result.function, "strata::simt::") || starts_with(result.function, "__tsan_");
    if (!is_known || frames == shown_frames) continue;
    if (is_simt_helper(line)) {
      result.helper = file_name(line.c_str());
      continue;
    }
    ++frames;
    if (!result.lines.empty()) result.lines += " < ";
    result.lines += file_name(line.c_str());
  }
  return result;
}

// From the symbol table: name|value|class|type|size|line|section
std::vector<static_variable> read_variables(const module& home) {
  std::vector<static_variable> found;
  for (const std::string& line : output_of({"nm", "llvm-nm"}, "--format=sysv --defined-only -C '" + home.path + "'")) {
    constexpr int last = 6;
    std::string fields[last + 1];
    size_t end = line.size();
    for (int i = last; i >= 0; --i) {  // the name may hold a bar too
      const size_t bar = i == 0 || end == 0 ? std::string::npos : line.rfind('|', end - 1);
      const size_t begin = bar == std::string::npos ? 0 : bar + 1;
      fields[i] = line.substr(begin, end - begin);
      end = begin == 0 ? 0 : bar;
    }
    if (!contains(fields[3], "OBJECT")) continue;
    const char* const begin = reinterpret_cast<const char*>(std::strtoull(fields[1].c_str(), nullptr, 16) + home.bias);
    const size_t bytes = std::strtoull(fields[4].c_str(), nullptr, 16);
    found.push_back({begin, begin + bytes, fields[0].substr(0, fields[0].find_last_not_of(' ') + 1),
                     contains(fields[last], STRATA_SIMT_MANAGED_SECTION)});
  }
  return found;
}

}  // namespace

void refresh_modules() {
  segments.clear();
  modules.clear();
  add_modules();
}

const program_segment* program_segment_of(const char* address) {
  for (const program_segment& part : segments) {
    if (address >= part.begin && address < part.end) return &part;
  }
  return nullptr;
}

std::string source_line(const void* pc) {
  static auto* const known = new std::map<const void*, std::string>;
  const auto found = known->find(pc);
  if (found != known->end()) return found->second;
  const code_location result = find_location(pc);
  std::string& text = (*known)[pc];
  text = "?";
  for (const std::string* known_as : {&result.function, &result.helper, &result.lines}) {
    if (!known_as->empty()) text = *known_as;
  }
  return text;
}

std::string interrupted_line(const void* pc) {
  refresh_modules();
  constexpr int most_frames = 64;
  void* frames[most_frames];
  const int count = backtrace(frames, most_frames);
  int i = 0;
  while (i < count && frames[i] != pc) ++i;
  // The addresses that are not of the signal are return addresses.
  const void* next = static_cast<const char*>(pc) + 1;
  std::string lines, function;
  for (int frames_of_kernel = 0; frames_of_kernel != shown_frames;) {
    const code_location result = find_location(next);
    if (!result.lines.empty() && !result.in_runtime) {
      lines += (lines.empty() ? "" : " < ") + result.lines;
      ++frames_of_kernel;
    } else if (!lines.empty()) {
      break;  // our own caller of the kernel
    } else if (!result.in_runtime && function.empty()) {
      function = result.function;
      if (result.in_program && !function.empty()) break;  // without lines
    }
    if (++i >= count) break;
    next = frames[i];
  }
  return !lines.empty() ? lines : !function.empty() ? function : "?";
}

static_variable static_variable_at(const char* address) {
  static auto* const tables = new std::map<std::string, std::vector<static_variable>>;
  const module* const home = module_of(address);
  if (home == nullptr) return {address, address, "", false};
  const auto known = tables->find(home->path);
  const std::vector<static_variable>& table =
      known != tables->end() ? known->second : ((*tables)[home->path] = read_variables(*home));
  for (const static_variable& variable : table) {
    if (address >= variable.begin && address < variable.end) return variable;
  }
  return {address, address + !table.empty(), "", false};
}

}  // namespace engine
}  // namespace simt
}  // namespace strata
