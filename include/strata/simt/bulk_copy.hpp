// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Asynchronous bulk copies into shared memory and the mbarrier that signals their completion.
//
// A copy is not executed when it is issued but when a thread waits for its barrier, so code that
// reads too early reads garbage, as it may on the GPU. In the check flavour the early read is
// reported.
#pragma once

#include <strata/simt/engine.hpp>

namespace strata {
namespace simt {

void mbarrier_init(uint64_t* barrier, unsigned count, location where);
void mbarrier_invalidate(uint64_t* barrier, location where);
// One arrival, which releases; the second form also expects that many bytes from bulk copies.
void mbarrier_arrive(uint64_t* barrier, location where);
void mbarrier_arrive_expect_tx(uint64_t* barrier, unsigned bytes, location where);
// True, and an acquire, once the phase of that parity is complete. The caller loops.
bool mbarrier_try_wait_parity(uint64_t* barrier, unsigned parity, location where);
// Both addresses and the size must be multiples of 16, as the hardware demands.
void bulk_copy_global_to_shared(void* to, const void* from, unsigned bytes, uint64_t* barrier, location where);

}  // namespace simt
}  // namespace strata
