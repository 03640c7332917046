// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: the digits of BlockRadixRank and BlockRadixSort have 1 to 16 bits
#include <strata/block/block_radix_rank.cuh>

struct low_bit {
  STRATA_D unsigned Digit(unsigned key) const { return key & 1; }
};

STRATA_KERNEL void rank(unsigned key, int* out) {
  const unsigned keys[1] = {key};
  int ranks[1];
  strata::BlockRadixRankMatch<64, 1, false>().RankKeys(keys, ranks, low_bit{});
#ifdef STRATA_BAD
  strata::BlockRadixRankMatch<64, 0, false>().RankKeys(keys, ranks, low_bit{});
#endif
  out[threadIdx.x] = ranks[0];
}
