// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/join/common/method.hpp>
#include <strata/device/join/common/row_numbers.hpp>
#include <strata/device/join/common/rows.cuh>
#include <strata/device/join/output/columns.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// Columns of values that are partitioned with the keys. The partition pass copies the values of a tile's rows to the
/// positions of their records, and records have these positions in place of row indices. The join of a partition then
/// reads values of that partition only, which L2 holds, and those of neighbouring probe rows side by side. Without
/// that, each result reads a random sector of memory for each column.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Whether an output, join_numbered_sink, has columns in the order of the partitions.
template <class Sink>
inline constexpr bool partitions_columns = false;
template <class Columns, class Partitioned>
inline constexpr bool partitions_columns<join_numbered_sink<Columns, Partitioned, true>> = true;

/// The partitioned form of a column. Only arrays are partitioned, of values that are no larger than a record, because
/// they take the place of records in shared memory.
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

/// Of an output: whether all its columns can be partitioned, and no value has more than 4 bytes.
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

template <class Sink>
using partitioned_output = join_numbered_sink<Sink, typename partitioned_columns<Sink>::type, true>;

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

/// Carries out `call`, a DispatchHashJoin, with partitioned columns: `Join` is the same with partitioned_output.
template <class Join, class ActivePolicy, class Call>
cudaError_t join_with_partitioned_columns(const Call& call) {
  using Sink = std::decay_t<decltype(call.sink)>;
  constexpr int join_slot = number_of_columns<Sink>;
  temporary_storage::layout<join_slot + 1> layout;
  detail::for_each_column(call.sink, [&](const auto& column, int slot) {
    using Value = typename partitioned_column<std::decay_t<decltype(column)>>::value_type;
    const auto rows = detail::is_build_column(column) ? call.build.rows : call.probe.rows;
    layout.template reserve<Value>(slot, static_cast<std::size_t>(rows));
  });
  // Null pointers, for the size query.
  const temporary_storage::layout<join_slot + 1> nowhere{};
  partitioned_output<Sink> output{call.sink, detail::map_columns(call.sink, nowhere, 0)};
  std::size_t join_bytes = 0;
  Join join{nullptr,    join_bytes,    call.kind,    call.build,  call.probe, output,
            call.total, call.capacity, call.options, call.stream, call.device};
  cudaError_t status = join.template Invoke<ActivePolicy>();
  if (status != cudaSuccess) return status;
  layout.template reserve<unsigned char>(join_slot, join_bytes);
  if (call.d_temp_storage == nullptr) return answer_size_query(layout, call.temp_storage_bytes);
  if (detail::refuses_storage(layout, call.d_temp_storage, call.temp_storage_bytes)) return cudaErrorInvalidValue;
  output.by_record = detail::map_columns(call.sink, layout, 0);
  join.d_temp_storage = layout.template get<unsigned char>(join_slot);
  return join.template Invoke<ActivePolicy>();
}

}  // namespace detail
STRATA_NAMESPACE_END
