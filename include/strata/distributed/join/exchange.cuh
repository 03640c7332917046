// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/exchange/plan.cuh>
#include <strata/distributed/join/plan.hpp>
#include <strata/distributed/join/storage.cuh>

#include <cstdint>

/// \file
/// Rows to their ranks.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Where the rows for each rank lie in what this rank sends, and those from each rank in what it receives: a piece for
/// each section.
inline void cut_join_rows(const join_side_plan& plan, int rank, exchange_pieces& sent, exchange_pieces& received) {
  std::int64_t at = 0;
  for (int section = 0; section < join_side_plan::sections; ++section) {
    for (int peer = 0; peer < plan.ranks; ++peer) {
      const join_send_run run = plan.run(rank, peer, section);
      sent.set(peer, section, run.begin, run.rows);
      const std::int64_t rows = plan.rows(peer, rank, section);
      received.set(peer, section, at, rows);
      at += rows;
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

  array_transfer transfer(const exchange_pieces& sent, const exchange_pieces& received) const {
    return {arrays_, count_, sent.list(), received.list(), join_side_plan::sections};
  }

 private:
  template <class T>
  void add(const T* d_sent, T* d_received) {
    arrays_[count_++] = {d_sent, d_received, sizeof(T)};
  }

  exchanged_array arrays_[2 + Call::columns_of_output];
  int count_ = 0;
};

/// All arrays of both sides in one group of sends. Without `probe_plan` the probe rows stay.
template <class Call, class Storage>
cudaError_t exchange_join_rows(const Call& call, const Storage& storage, const join_side_plan& build_plan,
                               const join_side_plan* probe_plan, join_host_memory& memory) {
  const int rank = call.position.rank;
  detail::cut_join_rows(build_plan, rank, memory.build_sent, memory.build_received);
  if (probe_plan != nullptr) detail::cut_join_rows(*probe_plan, rank, memory.probe_sent, memory.probe_received);
  const join_moved_arrays<true, Call> build(call, storage);
  const join_moved_arrays<false, Call> probe(call, storage);
  const array_transfer transfers[] = {build.transfer(memory.build_sent, memory.build_received),
                                      probe.transfer(memory.probe_sent, memory.probe_received)};
  return detail::all_to_all(transfers, probe_plan != nullptr ? 2 : 1, call.position, call.comm, call.stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
