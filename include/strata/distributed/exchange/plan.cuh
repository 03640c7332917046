// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/distributed/communication/all_to_all.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/exchange/messages.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>

/// \file
/// The plan of an exchange. All ranks know it before anything is sent, so that none waits for a rank that refuses.
///
///     exchange_plan plan;
///     cudaError_t status = plan_exchange(plan, header, counts, d_messages, position, comm, stream);
///     const exchanged_array arrays[] = {{d_keys, d_keys_out, sizeof(Key)}, {d_values, d_values_out, sizeof(Value)}};
///     if (status == cudaSuccess) status = carry_out(plan, arrays, 2, comm, stream);

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The pieces of an array: where the items for each rank, or from each rank, begin, and how many there are.
class exchange_pieces {
 public:
  bool allocate(int ranks, int pieces_per_rank = 1) {
    pieces_per_rank_ = pieces_per_rank;
    const auto count = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(pieces_per_rank);
    return counts_.allocate(count) && offsets_.allocate(count);
  }
  void set(int rank, int piece, std::int64_t offset, std::int64_t count) {
    const auto i = static_cast<std::size_t>(rank * pieces_per_rank_ + piece);
    offsets_[i] = static_cast<std::size_t>(offset);
    counts_[i] = static_cast<std::size_t>(count);
  }
  piece_list list() const { return {offsets_.data(), counts_.data()}; }

 private:
  int pieces_per_rank_ = 1;
  host_array<std::size_t> counts_;
  host_array<std::size_t> offsets_;
};

/// The outcome of plan_exchange().
struct exchange_plan {
  rank_position position{};
  host_array<call_header> headers;  // of each rank
  host_array<std::int64_t> counts;  // items from each rank for each rank, those from rank 0 first
  exchange_pieces sent;             // of this rank
  exchange_pieces received;         // by this rank
  std::int64_t num_received = -1;   // items for this rank; -1 if a rank refused its call

  std::int64_t count(int from, int to) const {
    return counts[static_cast<std::size_t>(from) * static_cast<std::size_t>(position.ranks) +
                  static_cast<std::size_t>(to)];
  }
  std::int64_t received_by(int rank) const {
    std::int64_t sum = 0;
    for (int from = 0; from < position.ranks; ++from) sum += count(from, rank);
    return sum;
  }
  bool allocate() {
    const auto ranks = static_cast<std::size_t>(position.ranks);
    return headers.allocate(ranks) && counts.allocate(ranks * ranks) && sent.allocate(position.ranks) &&
           received.allocate(position.ranks);
  }
};

/// The bytes of device memory that plan_exchange() needs for `exchanges` exchanges: a message of each rank.
inline std::size_t exchange_messages_bytes(int ranks, int exchanges = 1) {
  return exchange_messages(ranks, exchanges, ranks).bytes();
}

/// Plans several exchanges with one wait of the host. `counts` says how many items this rank has for each rank: see
/// grouped_counts. All ranks return the same value:
///
/// - cudaSuccess: carry_out() may send.
/// - The error of the lowest rank whose header has one.
/// - cudaErrorInvalidValue, if a rank gets more items than the capacity in its header. On each rank, `num_received` is
///   the number of items that this rank would get.
///
/// A rank that has refused its arguments takes part with its error in the header, and its counts are not read.
/// `d_messages` has exchange_messages_bytes(). It may be null if the caller has no storage.
template <class... Counts>
cudaError_t plan_exchanges(exchange_plan* plans, const call_header* headers, void* d_messages, rank_position position,
                           ncclComm_t comm, cudaStream_t stream, const Counts&... counts) {
  constexpr int exchanges = static_cast<int>(sizeof...(Counts));
  const auto ranks = static_cast<std::size_t>(position.ranks);
  exchange_messages messages(position.ranks, exchanges, position.ranks);
  bool has_memory = messages.allocate();
  for (int i = 0; i < exchanges; ++i) {
    plans[i].position = position;
    plans[i].num_received = -1;
    has_memory = plans[i].allocate() && has_memory;
  }
  scratch_memory scratch(stream);
  cudaError_t status = cudaSuccess;
  if (d_messages == nullptr) {
    status = scratch.allocate(messages.bytes());
    if (status != cudaSuccess) return status;
    d_messages = scratch.data();
  }
  int exchange = 0;
  const auto write = [&](const auto& counts_of_exchange) {
    call_header header = headers[exchange];
    if (header.status == cudaSuccess && !has_memory) header.status = cudaErrorMemoryAllocation;
    if (status == cudaSuccess) {
      status = messages.write(header, counts_of_exchange, d_messages, position.rank, exchange, stream);
    }
    ++exchange;
  };
  (write(counts), ...);
  if (status == cudaSuccess) status = messages.gather(d_messages, position, comm, stream);
  if (status == cudaSuccess && !has_memory) status = cudaErrorMemoryAllocation;
  if (status != cudaSuccess) return status;

  for (int i = 0; i < exchanges; ++i) {
    exchange_plan& plan = plans[i];
    for (int rank = 0; rank < position.ranks; ++rank) {
      const auto row = static_cast<std::size_t>(rank);
      plan.headers[row] = messages.header(rank, i);
      std::memcpy(&plan.counts[row * ranks], messages.counts(rank, i), ranks * sizeof(std::int64_t));
    }
    std::int64_t sent = 0;
    plan.num_received = 0;
    for (int rank = 0; rank < position.ranks; ++rank) {
      plan.sent.set(rank, 0, sent, plan.count(position.rank, rank));
      plan.received.set(rank, 0, plan.num_received, plan.count(rank, position.rank));
      sent += plan.count(position.rank, rank);
      plan.num_received += plan.count(rank, position.rank);
      if (detail::refuses_capacity(plan.received_by(rank) > plan.headers[static_cast<std::size_t>(rank)].capacity)) {
        status = cudaErrorInvalidValue;
      }
    }
  }
  return status;
}

/// Plans one exchange.
template <class Counts>
cudaError_t plan_exchange(exchange_plan& plan, const call_header& header, const Counts& counts, void* d_messages,
                          rank_position position, ncclComm_t comm, cudaStream_t stream) {
  return detail::plan_exchanges(&plan, &header, d_messages, position, comm, stream, counts);
}

/// Carries out a plan: sends items of several arrays, with the same counts, in one group of NCCL. Items to send lie in
/// the order of destinations, and received items in the order of ranks.
inline cudaError_t carry_out(const exchange_plan& plan, const exchanged_array* arrays, int num_arrays, ncclComm_t comm,
                             cudaStream_t stream) {
  const array_transfer transfer{arrays, num_arrays, plan.sent.list(), plan.received.list()};
  return detail::all_to_all(&transfer, 1, plan.position, comm, stream);
}

/// Sends each rank one item of each array, without a plan or a wait.
inline cudaError_t send_one_each(rank_position position, const exchanged_array* arrays, int num_arrays, ncclComm_t comm,
                                 cudaStream_t stream) {
  exchange_pieces pieces;
  if (!pieces.allocate(position.ranks)) return cudaErrorMemoryAllocation;
  for (int rank = 0; rank < position.ranks; ++rank) pieces.set(rank, 0, rank, 1);
  const array_transfer transfer{arrays, num_arrays, pieces.list(), pieces.list()};
  return detail::all_to_all(&transfer, 1, position, comm, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
