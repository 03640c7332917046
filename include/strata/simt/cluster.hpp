// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Clusters of thread blocks: rank, barrier and distributed shared memory.
#pragma once

#include <strata/simt/engine.hpp>

namespace strata {
namespace simt {

unsigned cluster_rank();   // of the calling block in its cluster
unsigned cluster_size();   // blocks in the cluster
unsigned cluster_index();  // linear number of the cluster in the grid

// The two halves of the cluster barrier: arrive releases, wait acquires.
void cluster_arrive(location where);
void cluster_wait(location where);
inline void cluster_barrier(location where) {
  cluster_arrive(where);
  cluster_wait(where);
}

// The address at which this block sees the variable that `address`, in its own shared memory, is in
// the block of that rank. A plain shared address of another block is not usable; in the check
// flavour its use is reported.
void* map_shared(const void* address, unsigned rank, const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace simt
}  // namespace strata
