// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockTreeReduce has bank conflicts in this layout: leave out the layout to have it padded for T and the block's size, or name PlainLayout if they are wanted
#include <strata/block/classic/block_tree_reduce.cuh>

// For items of 4 bytes this padding is right; of those of 8 bytes a wavefront has 16.
#ifdef STRATA_BAD
using item = double;
#else
using item = float;
#endif

using instantiated = strata::BlockTreeReduce<item, 1024, strata::PaddedLayout<32, 1>>::TempStorage;
