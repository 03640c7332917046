// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// The parameters of a sort over ranks. All ranks of a call must have the same.
struct distributed_sort_tuning {
  /// Keys that a rank samples in the first round. If no rank has more items than it samples, that round finds the
  /// splitters.
  int first_samples;
  /// Keys that all ranks together sample for each splitter in a later round.
  int samples;
  /// Maximum number of bytes of samples that a rank sends: in the first round for all splitters together, in a later
  /// round for each splitter. The rank sends `sort_sizes::min_samples()` samples even if these have more bytes.
  int sample_bytes;
  /// If the largest output of a rank has more items than this, each output is exchanged in `chunks` parts. A part is
  /// merged while the next part comes.
  long long max_items_without_chunks;
  int chunks;
  /// An upper bound on the items of a rank for sorts in which each rank sorts the items of all and keeps its share.
  /// Ranks must share memory. With large items, or more than two ranks, `most_in_area` may lower the bound.
  int max_gathered_items;
};

namespace detail {

/// Two H200, 2026-11-29, CUDA 13.0, NCCL 2.28.3, ms by chunks, through memory that the ranks share:
///
/// | items on each GPU | 4 chunks | 8 | 16 |
/// |---|--:|--:|--:|
/// | 2^28 u32 | 5.86 | 5.84 | 5.77 |
/// | 2^28 u32:u32 | 9.70 | 9.61 | 9.56 |
/// | 2^27 i32 by a comparator | 5.44 | 5.44 | 5.43 |
/// | 2^24 u32 | 0.610 | 0.654 | 0.644 |
///
/// Merges that read the other GPU's items themselves, without a copy before, take 7.20 for 2^28 u32.
struct distributed_sort_policy {
  static constexpr distributed_sort_tuning tuning{/*first_samples=*/4096,
                                                  /*samples=*/4096,
                                                  /*sample_bytes=*/65536,
                                                  /*max_items_without_chunks=*/1LL << 22,
                                                  /*chunks=*/4,
                                                  /*max_gathered_items=*/1 << 20};
};

}  // namespace detail
STRATA_NAMESPACE_END
