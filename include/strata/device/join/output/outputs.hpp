// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// A column of values of one side: `out[position] = in[row]`, or `missing` where the result has no row
/// of that side. `in` and `out` are random-access iterators, valid where the join is executed. Different
/// threads write neighbouring elements of `out`, so these must be different objects (not bits).
template <bool FromBuild, class In, class Out, class Missing>
struct JoinColumn {
  In in;            ///< Values of the rows of one side.
  Out out;          ///< Receives the values of the result.
  Missing missing;  ///< Written where the result has no row of this side.

  /// Writes the value of one row of the result.
  template <class Index>
  STRATA_HD void operator()(std::int64_t position, Index build_row, Index probe_row) const {
    const Index row = FromBuild ? build_row : probe_row;
    if (row == no_row<Index>) {
      out[position] = missing;
    } else {
      out[position] = in[row];
    }
  }
};

/// Makes a column of values of the build side. `missing` is written where a row of the result has no build row.
template <class In, class Out, class Missing>
JoinColumn<true, In, Out, Missing> build_column(In in, Out out, Missing missing) {
  return {in, out, missing};
}
/// Makes a column of values of the probe side. `missing` is written where a row of the result has no probe row.
template <class In, class Out, class Missing>
JoinColumn<false, In, Out, Missing> probe_column(In in, Out out, Missing missing) {
  return {in, out, missing};
}

/// Several columns as one: see join_columns.
template <class First, class... Rest>
struct JoinColumns {
  First first;
  JoinColumns<Rest...> rest;

  template <class Index>
  STRATA_HD void operator()(std::int64_t position, Index build_row, Index probe_row) const {
    first(position, build_row, probe_row);
    rest(position, build_row, probe_row);
  }
};
template <class Only>
struct JoinColumns<Only> {
  Only first;

  template <class Index>
  STRATA_HD void operator()(std::int64_t position, Index build_row, Index probe_row) const {
    first(position, build_row, probe_row);
  }
};

namespace detail {

/// Number of columns of an output; 0 if it has none.
template <class Sink>
inline constexpr int number_of_columns = 0;
template <class... Columns>
inline constexpr int number_of_columns<JoinColumns<Columns...>> = static_cast<int>(sizeof...(Columns));

template <class First, class... Rest>
JoinColumns<First, Rest...> columns_of(const First& first, const Rest&... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    return {first};
  } else {
    return {first, detail::columns_of(rest...)};
  }
}

/// Writes pairs of rows. `build_out` is null if build rows are not wanted.
template <class Index>
struct join_pairs_sink {
  Index* build_out;
  Index* probe_out;

  STRATA_HD void operator()(std::int64_t position, Index build_row, Index probe_row) const {
    if (build_out != nullptr) build_out[position] = build_row;
    probe_out[position] = probe_row;
  }
};

}  // namespace detail

/// Output of only the number of rows of the result. `join_count` makes it.
struct JoinCountOutput {
  using index_type = std::int64_t;             ///< Type of row numbers.
  static constexpr std::int64_t capacity = 0;  ///< Maximum number of rows that are written.
  NullType sink;                               ///< Called with each row of the result.
};

/// The numbers of the build row and the probe row of each row of the result. `join_pairs` makes it.
template <class Index>
struct JoinPairsOutput {
  using index_type = Index;             ///< Type of row numbers.
  detail::join_pairs_sink<Index> sink;  ///< Called with each row of the result.
  std::int64_t capacity;                ///< Maximum number of rows that are written.
};

/// Columns of values, or whatever functors do with the rows of the result. `join_columns` makes it.
template <class Index, class Columns>
struct JoinColumnsOutput {
  using index_type = Index;  ///< Type of row numbers.
  Columns sink;              ///< Called with each row of the result.
  std::int64_t capacity;     ///< Maximum number of rows that are written.
};

/// Makes an output that counts the rows of the result and writes none.
inline JoinCountOutput join_count() { return {}; }

/// Writes the row numbers of both sides to two arrays of `capacity` elements. `Index` is a signed or unsigned integer
/// of 4 or 8 bytes.
template <class Index>
JoinPairsOutput<Index> join_pairs(Index* d_build_out, Index* d_probe_out, detail::count64 capacity) {
  return {{d_build_out, d_probe_out}, capacity};
}
/// Writes the row numbers of the probe side to an array of `capacity` elements: for semi and anti joins, whose results
/// have no build rows.
template <class Index>
JoinPairsOutput<Index> join_pairs(std::nullptr_t, Index* d_probe_out, detail::count64 capacity) {
  return {{nullptr, d_probe_out}, capacity};
}

