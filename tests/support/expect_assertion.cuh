// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// For tests of assertions. A source must define STRATA_DEBUG as 1 before its first include.
#pragma once

#include <strata/core/platform.cuh>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/test_support.cuh"

namespace strata_test {

static_assert(STRATA_DEBUG == 1, "define STRATA_DEBUG as 1: assertions are off without it");

#if !STRATA_HOST_SIMT
enum exit_code { no_fault, no_file, other_fault, other_message, trapped };

/// Makes a launch that fails an assertion, and ends this process. CUDA writes the messages of assertions to standard
/// output, where EXPECT_EXIT cannot match them, so they go to a file. If CUDA writes none of them after a trap, the
/// trap alone must do.
template <class Launch>
[[noreturn]] void exit_with_trap(const Launch& launch, const std::string& message) {
  std::fflush(stdout);
  std::FILE* const file = std::tmpfile();
  if (file == nullptr || dup2(fileno(file), STDOUT_FILENO) < 0) std::_Exit(no_file);
  cudaError_t status = launch();
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  std::fflush(stdout);
  std::rewind(file);
  std::string printed;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) printed += static_cast<char>(c);
  std::fprintf(stderr, "%s\n%s", cudaGetErrorName(status), printed.c_str());
  if (status == cudaSuccess) std::_Exit(no_fault);
  // An invalid address or a refused launch is no trap.
  if (status != cudaErrorLaunchFailure && status != cudaErrorIllegalInstruction) std::_Exit(other_fault);
  const bool has_message = printed.find("strata: ") != std::string::npos;
  std::_Exit(has_message && printed.find(message) == std::string::npos ? other_message : trapped);
}
#endif

/// Expects that a thread of the kernel that `launch()` starts fails an assertion whose message contains `message`. If
/// `is_race`, the fault is also a race, which check mode reports instead.
template <class Launch>
void expect_assertion(const Launch& launch, const std::string& message, [[maybe_unused]] bool is_race = false) {
#if STRATA_HOST_SIMT
  strata::simt::clear_report();
  strata::simt::config().quiet = true;
  EXPECT_NE(launch(), cudaSuccess);
  strata::simt::config().quiet = false;
  if (is_race && strata::simt::runtime_flavour() == strata::simt::flavour::check) {
    EXPECT_STREQ(strata::simt::last_report().kind, "global-race");
    strata::simt::clear_report();
    return;
  }
  EXPECT_STREQ(strata::simt::last_report().kind, "assertion");
  EXPECT_NE(std::string(strata::simt::last_report().text).find(message), std::string::npos)
      << strata::simt::last_report().text;
  strata::simt::clear_report();
#else
  // A trap makes the device unusable for this process, so the launch runs in a process of its own.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(strata_test::exit_with_trap(launch, message), testing::ExitedWithCode(trapped), "") << message;
#endif
}

}  // namespace strata_test
