// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockRadixRankShuffle needs whole warps: choose a block of a multiple of 32 threads, or BlockRadixRankMatch
#include <strata/block/classic/block_radix_rank_shuffle.cuh>

struct low_bits {
  STRATA_D unsigned Digit(unsigned key) const { return key & 15; }
};

STRATA_KERNEL void rank(unsigned key, int* out) {
  const unsigned keys[1] = {key};
  int ranks[1];
  strata::BlockRadixRankMatch<48, 4, false>().RankKeys(keys, ranks, low_bits{});
#ifdef STRATA_BAD
  strata::BlockRadixRankShuffle<48>().RankKeys(keys, ranks, low_bits{});
#endif
  out[threadIdx.x] = ranks[0];
}
