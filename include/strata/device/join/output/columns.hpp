// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/common/join_options.hpp>

#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// A column of values of one side: `out[position] = in[row]`, or `missing` where the result has no row
/// of that side. `in` and `out` are random-access iterators, valid where the join is executed. Different
/// threads write neighbouring elements of `out`, so these must be different objects (not bits).
template <bool FromBuild, class In, class Out, class Missing>
struct JoinColumn {
  In in;
  Out out;
  Missing missing;

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

template <class In, class Out, class Missing>
JoinColumn<true, In, Out, Missing> build_column(In in, Out out, Missing missing) {
  return {in, out, missing};
}
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

/// Of an output of columns; 0 of any other.
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

}  // namespace detail
STRATA_NAMESPACE_END
