// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// How a reduction is cut into blocks.
struct reduce_tuning {
  int block_threads;
  /// Bytes that one thread asks for before it uses the first: what keeps the memory busy.
  int bytes_in_flight;
  /// The same in the path for operators that are not commutative, where a thread's bytes lie side
  /// by side.
  int ordered_bytes;
  int blocks_per_multiprocessor;
  /// A block gets at least this much to read; an input of `single_block_bytes` stays in one block.
  int min_bytes_per_block;
  int single_block_bytes;
  /// Up to this many bytes per multiprocessor one block on each is faster than several.
  int one_block_per_multiprocessor_bytes;
  /// Operators that are not commutative: the bytes are read with full lines per load, and come to
  /// lie side by side in shared memory.
  bool transposes_in_shared_memory = false;
};

namespace detail {

template <class AccumT>
struct reduce_policy_hub {
  // Large accumulators live in registers: fewer of them per thread and block.
  static constexpr bool is_large = sizeof(AccumT) > 16;

  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    // H200, 2026-11-21, CUDA 13.0. i32, 2^28: 4582 GB/s (256 threads: 4560; 64 bytes in flight:
    // 4549; four blocks per multiprocessor: 4560). 2^24: 19.6 us (4 blocks: 20.8, 8: 23.2).
    // 2^20: one block per multiprocessor 4.2 us, two 4.4. 2^13: one block 3.2 us, four 3.5.
    static constexpr reduce_tuning tuning =
        is_large ? reduce_tuning{256, 64, 64, 2, 8 << 10, 32 << 10, 64 << 10}
                 : reduce_tuning{512, 128, 64, 2, 8 << 10, 32 << 10, 64 << 10, true};
  };

  using MaxPolicy = Policy750;
};

/// No policy starts more blocks than this; it is also what temporary storage is sized for, so that
/// the size does not depend on the device.
inline constexpr int max_reduce_blocks = 512;

}  // namespace detail
STRATA_NAMESPACE_END
