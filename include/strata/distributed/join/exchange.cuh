// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/exchange/plan.cuh>
#include <strata/distributed/join/plan.hpp>
#include <strata/distributed/join/storage.cuh>

#include <cstddef>
#include <cstdint>

/// \file
/// Rows to their ranks.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Where the rows for each rank lie in what this rank sends, and those from each rank in what it receives: a piece for
/// each section.
inline void cut_join_rows(const join_side_plan& plan, int rank, join_side_pieces& pieces) {
  std::int64_t at = 0;
  for (int section = 0; section < join_side_plan::sections; ++section) {
    for (int peer = 0; peer < plan.ranks; ++peer) {
      const join_send_run run = plan.run(rank, peer, section);
      pieces.sent.set(peer, section, run.begin, run.rows);
      const join_send_run from_peer = plan.run(peer, rank, section);
      pieces.received.set(peer, section, at, from_peer.rows);
      pieces.at_sender.set(peer, section, from_peer.begin, from_peer.rows);
      at += from_peer.rows;
    }
  }
}


/// The arrays of a side that are sent.
template <bool IsBuild, class Call>
class join_moved_arrays {
 public:
  template <class Storage>
  join_moved_arrays(const Call& call, const Storage& storage) {
    add(storage.template keys_sent<IsBuild>(), storage.template keys_received<IsBuild>());
    if (Call::template is_numbered<IsBuild>) {
      add(storage.template rows_sent<IsBuild>(), storage.template rows_received<IsBuild>());
    }
    call.template for_each_moved_column<IsBuild>([&](const auto&, auto value, int index) {
      using Value = typename decltype(value)::type;
      add(storage.template values_sent<Value>(index), storage.template values_received<Value>(index));
    });
  }

  array_transfer transfer(const join_side_pieces& pieces) const {
    return {arrays_, count_, pieces.sent.list(), pieces.received.list(), join_side_plan::sections,
            pieces.at_sender.list().offsets};
  }

  /// What the arrays need of a piece_staging.
  std::size_t staging_bytes(std::size_t rows, int ranks) const {
    const std::size_t pieces = static_cast<std::size_t>(ranks) * join_side_plan::sections;
    std::size_t bytes = 0;
    for (int i = 0; i < count_; ++i) bytes += piece_staging::bytes(rows, pieces, arrays_[i].item_bytes);
    return bytes;
  }

 private:
  template <class T>
  void add(const T* d_sent, T* d_received) {
    arrays_[count_++] = {d_sent, d_received, sizeof(T)};
  }

  exchanged_array arrays_[2 + Call::columns_of_output];
  int count_ = 0;
};

/// What exchange_join_rows() needs of Storage::work().
template <class Call, class Storage>
std::size_t join_staging_bytes(const Call& call, const Storage& storage) {
  const int ranks = call.position.ranks;
  return join_moved_arrays<true, Call>(call, storage).staging_bytes(call.template receivable_rows<true>(), ranks) +
         join_moved_arrays<false, Call>(call, storage).staging_bytes(call.template receivable_rows<false>(), ranks);
}

/// All arrays of both sides in one group of sends. Without `probe_plan` the probe rows stay. `total_rows`: those of
/// both sides on all ranks.
template <class Call, class Storage>
cudaError_t exchange_join_rows(const Call& call, const Storage& storage, const join_side_plan& build_plan,
                               const join_side_plan* probe_plan, std::uint64_t total_rows, join_host_memory& memory) {
  const auto [rank, ranks] = call.position;
  detail::cut_join_rows(build_plan, rank, memory.build);
  if (probe_plan != nullptr) detail::cut_join_rows(*probe_plan, rank, memory.probe);
  const join_moved_arrays<true, Call> build(call, storage);
  const join_moved_arrays<false, Call> probe(call, storage);
  const array_transfer transfers[] = {build.transfer(memory.build), probe.transfer(memory.probe)};
  const bool has_leads = total_rows / static_cast<std::uint64_t>(ranks) >= Call::tuning.min_rows_with_leads;
  return detail::all_to_all(transfers, probe_plan != nullptr ? 2 : 1, call.position, call.comm, call.stream,
                            has_leads ? storage.work() : nullptr);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
