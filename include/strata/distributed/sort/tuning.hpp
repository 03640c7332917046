// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// The parameters of a sort over ranks. All ranks of a call must have the same.
struct distributed_sort_tuning {
  /// Keys that a rank samples in the first round. If no rank has more items, that round finds the splitters.
  int first_samples;
  /// Keys that all ranks together sample for each splitter in a later round.
  int samples;
  /// A round has up to so many bytes of samples of a rank for each splitter, if it needs no more for its result.
  int sample_bytes;
  /// If a rank's output has more items than this, it is exchanged in `chunks` parts, and one is merged while the next
  /// comes.
  long long max_items_without_chunks;
  int chunks;
  /// Where ranks share memory and none has more items, each sorts the items of all and keeps its share.
  int max_gathered_items;
};

namespace detail {

/// Two H200, 2026-11-26, CUDA 13.0, NCCL 2.28.3: 2^28 u32 on each 6.58 ms, 2^27 i32 by a comparator 6.18 ms. Other rows
/// were not tried.
#ifdef STRATA_TRY_RUNTIME
inline bool is_merged_from_peers = false;
#endif
struct distributed_sort_policy {
#ifdef STRATA_TRY_RUNTIME
  static inline distributed_sort_tuning tuning{
#else
  static constexpr distributed_sort_tuning tuning{
#endif
      /*first_samples=*/4096, /*samples=*/4096, /*sample_bytes=*/65536,
      /*max_items_without_chunks=*/1LL << 22, /*chunks=*/4,
      /*max_gathered_items=*/1 << 17};
};

}  // namespace detail
STRATA_NAMESPACE_END
