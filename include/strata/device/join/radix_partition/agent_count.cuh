// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/rows.cuh>
#include <strata/device/join/radix_partition/agent_partition.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Adds the number of rows of each partition to a side's cursors. `Tuning` is the policy.
template <class Tuning, class Keys, class Hash, class Equal>
struct AgentJoinCount {
  using Side = join_side_records<Keys>;
  static constexpr unsigned threads = Tuning::partition.partition_threads;
  static constexpr int items = Tuning::partition.count_items(sizeof(iterator_value_t<Keys>));
  static constexpr unsigned tile_items = threads * items;

  /// The number of blocks that count the rows of a side: at least one, and no more than `blocks`.
  STRATA_HD static unsigned blocks_of(unsigned rows, unsigned other_rows, unsigned blocks) {
    const unsigned long long tiles = rows / tile_items + 1ull;
    const unsigned long long proportional =
        static_cast<unsigned long long>(blocks) * rows / (1ull + rows + other_rows) + 1;
    return static_cast<unsigned>(detail::least(tiles, proportional));
  }

  /// The numbers of rows of all partitions and of rows without a key, in shared memory.
  unsigned* counts;
  unsigned partitions;
  int bits;
  const Hash& hash;

  /// By block number `block` of `blocks`, which takes every `blocks`-th tile.
  STRATA_D void run(const Side& side, unsigned block, unsigned blocks) const {
    for (unsigned p = threadIdx.x; p <= partitions; p += threads) counts[p] = 0;
    __syncthreads();
    constexpr unsigned long long tile = tile_items;
    const unsigned rows = detail::rows_of(side);
    for (unsigned long long first = block * tile; first < rows; first += blocks * tile) {
      const unsigned long long left = rows - first;
      count_tile(side, static_cast<unsigned>(first), left < tile ? static_cast<unsigned>(left) : tile_items);
    }
    __syncthreads();
    for (unsigned p = threadIdx.x; p <= partitions; p += threads) {
      if (counts[p] != 0) atomicAdd(side.cursors + p, counts[p]);
    }
  }

 private:
  STRATA_D void count_tile(const Side& side, unsigned first, unsigned rows) const {
    const Keys tile_keys = side.keys + first;
    iterator_value_t<Keys> keys[items];
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned at = static_cast<unsigned>(i) * threads + threadIdx.x;
      if (at < rows) keys[i] = tile_keys[at];
    }
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned at = static_cast<unsigned>(i) * threads + threadIdx.x;
      if (at >= rows) continue;
      unsigned p = partitions;
      if (side.valid == nullptr || detail::join_row_is_valid(side.valid, first + at)) {
        p = detail::join_partition_of(
            detail::upper_half(detail::join_hash<iterator_value_t<Keys>, Equal>(hash, keys[i])), bits);
      }
      if (p < partitions || !side.drops_nulls) atomicAdd(counts + p, 1u);
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
