// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// How FindIf cuts its input into tiles of a block. Blocks take tiles in turn. After each tile, a block checks whether
/// a match before its next tile is known.
struct find_tuning {
  /// At least the number of blocks: the last block reads one result for each of its threads.
  int block_threads;
  /// The number of bytes that one thread loads before it uses the first. Enough of them hide the latency of memory.
  int bytes_in_flight;
  /// Maximum number of items that a thread tests between two loads. The predicate is compiled that many times.
  int most_items;
  int blocks_per_multiprocessor;
  /// The minimum of bytes that a block reads. One block reads an input of up to `single_block_bytes`.
  int min_bytes_per_block;
  int single_block_bytes;
};

/// How LowerBound and UpperBound search for many values.
struct search_tuning {
  int block_threads;
  /// Searches that a thread makes at the same time, so that their loads overlap.
  int searches;
  int blocks_per_multiprocessor;
  /// Maximum bytes of shared memory in which a block keeps items of the range.
  int sample_bytes;
  /// Maximum number of samples of a block: the number of its searches, divided by this.
  int searches_per_sample;
  /// If there are fewer values than the device has threads, 2^`log2_lanes` lanes search for each value, as many as fill
  /// the device. If that is fewer than 2^`least_log2_lanes`, one thread searches, which is faster then.
  int least_log2_lanes;
};

/// The tuning of DeviceFind.
struct find_policy_hub {
  // Not measured. Derived from Policy900, with as many threads as a multiprocessor of these architectures has.
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
    // H200, 2026-11-29, CUDA 13.0: match at once, i32, 2^26 5.5 us (48 bytes in flight and
    // three blocks: 6.4, 384 threads: 5.8); no match 64.8 (three blocks of 64 bytes: 67.2, 384 threads: 80).
    static constexpr find_tuning find = Policy750::find;
    // H200, 2026-11-29, CUDA 13.0: 2^20 of 2^28 i64 416 us (512 threads: 425 with two searches of a thread, 473 with
    // four), 2^24 of 2^16 i32 184 us (253, 327), 2^24 of 2^28 i32 4718 us (4924, 5180).
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
