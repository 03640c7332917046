// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "program.hpp"

#include <cerrno>

namespace example {

int run_program(const char* name, const char* help, int argc, char** argv,
                int (*run)(const std::vector<std::string>& arguments)) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const wrong_call&) {
    std::fputs(help, stderr);
    return exit_file_failed;
  } catch (const device_error& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return exit_device_failed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return exit_file_failed;
  }
}

option::option(const std::string& argument)
    : name(argument.substr(0, argument.find('='))),
      has_value(name.size() < argument.size()),
      value(has_value ? argument.substr(name.size() + 1) : "") {}

std::string parse_device(const option& given) {
  if (given.value != "gpu" && given.value != "host" && given.value != "auto") throw wrong_call();
  return given.value;
}

void fail(const std::string& file) { throw std::system_error(errno, std::generic_category(), file); }

std::string read_file(const std::string& name) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "rb"), std::fclose);
  if (!file) fail(name);
  std::string text;
  std::vector<char> piece(std::size_t{1} << 20);
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), file.get())) {
    text.append(piece.data(), got);
  }
  if (std::ferror(file.get()) != 0) fail(name);
  return text;
}

void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail("write error");
}

}  // namespace example
