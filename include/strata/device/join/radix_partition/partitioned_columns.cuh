// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/packed_array.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/common/keys.hpp>
#include <strata/device/join/common/method.hpp>
#include <strata/device/join/common/rows.cuh>
#include <strata/device/join/common/tuning.hpp>
#include <strata/device/join/output/outputs.hpp>
#include <strata/device/join/radix_partition/match_sample.cuh>
#include <strata/device/join/radix_partition/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// Columns of values that are partitioned with the keys. The partition pass copies the values of a tile's rows to
/// the positions of their records, and records have these positions in place of row indices. The join of a partition
/// then reads only values of that partition, which L2 holds, and it reads the values of neighbouring probe rows side by
/// side. Otherwise each result would read a random sector of memory for each column.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The partitioned form of a column. Only arrays are partitioned, and only if a value is no larger than a record,
/// because values replace records in shared memory.
template <class Column>
struct partitioned_column {
  static constexpr std::size_t bytes = 0;
  using type = void;
};
template <bool FromBuild, class Value, class Out, class Missing>
struct partitioned_column<JoinColumn<FromBuild, Value*, Out, Missing>> {
  using value_type = std::remove_cv_t<Value>;
  static constexpr std::size_t bytes = std::is_trivially_default_constructible_v<value_type> &&
                                               std::is_trivially_copyable_v<value_type> &&
                                               sizeof(value_type) <= sizeof(join_record)
                                           ? sizeof(value_type)
                                           : 0;
  using type = JoinColumn<FromBuild, value_type*, Out, Missing>;
};

/// Tells whether all columns of an output can be partitioned, and whether no value has more than 4 bytes.
template <class Sink>
struct partitioned_columns {
  static constexpr bool are_possible = false;
  static constexpr bool are_narrow = false;
};
template <class... Columns>
struct partitioned_columns<JoinColumns<Columns...>> {
  static constexpr bool are_possible = ((partitioned_column<Columns>::bytes != 0) && ...) &&
                                       (partitioned_column<Columns>::bytes + ...) <= max_partitioned_bytes;
  static constexpr bool are_narrow = are_possible && ((partitioned_column<Columns>::bytes <= 4) && ...);
  using type = JoinColumns<typename partitioned_column<Columns>::type...>;
};

/// An output with columns in the order of the partitions. With a sample that finds few results, columns are not
/// partitioned, and records have indices of rows.
template <class Columns>
struct partitioned_output {
  Columns by_index;
  typename partitioned_columns<Columns>::type by_record;
  join_match_sample sample = {};

  template <class Index>
  STRATA_HD void operator()(std::int64_t position, Index build_row, Index probe_row) const {
    by_index(position, build_row, probe_row);
  }
};

/// True if an output is a partitioned_output.
template <class Sink>
inline constexpr bool partitions_columns = false;
template <class Columns>
inline constexpr bool partitions_columns<partitioned_output<Columns>> = true;

/// Chooses the output of a kernel: with row indices, or with partitioned columns. Kernels have the code for both,
/// because a kernel that selects the array of each column when it writes needs too many registers.
template <class Columns>
struct chosen_sink<partitioned_output<Columns>> {
  using type = Columns;
  template <class Call>
  STRATA_D static void use(const partitioned_output<Columns>& output, const Call& call) {
    if (output.sample.finds_few_results()) {
      call(output.by_index);
    } else {
      call(output.by_record);
    }
  }
};

/// Returns the sample of an output, or NullType.
template <class Sink>
auto match_sample_of([[maybe_unused]] const Sink& sink) {
  if constexpr (partitions_columns<Sink>) {
    return sink.sample;
  } else {
    return NullType{};
  }
}

template <bool FromBuild, class In, class Out, class Missing>
STRATA_HD constexpr bool is_build_column(const JoinColumn<FromBuild, In, Out, Missing>&) {
  return FromBuild;
}

/// Calls `call(column, slot)` for each column, with its index.
template <class First, class... Rest, class Call>
void for_each_column(const JoinColumns<First, Rest...>& columns, const Call& call, int slot = 0) {
  call(columns.first, slot);
  if constexpr (sizeof...(Rest) != 0) detail::for_each_column(columns.rest, call, slot + 1);
}

template <class First, class... Rest, class Layout>
auto map_columns(const JoinColumns<First, Rest...>& columns, const Layout& storage, int slot) {
  using Column = typename partitioned_column<First>::type;
  const Column first{storage.template get<typename partitioned_column<First>::value_type>(slot), columns.first.out,
                     columns.first.missing};
  if constexpr (sizeof...(Rest) == 0) {
    return JoinColumns<Column>{first};
  } else {
    return JoinColumns<Column, typename partitioned_column<Rest>::type...>{
        first, detail::map_columns(columns.rest, storage, slot + 1)};
  }
}

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
/// Without shared memory, each thread would read the value of its record's row. That would take 3 to 9 % less time at
/// 1M x 10M, and 7 to 18 % more at 2^24 x 2^24 (H100, 2026-11-28).
template <int BlockThreads, int ItemsPerThread>
class AgentJoinColumns {
 public:
  /// Keeps the index of each row of a tile in the sorted tile. Row `i` of the thread has a rank in its partition, which
  /// begins at `begin(i)`. The tile has `rows` rows.
  template <class Begin>
  STRATA_D void keep_indices(const packed_array<ItemsPerThread>& ranks, unsigned rows, const Begin& begin) {
    rows_ = rows;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned at = in_tile(i) < rows ? begin(i) + ranks.get(i) : 0;
      indices_.set(i, at);
    }
  }

  /// Copies the columns of one side for a tile that begins at row `first`: row `i` of the first `number` rows of the
  /// sorted tile goes to `position(i)`, which reads the records in `shared`. The records are overwritten.
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
    if (detail::is_build_column(columns.first) != is_probe) move_column(shared, columns.first.in, partitioned.first.in);
    constexpr int columns_left = number_of_columns<Columns>;
    if constexpr (columns_left > 1) move_columns(shared, is_probe, columns.rest, partitioned.rest);
  }

  template <class In, class Value>
  STRATA_D void move_column(join_record* shared, In in, Value* out) const {
    // not for users: partitioned_column leaves out larger ones
    static_assert(sizeof(Value) <= sizeof(join_record), "a value must be as small as a record");
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
