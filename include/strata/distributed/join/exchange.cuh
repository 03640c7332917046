// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/distributed/communication/all_to_all.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/exchange/plan.cuh>
#include <strata/distributed/join/local_join.cuh>
#include <strata/distributed/join/message.hpp>
#include <strata/distributed/join/plan.hpp>
#include <strata/distributed/join/storage.cuh>

#include <cstddef>
#include <cstdint>

/// \file
/// Sends rows to their ranks.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Cuts the rows that this rank sends, and the rows that it receives, into pieces: one for each rank and section.
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

/// Cuts the build rows into pieces for a call in which all ranks send all their build rows to all ranks. Returns true
/// if all pieces are received at indices that are multiples of aligned_items. All ranks return the same value.
inline bool cut_whole_build_side(const join_message* messages, rank_position position, join_side_pieces& pieces) {
  bool are_aligned = true;
  std::int64_t at = 0;
  for (int peer = 0; peer < position.ranks; ++peer) {
    const std::int64_t rows = messages[peer].header.build_rows;
    pieces.sent.set(peer, join_side_plan::keys, 0, messages[position.rank].header.build_rows);
    pieces.received.set(peer, join_side_plan::keys, at, rows);
    are_aligned = are_aligned && lead_of(at) == 0;
    at += rows;
  }
  return are_aligned;
}

/// The arrays of a side that are sent.
template <bool IsBuild, class Call>
class join_moved_arrays {
 public:
  /// The arrays sorted by class.
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
  /// The arrays as they are on this rank. `side` comes from kept_join_side().
  template <class Storage>
  join_moved_arrays(const Call& call, const Storage& storage, const local_join_side<typename Call::Key>& side) {
    const local_join_columns<Call, Storage> columns{storage, true, true, {}, {}};
    add(side.keys, storage.template keys_received<IsBuild>());
    call.template for_each_moved_column<IsBuild>([&](const auto& column, auto value, int index) {
      using Value = typename decltype(value)::type;
      add(static_cast<const Value*>(columns.values(column, index)), storage.template values_received<Value>(index));
    });
  }

  /// Returns a transfer that refers to this object.
  array_transfer transfer(const join_side_pieces& pieces) const& {
    return {arrays_,
            count_,
            pieces.sent.list(),
            pieces.received.list(),
            join_side_plan::sections,
            pieces.at_sender.list().offsets};
  }
  array_transfer transfer(const join_side_pieces& pieces) const&& = delete;

  /// Returns how many bytes of memory a piece_staging needs for the arrays.
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

/// Returns the bytes of Storage::work() that exchange_join_rows() needs.
template <class Call, class Storage>
std::size_t join_staging_bytes(const Call& call, const Storage& storage) {
  const int ranks = call.position.ranks;
  return join_moved_arrays<true, Call>(call, storage).staging_bytes(call.template receivable_rows<true>(), ranks) +
         join_moved_arrays<false, Call>(call, storage).staging_bytes(call.template receivable_rows<false>(), ranks);
}

/// Exchanges all arrays of both sides in one group of sends. Without `probe_plan`, the probe rows stay. `total_rows` is
/// the number of rows of both sides on all ranks.
template <class Call, class Storage>
cudaError_t exchange_join_rows(const Call& call, const Storage& storage, const join_side_plan& build_plan,
                               const join_side_plan* probe_plan, std::uint64_t total_rows, join_host_memory& memory) {
  const int rank = call.position.rank;
  detail::cut_join_rows(build_plan, rank, memory.build);
  if (probe_plan != nullptr) detail::cut_join_rows(*probe_plan, rank, memory.probe);
  const join_moved_arrays<true, Call> build(call, storage);
  const join_moved_arrays<false, Call> probe(call, storage);
  const array_transfer transfers[] = {build.transfer(memory.build), probe.transfer(memory.probe)};
  return detail::all_to_all(transfers, probe_plan != nullptr ? 2 : 1, call.position, call.comm, call.stream,
                            call.has_rows_for_leads(total_rows) ? storage.work() : nullptr,
                            Call::tuning.min_bytes_copied_beside);
}

/// Sends all build rows to all ranks, in the order of ranks. `side` has the build rows of this rank.
template <class Call, class Storage>
cudaError_t exchange_whole_build_side(const Call& call, const Storage& storage,
                                      const local_join_side<typename Call::Key>& side, const join_message* messages,
                                      std::uint64_t total_rows, join_side_pieces& pieces) {
  const bool are_aligned = detail::cut_whole_build_side(messages, call.position, pieces);
  const join_moved_arrays<true, Call> arrays(call, storage, side);
  const array_transfer transfer = arrays.transfer(pieces);
  const bool has_leads = !are_aligned && call.has_rows_for_leads(total_rows);
  return detail::all_to_all(&transfer, 1, call.position, call.comm, call.stream, has_leads ? storage.work() : nullptr,
                            Call::tuning.min_bytes_copied_beside);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
