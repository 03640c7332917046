// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/hash_join/row_list.cuh>
#include <strata/device/hash_join/table.cuh>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// One side of a join by partitions. Behind the partitions comes one of the rows without a key.
template <class Key>
struct join_side_records {
  const Key* keys;
  const std::uint32_t* valid;
  unsigned rows;
  join_record* records;
  /// How many rows a partition has; later, where its next ones go.
  unsigned* cursors;
  /// Where partitions begin, and where the last one ends.
  unsigned* begins;
};

template <class Key, class Hash, class Equal, int BlockThreads, int ItemsPerThread>
class AgentJoinPartition {
  using Scan = BlockScan<unsigned, BlockThreads, BLOCK_SCAN_WARP_SCANS>;

 public:
  static constexpr int tile_items = BlockThreads * ItemsPerThread;

  struct TempStorage {
    typename Scan::TempStorage scan;
  };

  /// Bytes of dynamic shared memory.
  static constexpr std::size_t tile_bytes(int bits) {
    return tile_items * sizeof(join_record) + 2 * count_bytes(bits);
  }
  /// For counts of all partitions, a multiple of 8.
  static constexpr std::size_t count_bytes(int bits) {
    return ((std::size_t{1} << bits) + 2) * sizeof(unsigned);
  }

  STRATA_D AgentJoinPartition(TempStorage& storage, unsigned char* shared, int bits,
                              const Hash& hash)
      : storage_(storage),
        records_(reinterpret_cast<join_record*>(shared)),
        counts_(reinterpret_cast<unsigned*>(shared + tile_items * sizeof(join_record))),
        deltas_(counts_ + (1u << bits) + 2),
        bits_(bits),
        partitions_((1u << bits) + 1),
        hash_(hash) {}

  /// Takes a tile of rows to their partitions. The order in a partition depends on time.
  STRATA_D void move(const join_side_records<Key>& side, unsigned long long first) {
    for (unsigned p = threadIdx.x; p < partitions_; p += BlockThreads) counts_[p] = 0;
    join_record items[ItemsPerThread];
    unsigned bins[ItemsPerThread];
    unsigned ranks[ItemsPerThread];
    load(side, first, items, bins);
    __syncthreads();
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      ranks[i] = bins[i] < partitions_ ? atomicAdd(counts_ + bins[i], 1u) : 0;
    }
    __syncthreads();
    reserve(side.cursors);
    __syncthreads();
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (bins[i] < partitions_) records_[counts_[bins[i]] + ranks[i]] = items[i];
    }
    __syncthreads();
    const unsigned long long left = side.rows - first;
    const unsigned count = left < tile_items ? static_cast<unsigned>(left) : tile_items;
    const unsigned nulls = counts_[partitions_ - 1];
    for (unsigned i = threadIdx.x; i < count; i += BlockThreads) {
      const join_record record = records_[i];
      const unsigned p = i < nulls ? join_partition_of(record.hash, bits_) : partitions_ - 1;
      side.records[deltas_[p] + i] = record;
    }
    __syncthreads();
  }

  /// Adds the rows of each partition to `side.cursors`, by blocks that take tiles in turn.
  STRATA_D static void count(const join_side_records<Key>& side, unsigned* counts, int bits,
                             const Hash& hash) {
    const unsigned partitions = (1u << bits) + 1;
    for (unsigned p = threadIdx.x; p < partitions; p += BlockThreads) counts[p] = 0;
    __syncthreads();
    const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * BlockThreads;
    unsigned long long row =
        static_cast<unsigned long long>(blockIdx.x) * BlockThreads + threadIdx.x;
    STRATA_UNROLL_N(4)
    for (; row < side.rows; row += stride) {
      const unsigned p = join_row_is_valid(side.valid, row)
                             ? join_partition_of(hash_of(side.keys[row], hash), bits)
                             : partitions - 1;
      atomicAdd(counts + p, 1u);
    }
    __syncthreads();
    for (unsigned p = threadIdx.x; p < partitions; p += BlockThreads) {
      if (counts[p] != 0) atomicAdd(side.cursors + p, counts[p]);
    }
    __syncthreads();
  }

 private:
  STRATA_D static unsigned hash_of(const Key& key, const Hash& hash) {
    return static_cast<unsigned>(join_hash<Key, Equal>(hash, key) >> 32);
  }

  STRATA_D void load(const join_side_records<Key>& side, unsigned long long first,
                     join_record (&items)[ItemsPerThread], unsigned (&bins)[ItemsPerThread]) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned long long row = first + static_cast<unsigned>(i * BlockThreads) + threadIdx.x;
      bins[i] = ~0u;
      if (row >= side.rows) continue;
      items[i].row = static_cast<unsigned>(row);
      items[i].hash = 0;
      bins[i] = partitions_ - 1;
      if (!join_row_is_valid(side.valid, row)) continue;
      items[i].hash = hash_of(side.keys[row], hash_);
      bins[i] = join_partition_of(items[i].hash, bits_);
    }
  }

  // Of each partition: where its rows begin in the tile, and how far from there they go.
  STRATA_D void reserve(unsigned* cursors) {
    const unsigned each = (partitions_ + BlockThreads - 1) / BlockThreads;
    const unsigned first = threadIdx.x * each;
    const unsigned last = first + each < partitions_ ? first + each : partitions_;
    unsigned sum = 0;
    for (unsigned p = first; p < last; ++p) {
      const unsigned count = counts_[p];
      if (count != 0) deltas_[p] = atomicAdd(cursors + p, count);
      sum += count;
    }
    unsigned begin = 0;
    Scan(storage_.scan).ExclusiveSum(sum, begin);
    for (unsigned p = first; p < last; ++p) {
      const unsigned count = counts_[p];
      counts_[p] = begin;
      if (count != 0) deltas_[p] -= begin;
      begin += count;
    }
  }

  TempStorage& storage_;
  join_record* records_;
  unsigned* counts_;
  unsigned* deltas_;
  int bits_;
  unsigned partitions_;
  const Hash& hash_;
};

}  // namespace detail
STRATA_NAMESPACE_END
