// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/hash_join/join_types.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A column of values that travels with the rows of one side: `out[position] = in[row]`, or
/// `missing` where the result has no row of that side. Neighbours in `out` are written by different
/// threads, so they must be different objects.
template <bool FromBuild, class In, class Out, class Missing>
struct joined_column {
  In in;
  Out out;
  Missing missing;

  template <class Index>
  void operator()(std::int64_t position, Index build_row, Index probe_row) const {
    const Index row = FromBuild ? build_row : probe_row;
    if (row == no_row<Index>) {
      out[position] = missing;
    } else {
      out[position] = in[row];
    }
  }
};

template <class In, class Out, class Missing>
joined_column<true, In, Out, Missing> build_column(In in, Out out, Missing missing) {
  return {in, out, missing};
}
template <class In, class Out, class Missing>
joined_column<false, In, Out, Missing> probe_column(In in, Out out, Missing missing) {
  return {in, out, missing};
}

/// Several columns, as a sink of `host_join_gather`:
///
///     join_columns(build_column(names, names_out, ""), probe_column(prices, prices_out, 0))
template <class... Columns>
auto join_columns(Columns... columns) {
  return
      [all = std::make_tuple(columns...)](std::int64_t position, auto build_row, auto probe_row) {
        std::apply([&](const auto&... each) { (each(position, build_row, probe_row), ...); }, all);
      };
}

}  // namespace detail
STRATA_NAMESPACE_END
