// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/packed_array.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/common/rows.cuh>
#include <strata/device/join/common/tuning.hpp>
#include <strata/device/join/output/columns.hpp>
#include <strata/device/join/output/partitioned_columns.cuh>
#include <strata/device/join/radix_partition/plan.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The partitions of a join with partitioned columns: half as many rows in each, so that L2 holds the values of all
/// partitions that are joined at a time. H100, 2026-11-28, us with 16,384 / 8,192 rows, 2^24 x 2^24: 4 columns of 4
/// bytes 1,752 / 1,491, 2 of 8 bytes 1,360 / 1,250. Tiles are those of wide records, because a thread has the positions
/// of its rows, too.
constexpr join_partition_tuning with_columns(join_partition_tuning tuning) {
  for (int pass = 0; pass < 3; ++pass) tuning.items_of_pass[pass] = tuning.wide_items_of_pass[pass];
  if (tuning.one_pass_bits == max_join_pass_bits) return tuning;
  ++tuning.one_pass_bits;
  tuning.partition_rows /= 2;
  tuning.wide_partition_rows /= 2;
  return tuning;
}

/// Copies the values of the rows of a tile to the positions of their records, column after column, by way of shared
/// memory: neighbouring threads read neighbouring values. They write neighbouring values, too, because the rows of a
/// partition lie side by side in the sorted tile. Row `i` of a thread is row `i * BlockThreads + threadIdx.x` of the
/// tile. All member functions are called by the whole block.
///
/// Values that are read where a record's row says, without shared memory, take 3 to 9 % less time at 1M x 10M, and 7 to
/// 18 % more at 2^24 x 2^24 (H100, 2026-11-28).
template <int BlockThreads, int ItemsPerThread>
class AgentJoinColumns {
 public:
  /// Of a tile of `rows` rows: keeps the index of each row in the sorted tile. Row `i` of the thread has a rank in its
  /// partition, which begins at `begin(i)`.
  template <class Begin>
  STRATA_D void keep_indices(const packed_array<ItemsPerThread>& ranks, unsigned rows, const Begin& begin) {
    rows_ = rows;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned at = in_tile(i) < rows ? begin(i) + ranks.get(i) : 0;
      indices_.set(i, at);
    }
  }

  /// The columns of one side, of a tile that begins at row `first`. The first `number` rows of the sorted tile are
  /// copied, row `i` of these to `position(i)`, which reads the records in `shared`. These are overwritten.
  template <class Position, class Output>
  STRATA_D void move(join_record* shared, bool is_probe, unsigned first, unsigned number, const Position& position,
                     const Output& output) {
    first_ = first;
    number_ = number;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) positions_[i] = in_tile(i) < number ? position(in_tile(i)) : 0;
    move_columns(shared, is_probe, output.by_index, output.by_record);
    __syncthreads();
  }

 private:
  STRATA_D static unsigned in_tile(int item) { return static_cast<unsigned>(item * BlockThreads) + threadIdx.x; }

  template <class Columns, class Partitioned>
  STRATA_D void move_columns(join_record* shared, bool is_probe, const Columns& columns,
                             const Partitioned& partitioned) const {
    if (is_build_column(columns.first) != is_probe) move_column(shared, columns.first.in, partitioned.first.in);
    constexpr int columns_left = number_of_columns<Columns>;
    if constexpr (columns_left > 1) move_columns(shared, is_probe, columns.rest, partitioned.rest);
  }

  template <class In, class Value>
  STRATA_D void move_column(join_record* shared, In in, Value* out) const {
    // not for users: partitioned_column leaves out larger ones
    static_assert(sizeof(Value) <= sizeof(join_record), "values take the place of records");
    auto* const values = reinterpret_cast<Value*>(shared);
    __syncthreads();
    constexpr int ahead = 8;  // loads of a thread that are in flight together
    STRATA_UNROLL
    for (int begin = 0; begin < ItemsPerThread; begin += ahead) {
      Value loaded[ahead];
      STRATA_UNROLL
      for (int i = begin; i < begin + ahead; ++i) {
        if (i < ItemsPerThread && in_tile(i) < rows_) loaded[i - begin] = in[first_ + in_tile(i)];
      }
      STRATA_UNROLL
      for (int i = begin; i < begin + ahead; ++i) {
        if (i < ItemsPerThread && in_tile(i) < rows_) values[indices_.get(i)] = loaded[i - begin];
      }
    }
    __syncthreads();
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (in_tile(i) < number_) out[positions_[i]] = values[in_tile(i)];
    }
  }

  packed_array<ItemsPerThread> indices_;
  unsigned positions_[ItemsPerThread];
  unsigned rows_, first_, number_;
};

}  // namespace detail
STRATA_NAMESPACE_END
