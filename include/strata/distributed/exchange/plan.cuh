// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/device/arguments/counts.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/exchange/kernels.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

/// \file
/// What ranks send to each other: all of them know it before anything is sent, so that none waits for one that refuses.
///
///     exchange_plan plan;
///     cudaError_t status = plan_exchange(plan, header, given_counts{d_counts}, d_messages, position, comm, stream);
///     const exchanged_array arrays[] = {{d_keys, d_keys_out, sizeof(Key)}, {d_values, d_values_out, sizeof(Value)}};
///     if (status == cudaSuccess) status = carry_out(plan, arrays, 2, comm, stream);

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// An array of the host. A failed allocation is an error of the call, as one of the device is.
template <class T>
class host_array {
 public:
  host_array() = default;
  ~host_array() { delete[] items_; }
  host_array(const host_array&) = delete;
  host_array& operator=(const host_array&) = delete;

  bool allocate(std::size_t count) {
    delete[] items_;
    items_ = new (std::nothrow) T[count]{};
    return items_ != nullptr;
  }
  T* data() const { return items_; }
  T& operator[](std::size_t i) const { return items_[i]; }

 private:
  T* items_ = nullptr;
};

/// Where the items for each rank, or from each rank, lie in an array, and how many they are.
class exchange_pieces {
 public:
  bool allocate(int ranks) {
    const auto count = static_cast<std::size_t>(ranks);
    return counts_.allocate(count) && offsets_.allocate(count);
  }
  /// The ranks in their order.
  void append(int rank, std::int64_t count) {
    const auto i = static_cast<std::size_t>(rank);
    counts_[i] = static_cast<std::size_t>(count);
    offsets_[i] = rank == 0 ? 0 : offsets_[i - 1] + counts_[i - 1];
  }
  const std::size_t* counts() const { return counts_.data(); }
  const std::size_t* offsets() const { return offsets_.data(); }

 private:
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
  const auto count = static_cast<std::size_t>(ranks);
  return count * static_cast<std::size_t>(exchanges) * (sizeof(call_header) + count * sizeof(std::int64_t));
}

/// Writes this rank's part of a message.
template <class Counts>
cudaError_t write_exchange_message(call_header header, cudaError_t host_status, const Counts& counts, int ranks,
                                   unsigned char* d_part, cudaStream_t stream) {
  if (header.status == cudaSuccess) header.status = host_status;
  launch_configuration configuration{"strata::DistributedExchange, counts", dim3(1), dim3(exchange_threads)};
  configuration.stream = stream;
  return strata::launch(configuration, exchange_message_kernel<Counts>, header, counts, ranks,
                        reinterpret_cast<call_header*>(d_part),
                        reinterpret_cast<std::int64_t*>(d_part + sizeof(call_header)));
}

