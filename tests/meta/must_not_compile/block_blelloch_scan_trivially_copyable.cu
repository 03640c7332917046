// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/classic/block_blelloch_scan.cuh>

struct counted {
  int value;
#ifdef STRATA_BAD
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
#endif
};

using instantiated = strata::BlockBlellochScan<counted, 128>::TempStorage;
