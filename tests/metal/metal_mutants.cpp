// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Breaks the shipped kernels on purpose, in one place at a time. Each break must be noticed. Each text runs in a
// process of its own, because it may crash or never end.
//
//   metal_mutants             tries the list, and compares results
//   metal_mutants --races     removes each barrier; must be compiled with ThreadSanitizer
//   metal_mutants --step N    tries one in N mutants of the list
//
// The unchanged text runs first, and nothing may be noticed.
#include "metal/double/metal_double.hpp"
#include "metal/metal_mutants_list.hpp"
#include "metal/metal_small_joins.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

using metal_test::mutant;

// Leaves out kernels that the joins here do not use, because they take long to compile.
std::string without_wide_rows(std::string text) {
  for (const char* const name : {"u32_r64", "u64_r64", "lone_rows_r64"}) {
    const std::size_t in = text.find(name);
    const std::size_t begin = text.rfind('\n', in);
    text.erase(begin, text.find('\n', in) - begin);
  }
  return text;
}

int noticed_by_exit(const char* name, const mutant* m, bool races) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (m != nullptr) {
      // Hides the messages of a broken text.
      if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
      metal_double::options().rewrite = [m](std::string text) { return without_wide_rows(m->apply(std::move(text))); };
    }
    // Ends a text that hangs: by CPU seconds, and by the wall clock if it only waits.
    rlimit limit{};
    getrlimit(RLIMIT_CPU, &limit);
    limit.rlim_cur = 60;
    if (setrlimit(RLIMIT_CPU, &limit) != 0) _exit(2);
    alarm(600);
    const bool right = races ? metal_test::few_joins_are_right() : metal_test::small_joins_are_right();
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const bool noticed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  std::printf("%-8s %s\n", noticed ? "noticed" : "-", name);
  return noticed ? 1 : 0;
}

}  // namespace

int main(int count, char** arguments) {
  const bool races = count > 1 && std::strcmp(arguments[1], "--races") == 0;
  const bool some = count > 2 && std::strcmp(arguments[1], "--step") == 0;
  const std::size_t step = some ? std::strtoul(arguments[2], nullptr, 10) : 1;
  std::printf("device: %s\n", metal_test::device_name().c_str());
  if (noticed_by_exit("(the shipped text)", nullptr, races) != 0) return 1;
  const std::string text = strata::detail::metal::shader_source();
  const std::vector<mutant> all = races ? metal_test::missing_barriers(text) : metal_test::mutants();
  std::size_t tried = 0;
  std::size_t missed = 0;
  for (std::size_t i = 0; i < all.size(); i += step) {
    const mutant& m = all[i];
    ++tried;
    if (!m.applies_to(text)) {
      std::printf("%-8s %s\n", "STALE", m.name.c_str());
      ++missed;
    } else if (noticed_by_exit(m.name.c_str(), &m, races) == 0) {
      ++missed;
    }
  }
  std::printf("%zu of %zu noticed\n", tried - missed, tried);
  return missed == 0 ? 0 : 1;
}
