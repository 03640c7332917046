// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// How items are cut into tiles of a block.
struct tile_tuning {
  int block_threads;
  /// Maximum bytes that a thread loads before it uses the first of them, if it has more than one group. They hide the
  /// memory's latency.
  int bytes_in_flight;
  /// Maximum number of groups of items that a thread has in a tile. A group has up to 16 bytes of each array, and at
  /// least one item.
  int groups;
  /// Maximum number of groups for differences in place.
  int in_place_groups;
  /// Maximum number of groups if items are accessed one by one, so that a group has one item.
  int groups_of_one;
  /// Items of a thread if the operator gets references. Such an operator may write, so the next item is read when the
  /// operator has returned.
  int references;
  /// This number divided by B is the maximum number of tiles of a block in a large call, if the operator gets
  /// references. B is the sum of the bytes of one item of each input that lies in memory. A block has at least one
  /// tile.
  int most_reference_tiles;
  /// The launch bounds of differences: blocks that registers must allow. Transformations have none: their operators may
  /// need any number of registers.
  int difference_blocks;
  int in_place_blocks;
};

/// The rows of DeviceTransform, DeviceFor and DeviceAdjacentDifference.
struct tile_policy_hub {
  // Not measured. Adapted from Policy800, with 8 blocks, because 7.5 holds 1,024 threads.
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr tile_tuning tuning{/*block_threads=*/128,
                                        /*bytes_in_flight=*/64,
                                        /*groups=*/2,
                                        /*in_place_groups=*/3,
                                        /*groups_of_one=*/4,
                                        /*references=*/4,
                                        /*most_reference_tiles=*/4,
                                        /*difference_blocks=*/8,
                                        /*in_place_blocks=*/8};
  };
  struct Policy800 : ChainedPolicy<800, Policy800, Policy750> {
    // H200, 2026-11-26, CUDA 13.0, 2^28 items. x + 3 y of two arrays of i32 735 us, of f64 1,461 (256 threads with one
    // group 785, 1,585; one group 739, 1,474). 3 x of i32 504 us (256 threads 515, 4 groups 517). Differences of i32
    // 503 us (8 blocks 507; 256 threads, 5 blocks 512). In place i32 520 us, f64 1,039, i8 134 (2 groups, 10 blocks
    // 538, 1,085, 135; 8 blocks 548, 1,032, 133). ForEachN of i8 215 us, i32 505, f64 1,014 (256 threads, 2
    // references, 8 tiles 333, 559, 1,003). Bulk that writes f64 464 us (467).
    static constexpr tile_tuning tuning{/*block_threads=*/128,
                                        /*bytes_in_flight=*/64,
                                        /*groups=*/2,
                                        /*in_place_groups=*/3,
                                        /*groups_of_one=*/4,
                                        /*references=*/4,
                                        /*most_reference_tiles=*/4,
                                        /*difference_blocks=*/10,
                                        /*in_place_blocks=*/9};
  };
  // Not measured. Derived from Policy800: a thread has 64 bytes of an array in flight. With 5 blocks, these are 40 KiB
  // for each multiprocessor.
  struct Policy1000 : ChainedPolicy<1000, Policy1000, Policy800> {
    static constexpr tile_tuning tuning{
        Policy800::tuning.block_threads, /*bytes_in_flight=*/96,          /*groups=*/4,
        /*in_place_groups=*/4,           Policy800::tuning.groups_of_one, Policy800::tuning.references,
        /*most_reference_tiles=*/4,      /*difference_blocks=*/5,         /*in_place_blocks=*/5};
  };
  // Not measured. Derived from Policy800, with 6 blocks, as a multiprocessor's share of the bandwidth is smaller.
  struct Policy1200 : ChainedPolicy<1200, Policy1200, Policy1000> {
    static constexpr tile_tuning tuning{
        Policy800::tuning.block_threads,   Policy800::tuning.bytes_in_flight, Policy800::tuning.groups,
        Policy800::tuning.in_place_groups, Policy800::tuning.groups_of_one,   Policy800::tuning.references,
        /*most_reference_tiles=*/4,        /*difference_blocks=*/6,           /*in_place_blocks=*/6};
  };
  using MaxPolicy = Policy1200;
};

STRATA_NAMESPACE_END
