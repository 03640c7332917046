// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/types.hpp>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_transform.cuh>
#include <strata/device/join/common/keys.hpp>
#include <strata/device/join/dispatch.cuh>
#include <strata/distributed/join/columns.cuh>
#include <strata/distributed/join/destinations.hpp>
#include <strata/distributed/join/kernels.cuh>
#include <strata/distributed/join/message.hpp>
#include <strata/distributed/join/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// The join of the rows that a rank has after the exchange: received rows, or its own.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// A side of the local join.
template <class Key>
struct local_join_side {
  const Key* keys = nullptr;
  const std::uint32_t* valid_mask = nullptr;
  std::int64_t rows = 0;
  /// True if these are the rows that this rank had from the start.
  bool stays = false;
  join_global_rows global_rows = {};
  /// The numbers of the rows among the rows of all ranks; null if only `global_rows` has these.
  const unsigned* numbers = nullptr;
  /// All `numbers` are less than this.
  unsigned number_limit = 0;

  /// Returns what turns the numbers in records (join_numbered_keys) into numbers among the rows of all ranks. If
  /// `numbers` is not null, the records have these numbers already.
  join_global_rows rows_of_numbers() const { return numbers != nullptr ? join_global_rows{} : global_rows; }
};

/// Returns the side of received rows. With `are_global`, they carry their numbers among the rows of all ranks,
/// otherwise their numbers on the rank that they come from. `pieces` is host memory, which the caller keeps until it is
/// copied.
template <bool IsBuild, class Call, class Storage>
cudaError_t received_join_side(const Call& call, const Storage& storage, const join_side_plan& plan,
                               const join_message* messages, bool are_global, join_piece* pieces,
                               local_join_side<typename Call::Key>& side) {
  const int rank = call.position.rank;
  side.keys = storage.template keys_received<IsBuild>();
  side.rows = plan.received(rank);
  const std::int64_t nulls = plan.received(rank, join_side_plan::nulls);
  if (nulls > 0) {
    std::uint32_t* const mask = storage.template mask<IsBuild>();
    const cudaError_t status =
        strata::launch(detail::join_row_launch("strata::DistributedHashJoin, mask", side.rows / 32 + 1, call.stream),
                       distributed_join_mask_kernel<std::uint32_t>, static_cast<unsigned>(side.rows - nulls),
                       static_cast<unsigned>(side.rows), mask);
    if (status != cudaSuccess) return status;
    side.valid_mask = mask;
  }
  if (!Call::template is_numbered<IsBuild> || side.rows == 0) return cudaSuccess;
  if (are_global) {
    side.numbers = storage.template rows_received<IsBuild>();
    side.number_limit = static_cast<unsigned>(detail::join_rows_before(messages, plan.ranks, IsBuild));
    side.global_rows = {nullptr, 0, side.numbers, 0};
    return cudaSuccess;
  }
  unsigned count = 0;
  std::int64_t begin = 0;
  for (int section = 0; section < join_side_plan::sections; ++section) {
    std::int64_t base = 0;
    for (int from = 0; from < plan.ranks; ++from) {
      const std::int64_t rows = plan.rows(from, rank, section);
      if (rows > 0) pieces[count++] = {begin, base};
      begin += rows;
      base += IsBuild ? messages[from].header.build_rows : messages[from].header.probe_rows;
    }
  }
  join_piece* const d_pieces = storage.template pieces<IsBuild>();
  side.global_rows = {d_pieces, count, storage.template rows_received<IsBuild>(), 0};
  return cudaMemcpyAsync(d_pieces, pieces, count * sizeof(join_piece), cudaMemcpyHostToDevice, call.stream);
}

/// Returns the side of this rank's own rows. The first row has the number `base` among the rows of all ranks. Keys and
/// columns that are no arrays are copied to arrays.
template <bool IsBuild, class Call, class Storage>
cudaError_t kept_join_side(const Call& call, const Storage& storage, std::int64_t base,
                           local_join_side<typename Call::Key>& side) {
  using Key = typename Call::Key;
  const auto& here = call.template side<IsBuild>();
  side.stays = true;
  side.rows = here.rows;
  side.valid_mask = here.valid_mask;
  side.global_rows = {nullptr, 0, nullptr, base};
  cudaError_t status = cudaSuccess;
  if constexpr (Call::has_array_of_keys) {
    side.keys = here.keys;
  } else {
    Key* const keys = storage.template keys_sent<IsBuild>();
    side.keys = keys;
    status = DeviceTransform::Transform(here.keys, keys, here.rows, CastOp<Key>{}, call.stream);
  }
  call.template for_each_moved_column<IsBuild>([&](const auto& column, auto value, int index) {
    using Value = typename decltype(value)::type;
    if constexpr (!std::is_pointer_v<decltype(column.in)>) {
      if (status != cudaSuccess) return;
      status = DeviceTransform::Transform(column.in, storage.template values_sent<Value>(index), here.rows,
                                          CastOp<Value>{}, call.stream);
    }
  });
  return status;
}

/// Finds where the local join reads columns and the numbers of rows.
template <class Call, class Storage>
struct local_join_columns {
  const Storage& storage;
  bool build_stays;
  bool probe_stays;
  join_global_rows build_rows;
  join_global_rows probe_rows;

