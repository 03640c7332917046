// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "library.hpp"

#include "executor.hpp"
#include "objects.hpp"
#include "wavefronts.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

// CMake defines these macros. Environment variables override them.
#ifndef MSL_DEFAULT_CXX
#define MSL_DEFAULT_CXX "c++"
#endif
#ifndef MSL_DEFAULT_SHIM
#define MSL_DEFAULT_SHIM "tests/metal/double"
#endif
#ifndef MSL_DEFAULT_CACHE
#define MSL_DEFAULT_CACHE "metal_cache"
#endif

namespace metal_double {
namespace {

std::string setting(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}
std::string contents_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
bool run(const std::string& command, const std::string& log) {
  return std::system((command + " 2>>" + log).c_str()) == 0;
}

}  // namespace

compiled_text::~compiled_text() {
  if (shared_object_ != nullptr) dlclose(shared_object_);
}

std::string compiled_text::compile(const std::string& source, bool watch) {
  const std::string cxx = setting("MSL_CXX", MSL_DEFAULT_CXX);
  const std::string shim = setting("MSL_SHIM", MSL_DEFAULT_SHIM);
  const std::string folder = setting("MSL_CACHE", MSL_DEFAULT_CACHE);
  std::string flags = setting("MSL_FLAGS", "-O2") + " -std=c++14 -pedantic-errors -Wall -Wextra";
  // The watching hooks find the line of an access only if compilers do not merge calls.
  if (watch) {
    flags += cxx.find("clang") != std::string::npos ? " -fsanitize=thread -mllvm -tsan-distinguish-volatile=1"
                                                      " -mllvm -tsan-instrument-func-entry-exit=0 -DMSL_WATCH"
                                                    : " -fsanitize=thread --param=tsan-distinguish-volatile=1"
                                                      " --param=tsan-instrument-func-entry-exit=0 -DMSL_WATCH";
  }
  std::string all = source + '\0' + cxx + '\0' + flags;
  for (const char* const file : {"/abi.hpp", "/run/metal_stdlib", "/run/watch.hpp"}) {
    all += contents_of(shim + file);
  }
  std::ostringstream name;
  name << folder << '/' << std::hex << std::hash<std::string>{}(all);
  ::mkdir(folder.c_str(), 0777);
  const std::string library = name.str() + ".so";
  if (::access(library.c_str(), R_OK) != 0) {
    // Other programs may compile the same text at the same time. Each has files of its own, and the last rename stays.
    const std::string mine = name.str() + '.' + std::to_string(getpid());
    const std::string log = mine + ".log";
    std::ofstream(mine + ".metal") << source;
    const bool done =
        run(cxx + ' ' + flags + " -fPIC -fvisibility=hidden -DMSL_SHIM_EXPORT -I" + shim + "/run -c -x c++ " + mine +
                ".metal -o " + mine + ".o",
            log) &&
        run(cxx + (flags.find("-fsanitize=thread") != std::string::npos && !watch ? " -fsanitize=thread" : "") +
                (flags.find("-fsanitize=address") != std::string::npos ? " -fsanitize=address" : "") + " -shared " +
                mine + ".o -o " + mine + ".so",
            log) &&
        std::rename((mine + ".so").c_str(), library.c_str()) == 0;
    const std::string messages = contents_of(log);
    for (const char* const end : {".metal", ".o", ".log"}) ::unlink((mine + end).c_str());
    if (!done) return messages.empty() ? "the compiler failed" : messages;
  }
  shared_object_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (shared_object_ == nullptr) die("%s", dlerror());
  reinterpret_cast<void (*)(const msl::runtime*)>(dlsym(shared_object_, "msl_bind"))(&msl::services());
  const auto list = reinterpret_cast<msl_kernels_fn>(dlsym(shared_object_, "msl_kernels"));
  for (std::size_t i = 0; const msl::kernel_desc* const k = list(i); ++i) kernels_[k->name] = k;
  msl::watches_wavefronts() = watch;
  return {};
}

const msl::kernel_desc* compiled_text::find(const std::string& name) const {
  const auto found = kernels_.find(name);
  return found == kernels_.end() ? nullptr : found->second;
}

}  // namespace metal_double
