// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Which lanes of a warp have the same digit, by votes.

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// The lanes of `lanes` whose low `Bits` bits of `digit` are those of the caller. All of `lanes`
/// must call, with the same mask. One vote for each bit: up to 8 bits that is faster than
/// match.any, which takes a turn for each different value.
template <int Bits>
STRATA_D unsigned match_digit([[maybe_unused]] unsigned digit, unsigned lanes) {
  unsigned peers = lanes;
#if STRATA_DEVICE_PASS || STRATA_HOST_SIMT
  STRATA_UNROLL
  for (int bit = 0; bit < Bits; ++bit) {
    const bool is_set = (digit >> bit & 1) != 0;
    const unsigned votes = __ballot_sync(lanes, is_set ? 1 : 0);
    peers &= is_set ? votes : ~votes;
  }
#endif
  return peers;
}

/// The same of a whole warp, where the compiler can see that it is whole: in control flow that does
/// not depend on the thread. Of digits from 7 bits on it refuses to compile others, for want of
/// predicates.
template <int Bits>
STRATA_D unsigned match_digit(unsigned digit) {
#if STRATA_DEVICE_PASS
  // Inverts where the code for the above selects: half of its time (H200, 8 bits: 473 instead of
  // 265 billion digits a second).
  unsigned peers = full_warp_mask;
  STRATA_UNROLL
  for (int bit = 0; bit < Bits; ++bit) {
    unsigned alike;
    asm volatile(
        "{\n\t.reg .pred is_set;\n\t.reg .b32 masked;\n\tand.b32 masked, %1, %2;\n\t"
        "setp.ne.u32 is_set, masked, 0;\n\tvote.sync.ballot.b32 %0, is_set, 0xffffffff;\n\t"
        "@!is_set not.b32 %0, %0;\n\t}"
        : "=r"(alike)
        : "r"(digit), "r"(1u << bit));
    peers &= alike;
  }
  return peers;
#else
  return platform::match_digit<Bits>(digit, full_warp_mask);
#endif
}

}  // namespace platform
STRATA_NAMESPACE_END