/// Plans several exchanges with one wait of the host: `counts` says how many items this rank has for each rank, see
/// grouped_counts and given_counts. All ranks return alike:
///
/// - cudaSuccess: carry_out() may send.
/// - The error of the lowest rank of which a header has one.
/// - cudaErrorInvalidValue, where a rank gets more items than the capacity of its header. `num_received` says how
///   many.
///
/// A rank that has refused its arguments takes part with its error in the header; its counts are not read.
/// `d_messages` has exchange_messages_bytes(). It may be null where the caller's storage is missing.
template <class... Counts>
cudaError_t plan_exchanges(exchange_plan* plans, const call_header* headers, void* d_messages, rank_position position,
                           ncclComm_t comm, cudaStream_t stream, const Counts&... counts) {
  constexpr std::size_t exchanges = sizeof...(Counts);
  const auto ranks = static_cast<std::size_t>(position.ranks);
  const std::size_t part_bytes = sizeof(call_header) + ranks * sizeof(std::int64_t);
  const std::size_t message_bytes = exchanges * part_bytes;
  host_array<unsigned char> messages;
  cudaError_t host_status = messages.allocate(ranks * message_bytes) ? cudaSuccess : cudaErrorMemoryAllocation;
  for (std::size_t i = 0; i < exchanges; ++i) {
    plans[i].position = position;
    plans[i].num_received = -1;
    if (!plans[i].allocate()) host_status = cudaErrorMemoryAllocation;
  }
  scratch_memory scratch(stream);
  cudaError_t status = cudaSuccess;
  if (d_messages == nullptr) {
    status = scratch.allocate(ranks * message_bytes);
    if (status != cudaSuccess) return status;
    d_messages = scratch.data();
  }
  unsigned char* const d_mine =
      static_cast<unsigned char*>(d_messages) + static_cast<std::size_t>(position.rank) * message_bytes;
  std::size_t part = 0;
  ((status = status != cudaSuccess ? status
                                   : detail::write_exchange_message(headers[part], host_status, counts, position.ranks,
                                                                    d_mine + part * part_bytes, stream),
    ++part),
   ...);
  if (status != cudaSuccess) return status;
  status = detail::all_gather(d_mine, d_messages, message_bytes, comm, stream);
  if (status == cudaSuccess) {
    status = detail::copy_to_host(messages.data(), d_messages, ranks * message_bytes, comm, stream);
  }
  if (status == cudaSuccess) status = host_status;
  if (status != cudaSuccess) return status;

  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < exchanges; ++i) {
      const unsigned char* const from = messages.data() + rank * message_bytes + i * part_bytes;
      std::memcpy(&plans[i].headers[rank], from, sizeof(call_header));
      std::memcpy(&plans[i].counts[rank * ranks], from + sizeof(call_header), ranks * sizeof(std::int64_t));
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < exchanges; ++i) {
      const auto refused = static_cast<cudaError_t>(plans[i].headers[rank].status);
      if (refused != cudaSuccess) return refused;
    }
  }
  for (std::size_t i = 0; i < exchanges; ++i) {
    plans[i].num_received = plans[i].received_by(position.rank);
    for (int rank = 0; rank < position.ranks; ++rank) {
      plans[i].sent.append(rank, plans[i].count(position.rank, rank));
      plans[i].received.append(rank, plans[i].count(rank, position.rank));
      if (plans[i].received_by(rank) > plans[i].headers[static_cast<std::size_t>(rank)].capacity) {
        status = cudaErrorInvalidValue;
      }
    }
  }
  return status;
}

/// The same for one exchange.
template <class Counts>
cudaError_t plan_exchange(exchange_plan& plan, const call_header& header, const Counts& counts, void* d_messages,
                          rank_position position, ncclComm_t comm, cudaStream_t stream) {
  return detail::plan_exchanges(&plan, &header, d_messages, position, comm, stream, counts);
}

/// Sends what has been planned: items of several arrays in one group of NCCL, all arrays by the same counts. Items to
/// send lie in the order of destinations; those received will lie in the order of ranks.
inline cudaError_t carry_out(const exchange_plan& plan, const exchanged_array* arrays, int num_arrays, ncclComm_t comm,
                             cudaStream_t stream) {
  return detail::all_to_all(arrays, num_arrays, plan.sent.offsets(), plan.sent.counts(), plan.received.offsets(),
                            plan.received.counts(), plan.position, comm, stream);
}

/// Sends each rank one item of each array: no plan, and no wait.
inline cudaError_t send_one_each(rank_position position, const exchanged_array* arrays, int num_arrays, ncclComm_t comm,
                                 cudaStream_t stream) {
  exchange_pieces pieces;
  if (!pieces.allocate(position.ranks)) return cudaErrorMemoryAllocation;
  for (int rank = 0; rank < position.ranks; ++rank) pieces.append(rank, 1);
  return detail::all_to_all(arrays, num_arrays, pieces.offsets(), pieces.counts(), pieces.offsets(), pieces.counts(),
                            position, comm, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
