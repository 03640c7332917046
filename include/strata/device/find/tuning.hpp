// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// How FindIf cuts its input into tiles of a block. Blocks take tiles in turn. After each tile, a block checks whether
/// a match before its next tile is known.
struct find_tuning {
  /// FindIf starts no more blocks than this, because the last block reads one result with each of its threads.
  int block_threads;
  /// The number of bytes that one thread loads before it uses the first. Enough of them hide the latency of memory.
  int bytes_in_flight;
  /// Maximum number of items that a thread tests between two loads. The predicate is compiled that many times.
  int most_items;
  int blocks_per_multiprocessor;
  /// Minimum number of bytes that a block reads. One block reads an input of up to `single_block_bytes`.
  int min_bytes_per_block;
  int single_block_bytes;
};

/// How LowerBound and UpperBound search for many values.
struct search_tuning {
  int block_threads;
  /// Searches that a thread makes at the same time, so that their loads overlap.
  int searches;
  int blocks_per_multiprocessor;
  /// Maximum number of bytes of shared memory in which a block keeps items of the range.
  int sample_bytes;
  /// Maximum number of samples of a block: the number of its searches, divided by this.
  int searches_per_sample;
  /// If there are fewer values than the device has threads, several lanes search for each value: as many as fill the
  /// device, a power of two up to 32. If that is fewer than 2^`least_log2_lanes`, one thread searches, which is faster
  /// then.
  int least_log2_lanes;
};

/// The tuning of DeviceFind.
struct find_policy_hub {
  // Not measured. Derived from Policy900: `find` is its row, and `search` has 1,024 threads for a multiprocessor, which
  // all of these architectures have.
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr find_tuning find{/*block_threads=*/512,
                                      /*bytes_in_flight=*/64,
                                      /*most_items=*/64,
                                      /*blocks_per_multiprocessor=*/2,
                                      /*min_bytes_per_block=*/8 << 10,
                                      /*single_block_bytes=*/64 << 10};
    static constexpr search_tuning search{/*block_threads=*/512,           /*searches=*/2,
                                          /*blocks_per_multiprocessor=*/2, /*sample_bytes=*/32 << 10,
                                          /*searches_per_sample=*/2,       /*least_log2_lanes=*/2};
  };
  struct Policy900 : ChainedPolicy<900, Policy900, Policy750> {
    // H200, 2026-11-29, CUDA 13.0, microseconds for 2^26 i32:
    //
    // | row | the first item matches | no match |
    // |---|---|---|
    // | this one | 5.5 | 64.8 |
    // | three blocks, 48 bytes in flight | 6.4 | |
    // | three blocks, 64 bytes in flight | | 67.2 |
    // | 384 threads | 5.8 | 80 |
    static constexpr find_tuning find = Policy750::find;
    // H200, 2026-11-29, CUDA 13.0, microseconds:
    //
    // | values, items of the range | this row | 512 threads, two searches | 512 threads, four searches |
    // |---|---|---|---|
    // | 2^20, 2^28 i64 | 416 | 425 | 473 |
    // | 2^24, 2^16 i32 | 184 | 253 | 327 |
    // | 2^24, 2^28 i32 | 4718 | 4924 | 5180 |
    static constexpr search_tuning search{/*block_threads=*/1024,          /*searches=*/1,
                                          /*blocks_per_multiprocessor=*/2, /*sample_bytes=*/32 << 10,
                                          /*searches_per_sample=*/2,       /*least_log2_lanes=*/2};
  };
  // Not measured. Derived from Policy750.
  struct Policy1000 : ChainedPolicy<1000, Policy1000, Policy900> {
    static constexpr find_tuning find = Policy750::find;
    static constexpr search_tuning search = Policy750::search;
  };
  using MaxPolicy = Policy1000;
};

namespace detail {

/// No policy of FindIf starts more blocks than this. Temporary storage is sized for it, so that its size does not
/// depend on the device.
inline constexpr int max_find_blocks = 512;

}  // namespace detail
STRATA_NAMESPACE_END
