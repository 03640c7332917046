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
  using Side = join_side_records<Key>;

  static constexpr unsigned tile_items = BlockThreads * ItemsPerThread;
  static_assert(
      tile_items < (1u << 16) && ItemsPerThread <= 32,
      "join_partition_tuning: a tile of partition_threads * partition_items rows must have "
      "fewer than 65536, and at most 32 for each thread");

  struct TempStorage {
    typename Scan::TempStorage scan;
    /// Where in the tile the rows without a key begin.
    unsigned first_null;
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

  /// Takes all rows to their partitions, tile by tile, in turn with other blocks. The order in a
  /// partition depends on time.
  STRATA_D void run(const Side& build, const Side& probe) {
    const unsigned long long build_tiles = tiles_of(build);
    const unsigned long long tiles = build_tiles + tiles_of(probe);
    const auto first_of = [&](unsigned long long tile) {
      return (tile < build_tiles ? tile : tile - build_tiles) * tile_items;
    };
    unsigned long long tile = blockIdx.x;
    keys_of_tile keys;
    if (tile < tiles) load(tile < build_tiles ? build : probe, first_of(tile), keys);
    for (unsigned p = threadIdx.x; p < partitions_; p += BlockThreads) counts_[p] = 0;
    for (; tile < tiles; tile += gridDim.x) {
      const Side& side = tile < build_tiles ? build : probe;
      const unsigned long long first = first_of(tile);
      const unsigned long long left = side.rows - first;
      const unsigned count = left < tile_items ? static_cast<unsigned>(left) : tile_items;
      __syncthreads();
      rank(keys, count);
      __syncthreads();
      reserve(side.cursors);
      __syncthreads();
      place(keys, count, static_cast<unsigned>(first));
      // On their way while the records of this tile are written.
      const unsigned long long next = tile + gridDim.x;
      if (next < tiles) load(next < build_tiles ? build : probe, first_of(next), keys);
      __syncthreads();
      for (unsigned p = threadIdx.x; p < partitions_; p += BlockThreads) counts_[p] = 0;
      for (unsigned i = threadIdx.x; i < count; i += BlockThreads) {
        const join_record record = records_[i];
        const unsigned p =
            i < storage_.first_null ? join_partition_of(record.hash, bits_) : partitions_ - 1;
        side.records[deltas_[p] + i] = record;
      }
    }
  }

  /// Adds the rows of each partition to `side.cursors`, by blocks that take tiles in turn.
  STRATA_D static void count(const Side& side, unsigned* counts, int bits, const Hash& hash) {
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

  /// What a thread has of a tile.
  struct keys_of_tile {
    unsigned hashes[ItemsPerThread];
    /// Two to a word, because a tile has fewer than 2^16 rows.
    unsigned ranks[(ItemsPerThread + 1) / 2];
    /// A bit for each row without a key.
    unsigned nulls;
  };

  STRATA_D static unsigned long long tiles_of(const Side& side) {
    return (static_cast<unsigned long long>(side.rows) + (tile_items - 1)) / tile_items;
  }
  STRATA_D static unsigned in_tile(int item) {
    return static_cast<unsigned>(item * BlockThreads) + threadIdx.x;
  }

  STRATA_D unsigned partition_of(const keys_of_tile& keys, int item) const {
    return (keys.nulls >> item & 1) != 0 ? partitions_ - 1
                                         : join_partition_of(keys.hashes[item], bits_);
  }

  STRATA_D void load(const Side& side, unsigned long long first, keys_of_tile& keys) const {
    keys.nulls = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned long long row = first + in_tile(i);
      keys.hashes[i] = 0;
      if (row >= side.rows) continue;
      if (join_row_is_valid(side.valid, row)) {
        keys.hashes[i] = hash_of(side.keys[row], hash_);
      } else {
        keys.nulls |= 1u << i;
      }
    }
  }

  STRATA_D void rank(keys_of_tile& keys, unsigned count) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      unsigned rank = 0;
      if (in_tile(i) < count) rank = atomicAdd(counts_ + partition_of(keys, i), 1u);
      keys.ranks[i / 2] = i % 2 == 0 ? rank : keys.ranks[i / 2] | rank << 16;
    }
  }

  STRATA_D void place(const keys_of_tile& keys, unsigned count, unsigned first) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (in_tile(i) >= count) continue;
      const unsigned rank = keys.ranks[i / 2] >> (i % 2 * 16) & 0xffffu;
      records_[counts_[partition_of(keys, i)] + rank] = {keys.hashes[i], first + in_tile(i)};
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
      if (p == partitions_ - 1) storage_.first_null = begin;
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
