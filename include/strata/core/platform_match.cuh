// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Which lanes of a warp have the same digit, by votes.

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// The lanes that agree with the caller on a bit of `digit`. Of lanes that do not take part nothing is
/// said.
STRATA_D unsigned match_bit(unsigned lanes, unsigned digit, unsigned bit) {
#if STRATA_DEVICE_PASS
  // The compiler's code for what stands below takes twice as long: it selects where this inverts.
  unsigned alike;
  asm volatile(
      "{\n\t.reg .pred is_set;\n\t.reg .b32 masked;\n\tand.b32 masked, %1, %2;\n\t"
      "setp.ne.u32 is_set, masked, 0;\n\tvote.sync.ballot.b32 %0, is_set, %3;\n\t"
      "@!is_set not.b32 %0, %0;\n\t}"
      : "=r"(alike)
      : "r"(digit), "r"(bit), "r"(lanes));
  return alike;
#elif STRATA_HOST_SIMT
  const bool is_set = (digit & bit) != 0;
  const unsigned votes = __ballot_sync(lanes, is_set ? 1 : 0);
  return is_set ? votes : ~votes;
#else
  return lanes & digit & bit;
#endif
}

/// The lanes of `lanes` whose low `Bits` bits of `digit` are those of the caller. All of `lanes` must
/// call, with the same mask. One vote for each bit: up to 8 bits that is faster than match.any, which
/// takes a turn for each different value.
template <int Bits>
STRATA_D unsigned match_digit(unsigned lanes, unsigned digit) {
  unsigned peers = lanes;
  STRATA_UNROLL
  for (int bit = 0; bit < Bits; ++bit) peers &= match_bit(lanes, digit, 1u << bit);
  return peers;
}

}  // namespace platform
STRATA_NAMESPACE_END
