// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockRadixRank and BlockRadixSort count in 16 bits: a tile has at most 65,535 items; choose fewer threads or fewer items per thread
#include <strata/block/block_radix_rank.cuh>

struct low_bit {
  STRATA_D unsigned Digit(unsigned key) const { return key & 1; }
};

template <int Items>
STRATA_D int rank_of_first(unsigned key) {
  unsigned keys[Items];
  int ranks[Items];
  for (unsigned& k : keys) k = key;
  strata::BlockRadixRank<1024, 1, false>().RankKeys(keys, ranks, low_bit{});
  return ranks[0];
}

STRATA_KERNEL void rank(unsigned key, int* out) {
  out[threadIdx.x] = rank_of_first<63>(key);
#ifdef STRATA_BAD
  out[threadIdx.x] = rank_of_first<64>(key);
#endif
}
