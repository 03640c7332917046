// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functions of DeviceHashJoin by the kind of the join, whatever the back end.
#pragma once

#include <strata/device/device_hash_join.hpp>

#include <cstddef>
#include <cstdint>

namespace join_kinds {

using strata::DeviceHashJoin;
using strata::JoinKind;

/// The function of DeviceHashJoin that writes the pairs of a kind.
template <class Key, class Index, class Options>
cudaError_t pairs_of(JoinKind kind, void* storage, std::size_t& bytes, const Key* build, std::int64_t build_rows,
                     const Key* probe, std::int64_t probe_rows, Index* build_out, Index* probe_out, std::int64_t* total,
                     std::int64_t capacity, const Options& options, DeviceHashJoin::stream_type stream = 0) {
  switch (kind) {
    case JoinKind::inner:
      return DeviceHashJoin::InnerPairs(storage, bytes, build, build_rows, probe, probe_rows, build_out, probe_out,
                                        total, capacity, options, stream);
    case JoinKind::left:
      return DeviceHashJoin::LeftPairs(storage, bytes, build, build_rows, probe, probe_rows, build_out, probe_out,
                                       total, capacity, options, stream);
    case JoinKind::full:
      return DeviceHashJoin::FullPairs(storage, bytes, build, build_rows, probe, probe_rows, build_out, probe_out,
                                       total, capacity, options, stream);
    case JoinKind::semi:
      return DeviceHashJoin::SemiPairs(storage, bytes, build, build_rows, probe, probe_rows, probe_out, total, capacity,
                                       options, stream);
    case JoinKind::anti:
      break;
  }
  return DeviceHashJoin::AntiPairs(storage, bytes, build, build_rows, probe, probe_rows, probe_out, total, capacity,
                                   options, stream);
}

/// The function of DeviceHashJoin that counts the rows of a kind.
template <class Index, class Key, class Options>
cudaError_t count_of(JoinKind kind, void* storage, std::size_t& bytes, const Key* build, std::int64_t build_rows,
                     const Key* probe, std::int64_t probe_rows, std::int64_t* total, const Options& options) {
  const auto call = [&](auto function) {
    return function(storage, bytes, build, build_rows, probe, probe_rows, total, options);
  };
  switch (kind) {
    case JoinKind::inner:
      return call([](auto&&... a) { return DeviceHashJoin::InnerCount<Index>(a...); });
    case JoinKind::left:
      return call([](auto&&... a) { return DeviceHashJoin::LeftCount<Index>(a...); });
    case JoinKind::full:
      return call([](auto&&... a) { return DeviceHashJoin::FullCount<Index>(a...); });
    case JoinKind::semi:
      return call([](auto&&... a) { return DeviceHashJoin::SemiCount<Index>(a...); });
    case JoinKind::anti:
      break;
  }
  return call([](auto&&... a) { return DeviceHashJoin::AntiCount<Index>(a...); });
}

}  // namespace join_kinds
