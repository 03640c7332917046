// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls the function of DeviceHashJoin for a kind that is known only when the program runs, on any back end.
#pragma once

#include <strata/device/device_hash_join.hpp>

#include <cstddef>
#include <cstdint>

namespace join_kinds {

using strata::DeviceHashJoin;
using strata::JoinKind;
using strata::JoinSide;

/// Promises that are chosen when the program runs.
using any_promises = strata::detail::join_promises<std::int64_t, true, true, true, true>;

/// All settings of a join in one object: options, the order, and what is known of the sides.
template <class Hash = strata::JoinHash, class Equal = strata::Equality>
struct join_settings : strata::JoinOptions<Hash, Equal> {
  using in_any_order = strata::JoinOptions<Hash, Equal>;
  using in_probe_order = strata::OrderedJoinOptions<Hash, Equal>;

  strata::JoinOrder order = strata::JoinOrder::any;
  const std::uint32_t* build_valid = nullptr;
  const std::uint32_t* probe_valid = nullptr;
  bool build_unique = false;
  bool sorted = false;
  strata::JoinKeyRange key_range = {};
  double matching = 1;

  template <class Key>
  JoinSide<const Key*, any_promises> build_side(const Key* keys, std::int64_t rows) const {
    return {keys, rows, build_valid, build_unique, sorted, key_range};
  }
  template <class Key>
  JoinSide<const Key*, any_promises> probe_side(const Key* keys, std::int64_t rows) const {
    return {keys, rows, probe_valid, false, sorted, {}, {}, matching};
  }
  in_probe_order ordered() const { return {static_cast<const in_any_order&>(*this)}; }
  /// Returns `call(options)`, with options of the type for the order.
  template <class Call>
  auto with_order(const Call& call) const {
    if (order == strata::JoinOrder::probe) return call(ordered());
    return call(static_cast<const in_any_order&>(*this));
  }
};

/// Calls the function of `joins`, a DeviceHashJoin or a JoinTable, for a kind.
template <class Joins, class... Arguments>
cudaError_t call_of(JoinKind kind, const Joins& joins, Arguments&&... arguments) {
  switch (kind) {
    case JoinKind::inner:
      return joins.Inner(arguments...);
    case JoinKind::left:
      return joins.Left(arguments...);
    case JoinKind::full:
      return joins.Full(arguments...);
    case JoinKind::semi:
      return joins.Semi(arguments...);
    case JoinKind::anti:
      break;
  }
  return joins.Anti(arguments...);
}

template <class Key, class Output, class Settings>
cudaError_t join_of(JoinKind kind, void* storage, std::size_t& bytes, const Key* build, std::int64_t build_rows,
                    const Key* probe, std::int64_t probe_rows, const Output& output, std::int64_t* total,
                    const Settings& settings, DeviceHashJoin::stream_type stream = 0) {
  return settings.with_order([&](const auto& options) {
    return join_kinds::call_of(kind, DeviceHashJoin{}, storage, bytes, settings.build_side(build, build_rows),
                               settings.probe_side(probe, probe_rows), output, total, options, stream);
  });
}

template <class Key, class Index, class Settings>
cudaError_t pairs_of(JoinKind kind, void* storage, std::size_t& bytes, const Key* build, std::int64_t build_rows,
                     const Key* probe, std::int64_t probe_rows, Index* build_out, Index* probe_out, std::int64_t* total,
                     std::int64_t capacity, const Settings& settings, DeviceHashJoin::stream_type stream = 0) {
  if (!strata::detail::has_pairs(kind)) build_out = nullptr;
  return join_kinds::join_of(kind, storage, bytes, build, build_rows, probe, probe_rows,
                             strata::join_pairs(build_out, probe_out, capacity), total, settings, stream);
}

template <class Key, class Settings>
cudaError_t count_of(JoinKind kind, void* storage, std::size_t& bytes, const Key* build, std::int64_t build_rows,
                     const Key* probe, std::int64_t probe_rows, std::int64_t* total, const Settings& settings,
                     DeviceHashJoin::stream_type stream = 0) {
  return join_kinds::join_of(kind, storage, bytes, build, build_rows, probe, probe_rows, strata::join_count(), total,
                             settings, stream);
}

}  // namespace join_kinds
