// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// For tests of assertions. A source must define STRATA_DEBUG as 1 before its first include.
#pragma once

#include <strata/core/platform.cuh>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/test_support.cuh"

namespace strata_test {

static_assert(STRATA_DEBUG == 1, "define STRATA_DEBUG as 1: assertions are off without it");

/// Expects that a thread of the kernel that `launch()` starts fails an assertion. On the host back end, the assertion's
/// message must contain `message`. If `is_race`, the fault is also a race, which check mode reports instead.
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
  // A trap makes the device unusable for this process, so the launch runs in a process of its own. Its message goes to
  // standard output, which EXPECT_EXIT cannot match.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  constexpr int trapped = 3;
  EXPECT_EXIT(
      {
        const cudaError_t status = launch();
        const cudaError_t execution = cudaDeviceSynchronize();
        std::_Exit(status != cudaSuccess || execution != cudaSuccess ? trapped : 0);
      },
      testing::ExitedWithCode(trapped), "")
      << message;
#endif
}

}  // namespace strata_test
