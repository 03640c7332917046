// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// How items are cut into tiles of a block.
struct tile_tuning {
  int block_threads;
  /// Bytes that a thread loads before it uses the first: they hide the memory's latency.
  int bytes_in_flight;
  /// A thread has at most so many groups of items in a tile.
  int most_groups;
  /// Items of a thread where the operator gets references: it may write, so that the next item is read afterwards.
  int references;
  /// A block of a large call has up to so many tiles of references, divided by the bytes of an item in all arrays.
  int most_reference_tiles;
  /// The launch bound of differences: registers must allow so many blocks. Transformations have none.
  int difference_blocks;
};

/// The rows of DeviceTransform, DeviceFor and DeviceAdjacentDifference.
struct tile_policy_hub {
  // Not measured: from Policy800, with 4 blocks, because 7.5 holds 1,024 threads.
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr tile_tuning tuning{/*block_threads=*/256, /*bytes_in_flight=*/32, /*most_groups=*/4,
                                        /*references=*/2, /*most_reference_tiles=*/8, /*difference_blocks=*/4};
  };
  struct Policy800 : ChainedPolicy<800, Policy800, Policy750> {
    // H200, 2026-11-24, CUDA 13.0, SubtractLeftCopy of 2^28: i32 510 us, a copy takes 510; f64 1,025 us. In place, i32
    // 556 us. Transformations of i32 and i8 take 56 registers: 4 blocks, which have 32 KB in flight. Differences take
    // 48: 5 blocks. H100, 2026-11-26: DeviceFor::Bulk of 2^28 that writes i8 104 us, with one tile for each block 317;
    // ForEachN of i64 1,427 us, with 8 tiles 1,470. Other rows were not tried.
    static constexpr tile_tuning tuning{/*block_threads=*/256, /*bytes_in_flight=*/32, /*most_groups=*/4,
                                        /*references=*/2, /*most_reference_tiles=*/8, /*difference_blocks=*/5};
  };
  // Derived, not measured: from Policy800, with 64 bytes in flight and 3 blocks, 48 KiB of a multiprocessor.
  struct Policy1000 : ChainedPolicy<1000, Policy1000, Policy800> {
    static constexpr tile_tuning tuning{Policy800::tuning.block_threads, /*bytes_in_flight=*/64,
                                        Policy800::tuning.most_groups, Policy800::tuning.references,
                                        Policy800::tuning.most_reference_tiles, /*difference_blocks=*/3};
  };
  struct Policy1200 : ChainedPolicy<1200, Policy1200, Policy1000> {
    static constexpr tile_tuning tuning = Policy800::tuning;
  };
  using MaxPolicy = Policy1200;
};

STRATA_NAMESPACE_END
