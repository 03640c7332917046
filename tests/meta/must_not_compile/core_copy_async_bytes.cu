// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: copy_async copies 4, 8 or 16 bytes: copy other items by assignment
#include <strata/core/platform/async_copy.cuh>

#if defined(STRATA_BAD)
constexpr int bytes = 2;
#else
constexpr int bytes = 8;
#endif

STRATA_KERNEL void copy(const char* in, char* out) {
  struct alignas(16) tile {
    char bytes[16];
  };
  STRATA_SHARED(storage, tile);
  strata::platform::copy_async<bytes>(storage.bytes, in);
  strata::platform::wait_for_async_copies();
  out[0] = storage.bytes[0];
}
