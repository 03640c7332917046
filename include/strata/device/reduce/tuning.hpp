// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// How a reduction is cut into blocks.
struct reduce_tuning {
  int block_threads;
  /// Bytes that one thread asks for before it uses the first: they hide the memory's latency.
  int bytes_in_flight;
  /// Bytes that a thread reads at a time if the operator is not commutative. They are contiguous.
  int ordered_bytes;
  int blocks_per_multiprocessor;
  /// A block gets at least this much to read. An input of up to `single_block_bytes` is read by one block.
  int min_bytes_per_block = 8 << 10;
  int single_block_bytes = 32 << 10;
  /// Up to this many bytes per multiprocessor, one block on each is faster than several.
  int one_block_per_multiprocessor_bytes = 64 << 10;
};

/// The rows of DeviceReduce for results of type `AccumT`.
template <class AccumT>
struct reduce_policy_hub {
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    // H200, 2026-11-21, CUDA 13.0. i32, 2^28: 4582 GB/s (256 threads: 4560; 64 bytes in flight: 4549; four blocks per
    // multiprocessor: 4560). 2^24: 19.6 us (4 blocks: 20.8, 8: 23.2). 2^20: one block per multiprocessor 4.2 us, two
    // 4.4. 2^13: one block 3.2 us, four 3.5. Single calls on an idle device by one block and by eight: 2^14 i32 8.3 and
    // 9.3 us, 2^13 f64 8.5 and 9.6 (2026-11-27).
    static constexpr reduce_tuning up_to_16_bytes{/*block_threads=*/512,
                                                  /*bytes_in_flight=*/128,
                                                  /*ordered_bytes=*/64,
                                                  /*blocks_per_multiprocessor=*/2,
                                                  /*min_bytes_per_block=*/8 << 10,
                                                  /*single_block_bytes=*/64 << 10};
    // Not measured. Adapted from `up_to_16_bytes`. Large accumulators take many registers, so a thread has fewer bytes
    // in flight, and a block has fewer threads.
    static constexpr reduce_tuning above_16_bytes{/*block_threads=*/256, /*bytes_in_flight=*/64, /*ordered_bytes=*/64,
                                                  /*blocks_per_multiprocessor=*/2};
    static constexpr reduce_tuning tuning = sizeof(AccumT) <= 16 ? up_to_16_bytes : above_16_bytes;
  };

  // Not measured. Derived from Policy750. With large accumulators, 128 bytes are in flight for each thread. That is 64
  // KiB for each multiprocessor.
  struct Policy1000 : ChainedPolicy<1000, Policy1000, Policy750> {
    static constexpr reduce_tuning above_16_bytes{Policy750::above_16_bytes.block_threads, /*bytes_in_flight=*/128,
                                                  Policy750::above_16_bytes.ordered_bytes,
                                                  Policy750::above_16_bytes.blocks_per_multiprocessor};
    static constexpr reduce_tuning tuning = sizeof(AccumT) <= 16 ? Policy750::tuning : above_16_bytes;
  };
  struct Policy1200 : ChainedPolicy<1200, Policy1200, Policy1000> {
    static constexpr reduce_tuning tuning = Policy750::tuning;
  };

  using MaxPolicy = Policy1200;
};

namespace detail {

/// No policy starts more blocks than this. Temporary storage is sized for it, so that its size does not depend on the
/// device.
inline constexpr int max_reduce_blocks = 512;

}  // namespace detail
STRATA_NAMESPACE_END
