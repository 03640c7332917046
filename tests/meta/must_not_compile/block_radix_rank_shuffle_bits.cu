// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockRadixRankShuffle keeps the counter of each digit in a lane of its own: digits have at most 5 bits; take BlockRadixRankMatch for more
#include <strata/block/classic/block_radix_rank_shuffle.cuh>

struct low_bits {
  STRATA_D unsigned Digit(unsigned key) const { return key & 31; }
};

STRATA_KERNEL void rank(unsigned key, int* out) {
  const unsigned keys[1] = {key};
  int ranks[1];
  strata::BlockRadixRankShuffle<64, 5>().RankKeys(keys, ranks, low_bits{});
#ifdef STRATA_BAD
  strata::BlockRadixRankShuffle<64, 6>().RankKeys(keys, ranks, low_bits{});
#endif
  out[threadIdx.x] = ranks[0];
}
