// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

/// What the programs here have in common on the host. They know a device by an interface of their own,
/// which one source implements for the GPU and for the host SIMT back end: see device.cuh.
namespace example {

constexpr int exit_file_failed = 1;
constexpr int exit_device_failed = 2;
constexpr int exit_check_failed = 3;

/// Asks for the help text.
struct wrong_call : std::exception {};

struct device_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct no_device : device_error {
  using device_error::device_error;
};

/// Calls `run` with the arguments and returns the exit status: its own, or that of what it throws,
/// which is told on standard error.
int run_program(const char* name, const char* help, int argc, char** argv,
                int (*run)(const std::vector<std::string>& arguments));

/// An argument `--name=value`, or one without a value.
struct option {
  std::string name;
  bool has_value;
  std::string value;

  explicit option(const std::string& argument);
};

/// gpu, host or auto.
std::string parse_device(const option& given);

template <class Number>
Number parse_number(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) throw wrong_call();
  return number;
}

/// Throws what errno says.
[[noreturn]] void fail(const std::string& file);

std::string read_file(const std::string& name);

/// Flushes standard output, which may have failed long ago.
void finish_output();

/// What `on_gpu` makes, or if there is no GPU and `wanted` is not "gpu", what `on_host` makes, which
/// has a member `device()`. Says on standard error which it was.
template <class OnGpu, class OnHost>
auto choose_device(const char* program, const std::string& wanted, const OnGpu& on_gpu, const OnHost& on_host) {
  const char* reason = "";
  decltype(on_host()) made;
  if (wanted != "host") {
#if STRATA_EXAMPLE_CUDA
    try {
      made = on_gpu();
    } catch (const no_device&) {
      if (wanted == "gpu") throw;
      reason = "no CUDA device, ";
    }
#else
    static_cast<void>(on_gpu);
    if (wanted == "gpu") throw no_device("--device=gpu: built without nvcc");
    reason = "built without nvcc, ";
#endif
  }
  if (!made) made = on_host();
  std::fprintf(stderr, "%s: %srunning on %s\n", program, reason, made->device().c_str());
  return made;
}

}  // namespace example
