// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN

/// How samples are divided among blocks, and where a block counts them.
struct histogram_tuning {
  int block_threads;
  /// Blocks that registers and shared memory must allow.
  int blocks_per_multiprocessor;
  /// Bytes of samples that a thread loads before it counts the first, if there are no more than two channels.
  int bytes_in_flight;
  /// Bytes of shared memory for counters and for copies of levels. Each bin has as many counters as fit: a power of
  /// two, up to one for each lane.
  std::size_t shared_bytes;
  /// The number of bins that a block can count in shared memory if not all bins fit, or if there are many bins for few
  /// samples. A power of two.
  int table_slots;
};

/// The tuning of DeviceHistogram.
struct histogram_policy_hub {
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    // H200, 2026-11-24, CUDA 13.0, 2^28 samples, 256 even bins, uniform, equal or skewed alike: i32 258 us, f32 249 us,
    // u8 67 us. Other rows were not tried.
    static constexpr histogram_tuning tuning{/*block_threads=*/1024, /*blocks_per_multiprocessor=*/1,
                                             /*bytes_in_flight=*/64, /*shared_bytes=*/128 << 10,
                                             /*table_slots=*/8192};
  };

  using MaxPolicy = Policy750;
};

STRATA_NAMESPACE_END
