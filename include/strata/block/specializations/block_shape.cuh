// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The shape of the block that a primitive is instantiated for: its number of threads, and the calling thread's rank.
template <int X, int Y, int Z>
struct block_shape {
  static_assert(X > 0 && Y > 0 && Z > 0 && 1LL * X * Y * Z <= 1024,
                "the dimensions of a block must be positive and multiply to at most 1024 threads");
  static constexpr int threads = X * Y * Z;

  /// Row-major rank, x fastest. Debug builds check that the block has this shape: in a block of another shape,
  /// ranks collide, barriers are incomplete or storage is too small.
  STRATA_D static int thread_rank(const char* primitive) {
    STRATA_ASSERT(blockDim.x == X && blockDim.y == Y && blockDim.z == Z,
                  "%s was instantiated for blocks of %d x %d x %d threads,"
                  " but this block has %u x %u x %u",
                  primitive, X, Y, Z, blockDim.x, blockDim.y, blockDim.z);
    static_cast<void>(primitive);
    return static_cast<int>(platform::row_major_thread_id<X, Y, Z>());
  }

  /// Calls `visit(i)` for each i below Count, each in one thread of the block. The number of rounds is a constant, so
  /// the compiler can unroll them. In the usual loop, from the rank up to Count in steps of the number of threads, the
  /// number of rounds would depend on the rank. In BlockHistogram with few samples, such a loop would take as long as
  /// the counting itself.
  template <int Count, class Visit>
  STRATA_D static void for_each_index(int rank, const Visit& visit) {
    for (int first = 0; first + threads <= Count; first += threads) visit(first + rank);
    if constexpr (Count % threads != 0) {
      const int last = Count / threads * threads + rank;
      if (last < Count) visit(last);
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
