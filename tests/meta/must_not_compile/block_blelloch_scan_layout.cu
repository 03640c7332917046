// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockBlellochScan has bank conflicts in this layout: leave out the layout to have it padded for T and the elements, or name PlainLayout if they are wanted
#include <strata/block/classic/block_blelloch_scan.cuh>

// One level of padding is enough for 1,024 elements.
#ifdef STRATA_BAD
inline constexpr int elements = 2048;
#else
inline constexpr int elements = 1024;
#endif

using instantiated = strata::BlockBlellochScan<int, 512, elements, strata::PaddedLayout<32, 1>>::TempStorage;