/// Writes columns of `capacity` elements each:
///
///     join_columns(capacity, build_column(names, names_out, 0), probe_column(prices, prices_out, 0.0f))
///
/// A column is any functor that may be called as `column(std::int64_t position, Index build_row, Index probe_row)`,
/// once for each row of the result below the capacity, by many threads. `build_column` and `probe_column` make such
/// functors. All rows of a side may be read, with a partner or not: on CUDA, a join may copy columns to the partitions
/// of the keys, which is faster if most rows have a partner. An inner join takes a sample on the device to find out.
/// JoinSide::match_ratio still saves time, because it may also choose a Bloom filter: if 3 % of 1M x 10M `u32` match, 4
/// columns of 4 bytes take 152 us with this hint and 196 us without it (H200).
template <class Index = std::int64_t, class... Columns>
JoinColumnsOutput<Index, JoinColumns<Columns...>> join_columns(detail::count64 capacity, const Columns&... columns) {
  return {detail::columns_of(columns...), capacity};
}

namespace detail {

// These functions refuse what all back ends refuse. Their messages name the call's arguments.

inline bool refuses_join_rows(bool are_valid, bool is_build) {
  return detail::is_refused(!are_valid, is_build ? "the number of build rows" : "the number of probe rows",
                            "is negative or more than the type of row numbers can represent");
}
inline bool refuses_join_capacity(std::int64_t capacity) {
  return detail::is_refused(capacity < 0, "the output's capacity", "is negative or larger than 2^63 - 1");
}
inline bool refuses_join_strategy(bool is_valid) {
  return detail::is_refused(!is_valid, "options.strategy", "is not a strategy of this back end");
}
inline bool refuses_table_memory(bool is_too_small) {
  return detail::is_refused(is_too_small, "memory_bytes", "is less than what MemoryBytes said");
}

/// True if no array of row numbers that the join needs is null, and none overlaps anything.
template <class Keys, class Index>
bool are_join_outputs_valid(JoinKind kind, const Index* build_out, const Index* probe_out, const std::int64_t* num_out,
                            std::int64_t capacity, const Keys& build_keys, std::int64_t build_rows,
                            const Keys& probe_keys, std::int64_t probe_rows) {
  if (capacity > 0 && (detail::refuses_null(probe_out, "d_probe_out") ||
                       (has_pairs(kind) && detail::refuses_null(build_out, "d_build_out")))) {
    return false;
  }
  return !detail::outputs_overlap(
      {detail::bytes_of(build_out, capacity, "d_build_out"), detail::bytes_of(probe_out, capacity, "d_probe_out"),
       detail::bytes_of(num_out, 1, "d_num_out")},
      {detail::bytes_of(build_keys, build_rows, "the array of build keys"),
       detail::bytes_of(probe_keys, probe_rows, "the array of probe keys")});
}

/// True if no array that the join needs is null, and none overlaps an output. Columns of a result are not checked.
template <class Keys, class BuildPromises, class ProbePromises, class Output>
bool are_join_arrays_valid(JoinKind kind, const JoinSide<Keys, BuildPromises>& build,
                           const JoinSide<Keys, ProbePromises>& probe, const Output& output,
                           const std::int64_t* num_out) {
  using Index = typename Output::index_type;
  join_pairs_sink<Index> rows_out{nullptr, nullptr};
  std::int64_t capacity = 0;
  if constexpr (std::is_same_v<Output, JoinPairsOutput<Index>>) {
    rows_out = output.sink;
    capacity = output.capacity;
  } else {
    static_cast<void>(output);
  }
  const auto overlaps_output = [&](const argument_bytes& input) {
    return detail::outputs_overlap(
        {detail::bytes_of(rows_out.build_out, capacity, "d_build_out"),
         detail::bytes_of(rows_out.probe_out, capacity, "d_probe_out"), detail::bytes_of(num_out, 1, "d_num_out")},
        {input});
  };
  // True for a number of rows whose pointer is null, or which lies where an output is written.
  const auto is_misplaced = [&](const join_row_count& count) {
    if (count.bytes == 0) return false;
    const argument_bytes number{{reinterpret_cast<std::uintptr_t>(count.number), count.bytes}, "a FutureCount of rows"};
    return detail::refuses_null(count.number, number.argument) || overlaps_output(number);
  };
  const auto is_mask_overwritten = [&](const std::uint32_t* mask, std::int64_t rows) {
    return overlaps_output(detail::bytes_of(mask, ceiling_divide<std::int64_t>(rows, 32), "a null mask"));
  };
  return !detail::refuses_null(num_out, "d_num_out") && !is_misplaced(build.count) && !is_misplaced(probe.count) &&
         !is_mask_overwritten(build.valid_mask, build.rows) && !is_mask_overwritten(probe.valid_mask, probe.rows) &&
         !(build.rows > 0 && detail::refuses_null(build.keys, "the array of build keys")) &&
         !(probe.rows > 0 && detail::refuses_null(probe.keys, "the array of probe keys")) &&
         detail::are_join_outputs_valid(kind, rows_out.build_out, rows_out.probe_out, num_out, capacity, build.keys,
                                        build.rows, probe.keys, probe.rows);
}

}  // namespace detail
STRATA_NAMESPACE_END
