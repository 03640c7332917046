// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/output/outputs.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// The columns that a rank writes for its part of the result, and the numbers of received rows, which they need.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A piece of received rows: from position `begin` on, rows come from one rank, whose first row has the number `base`.
struct join_piece {
  std::int64_t begin;
  std::int64_t base;
};

/// Finds the number of a row among the rows of all ranks.
struct join_global_rows {
  /// The pieces of received rows. Null if rows come from one rank, or if `numbers` are numbers among the rows of all
  /// ranks.
  const join_piece* pieces;
  unsigned num_pieces;
  /// The numbers of the rows: among the rows of the rank that they come from, or among the rows of all ranks. The base
  /// is added to a number; it is 0 in the second case. Null if the number of a row is its position.
  const unsigned* numbers;
  /// The number of the first row, if there are no pieces.
  std::int64_t base;

  STRATA_HD std::int64_t operator()(unsigned row) const {
    if (row == no_row<unsigned>) return no_row<std::int64_t>;
    std::int64_t first = base;
    if (pieces != nullptr) {
      unsigned begin = 0;
      for (unsigned end = num_pieces; end - begin > 1;) {
        const unsigned middle = (begin + end) / 2;
        if (pieces[middle].begin <= row) {
          begin = middle;
        } else {
          end = middle;
        }
      }
      first = pieces[begin].base;
    }
    return first + (numbers != nullptr ? numbers[row] : row);
  }
};

/// Wraps a functor of the caller that takes numbers of rows.
template <class Index, class Column>
struct join_global_column {
  Column column;
  join_global_rows build;
  join_global_rows probe;

  STRATA_HD void operator()(std::int64_t position, unsigned build_row, unsigned probe_row) const {
    column(position, static_cast<Index>(build(build_row)), static_cast<Index>(probe(probe_row)));
  }
};

/// What a column of the output needs: row numbers, or values.
template <class Column>
struct join_column_traits {
  static constexpr bool has_values = false;
  static constexpr bool is_of_build = false;
  static constexpr std::size_t value_bytes = 0;
};
template <bool FromBuild, class In, class Out, class Missing>
struct join_column_traits<JoinColumn<FromBuild, In, Out, Missing>> {
  static constexpr bool has_values = true;
  static constexpr bool is_of_build = FromBuild;
  using value_type = iterator_value_t<In>;
  static constexpr std::size_t value_bytes = sizeof(value_type);
};

/// Returns the output as columns, or NullType if only the number of rows is wanted.
inline NullType join_columns_of(const JoinCountOutput&) { return {}; }
template <class Index>
JoinColumns<join_pairs_sink<Index>> join_columns_of(const JoinPairsOutput<Index>& output) {
  return {output.sink};
}
template <class Index, class... Columns>
JoinColumns<Columns...> join_columns_of(const JoinColumnsOutput<Index, JoinColumns<Columns...>>& output) {
  return output.sink;
}

/// True if a column takes numbers of rows.
template <class Columns>
inline constexpr bool take_row_numbers = false;
template <class... Columns>
inline constexpr bool take_row_numbers<JoinColumns<Columns...>> = !(join_column_traits<Columns>::has_values && ...);

/// True if a column has values.
template <class Columns>
inline constexpr bool have_values = false;
template <class... Columns>
inline constexpr bool have_values<JoinColumns<Columns...>> = (join_column_traits<Columns>::has_values || ...);

/// True if a column of a side has values of more than `Bytes` bytes.
template <class Columns, bool OfBuild, std::size_t Bytes>
inline constexpr bool has_larger_column = false;
template <class... Columns, bool OfBuild, std::size_t Bytes>
inline constexpr bool has_larger_column<JoinColumns<Columns...>, OfBuild, Bytes> =
    ((join_column_traits<Columns>::is_of_build == OfBuild && join_column_traits<Columns>::value_bytes > Bytes) || ...);

/// Calls `f(column, index)` for each column.
template <class F>
void for_each_join_column(const NullType&, F&&, int = 0) {}
template <class F, class First, class... Rest>
void for_each_join_column(const JoinColumns<First, Rest...>& columns, F&& f, int index = 0) {
  f(columns.first, index);
  if constexpr (sizeof...(Rest) > 0) detail::for_each_join_column(columns.rest, f, index + 1);
}

/// Returns the columns with one more column before them.
template <class First, class... Rest>
JoinColumns<First, Rest...> join_columns_with(const First& first, const JoinColumns<Rest...>& rest) {
  return {first, rest};
}

/// Returns the columns that the local join writes. `local.values(column, index)` returns where the values of a column
/// are for the local rows. `local.build_rows` and `local.probe_rows` find the numbers of rows.
template <class Index, bool FromBuild, class In, class Out, class Missing, class Local>
auto join_local_column(const JoinColumn<FromBuild, In, Out, Missing>& column, int index, const Local& local) {
  using Value = iterator_value_t<In>;
  const auto* values = static_cast<const Value*>(local.values(column, index));
  return JoinColumn<FromBuild, const Value*, Out, Missing>{values, column.out, column.missing};
}
template <class Index, class Column, class Local>
auto join_local_column(const Column& column, int, const Local& local) {
  return join_global_column<Index, Column>{column, local.build_rows, local.probe_rows};
}
template <class Index, class Local>
NullType join_local_columns(const NullType&, const Local&, int = 0) {
  return {};
}
template <class Index, class Local, class First, class... Rest>
auto join_local_columns(const JoinColumns<First, Rest...>& columns, const Local& local, int index = 0) {
  const auto first = detail::join_local_column<Index>(columns.first, index, local);
  if constexpr (sizeof...(Rest) == 0) {
    return JoinColumns<std::decay_t<decltype(first)>>{first};
  } else {
    return detail::join_columns_with(first, detail::join_local_columns<Index>(columns.rest, local, index + 1));
  }
}

/// Returns the output of the local join.
inline JoinCountOutput join_local_output(const NullType&, std::int64_t) { return {}; }
template <class Sink>
JoinColumnsOutput<unsigned, Sink> join_local_output(const Sink& sink, std::int64_t capacity) {
  return {sink, capacity};
}

}  // namespace detail
STRATA_NAMESPACE_END