  template <class Column>
  const void* values(const Column& column, int index) const {
    constexpr bool is_of_build = join_column_traits<Column>::is_of_build;
    // In semi and anti joins, columns of the build side are not moved: no result has a build row.
    if constexpr (!Call::template moves_with<Column, is_of_build>()) return nullptr;
    const bool stays = is_of_build ? build_stays : probe_stays;
    if (!stays) return storage.template values_received<unsigned char>(index);
    if constexpr (std::is_pointer_v<decltype(column.in)>) {
      return column.in;
    } else {
      return storage.template values_sent<unsigned char>(index);
    }
  }
};

template <bool IsBuild, class Call>
auto device_join_side(const Call& call, const local_join_side<typename Call::Key>& side) {
  using Promises = typename Call::template Promises<IsBuild>;
  using Key = typename Call::Key;
  using Keys = std::conditional_t<Call::has_numbered_keys, join_numbered_keys<Key>, const Key*>;
  JoinSide<Keys, join_promises<std::uint32_t, Promises::may_be_unique, false, Promises::may_have_range>> result;
  if constexpr (Call::has_numbered_keys) {
    result.keys = {side.keys, side.numbers,
                   side.numbers != nullptr ? side.number_limit : static_cast<unsigned>(side.rows)};
  } else {
    result.keys = side.keys;
  }
  result.rows = side.rows;
  result.valid_mask = side.valid_mask;
  if (IsBuild) {
    result.is_unique = call.build.is_unique;
    result.range = call.build.range;
  }
  result.count = join_row_count::of(static_cast<std::uint32_t>(side.rows));
  return result;
}

/// Joins two sides of this rank by DeviceHashJoin.
template <class Call, class Storage>
cudaError_t join_locally(void* d_temp_storage, std::size_t& temp_storage_bytes, const Call& call,
                         const Storage& storage, const local_join_side<typename Call::Key>& build,
                         const local_join_side<typename Call::Key>& probe) {
  const auto columns = [&](const join_global_rows& build_rows, const join_global_rows& probe_rows) {
    return detail::join_local_columns<typename Call::Index>(
        call.columns, local_join_columns<Call, Storage>{storage, build.stays, probe.stays, build_rows, probe_rows});
  };
  const auto by_index = columns(build.global_rows, probe.global_rows);
  const auto join = [&](const auto& sink) {
    return join_on_cuda::join(d_temp_storage, temp_storage_bytes, join_kind<Call::kind>{},
                              detail::device_join_side<true>(call, build), detail::device_join_side<false>(call, probe),
                              detail::join_local_output(sink, call.output_capacity), call.d_num_out, call.options,
                              call.stream);
  };
  if constexpr (Call::has_numbered_keys) {
    return join(join_numbered_sink<std::decay_t<decltype(by_index)>>{
        by_index, columns(build.rows_of_numbers(), probe.rows_of_numbers())});
  } else {
    return join(by_index);
  }
}

/// Finds the temporary storage of join_locally() for sides of up to these numbers of rows. A join of fewer rows, or of
/// rows without a key, may take another method, which needs more. The result is the maximum over all methods.
template <class Call, class Storage>
cudaError_t size_of_local_join(const Call& call, const Storage& storage, std::int64_t build_rows,
                               std::int64_t probe_rows, std::size_t& bytes) {
  using Hash = decltype(call.options.hash);
  using Equal = decltype(call.options.equal);
  using Policy = typename join_policy<default_policy_hub>::newest;
  constexpr auto one_pass_rows = static_cast<std::int64_t>(join_one_pass_rows<Policy, typename Call::Key, Hash, Equal>);
  constexpr auto rows_of_narrow_columns = static_cast<std::int64_t>(min_rows_of_wide_columns) - 1;
  const std::uint64_t keys_in_range = call.build.range.keys;
  const std::uint32_t some_mask = 0;
  local_join_side<typename Call::Key> build, probe;
  bytes = 0;
  // Between two of these numbers the method is the same, and more rows need more storage.
  for (const std::int64_t most_build_rows : {build_rows, one_pass_rows, rows_of_narrow_columns}) {
    build.rows = detail::least(build_rows, most_build_rows);
    // An array indexed by key is used only if there are at least as many probe rows as keys in the range.
    for (const bool may_address : {true, false}) {
      if (!may_address && (keys_in_range == 0 || keys_in_range > static_cast<std::uint64_t>(probe_rows))) continue;
      probe.rows = may_address ? probe_rows : static_cast<std::int64_t>(keys_in_range) - 1;
      for (const bool build_has_mask : {false, true}) {
        for (const bool probe_has_mask : {false, true}) {
          build.valid_mask = build_has_mask ? &some_mask : nullptr;
          probe.valid_mask = probe_has_mask ? &some_mask : nullptr;
          std::size_t of_method = 0;
          const cudaError_t status = detail::join_locally(nullptr, of_method, call, storage, build, probe);
          if (status != cudaSuccess) return status;
          if (of_method > bytes) bytes = of_method;
        }
      }
    }
  }
  return cudaSuccess;
}

STRATA_ARCH_DETAIL_NAMESPACE_END
