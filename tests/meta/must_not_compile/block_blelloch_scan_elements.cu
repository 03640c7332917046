// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockBlellochScan needs a power of two of elements per block, and as many of them in each thread: fill up with values that change nothing
#include <strata/block/classic/block_blelloch_scan.cuh>

using good = strata::BlockBlellochScan<int, 64, 256>::TempStorage;
#ifdef STRATA_BAD
using bad = strata::BlockBlellochScan<int, 96, 192>::TempStorage;
#endif
