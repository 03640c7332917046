// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Expectations on the counters of check mode, for tests of primitives that claim to be free of bank conflicts.
#pragma once

#include <strata/core/platform.cuh>

#include <gtest/gtest.h>

#include <cstdint>

#if STRATA_HOST_SIMT
namespace strata_test {

inline bool counts_bank_conflicts() { return strata::simt::runtime_flavour() == strata::simt::flavour::check; }

/// Expects that warps have accessed shared memory at least this often since `reset_statistics()`, and that each access
/// took as few wavefronts as its width allows.
inline void expect_no_bank_conflicts(std::uint64_t least_instructions) {
  const strata::simt::statistics& counted = strata::simt::stats();
  EXPECT_GE(counted.shared_instructions, least_instructions);
  EXPECT_EQ(counted.shared_wavefronts, counted.shared_ideal_wavefronts);
  if (counted.shared_wavefronts == counted.shared_ideal_wavefronts) return;
  strata::simt::bank_row worst{};  // looked up only on failure, because finding its source line takes seconds
  strata::simt::bank_rows(&worst, 1);
  ADD_FAILURE() << worst.wavefronts << " wavefronts instead of " << worst.ideal << " at " << worst.where << ", "
                << worst.access_bytes << " bytes per lane";
}

}  // namespace strata_test
#endif
